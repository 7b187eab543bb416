from pathlib import Path
from typing import Any

import yaml

from kubectl_sched.sources.dump.dump import Forbidden
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.list_paths import group_of
from kubectl_sched.sources.live.missing_rights import in_words, meaning
from kubectl_sched.sources.live.needed_kinds import (
    ALWAYS,
    DEVICES,
    FOR_NEW_NODES,
    GATES,
    GROUPS,
    SELECTORS,
    STORAGE,
)

READER = Path(__file__).parents[3] / "manifests" / "reader.yaml"
IN_KUBE_SYSTEM = {"ConfigMap", "Lease"}
READ = {
    *("Job", "Node", "Pod", "Event", "PodDisruptionBudget", "Scheduler", "SchedulerConfiguration"),
    *(*ALWAYS, *DEVICES, *FOR_NEW_NODES, *GATES, *GROUPS, *SELECTORS, *STORAGE),
}


def test_the_readers_role_allows_to_list_what_is_read_and_nothing_else() -> None:
    everywhere, in_kube_system = (each for each in yaml.safe_load_all(READER.read_text()) if "rules" in each)
    place = ("visibility.kueue.x-k8s.io", "localqueues/pendingworkloads", "get")
    assert allowed(everywhere) == {
        place,
        *((group_of(BY_NAME[name]), BY_NAME[name].plural, "list") for name in READ),
    }
    assert allowed(in_kube_system) == {
        (group_of(BY_NAME[name]), BY_NAME[name].plural, "list") for name in IN_KUBE_SYSTEM
    }


def allowed(role: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {
        (group, plural, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
        for verb in rule["verbs"]
    }


def test_every_kind_that_may_be_forbidden_has_a_meaning_of_its_own() -> None:
    assert all(meaning(name) != meaning("Unheard") for name in READ | IN_KUBE_SYSTEM)


def test_a_forbidden_kind_is_told_with_the_rule_as_yaml() -> None:
    forbidden = Forbidden("CSINode", "storage.k8s.io", "csinodes")
    assert yaml.safe_load(forbidden.rule) == {
        "apiGroups": ["storage.k8s.io"],
        "resources": ["csinodes"],
        "verbs": ["list"],
    }
    assert forbidden.rule in in_words(forbidden)
    assert yaml.safe_load(Forbidden("Node", "", "nodes").rule)["apiGroups"] == [""]
