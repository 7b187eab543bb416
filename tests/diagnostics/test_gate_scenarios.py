"""Every file of fixtures/gates is a cluster in which Kueue holds a pod or a Job back; expected.yaml has what is said.

Objects and messages are as sigs.k8s.io/kueue v0.16.1 and the examples of its documentation have them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.queries.triage import triage
from kubectl_sched.render.answers.gate_data import gates_data
from kubectl_sched.render.display import Display
from kubectl_sched.render.sentences.gate_sentences import first_reason, gate_lines, statement_words
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from tests.render.worlds import page_of

GATES = Path(__file__).parents[2] / "fixtures" / "gates"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((GATES / "expected.yaml").read_text("utf-8"))


def test_every_scenario_is_expected() -> None:
    assert {path.stem for path in GATES.glob("*.yaml")} == {*EXPECTED, "expected"}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_scenario_tells_who_holds_it_why_and_where_it_would_land(name: str) -> None:
    expected = EXPECTED[name]
    dump = read([str(GATES / f"{name}.yaml")])
    assert dump.warnings == ()
    selection = Selection(targets=(expected["target"],), namespace="team-a")
    answer, _ = explain(ExplainQuestion(selection=selection, replay=Replay(kube_version="1.36")), dump)
    (found,) = answer.explanations
    (data,) = gates_data(found)
    (gate,) = found.gates
    assert gate.owner is not None
    assert gate.owner.controller == "Kueue"
    assert gate.owner.about == (f"Workload team-a/{expected['workload']}" if expected["workload"] else "")
    assert first_reason(gate) == expected["first"]
    assert {tuple(each) for each in expected.get("says", [])} <= {
        (each.about, each.type, each.status) for each in gate.says
    }
    ungated = [(each["flavors"], each["best"] if each["problem"] is None else None) for each in data["ungated"]]
    assert ungated == [([flavor], best) for flavor, best in expected["ungated"]]
    for each in data["ungated"] if "selector" in expected else ():
        assert each["nodeSelector"] == expected["selector"]
    assert data["queue"] is not None
    assert data["queue"]["clusterQueue"] == "team-a-cq"

    text = "\n".join((headline(found), *gate_lines(found.gates)))
    markdown = page_of(answer, Display(output="markdown"))
    for statement in gate.says:
        assert statement_words(statement) in text
    assert expected["first"] in text
    assert expected["first"].split(":")[0] in markdown
    assert not any("schedulingGates" in str(each.commands) for each in found.suggestions)


def test_pods_that_one_cluster_queue_holds_are_a_group() -> None:
    dump = read([str(GATES / "pod-group.yaml")])
    (group,) = triage(ExplainQuestion(selection=Selection(namespace=None, pending=True)), dump).groups
    assert group.cause.reasons == ("Kueue holds it back in ClusterQueue team-a-cq",)
