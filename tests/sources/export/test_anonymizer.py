"""Other names, the same verdicts."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields

from kubectl_sched.api.apimachinery.validation import label_key_errors, label_value_errors
from kubectl_sched.api.pod import Pod
from kubectl_sched.config import load_configuration
from kubectl_sched.errors import SchedError
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.export.anonymized_fields import TREATMENTS
from kubectl_sched.sources.export.anonymizer import FIELDS, anonymized
from kubectl_sched.sources.export.exported_fields import holds_text, listed, sections, structs_in, treatment
from kubectl_sched.sources.export.pseudonyms import KEPT_WORDS, Pseudonyms
from kubectl_sched.sources.export.snapshot_file import encoded
from kubectl_sched.sources.kinds import KINDS
from tests.apiserver.manifests import NODE, listing, obj
from tests.decisions import Recorded, recorded
from tests.examples import at_length, cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import msgspec

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources import Dump

FIXTURES = Path(__file__).parents[3] / "fixtures"
CASES = [case for path in sorted((FIXTURES / "vectors").glob("*.jsonl.gz")) for case in recorded(path)[::2]]


def structs_of(kind: Any, seen: set[type]) -> Iterator[type[msgspec.Struct]]:
    for struct in structs_in(kind):
        if struct not in seen:
            seen.add(struct)
            yield struct
            for field in fields(struct):
                yield from structs_of(field.type, seen)


def test_every_kind_and_every_field_that_holds_a_text_is_listed_and_nothing_else() -> None:
    """A new field is left out of snapshots until it has its treatment in exported_fields.txt."""
    assert set(sections()["kinds"]) == {kind.name for kind in KINDS}
    seen: set[type] = set()
    unlisted = {
        f"{struct.__name__}.{field.name}"
        for kind in KINDS
        for struct in structs_of(kind.type, seen)
        for field in fields(struct)
        if holds_text(field.type) and treatment(struct, field.name) is None
    }
    assert unlisted == set()
    known = {f"{base.__name__}.{name}" for each in seen for base in each.__mro__ for name in field_names(each)}
    assert set(listed()) | set(FIELDS) <= known
    assert set(sections()) == {"kinds", "word", "configuration", *TREATMENTS}


def field_names(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def decided(result: ScheduleResult) -> dict[str, Any]:
    """The verdict without any name."""
    rows = range(len(result.nodes))
    of = result.nodes.row_of
    return {
        "outcome": result.outcome,
        "preFilter": (result.pre_filter.plugin, result.pre_filter.code),
        "filter": [(status.plugin, status.code) for status in map(result.verdict.__getitem__, rows)]
        if result.verdict is not None
        else None,
        "rejections": [[(each.plugin, each.code) for each in result.rejections(row)] for row in rows],
        "feasible": result.feasible.tolist(),
        "totals": result.totals.tolist(),
        "scores": [(each.plugin, each.raw.tolist(), each.weighted.tolist()) for each in result.scores],
        "best": sorted(of[name] for name in result.best),
        "skipped": (result.state.skip_filter_plugins, result.state.skip_score_plugins)
        if isinstance(result, CycleResult)
        else None,
        "victims": len(result.post_filter.victims) if result.post_filter else None,
    }


def all_decided(dump: Dump, replay: Replay, places: Iterable[int] | None = None) -> list[dict[str, Any]]:
    """The verdicts about all pods of the dump, or about those at these places among its pods."""
    schedulers = ClusterSchedulers(dump, replay)
    pods = [item for item in dump.objects if isinstance(item, Pod)]
    asked = pods if places is None else [pods[place] for place in places]
    return [decided(schedulers.schedule_one(pod)) for pod in asked]


@at_length
@pytest.mark.parametrize("case", cases(CASES, 4), ids=lambda case: case.id)
def test_every_verdict_stays_the_same(read_text: Callable[..., Dump], case: Recorded) -> None:
    """Of the pods that kube-scheduler was asked about, and of every eighth of those that run."""
    request = case.request
    dump = read_text(listing(*request["objects"]))
    replay = Replay(kube_version="1.36")
    asked = {*request["pods"]}
    keys = [item.key for item in dump.objects if isinstance(item, Pod)]
    places = [place for place, key in enumerate(keys) if key in asked or place % 8 == 0]
    assert len(places) >= len(asked)
    assert all_decided(anonymized(dump), replay, places) == all_decided(dump, replay, places)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("schedulers/*.yaml")), ids=lambda path: path.stem)
def test_schedulers_are_found_as_before(path: Path) -> None:
    dump = read([str(path)])
    before, after = ClusterSchedulers(dump, Replay()), ClusterSchedulers(anonymized(dump), Replay())
    assert [(each.kind, each.profiles, each.serves) for each in after.seen.found] == [
        (each.kind, each.profiles, each.serves) for each in before.seen.found
    ]
    assert all_decided(after.dump, Replay()) == all_decided(dump, Replay())


@pytest.mark.parametrize(
    "wrong",
    [
        {"extenders": [{"urlPrefix": 5, "filterVerb": "f"}]},
        {"extenders": [{"urlPrefix": ["acme"], "filterVerb": "f"}]},
        {"extenders": ["acme"]},
        {"extenders": [["acme"]]},
        {"leaderElection": {"resourceName": 5}},
        {"leaderElection": {"resourceNamespace": {"acme": "acme"}}},
    ],
)
def test_a_wrong_type_in_a_configuration_stays_wrong(wrong: dict[str, Any], read_text: Callable[..., Dump]) -> None:
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **wrong}
    dump = read_text({"apiVersion": "v1", "kind": "List", "items": [obj("Node", "n1"), config]})
    hidden = anonymized(dump)
    assert "acme" not in json.dumps(hidden.scheduler_configuration)
    for each in (dump, hidden):
        with pytest.raises(SchedError):
            load_configuration(each.scheduler_configuration, None)


def test_no_name_is_left(read_text: Callable[..., Dump]) -> None:
    config = json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "extenders": [{"urlPrefix": "https://acme.example.com", "filterVerb": "filter"}],
            "profiles": [
                {
                    "pluginConfig": [
                        {
                            "name": "PodTopologySpread",
                            "args": {
                                "defaultingType": "List",
                                "defaultConstraints": [
                                    {
                                        "maxSkew": 1,
                                        "topologyKey": "acme.com/rack",
                                        "whenUnsatisfiable": "ScheduleAnyway",
                                    }
                                ],
                            },
                        }
                    ]
                }
            ],
        }
    )
    pod = {
        **obj("Pod", "acme-web-0", "acme"),
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "acme", "image": "registry.acme.com:5000/web:1.2"}],
            "nodeSelector": {"acme.com/team": "acme"},
            "volumes": [{"name": "acme", "hostPath": {"path": "/acme"}}],
        },
        "status": {"message": "acme", "conditions": [{"type": "Ready", "message": "acme"}]},
    }
    configured = {**obj("ConfigMap", "acme", "kube-system"), "data": {"config.yaml": config}}
    event = {**obj("Event", "acme", "acme"), "reason": "Scheduled", "message": "acme", "source": {"host": "acme"}}
    data = encoded(anonymized(read_text(listing(NODE, pod, configured, event))), lambda _: "")
    assert b"acme" not in data
    assert b":1.2" in data


@pytest.mark.parametrize(
    ("argument", "is_kept"), [("{key: acme, operator: Exists, values: null}", True), ("acme", False)]
)
def test_of_a_configuration_arguments_are_read_as_kube_scheduler_reads_them(
    argument: str, is_kept: bool, read_text: Callable[..., Dump]
) -> None:
    required = (
        f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{argument}]}}]}}"
    )
    text = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{{pluginConfig: [{{name: [1]}}, {{name: NodeAffinity, args: {{addedAffinity: {{{required}}}}}}}]}}]
"""
    configured = {**obj("ConfigMap", "config", "kube-system"), "data": {"config.yaml": text}}
    data = encoded(anonymized(read_text(listing(NODE, configured))), lambda _: "")
    assert b"acme" not in data
    assert (b"Exists" in data) is is_kept


