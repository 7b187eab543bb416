"""`-o markdown`: a chat or an issue shows what was said, and nothing of the cluster becomes markup or a call."""

from __future__ import annotations

import re
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kubectl_sched.queries.explain import ExplainAnswer
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.display import Display
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.verdict_line import verdict_line
from kubectl_sched.render.table import Column, Table
from kubectl_sched.render.writers.markdown_text import JOINER, bullets, fenced, table, text
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests
from tests.render.worlds import explained, gpu_cluster, gpu_pod, gpu_users, page_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown_it.token import Token

    from kubectl_sched.queries.explanation import Explanation

GOLDEN = Path(__file__).parent.parent / "golden"
NOTES = ("about the dump: taken no earlier than 2026-06-01 03:00",)

WORDS = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="xy1@.-_+:/ ", max_size=20),
    st.text(alphabet="\\`*_{}[]()<>#+-.!|~&$@:/=1aA \n\t", max_size=40),
    st.sampled_from(
        [
            "@team",
            "see #12",
            "GH-7",
            ":tada: :b:",
            "https://evil.example/x",
            "www.evil.example",
            "me@evil.example",
            "x@.b.c",
        ]
    ),
)


def markdown() -> MarkdownIt:
    """A reader of Markdown like GitHub's; it takes no name without a scheme for a link."""
    reader = MarkdownIt("gfm-like")
    assert reader.linkify is not None
    reader.linkify.set({"fuzzy_link": False, "fuzzy_email": True})
    return reader


READER = markdown()


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or ()]


def shown(tokens: list[Token]) -> str:
    """The text that is seen, without the joiners, which are not."""
    return "".join(token.content for token in inline(tokens)).replace(JOINER, "")


def one_pod(result: Explanation, **display: Any) -> str:
    return page_of(ExplainAnswer(explanations=(result,), notes=NOTES), Display(output="markdown", **display))


def stuck(text: str = "") -> Explanation:
    return explained([*gpu_cluster(12, 3), *gpu_users(3, 2), gpu_pod(), node(f"n{text}", labels={"pool": text})])


@given(WORDS)
def test_words_are_seen_as_they_are(words: str) -> None:
    tokens = READER.parse(f"- {text(words)}")
    assert [token.type for token in tokens if token.nesting == 1] in (
        ["bullet_list_open", "list_item_open", "paragraph_open"],
        ["bullet_list_open", "list_item_open"],
    )
    assert {token.type for token in inline(tokens)} <= {"text", "text_special"}
    assert shown(tokens) == safe(words).strip(" ")


@given(WORDS)
def test_words_alone_are_a_paragraph(words: str) -> None:
    tokens = READER.parse(text(words))
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    assert shown(tokens) == safe(words).strip(" ")


@given(WORDS)
def test_words_call_nobody(words: str) -> None:
    seen = "".join(token.content for token in inline(READER.parse(text(words))))
    assert not re.search(r"@(?!\u2060)|#\d|\bGH-\d", seen)
    assert not re.search(r":[a-z][\w+-]*:", seen)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_a_cell_stays_in_its_place(rows: list[tuple[str, str]]) -> None:
    columns = (
        Column[tuple[str, str]](heading="a", cell=itemgetter(0), kind="name"),
        Column[tuple[str, str]](heading="b", cell=itemgetter(1)),
    )
    tokens = READER.parse(table(Table(columns=columns, rows=rows)))
    cells = [token for before, token in pairwise(tokens) if before.type == "td_open"]
    seen = ["".join(child.content for child in cell.children or ()).replace(JOINER, "") for cell in cells]
    assert [each.strip() for each in seen] == [safe(words).strip() for row in rows for words in row]


@given(WORDS)
def test_a_fence_ends_where_it_is_meant_to(words: str) -> None:
    (block,) = READER.parse(fenced(words, "sh"))
    assert block.type == "fence"
    assert block.content == "\n".join(map(safe, words.split("\n"))) + "\n"


@given(st.lists(WORDS.filter(lambda words: safe(words).strip()), min_size=1, max_size=3))
def test_a_list_has_as_many_items_as_were_given(items: list[str]) -> None:
    tokens = READER.parse(bullets(items))
    assert sum(token.type == "list_item_open" for token in tokens) == len(items)


