"""The page of `-o html` in a real browser: it sorts, filters and unfolds, by mouse and keyboard, for all to read.

Without a browser on the PATH these tests are skipped; on Debian `apt install chromium` is enough.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.queries.explain import ExplainAnswer
from kubectl_sched.render.display import Display
from tests.e2e.artifacts.browser import HOW, Browser, installed
from tests.plugins.clusters import node, pod
from tests.render.worlds import explained, gpu_cluster, gpu_pod, gpu_users, page_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.explanation import Explanation

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(installed() is None, reason=HOW)]

ROOT = Path(__file__).parents[3]
NARROW, WIDE = 400, 1280
VISIBLE = "[...document.querySelectorAll('.nodes > tbody > tr')].filter((row) => row.checkVisibility())"
NAMES = f"{VISIBLE}.filter((row) => !row.classList.contains('details')).map((row) => row.cells[0].textContent)"
FOUND = "document.querySelector('.found').textContent"
EVIL = "</script><script>document.title='taken over'</script><img src=x onerror=\"document.title='taken over'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser(installed() or "") as browser:
        yield browser


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Any:
    """Opens the page about these results on a screen of some width."""

    def opened(*results: Explanation, width: int = WIDE, dark: bool = False, scripts: bool = True) -> Browser:
        path = tmp_path / "page.html"
        answer = ExplainAnswer(explanations=results, is_about_one_pod=len(results) == 1, notes=("a note",))
        path.write_text(page_of(answer, Display(output="html")))
        browser.look(width=width, dark=dark)
        browser.open(path, scripts=scripts)
        return browser

    return opened


def landing(nodes: int = 12) -> Explanation:
    return explained([*gpu_cluster(nodes, 3), *gpu_users(2), gpu_pod("1")])


def stuck() -> Explanation:
    return explained([*gpu_cluster(12, 3), *gpu_users(3, 2), gpu_pod()])


def hostile() -> Explanation:
    taint = {"key": EVIL, "value": EVIL, "effect": "NoSchedule"}
    long = node(f"ip-10-0-1-2.{'x' * 200}", labels={EVIL: EVIL})
    return explained([node(f"n{EVIL}", taints=[taint]), long, pod("web-0", metadata={"namespace": EVIL})])


def complaints(browser: Browser) -> list[Any]:
    """What the browser logged: exceptions, refused scripts and styles, failed requests."""
    wanted = {"Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"}
    return [event for event in browser.seen if event["method"] in wanted]


def test_it_loads_one_file_and_complains_of_nothing(opened: Any) -> None:
    for result in (stuck(), landing(), hostile()):
        browser = opened(result)
        urls = [
            event["params"]["request"]["url"]
            for event in browser.seen
            if event["method"] == "Network.requestWillBeSent"
        ]
        assert len(urls) == 1
        assert urls[0].startswith("file:")
        assert complaints(browser) == []


def test_a_click_on_a_heading_sorts_by_its_column(opened: Any) -> None:
    result = landing()
    browser = opened(result)
    best_first = browser.ask(NAMES)
    for expected in (sorted(best_first), sorted(best_first, reverse=True), best_first):
        browser.click(".nodes thead tr:last-child th:first-child button")
        assert browser.ask(NAMES) == expected
    heading = "document.querySelectorAll('.nodes thead tr:last-child th')[2]"
    assert browser.ask(f"{heading}.getAttribute('aria-sort')") == "none"
    browser.click(".nodes thead tr:last-child th:nth-child(3) button")
    browser.click(".nodes thead tr:last-child th:nth-child(3) button")
    assert browser.ask(f"{heading}.getAttribute('aria-sort')") == "ascending"
    totals = [
        browser.ask(f"Number({VISIBLE}[{place}].cells[2].textContent)") for place in range(len(result.result.feasible))
    ]
    assert totals == sorted(result.result.totals.tolist())


def test_the_keyboard_alone_sorts_unfolds_and_filters(opened: Any) -> None:
    browser = opened(stuck())
    first = browser.ask(NAMES)[0]
    browser.focus(".nodes thead tr:last-child th:first-child button")
    browser.press("Enter")
    assert browser.ask(NAMES) == sorted(browser.ask(NAMES))
    browser.focus(".nodes tbody th button")
    browser.press(" ")
    assert browser.ask("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert browser.ask(
        "document.getElementById(document.activeElement.getAttribute('aria-controls')).checkVisibility()"
    )
    browser.focus(".words")
    browser.type(first)
    browser.wait_for(f"{FOUND} === '1 of 12 nodes match'")
    assert browser.ask(NAMES) == [first]


def test_a_node_unfolds_its_evidence_and_folds_it_again(opened: Any) -> None:
    browser = opened(stuck())
    evidence = "document.querySelector('.details').checkVisibility()"
    assert not browser.ask(evidence)
    browser.click(".nodes tbody th button")
    assert browser.ask(evidence)
    assert "wants 4 nvidia.com/gpu" in browser.ask("document.querySelector('.details').innerText")
    browser.click(".nodes tbody th button")
    assert not browser.ask(evidence)
    browser.click(".all")
    assert browser.ask("[...document.querySelectorAll('.details')].every((row) => row.checkVisibility())")


def test_typing_filters_and_says_how_many_match(opened: Any) -> None:
    browser = opened(stuck())
    assert browser.ask("document.querySelector('.found').getAttribute('aria-live')") == "polite"
    browser.focus(".words")
    browser.type("INSUFFICIENT gpu-")
    browser.wait_for(f"{FOUND} === '3 of 12 nodes match'")
    assert sorted(browser.ask(NAMES)) == ["gpu-0", "gpu-1", "gpu-2"]


def test_choosing_a_verdict_filters(opened: Any) -> None:
    browser = opened(stuck())
    options = browser.ask("[...document.querySelectorAll('.verdicts option')].map((each) => each.textContent)")
    assert options[0] == "all (12)"
    for place, option in enumerate(options[1:]):
        chosen = f"document.querySelector('.verdicts').value = '{place}'"
        browser.ask(f"({chosen}, document.querySelector('.verdicts').dispatchEvent(new Event('change')))")
        assert len(browser.ask(NAMES)) == int(re.findall(r"\d+", option)[-1])


@pytest.mark.parametrize("kind", ["normalized", "raw", "points"])
def test_cells_show_what_is_chosen_also_when_sorted(opened: Any, kind: str) -> None:
    dislikes = [{"key": "a", "value": "b", "effect": "PreferNoSchedule"}]
    result = explained([node("n1"), node("n2", taints=dislikes), node("n3", allocatable={"pods": "9"}), pod()])
    browser = opened(result)
    browser.click(".nodes thead tr:last-child th:first-child button")
    chosen = "document.querySelector('.cells')"
    browser.ask(f"({chosen}.value = '{kind}', {chosen}.dispatchEvent(new Event('change')))")
    headings = "[...document.querySelectorAll('.nodes thead tr:last-child th')]"
    first = browser.ask(f"{headings}.findIndex((heading) => heading.classList.contains('score'))")
    plugins = browser.ask(
        "JSON.parse(document.querySelector('script.numbers').textContent).scores.map((each) => each.plugin)"
    )
    assert "TaintToleration" in plugins
    assert len(plugins) < len(result.result.scores)  # those of equal points share a column
    for column, plugin in enumerate(plugins, first):
        each = next(each for each in result.result.scores if each.plugin == plugin)
        numbers = {"normalized": each.normalized, "raw": each.raw, "points": each.weighted}[kind].tolist()
        expected = {
            result.result.nodes.names[row]: str(number)
            for row, number in zip(result.result.feasible, numbers, strict=True)
        }
        cells = browser.ask(f"{VISIBLE}.map((row) => [row.cells[0].textContent, row.cells[{column}].textContent])")
        assert {name: number for name, number in cells if number} == expected


def test_thousands_of_nodes_come_a_page_at_a_time(opened: Any) -> None:
    result = landing(1200)
    browser = opened(result)
    assert browser.ask(FOUND) == "1,200 nodes, the first 200 shown"
    browser.click(".more button:first-child")
    assert len(browser.ask(NAMES)) == 400
    browser.focus(".words")
    browser.type("general-11")
    matching = sum("general-11" in name for name in result.result.nodes.names)
    browser.wait_for(f"{FOUND} === '{matching} of 1,200 nodes match'")
    assert browser.ask("document.querySelector('.more').hidden")


def test_without_scripts_everything_is_there(opened: Any) -> None:
    browser = opened(stuck(), scripts=False)
    document = browser.call("DOM.getDocument", depth=-1)["root"]
    for selector in (".details", ".controls"):
        found = browser.call("DOM.querySelector", nodeId=document["nodeId"], selector=selector)["nodeId"]
        try:
            browser.call("DOM.getBoxModel", nodeId=found)
            is_shown = True
        except RuntimeError:
            is_shown = False
        assert is_shown == (selector == ".details")


@pytest.mark.parametrize("width", [320, NARROW, WIDE])
def test_nothing_runs_out_of_the_screen(opened: Any, width: int) -> None:
    for results in ([stuck()], [landing()], [hostile()], [stuck(), hostile()]):
        browser = opened(*results, width=width)
        if len(results) == 1:
            browser.click(".all")
        assert browser.ask("document.documentElement.scrollWidth") == width


CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (color) => {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = color.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const worst = [];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || !element.checkVisibility() || element.matches(".unseen, .skip, option")) continue;
    const behind = [];
    for (let each = element; each; each = each.parentElement) behind.unshift(getComputedStyle(each).backgroundColor);
    const paper = light(rgb(behind));
    const ink = light(rgb([...behind, getComputedStyle(element).color]));
    const ratio = (Math.max(paper, ink) + 0.05) / (Math.min(paper, ink) + 0.05);
    if (ratio < 4.5) worst.push([element.className || element.tagName, element.textContent.slice(0, 30), ratio]);
  }
  return worst;
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_has_the_contrast_of_wcag_aa(opened: Any, dark: bool) -> None:
    for result in (stuck(), landing()):
        browser = opened(result, dark=dark)
        browser.click(".all")
        assert browser.ask(CONTRAST) == []


def test_light_and_dark_differ(opened: Any) -> None:
    papers = {
        opened(stuck(), dark=dark).ask("getComputedStyle(document.body).backgroundColor") for dark in (False, True)
    }
    assert len(papers) == 2


def test_on_paper_everything_is_unfolded_and_nothing_can_be_clicked(opened: Any) -> None:
    browser = opened(landing(300))
    browser.look(width=800, media="print")
    assert browser.ask("[...document.querySelectorAll('.details')].every((row) => row.checkVisibility())")
    assert len(browser.ask(NAMES)) == 300
    assert not browser.ask("document.querySelector('.controls').checkVisibility()")
    assert browser.ask("document.documentElement.scrollWidth") == 800
    assert base64.b64decode(browser.call("Page.printToPDF")["data"]).startswith(b"%PDF")


def test_a_hostile_cluster_takes_nothing_over(opened: Any) -> None:
    browser = opened(hostile())
    browser.click(".all")
    assert browser.ask("document.title") != "taken over"
    assert browser.ask("document.images.length") == 0
    assert EVIL in browser.ask("document.querySelector('h1').textContent")


def test_a_command_can_be_copied(opened: Any) -> None:
    browser = opened(stuck())
    command = browser.ask("document.querySelector('.command code').textContent")
    commands = [str(command) for each in stuck().suggestions for command in each.commands]
    assert command == commands[0]
    browser.click(".command .copy")
    browser.wait_for("['Copied', 'Selected'].includes(document.querySelector('.copy').textContent)")


def test_screen_readers_are_told_what_the_table_is(opened: Any) -> None:
    tree = opened(stuck()).call("Accessibility.getFullAXTree")["nodes"]
    names: dict[str, list[str]] = {}
    for each in tree:
        names.setdefault(each.get("role", {}).get("value", ""), []).append(each.get("name", {}).get("value", ""))
    assert any(name.startswith("Every node by plugin") for name in names["table"])
    assert "gpu-2" in names["rowheader"]
    assert {"banner", "main", "contentinfo"} <= names.keys()
    assert {"Filter", "Verdict"} <= {*names["searchbox"], *names["combobox"]}
    assert all(names["button"])


def test_the_program_writes_such_a_page(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    command = [sys.executable, "-m", "kubectl_sched", "whatif", "plain.yaml", "--replicas", "12", "-o", "html"]
    with path.open("wb") as page:
        done = subprocess.run(
            [*command, "--from", "small-cluster.yaml"],
            stdout=page,
            check=False,
            cwd=ROOT / "fixtures" / "what-if",
            env={**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONUTF8": "0"},
        )
    assert done.returncode == 1
    browser.look(width=NARROW)
    browser.open(path)
    assert complaints(browser) == []
    assert "5 of 12 pods would be placed" in browser.ask("document.querySelector('.sentence').textContent")
    assert browser.ask("document.documentElement.scrollWidth") == NARROW