TERM = {"matchExpressions": [{"key": "acme", "operator": "Exists"}], "matchFields": None}
ADDED = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}}


@pytest.mark.parametrize(
    ("args", "is_refused"),
    [({"addedAffinity": ADDED}, False), ({"addedAffinity": [ADDED]}, True), ({"addedAffinity": "acme"}, True)],
)
def test_an_argument_that_is_refused_is_refused_under_pseudonyms(
    read_text: Callable[..., Dump], args: dict[str, Any], *, is_refused: bool
) -> None:
    version = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    profiles = [{"pluginConfig": [{"name": "NodeAffinity", "args": args}]}]
    changed = anonymized(read_text(listing(NODE, {**version, "profiles": profiles}))).scheduler_configuration
    assert "acme" not in json.dumps(changed)
    with pytest.raises(SchedError, match="addedAffinity: expected an object") if is_refused else nullcontext():
        load_configuration(changed)


TEXTS = st.lists(st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,12}[a-z0-9])?", fullmatch=True), min_size=2, max_size=8)


def settled(texts: list[str]) -> Pseudonyms:
    new = Pseudonyms()
    for text in texts:
        new.name(text), new.value(text), new.key(text)
    new.settle()
    return new


@given(TEXTS)
def test_different_names_stay_different_and_equal_ones_equal(texts: list[str]) -> None:
    new = settled(texts)
    assert len(set(map(new.name, texts))) == len(set(texts))
    assert len(set(map(new.value, texts))) == len(set(texts))


