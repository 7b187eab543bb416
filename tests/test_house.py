"""The layout of the package: small folders, no import circles, one meaning for a file name, docstrings that say."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import kubectl_sched
from kubectl_sched.record import CachingRecord, Record
from tests.bench.size import sizes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import msgspec

PACKAGE = Path(kubectl_sched.__file__).parent
ARCHITECTURE = (PACKAGE.parent / "docs" / "development" / "architecture.md").read_text("utf-8")
SOURCES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in SOURCES} - {PACKAGE})
TESTS = Path(__file__).parent
CONTRIBUTING = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8")
TEST_FOLDERS = sorted({path.parent for path in TESTS.rglob("*.py")})

MOST_FILES = 24

MEANINGS = {
    "app": "the program: its commands, or its screen",
    "arguments": "the arguments of a command or of a CEL function, checked",
    "claims": "the claims of a pod that a plugin looks at",
    "constraints": "the constraints of a pod that a plugin keeps",
    "errors": "exceptions",
    "evidence": "numbers and objects behind verdicts and scores",
    "filtering": "a plugin's PreFilter and Filter, as upstream's filtering.go",
    "node_table": "the nodes: as columns, or as a table of the page",
    "plugin": "the class of a plugin that is a package",
    "profiles": "scheduler profiles",
    "replica_help": "the help of a plugin where many equal pods get nodes one after the other",
    "reserve": "objects that the end of a cycle reserves",
    "schedulers": "the schedulers of a cluster: objects, query and command",
    "scoring": "a plugin's PreScore and Score, as upstream's scoring.go",
    "selectors": "label and device selectors",
    "snapshot": "the picture of a cluster: as columns, or the command that writes one",
    "timestamps": "RFC 3339",
    "tolerations": "tolerations of taints",
    "types": "types, as upstream's types.go",
    "validation": "validation, as upstream's validation.go",
    "values": "values of a language or of a completion",
}
"""The file names that stand in several folders, each with its one meaning."""

STEMS = [{path.stem for path in (PACKAGE / folder).glob("*.py")} for folder in ("cli", "queries", "render/answers")]

COMMANDS = set.union(*(one & other for one, other in combinations(STEMS, 2)))
"""A command, the query behind it and the answer that it draws have the same name."""

SMALL = 40
"""Lines below which a file that one other imports goes back into it."""

SMALL_ON_PURPOSE = {
    "kubectl_sched.dynamic_resource_allocation.cel.literal_arguments": "its checker is long enough",
    "kubectl_sched.sources.live.impersonation": "its kubeconfig is long enough",
    "kubectl_sched.render.writers.placement_progress": "a command holds no rule of its own",
}

LEANING = re.compile(r"(The same|Those|Their|Others)\b|As ")
QUESTION = re.compile(r'"""(What|Which|How|Who|Whom|Whose|When|Where|Why|Whether) ')


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield each list of statements; what expressions hold is no statement."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block
            for statement in block:
                yield from blocks(statement)
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from blocks(part)


@cache
def imported(path: Path) -> frozenset[str]:
    """Each module of ours that a file imports, for type checking or within functions, too."""
    found: set[str] = set()
    for node in (statement for block in blocks(parsed(path)) for statement in block):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names if name.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            within = [f"{node.module}.{name.name}" for name in node.names]
            found.update(name for name in within if name in MODULES)
            if not all(name in MODULES for name in within):
                found.add(node.module)
    return frozenset(found)


def test_a_folder_is_small() -> None:
    files = {str(folder): len(list(folder.glob("*.py"))) for folder in (*FOLDERS, *TEST_FOLDERS)}
    assert {folder: count for folder, count in files.items() if count > MOST_FILES} == {}


