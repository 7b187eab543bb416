"""The page of `-o html`: what it says is what JSON says, nothing of the cluster becomes markup, and all can read it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_sched.framework.status import Code, Status
from kubectl_sched.queries.explain import ExplainAnswer
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.display import Display
from kubectl_sched.render.funnel import funnel
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.render.sentences.verdict_line import verdict_line
from kubectl_sched.render.writers.html import as_json
from kubectl_sched.snapshot import Column
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests
from tests.render.pages import read
from tests.render.worlds import explained, gpu_cluster, gpu_pod, gpu_users, page_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.queries.explanation import Explanation
    from tests.render.pages import Element

GOLDEN = Path(__file__).parent.parent / "golden"
NOTES = ("about the dump: taken no earlier than 2026-06-01 03:00",)

TIMES = "\N{MULTIPLICATION SIGN}"
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&amp;<!--\u2028\u202e\x1b[31m{{7*7}}{%raw%}${x}"


def stuck() -> Explanation:
    return explained([*gpu_cluster(12, 3), *gpu_users(3, 2), gpu_pod()])


def landing() -> Explanation:
    return explained([*gpu_cluster(20, 4), *gpu_users(3), gpu_pod("1")])


def several() -> list[Explanation]:
    objects = [*gpu_cluster(12, 3), *gpu_users(3, 2), gpu_pod(), pod("free")]
    return [explained(objects, name) for name in ("web-0", "free")]


def preempting() -> Explanation:
    low = [pod(f"low-{index}", on=f"w{index}", priority=index, **requests(cpu="6")) for index in (1, 2)]
    return explained([node("w1"), node("w2"), *low, pod("web-0", priority=1000, **requests(cpu="4"))])


WORLDS: dict[str, Callable[[], Explanation]] = {
    "stuck": stuck,
    "landing": landing,
    "preempting": preempting,
    "no-nodes": lambda: explained([pod("web-0")]),
}


def page_about(*results: Explanation, **display: Any) -> str:
    answer = ExplainAnswer(explanations=results, is_about_one_pod=len(results) == 1, notes=NOTES)
    return page_of(answer, Display(output="html", **display))


def table_of(page: Element) -> tuple[list[str], list[list[str]], list[Element]]:
    """The columns' names, the cells of each node's row, and what unfolds below the rows."""
    table = page.one("table", "nodes")
    heading = table.elements[1].elements[-1]
    rows = table.elements[2].elements
    cells = [
        [cell.words for cell in row.elements]
        for row in rows
        if "details" not in row.attributes.get("class", "").split()
    ]
    return [cell.words for cell in heading.elements], cells, [row for row in rows if "id" in row.attributes]


@pytest.mark.parametrize("world", WORLDS)
def test_it_is_well_formed_and_can_be_found_ones_way_in(world: str) -> None:
    page = read(page_about(WORLDS[world]()))
    ids = [each.attributes["id"] for each in page.every() if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    for each in page.every():
        for name in ("aria-labelledby", "aria-controls"):
            assert each.attributes.get(name, ids[0]) in ids
        if each.tag == "a":
            assert each.attributes["href"].removeprefix("#") in ids
    levels = [int(each.tag[1]) for each in page.every() if re.fullmatch(r"h\d", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert [len(page.every(tag)) for tag in ("header", "main", "footer")] == [1, 1, 1]
    for table in page.every("table"):
        assert table.every("caption") or "points" in table.attributes["class"]
        assert all(heading.attributes.get("scope") for heading in table.every("th") if heading.words)
    assert all(label.every("input") or label.every("select") for label in page.every("label"))


@pytest.mark.parametrize("world", WORLDS)
def test_it_asks_nothing_of_the_network_and_runs_nothing_but_its_own_script(world: str) -> None:
    text = page_about(WORLDS[world]())
    page = read(text)
    assert "://" not in re.sub(r"<(q|p|dd|li|td|pre)[ >].*", "", text)
    assert not page.every("link")
    assert not page.every("img")
    for each in page.every():
        assert not {"src", "style", "action", "formaction", "data", "srcset"} & each.attributes.keys()
        assert not [name for name in each.attributes if name.startswith("on")]
    policy = next(each.attributes["content"] for each in page.every("meta") if "http-equiv" in each.attributes)
    assert policy.startswith("default-src 'none'; ")
    script = next(each for each in page.every("script") if "type" not in each.attributes)
    for directive, element in (("script-src", script), ("style-src", page.one("style"))):
        digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy


@pytest.mark.parametrize("world", WORLDS)
def test_the_sentences_are_those_of_the_table(world: str) -> None:
    result = WORLDS[world]()
    page = read(page_about(result))
    assert page.one("p", "sentence").words == verdict_line(result)
    words = page.one("main").words
    assert all(each.advice in words for each in result.suggestions)
    assert all(" ".join(str(command).split()) in words for each in result.suggestions for command in each.commands)
    assert all(note in words for note in (*result.warnings, *NOTES))
    assert result.result.event is None or page.one("pre", "event").text == result.result.event


@pytest.mark.parametrize("world", ["stuck", "landing", "preempting"])
def test_every_number_is_that_of_json(world: str) -> None:
    result = WORLDS[world]()
    data = explanation_data(result, headline(result), evidence=lambda _: True)
    page = read(page_about(result))
    columns, rows, unfolding = table_of(page)
    assert sorted(row[0] for row in rows) == [each["name"] for each in data["nodes"]]
    assert len(unfolding) == len(rows)
    nodes = {each["name"]: each for each in data["nodes"]}
    first = 2 + bool(result.result.scores)
    for row, below in zip(rows, unfolding, strict=True):
        told = nodes[row[0]]
        cells = dict(zip(columns[first:], row[first:], strict=True))
        rejecting = {each["plugin"] for each in told["rejections"]}
        assert {name for name, cell in cells.items() if cell == "no"} == rejecting
        points = {f"{each['plugin']} {TIMES}{each['weight']}": str(each["weighted"]) for each in told["scores"]}
        shown = {name: cell for name, cell in cells.items() if TIMES in name and cell}
        assert shown.items() <= points.items()
        if told["total"] is not None:
            assert row[2] == str(told["total"])
            assert sum(map(int, [*shown.values(), cells["same for all"]])) == told["total"]
        unfolded = [[cell.words for cell in line.elements] for line in below.every("tr")]
        assert [line[:5] for line in unfolded if line[0] != "Score"] == [
            [each["plugin"], *(str(each[name]) for name in ("raw", "normalized", "weight", "weighted"))]
            for each in told["scores"]
        ]
        for each in told["rejections"]:
            assert all(evidence["text"] in below.words for evidence in each["evidence"])


def test_the_numbers_for_the_script_are_those_of_json() -> None:
    result = landing()
    data = explanation_data(result, headline(result))
    page = read(page_about(result))
    numbers = json.loads(page.one("script", "numbers").text)["scores"]
    _, rows, _ = table_of(page)
    for place, row in enumerate(rows[: len(result.result.feasible)]):
        told = next(each for each in data["nodes"] if each["name"] == row[0])
        assert numbers
        assert {(each["plugin"], each["raw"][place], each["normalized"][place]) for each in numbers} <= {
            (each["plugin"], each["raw"], each["normalized"]) for each in told["scores"]
        }


@pytest.mark.parametrize("world", ["stuck", "landing"])
def test_the_funnel_and_the_reasons_count_as_the_replay_does(world: str) -> None:
    result = WORLDS[world]()
    page = read(page_about(result))
    rows = [[cell.words for cell in row.elements] for row in page.one("table", "funnel").every("tr")[2:]]
    assert [(name, left, alone) for name, left, _, alone in rows] == [
        (step.name, f"{step.after:,}", f"{step.alone:,}") for step in funnel(result.result)
    ]
    counted: dict[str, int] = {}
    for row in range(len(result.result.nodes)):
        for reason in result.result.verdict[row].reasons if result.result.verdict else ():
            counted[reason] = counted.get(reason, 0) + 1
    shown = {each.one("q").words: int(each.one("b").words) for each in page.every("p", "reason")}
    assert shown == counted


def test_an_extender_that_rejects_is_not_taken_for_a_plugin() -> None:
    explanation = explained([node("w1"), node("w2"), pod("web-0")])
    result = explanation.result
    verdict = Column.of([Status(), Status(Code.UNSCHEDULABLE, ("it is odd",))])
    rejected = replace(result, verdict=verdict, feasible=result.feasible[:1], totals=result.totals[:1])
    page = read(page_about(replace(explanation, result=rejected)))
    assert [row[1] for row in table_of(page)[1]] == ["best", "rejected extenders: it is odd"]
    assert page.one("p", "reason").words == "1 node extenders it is odd"


def test_a_plugin_that_scores_is_skipped_at_filter_alone() -> None:
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
    nodes = [node(zone, labels={"zone": zone}) for zone in ("a", "b")]
    page = read(page_about(explained([*nodes, pod("web-0", topologySpreadConstraints=[spread])])))
    lines = [line.words for line in page.every("p", "line")]
    skipped = dict(each.removesuffix(".").split(": ") for each in lines if each.startswith("Skipped"))
    assert "PodTopologySpread" in skipped["Skipped at Filter (not relevant to this pod)"].split(", ")
    assert "PodTopologySpread" not in skipped["Skipped at Score (not relevant to this pod)"].split(", ")


def test_who_would_be_evicted_is_said() -> None:
    page = read(page_about(preempting()))
    section = next(
        each for each in page.every("section") if each.attributes.get("aria-labelledby", "").endswith("-preemption")
    )
    rows = [[cell.words for cell in row.elements] for row in section.every("tr")[1:]]
    assert rows == [
        ["w1 (chosen)", "default/low-1 (priority 1)", "no budget"],
        ["w2", "default/low-2 (priority 2)", "no budget"],
    ]


def test_several_pods_have_an_index_that_leads_to_each() -> None:
    results = several()
    page = read(page_about(*results))
    links = page.one("nav").every("a")
    assert [link.words for link in links] == ["default/web-0", "default/free"]
    articles = {each.attributes["id"]: each for each in page.every("article")}
    for link, result in zip(links, results, strict=True):
        article = articles[link.attributes["href"].removeprefix("#")]
        assert article.one("p", "sentence").words == verdict_line(result)


def test_pods_of_one_owner_with_one_answer_share_a_part_of_the_page() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "api", "uid": "u", "controller": True}
    pods = [pod(f"api-{index}", metadata={"ownerReferences": [owner]}, **requests(cpu="100")) for index in range(3)]
    page = read(page_about(*(explained([node("w1"), *pods], each.metadata.name) for each in pods)))
    (article,) = page.every("article")
    assert "It is so for 2 more pods of the same owner: default/api-1, default/api-2." in article.words


def test_the_node_that_was_asked_for_is_unfolded() -> None:
    page = read(page_about(stuck(), node="gpu-1"))
    (opened,) = page.every("tr", "open")
    assert "wants 4 nvidia.com/gpu; 1 of 8 free" in opened.words
    assert "On gpu-1: rejected by NodeResourcesFit (Insufficient nvidia.com/gpu)." in page.one("main").words


def test_of_thousands_of_nodes_all_have_a_row_and_some_their_evidence() -> None:
    result = explained([*gpu_cluster(1000, 60), *gpu_users(60), gpu_pod()])
    page = read(page_about(result, node="general-77"))
    _, rows, unfolding = table_of(page)
    assert len(rows) == 1000
    assert 20 < len(unfolding) < 120
    assert f"the evidence of {len(unfolding)} is here" in page.one("main").words
    assert "general-77" in [rows[int(each.attributes["id"].rpartition("n")[2]) - 1][0] for each in unfolding]
    verdicts = {row[1] for row in rows}
    told = {rows[int(each.attributes["id"].rpartition("n")[2]) - 1][1] for each in unfolding}
    assert told == verdicts
    _, _, all_of_them = table_of(read(page_about(result, evidence=True)))
    assert len(all_of_them) == 1000


def test_many_pods_over_many_nodes_leave_out_nodes_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubectl_sched.render.answers.page.cycle_view._ROWS", 200)
    objects = [*gpu_cluster(300, 60), gpu_pod(), pod("free")]
    page = read(page_about(*(explained(objects, name) for name in ("web-0", "free"))))
    rows = [table_of(article)[1] for article in page.every("article")]
    assert all(100 <= len(each) < 110 for each in rows)
    said = re.findall(r"The (\d+) best and closest of 300 nodes", page.one("main").words)
    assert said == [str(len(each)) for each in rows]
    assert {"best", "tied", "rejected"} >= {row[1].split()[0] for row in rows[0]} >= {"tied", "rejected"}


def test_the_same_state_gives_the_same_page() -> None:
    assert page_about(stuck()) == page_about(stuck())


def hostile(text: str) -> list[Explanation]:
    """Clusters in which the text stands wherever a text may stand."""
    image = {"names": [f"example.com/{text}"], "sizeBytes": 500 * 2**20}
    nodes = [
        node(f"w{text}", labels={"pool": text, text: text}, images=[image]),
        node(f"x{text}", taints=[{"key": text, "value": text, "effect": "NoSchedule"}], labels={"zone": text}),
    ]
    container = {"name": text, "image": f"example.com/{text}"}
    web = pod("web-0", metadata={"namespace": text, "annotations": {text: text}}, containers=[container])
    picky = pod(
        f"picky{text}",
        metadata={"namespace": text},
        nodeSelector={text: f"other{text}"},
        schedulerName="default-scheduler",
    )
    gated = pod(f"gated{text}", schedulingGates=[{"name": text}])
    lost = pod(f"lost{text}", schedulerName=text)
    objects = [*nodes, web, picky, gated, lost]
    return [explained(objects, each.metadata.name) for each in (web, picky, gated, lost)]


def tags_of(page: str) -> set[str]:
    return {each.tag for each in read(page).every()}


@settings(deadline=None, max_examples=examples(25))
@given(
    st.one_of(st.text(min_size=1, max_size=30), st.text(alphabet="<>&\"'`{}%#/!-= \u2028\u2029\u202e\x00", min_size=1))
)
def test_whatever_stands_in_a_cluster_is_text_on_the_page(text: str) -> None:
    for result in hostile(text):
        page = page_about(result)
        shown = read(page)
        assert shown.one("h1").one("bdi").text == safe(result.pod.key)
        assert len(shown.every("script")) == 1 + len(shown.every("table", "nodes"))
        names = {
            each.one("bdi").text
            for each in shown.every("th")
            if each.attributes.get("scope") == "row" and each.every("bdi")
        }
        assert {safe(name) for name in result.result.nodes.names} <= names or result.result.verdict is None
        assert all(character == "\n" or character.isprintable() for character in page)


def test_hostile_text_adds_no_element() -> None:
    for plain, nasty in zip(hostile("plain"), hostile(HOSTILE), strict=True):
        assert tags_of(page_about(nasty)) <= tags_of(page_about(plain))


@given(
    st.recursive(
        st.none() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_embedded_data_reads_back_and_cannot_end_its_element(data: Any) -> None:
    text = str(as_json(data))
    assert json.loads(text) == data
    assert not set(text) & set("<>&\u2028\u2029")


def test_the_whole_page(update_golden: bool) -> None:
    text = page_about(stuck())
    text = re.sub(r"<style>.*?</style>", "<style></style>", text, flags=re.DOTALL)
    text = re.sub(r"<script>.*?</script>", "<script></script>", text, flags=re.DOTALL)
    text = re.sub(r"sha256-[^']+", "sha256-...", text)
    path = GOLDEN / "page.html"
    if update_golden:
        path.write_text(text)
    assert text == path.read_text()