@given(TEXTS)
def test_names_keep_their_order(texts: list[str]) -> None:
    texts = [text for text in texts if not KEPT_WORDS & set(text.split("-"))]
    new = settled(texts)
    assert sorted(texts, key=new.name) == sorted(texts)


@given(TEXTS)
def test_a_name_made_of_two_others_stays_made_of_them(texts: list[str]) -> None:
    one, other = texts[:2]
    new = settled([*texts, f"{one}-{other}"])
    assert new.name(f"{one}-{other}") == f"{new.name(one)}-{new.name(other)}"


@given(TEXTS, st.sampled_from(["", ":1.2", "@sha256:abc", ":1@sha256:abc"]))
def test_the_tag_of_an_image_stays(texts: list[str], suffix: str) -> None:
    new = Pseudonyms()
    images = [f"registry.example.com:5000/{text}" for text in texts]
    for image in images:
        new.image(f"{image}{suffix}")
    new.settle()
    tag = suffix.partition("@")[0]
    assert all(new.image(f"{image}{suffix}").partition("@")[0] == f"{new.image(image)}{tag}" for image in images)


@pytest.mark.parametrize("text", ["7", "-3", "", "kubernetes.io/hostname"])
def test_numbers_and_well_known_keys_stay(text: str) -> None:
    new = settled([text])
    assert new.key(text) == text or text.lstrip("-").isdigit()
    assert new.value(text) == text or "/" in text


@pytest.mark.parametrize("text", ["not valid!", "x" * 64, "/mnt/secret/x", "a/b/c", "-", "acme.com/not valid"])
def test_what_is_invalid_becomes_something_else_that_is_invalid(text: str) -> None:
    new = settled([text])
    assert "acme" not in new.key(text)
    assert text not in {new.key(text), new.value(text)}
    assert label_key_errors(new.key(text))
    assert label_value_errors(new.value(text))


def test_uids_creation_times_and_addresses_are_replaced_and_stay_related(read_text: Callable[..., Dump]) -> None:
    uid, other = "5f0d8a3e-1111-4222-8333-444455556666", "0a1b2c3d-1111-4222-8333-444455556666"
    times = ("2026-05-06T07:08:09Z", "2026-05-06T07:08:10Z")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": uid, "controller": True}
    job = obj("Job", "j", "shop", "batch/v1")
    job["metadata"] |= {"uid": uid, "creationTimestamp": times[0]}
    pod = {**obj("Pod", "j-1", "shop"), "spec": {"containers": [{"name": "c", "ports": [{"hostIP": "192.0.2.7"}]}]}}
    pod["metadata"] |= {"uid": other, "creationTimestamp": times[1], "ownerReferences": [owner]}
    pod["metadata"]["labels"] = {"controller-uid": uid}
    items = json.loads(encoded(anonymized(read_text(listing(NODE, job, pod))), lambda _: ""))["items"]
    of = {item["kind"]: item for item in items}
    text = json.dumps(items)
    assert not any(told in text for told in (uid, other, *times, "192.0.2.7"))
    assert of["Pod"]["metadata"]["ownerReferences"][0]["uid"] == of["Job"]["metadata"]["uid"]
    assert of["Job"]["metadata"]["uid"] in of["Pod"]["metadata"]["labels"].values()
    assert of["Pod"]["metadata"]["uid"] < of["Job"]["metadata"]["uid"]
    assert of["Job"]["metadata"]["creationTimestamp"] < of["Pod"]["metadata"]["creationTimestamp"]