@settings(deadline=None, max_examples=examples(20))
@given(WORDS.filter(lambda words: words.strip()))
def test_a_hostile_cluster_adds_no_markup(words: str) -> None:
    plain, nasty = ({token.type for token in READER.parse(one_pod(stuck(each)))} for each in ("plain", words))
    assert nasty == plain


def test_it_begins_with_the_sentence_and_says_what_helps_with_its_commands() -> None:
    result = stuck()
    page = one_pod(result)
    assert shown(READER.parse(page.splitlines()[0])) == verdict_line(result)
    told = [shown([token]) for before, token in pairwise(READER.parse(page)) if before.type == "paragraph_open"]
    ladder = told[told.index("What helps, least harm first") + 1 :]
    rungs = [f"{each.rung} {each.advice}".strip() for each in result.suggestions]
    assert [each for each in ladder if each in rungs] == rungs
    assert "\n   ```sh\n   kubectl " in page


def test_it_begins_with_the_verdict_on_the_node_that_was_asked_about() -> None:
    first = one_pod(stuck(), node="gpu-1").splitlines()[0]
    assert (
        shown(READER.parse(first))
        == "default/web-0 on gpu-1: rejected by NodeResourcesFit (Insufficient nvidia.com/gpu)."
    )


def test_each_command_can_be_pasted() -> None:
    result = stuck()
    blocks = [token.content for token in READER.parse(one_pod(result)) if token.info == "sh"]
    assert blocks == [f"{command}\n" for each in result.suggestions for command in map(str, each.commands)]


def test_its_points_are_those_of_json() -> None:
    result = explained([*gpu_cluster(20, 4), *gpu_users(3), gpu_pod("1")])
    totals = {each["name"]: each["total"] for each in explanation_data(result, "")["nodes"]}
    rows = re.findall(r"^\| `(\S+)` \| (\d+) \|", one_pod(result), re.MULTILINE)
    assert rows
    assert all(totals[name] == int(points) for name, points in rows)


def test_it_shows_a_few_nodes_and_says_how_many_more_unless_all_are_asked_for() -> None:
    assert "and 10 more nodes" in one_pod(stuck())
    everything = one_pod(stuck(), all_nodes=True)
    assert "more nodes" not in everything
    assert all(f"| `{name}` |" in everything for name in stuck().result.nodes.names)


def test_one_node_has_all_its_points() -> None:
    result = explained([*gpu_cluster(20, 4), *gpu_users(3), gpu_pod("1")])
    page = one_pod(result, node="gpu-3")
    told = next(each for each in explanation_data(result, "")["nodes"] if each["name"] == "gpu-3")
    for each in told["scores"]:
        times = f"\N{MULTIPLICATION SIGN}{each['weight']}"
        how = f"raw {each['raw']} → {each['normalized']} of 100 {times} = {each['weighted']}"
        assert f"| {each['plugin']} | {how} |" in page
    assert f"| Total | {told['total']} |" in page


CASES: dict[str, Callable[[], list[Explanation]]] = {
    "stuck": lambda: [stuck()],
    "landing": lambda: [explained([*gpu_cluster(20, 4), *gpu_users(3), gpu_pod()])],
    "preempting": lambda: [
        explained([node("w1"), pod("low", on="w1", **requests(cpu="6")), pod("web-0", priority=9, **requests(cpu="4"))])
    ],
    "several": lambda: [
        explained([*gpu_cluster(12, 3), *gpu_users(3, 2), gpu_pod(), pod("free")], name) for name in ("web-0", "free")
    ],
    "none": list,
}


@pytest.mark.parametrize("name", CASES)
def test_the_whole_of_it(name: str, update_golden: bool) -> None:
    results = CASES[name]()
    answer = ExplainAnswer(explanations=tuple(results), is_about_one_pod=len(results) == 1, notes=NOTES)
    page = page_of(answer, Display(output="markdown"))
    path = GOLDEN / f"{name}.md"
    if update_golden:
        path.write_text(page)
    assert page == path.read_text()


def test_a_node_of_a_pod_that_is_rejected_as_a_whole_is_not_said_to_be_taken() -> None:
    gone = [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]
    result = explained([node("w1"), node("w2"), pod("web-0", volumes=gone)])
    page = page_of(ExplainAnswer(explanations=(result,)), Display(output="markdown", node="w1"))
    assert "rejected by VolumeRestrictions (persistentvolumeclaim" in page
    assert "nominated" not in page
