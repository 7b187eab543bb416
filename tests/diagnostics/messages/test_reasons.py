"""The table of reasons is whole: nothing that a plugin can say, or was recorded to say, lacks its entry."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kubectl_sched
from kubectl_sched.config.versions import RELEASES
from kubectl_sched.diagnostics.messages.reason_catalogue import families, meaning
from kubectl_sched.diagnostics.messages.reasons_page import page
from kubectl_sched.framework.interface import FilterPlugin, PreEnqueuePlugin
from kubectl_sched.plugins import REGISTRY
from tests.decisions import recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
SOURCES = Path(kubectl_sched.__file__).parent
REASONS = [reason for family in families().values() for reason in family]
SPELLINGS = [(reason, spelling) for reason in REASONS for spelling in reason.spellings]

REFUSING = {"unschedulable", "unresolvable", "ClaimProblem", "FailedAllocationOnNode"}
"""The calls that make a verdict, or an error whose text becomes one."""


def test_the_page_is_current() -> None:
    """`python -m kubectl_sched.diagnostics.messages.reasons_page > docs/reasons.md`."""
    assert (ROOT / "docs" / "reasons.md").read_text() == page()


def test_each_anchor_is_that_of_one_heading() -> None:
    headings = re.findall(r"^#+ (.*)$", page(), re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    assert len(slugs) == len(set(slugs))
    assert {reason.anchor for reason in REASONS} <= set(slugs)


def test_each_entry_says_something() -> None:
    for reason in REASONS:
        assert reason.spellings, reason.title
        for text in (reason.says, reason.how, reason.upstream):
            assert text, reason.title
        assert reason.how.endswith("."), reason.title
        assert not reason.says.endswith("."), reason.title


def sample(spelling: str) -> str:
    """A text of this spelling."""
    return re.sub(r"<(\.\.\.|[a-z_]+)>", "x", spelling)


def test_a_spelling_is_taken_for_its_own_reason() -> None:
    for reason, spelling in SPELLINGS:
        known = meaning(sample(spelling))
        assert known is not None, spelling
        assert known.anchor == reason.anchor, spelling
        for text in (known.says, known.helps):
            assert not re.search(r"[{}]|  | [,.;:]|[ :=]$", text), text


def said_in_sources() -> Iterator[tuple[str, str]]:
    """Every literal reason in our own sources, each place filled in, with the file that it is in."""
    for path in sorted(SOURCES.rglob("*.py")):
        source = path.read_text()
        if not any(word in source for word in ("node(s) ", *REFUSING)):
            continue
        tree = ast.parse(source)
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.AnnAssign | ast.Assign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REFUSING:
                for argument in node.args:
                    found = constants.get(argument.id) if isinstance(argument, ast.Name) else argument
                    text = written(found, constants)
                    if text is not None:
                        yield path.stem, text
        for value in constants.values():
            text = written(value, constants)
            if text is not None and text.startswith("node(s) "):
                yield path.stem, text


def written(node: ast.expr | None, constants: dict[str, Any]) -> str | None:
    """The text of a literal, with `x` where something is filled in; None for the end of a text that began elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr) or isinstance(node.values[0], ast.FormattedValue):
        return None
    return "".join(_part(part, constants) for part in node.values)


def _part(part: ast.expr, constants: dict[str, Any]) -> str:
    if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name):
        part = constants.get(part.value.id, part)
    return str(part.value) if isinstance(part, ast.Constant) else "x"


def test_no_reason_in_our_plugins_lacks_its_entry() -> None:
    said = set(said_in_sources())
    assert len(said) > 40
    understood = {"parsing pod: x": "parsing pod: requiredAffinityTerms: x"}
    unknown = [each for each in sorted(said) if meaning(understood.get(each[1], each[1]).rstrip(".")) is None]
    assert unknown == []


def test_no_spelling_of_any_minor_lacks_its_entry() -> None:
    for release in RELEASES.values():
        for text in (
            release.taint_reason.format(key="dedicated", value="gpu"),
            release.volume_conflict_reason,
            release.read_write_once_pod_reason,
        ):
            assert meaning(text) is not None, text


def test_every_plugin_that_can_say_no_has_an_entry() -> None:
    named = {reason.plugin for reason in REASONS}
    kinds = {name: getattr(import_module(f"kubectl_sched.plugins.{module}"), name) for name, module in REGISTRY.items()}
    refusing = {name for name, kind in kinds.items() if issubclass(kind, FilterPlugin | PreEnqueuePlugin)}
    assert len(refusing) > 15
    assert refusing <= named


def recorded_reasons(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from recorded_reasons(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "reasons" and isinstance(item, list):
                yield from item
            else:
                yield from recorded_reasons(item)


def test_no_recorded_reason_of_the_real_schedulers_lacks_its_entry() -> None:
    paths = [*(ROOT / "fixtures" / "decisions").rglob("*.gz"), *(ROOT / "fixtures" / "vectors").rglob("*.gz")]
    responses = (case.case["responses"] for path in paths for case in recorded(path))
    reasons = {reason for response in responses for reason in recorded_reasons(response)}
    assert len(reasons) > 100
    assert [reason for reason in sorted(reasons) if meaning(reason) is None] == []