def test_no_import_closes_a_circle() -> None:
    graph = {module: {other for other in imported(path) if other != module} for module, path in MODULES.items()}
    assert sum(map(len, graph.values())) > len(graph)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_a_file_name_has_one_meaning() -> None:
    folders = defaultdict(list)
    for path in SOURCES:
        folders[path.stem].append(path.parent.relative_to(PACKAGE).as_posix())
    several = {name: found for name, found in folders.items() if len(found) > 1 and name not in MEANINGS}
    assert several.keys() - COMMANDS - {"__init__"} == set(), several


def test_a_small_file_has_several_readers() -> None:
    readers = defaultdict(set)
    for module, path in MODULES.items():
        for other in imported(path):
            readers[other].add(module)
    small = {
        module
        for module, path in MODULES.items()
        if path.name != "__init__.py"
        and len(path.read_text("utf-8").splitlines()) < SMALL
        and len(readers[module]) == 1
    }
    assert small == SMALL_ON_PURPOSE.keys()


def test_a_folder_has_its_sentence_in_the_documentation() -> None:
    for folder in FOLDERS:
        top, *below = folder.relative_to(PACKAGE).parts
        row = next((line for line in ARCHITECTURE.splitlines() if re.match(rf"\|.*`{top}/`.* \|", line)), None)
        assert row is not None, f"docs/development/architecture.md has no row for {top}/"
        if below and top != "plugins":  # a plugin's package is a plugin
            assert f"`{below[-1]}/`" in row


def test_a_folder_of_tests_is_a_part_of_the_package_or_has_its_sentence() -> None:
    for folder in TEST_FOLDERS:
        path = folder.relative_to(TESTS).as_posix()
        row = re.compile(rf"\|.*`{folder.name}/`|\| `tests/{path}/` \|")
        has_row = any(map(row.match, CONTRIBUTING.splitlines()))
        assert (PACKAGE / path).is_dir() or has_row, f"CONTRIBUTING.md has no row for tests/{path}/"


def test_docstrings_answer_no_question_that_nobody_asked() -> None:
    riddles = [
        f"{path.relative_to(PACKAGE)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if QUESTION.search(line)
    ]
    assert riddles == []


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each docstring, with those of fields."""
    for block in blocks(parsed(path)):
        for statement in block:
            match statement:
                case ast.Expr(value=ast.Constant(value=str() as text)):
                    yield statement.lineno, text


def test_a_docstring_names_its_subject() -> None:
    """Each is read by itself: none leans on the one before it."""
    leaning = [
        f"{path}:{number}: {text.splitlines()[0]}"
        for path in (*SOURCES, *TESTS.rglob("*.py"))
        for number, text in docstrings(path)
        if LEANING.match(text)
    ]
    assert leaning == []


def test_the_documentation_says_how_large_the_package_is() -> None:
    """If not, docs/development/architecture.md wants the table that `python -m tests.bench.size` prints."""
    _, _, section = ARCHITECTURE.partition("\n## Size\n")
    rows = dict(re.findall(r"^\| ([^|]*) \| ([\d,]+) \|$", section.partition("\n\nThe modules")[0], re.MULTILINE))
    said = {part: int(lines.replace(",", "")) for part, lines in rows.items()}
    assert said == {part: pytest.approx(lines, rel=0.02, abs=60) for part, lines in sizes().items()}


def subclasses(kind: type[msgspec.Struct]) -> set[type[msgspec.Struct]]:
    return {kind}.union(*(subclasses(each) for each in kind.__subclasses__()))


def test_records_are_made_by_keywords() -> None:
    for module in MODULES:
        import_module(module)
    records = subclasses(Record) | subclasses(CachingRecord)
    assert len(records) > 100
    assert {record.__name__ for record in records if record.__match_args__} == set()


def test_http_is_spoken_by_a_library() -> None:
    """urllib3 connects, pools and sends; http.client has errors and the class of an answer's head."""
    own = re.compile(
        r"urllib\.request|HTTPSConnection|import http\.client|_read_status|HTTP/1\.1\\r|http\.client import .*Conn"
    )
    assert [str(path) for path in SOURCES if own.search(path.read_text("utf-8"))] == []
