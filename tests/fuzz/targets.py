"""Makes the cases of each target: a command line, the files that it names, and standard input."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import yaml

from tests.fuzz.archives import packed
from tests.fuzz.byte_mutations import damaged
from tests.fuzz.encoders import as_json, as_yaml
from tests.fuzz.hostile import TEXTS
from tests.fuzz.structures import mutated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NO_ARGUMENT = re.compile("[\x00\ud800-\udfff]")
_FORMATS = ("table", "wide", "json", "yaml", "name", "markdown", "html")
_EDITS = ("--cordon", "--uncordon", "--drain", "--remove-node", "--find-nodes")
_NODES = ("w1", "w*", "(disk=ssd)", "(!a,disk in (ssd,hdd))")
_OTHER_EDITS = (
    "--taint=w2=k:NoExecute",
    "--taint=w2=dedicated-",
    "--label=w1=k=v",
    "--label=w*=disk-",
    "--add-nodes=2=w3",
)
_LOGS = (
    "kube-system/kube-scheduler-cp/logs.txt",
    "podlogs/kube-system/a/logs/kube-scheduler.txt",
    "kube-system/pods.json",
)
_VERSIONS = ("1.33", "1.34", "1.35", "1.36", "1.37")


class Case(NamedTuple):
    """One run of the program."""

    arguments: tuple[str, ...]
    files: Mapping[str, bytes]
    stdin: bytes = b""


def case(target: str, number: int) -> Case:
    """The case of this number, which is the same on every machine."""
    return TARGETS[target](Random(f"{target} {number}"))  # noqa: S311 - a number gives the same case again


@cache
def _bases() -> dict[str, list[bytes]]:
    """The inputs as JSON, of which a copy is made soonest."""
    found = yaml.safe_load((Path(__file__).parent / "bases.yaml").read_text("utf-8"))
    return {name: [msgspec.json.encode(each) for each in inputs] for name, inputs in found.items()}


def _one_of(name: str, chance: Random) -> Any:
    return msgspec.json.decode(chance.choice(_bases()[name]))


def _cluster(chance: Random, extras: int) -> dict[str, Any]:
    bases = _bases()
    chosen = chance.sample(bases["extras"], chance.randint(0, extras))
    items = [msgspec.json.decode(each) for each in (*bases["nodes"], *bases["pods"])]
    items += [item for group in chosen for item in msgspec.json.decode(group)]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _few(chance: Random) -> dict[str, Any]:
    """A list of a few objects, or a single one."""
    items = _cluster(chance, 1)["items"]
    some = chance.sample(items, min(len(items), chance.choice([1, 2, 3, 5])))
    return some[0] if chance.random() < 0.1 else {"apiVersion": "v1", "kind": "List", "items": some}


def _argument(text: str) -> str:
    """The text as far as a command line can hold it."""
    return _NO_ARGUMENT.sub("?", text)


def _encoded(value: Any, chance: Random, json_share: float = 0.5) -> bytes:
    return as_json(value, chance) if chance.random() < json_share else as_yaml(value, chance)


def _message(chance: Random) -> Case:
    text: str = _one_of("messages", chance)
    for _ in range(chance.randint(1, 4)):
        text = _other_text(text, chance)[:20_000]
    form = chance.choices(["json", "yaml", "table", "name"], [86, 6, 7, 1])[0]
    if chance.random() < 0.3:
        data = text.encode("utf-8", "surrogatepass")
        return Case(("message", "-o", form, "-"), {}, damaged(data, chance, 2) if chance.random() < 0.5 else data)
    return Case(("message", "-o", form, "--", _argument(text) or "x"), {})


def _other_text(text: str, chance: Random) -> str:
    """The message with a clause or a number changed, or foreign text in it."""
    how = chance.randrange(6)
    if how == 0:
        return re.sub(
            "[0-9]+", lambda _: chance.choice(["0", "1", "7", "-1", "1e9", "9" * 30, "9" * 5000]), text, count=2
        )
    if how == 1:
        clauses = text.split(", ")
        chance.shuffle(clauses)
        return ", ".join(clauses[: chance.randint(1, len(clauses))])
    if how == 2:
        return text + chance.choice([" ", ", ", ". ", "preemption: "]) + str(_one_of("messages", chance))
    if how == 3:
        return text[: chance.randint(0, len(text))]
    if how == 4:
        start = chance.randint(0, len(text))
        piece = text[start : start + chance.choice([1, 5, 40])]
        return text[:start] + piece * chance.choice([2, 10, 300]) + text[start:]
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(TEXTS) + text[at:]


def _use_of(file: str, chance: Random) -> tuple[str, ...]:
    """A command line that reads the file as a dump; to read it is most of what can go wrong."""
    kind = chance.random()
    if kind < 0.85:
        return ("read", file)
    if kind < 0.95:
        return ("snapshot", "-", *(["--anonymize"] if chance.random() < 0.3 else []), "--from", file)
    if kind < 0.98:
        return ("schedulers", "-o", chance.choice(_FORMATS[:5]), "--from", file)
    return ("explain", "--pending", "-A", "-o", chance.choice(_FORMATS), "--from", file)


def _json(chance: Random) -> Case:
    if chance.random() < 0.25:
        documents = mutated(_one_of("layouts", chance), chance)
        data = b"\n".join(as_json(each, chance) for each in (documents if isinstance(documents, list) else [documents]))
    else:
        data = as_json(mutated(_few(chance), chance), chance)
    kind = chance.random()
    if kind < 0.2:
        data = damaged(data, chance)
    elif kind < 0.3:
        data += chance.choice([b"", b"\n", b"\n---\n"]) + as_json(mutated(_one_of("pods", chance), chance), chance)
    return _piped(_use_of("dump.json", chance), {"dump.json": data}, chance)


def _yaml(chance: Random) -> Case:
    if chance.random() < 0.2:
        documents = mutated(_one_of("layouts", chance), chance)
        data = b"---\n".join(
            as_yaml(each, chance) for each in (documents if isinstance(documents, list) else [documents])
        )
    else:
        data = as_yaml(mutated(_few(chance), chance), chance)
    if chance.random() < 0.3:
        data += b"---\n" + as_yaml(mutated(_one_of("nodes", chance), chance), chance)
    if chance.random() < 0.2:
        data = damaged(data, chance)
    return _piped(_use_of("dump.yaml", chance), {"dump.yaml": data}, chance)


def _piped(arguments: tuple[str, ...], files: Mapping[str, bytes], chance: Random) -> Case:
    """The case, now and then with its file on standard input."""
    if chance.random() < 0.9:
        return Case(arguments, files)
    [name] = files
    return Case(tuple("-" if word == name else word for word in arguments), {}, files[name])


def _archive(chance: Random) -> Case:
    files = {
        "nodes.json": _encoded({"kind": "NodeList", "apiVersion": "v1", "items": [_one_of("nodes", chance)]}, chance)
    }
    for number in range(chance.randint(0, 2)):
        value = mutated(_one_of("pods", chance), chance, 2)
        files[f"cluster-resources/pods/{number}.{chance.choice(['json', 'yaml', 'txt'])}"] = _encoded(
            value, chance, 0.8
        )
    if chance.random() < 0.05:
        return Case(_use_of("bundle", chance), {f"bundle/{path}": data for path, data in files.items()})
    if chance.random() < 0.15:
        log: str = _one_of("logs", chance)
        files[chance.choice(_LOGS)] = damaged(log.encode(), chance)
    name, data = packed(files, chance)
    if chance.random() < 0.5:
        data = damaged(data, chance)
    return _piped(_use_of(name, chance), {name: data}, chance)


def _manifest(chance: Random) -> Case:
    documents = [_one_of("manifests", chance) for _ in range(chance.choice([1, 1, 1, 2]))]
    if chance.random() < 0.7:
        documents[0] = mutated(documents[0], chance, 3)
    name = chance.choice(["new.json", "new.yaml"])
    encode, between = (as_json, b"\n---\n") if name == "new.json" else (as_yaml, b"---\n")
    data = between.join(encode(document, chance) for document in documents)
    if chance.random() < 0.05:
        data = damaged(data, chance)
    arguments = ["whatif", name, "--from", "dump.json", "-o", chance.choice(_FORMATS)]
    for _ in range(chance.choice([0, 0, 1, 2])):
        edit = chance.choice([f"{chance.choice(_EDITS)}={chance.choice(_NODES)}", chance.choice(_OTHER_EDITS)])
        if chance.random() < 0.2:
            at = chance.randint(edit.index("=") + 1, len(edit))
            edit = _argument(edit[:at] + chance.choice(TEXTS) + edit[at:])
        arguments.append(edit)
    if chance.random() < 0.2:
        arguments.append(f"--replicas={chance.choice(['0', '3', '1', 'max', '20', '2', '-1', 'x', '9' * 30, ''])}")
    flags = ("--replace", "--with-pending", "--requeue-victims")
    arguments += [flag for flag in flags if chance.random() < 0.1]
    cluster = _cluster(chance, 2)
    dump = as_json(mutated(cluster, chance, 1) if chance.random() < 0.2 else cluster, chance)
    return Case(tuple(arguments), {name: data, "dump.json": dump})


def _configuration(chance: Random) -> Case:
    if chance.random() < 0.05:
        log: str = _one_of("logs", chance)
        data = log.encode()
    else:
        data = _encoded(mutated(_one_of("configurations", chance), chance), chance, 0.4)
    if chance.random() < 0.1:
        data = damaged(data, chance)
    form = chance.choices(["json", "yaml", "name", "table", "wide"], [70, 8, 8, 10, 4])[0]
    arguments = ["profiles", "--config", "scheduler.yaml", "-o", form]
    if chance.random() < 0.3:
        arguments += ["--kube-version", chance.choice((*_VERSIONS, "1.99", "x", "v1.36.1-gke.1"))]
    if chance.random() < 0.1:
        gates = chance.choice(
            ["A=true", "DynamicResourceAllocation=false", "=", "AllAlpha=true", _argument(chance.choice(TEXTS))]
        )
        arguments.append(f"--feature-gates={gates}")
    if chance.random() < 0.03:
        dump = {"dump.json": as_json(_cluster(chance, 1), chance)}
        shown = ("explain", "--pending", "-o", form, "--from", "dump.json", "--config", "scheduler.yaml")
        return Case(shown, {**dump, "scheduler.yaml": data})
    return Case(tuple(arguments), {"scheduler.yaml": data})


def _kubeconfig(chance: Random) -> Case:
    data = _encoded(mutated(_one_of("kubeconfigs", chance), chance), chance, 0.4)
    if chance.random() < 0.1:
        data = damaged(data, chance)
    arguments = [
        "explain",
        "web-0",
        "--kubeconfig",
        "config",
        "-o",
        chance.choice(_FORMATS[:5]),
        "--request-timeout=1s",
    ]
    if chance.random() < 0.15:
        flag = chance.choice(
            ["--context", "--cluster", "--user", "--server", "--token", "--as", "--as-group", "--namespace"]
        )
        arguments.append(f"{flag}={_argument(chance.choice((*TEXTS, 'b', 'exec', 'https://10.0.0.1')))}")
    return Case(tuple(arguments), {"config": data, "plugin": b"", "token": b"t\n", "ca.crt": b"none"})


def _whole(chance: Random) -> Case:
    """A whole command on a mutated cluster, in any format."""
    files = {"dump.json": as_json(mutated(_cluster(chance, 3), chance), chance)}
    command, *arguments = chance.choices(_COMMANDS, _COMMAND_SHARES)[0](chance)
    version = ["--kube-version", chance.choice(_VERSIONS)] if command == "explain" and chance.random() < 0.3 else []
    form = (
        [] if command == "snapshot" else ["-o", chance.choice(_FORMATS[:5] if command in _PLAIN_COMMANDS else _FORMATS)]
    )
    return Case((command, *version, *form, "--from", "dump.json", *arguments), files)


def _explain_pending(chance: Random) -> list[str]:
    return ["explain", "--pending", "-A", *(["--evidence"] if chance.random() < 0.2 else [])]


def _explain_pod(chance: Random) -> list[str]:
    pod = chance.choice(["web-0", "big", "placed", "deployment/web", _argument(chance.choice(TEXTS))])
    return ["explain", *chance.choice([[], ["--node=w1"], ["--node=w2"], ["--sampling"], ["--at-decision"]]), "--", pod]


def _capacity(chance: Random) -> list[str]:
    shapes = ["cpu=1", "a=cpu=500m,memory=1Gi", "example.com/gpu=1", f"a=cpu={_argument(chance.choice(TEXTS))}"]
    return ["capacity", *(f"--shape={shape}" for shape in chance.sample(shapes, chance.randint(0, 2)))]


def _snapshot(chance: Random) -> list[str]:
    return ["snapshot", "-", *(["--anonymize"] if chance.random() < 0.5 else [])]


def _diff(chance: Random) -> list[str]:
    return ["diff", "--to-kube-version", chance.choice(_VERSIONS)]


_COMMANDS: tuple[Callable[[Random], list[str]], ...] = (
    _explain_pending,
    _explain_pod,
    _capacity,
    _snapshot,
    _diff,
    lambda _: ["triage", "-A"],
    lambda _: ["schedulers"],
    lambda _: ["explain", "podgroups", "--pending", "-A"],
)
_COMMAND_SHARES = (40, 25, 7, 5, 5, 8, 5, 5)
_PLAIN_COMMANDS = frozenset({"diff", "schedulers", "triage"})


def _new_nodes(chance: Random) -> Case:
    """Would Karpenter make a node for a pod, of mutated pools and instance types?"""
    cluster, types = _cluster(chance, 1), _one_of("instance-types", chance)
    cluster["items"] += [_one_of("pools", chance) for _ in range(chance.choice([1, 1, 2]))]
    if chance.random() < 0.7:
        chosen = chance.choice([item for item in cluster["items"] if item["kind"] in {"NodePool", "NodeClaim", "Pod"}])
        mutated(chosen, chance, 3)
    if chance.random() < 0.6:
        types = mutated(types, chance, 3)
    pod = chance.choice(["web-0", "big"])
    arguments = ("explain", pod, "--new-nodes", "-o", chance.choice(_FORMATS), "--from", "dump.json")
    more = ("--instance-types", "types.json") if chance.random() < 0.8 else ()
    return Case((*arguments, *more), {"dump.json": as_json(cluster, chance), "types.json": as_json(types, chance)})


@cache
def _scenarios() -> list[tuple[str, bytes]]:
    """The clusters of fixtures/gates, each with the pod or the Job that is held."""
    folder = Path(__file__).parents[2] / "fixtures" / "gates"
    expected = yaml.safe_load((folder / "expected.yaml").read_text("utf-8"))
    found = ((each["target"], (folder / f"{name}.yaml").read_bytes()) for name, each in expected.items())
    return [(target, msgspec.json.encode(yaml.safe_load(data))) for target, data in found]


def _gates(chance: Random) -> Case:
    """The holder of a pod or a Job, of mutated pods, Workloads, queues and flavors."""
    target, data = chance.choice(_scenarios())
    cluster = msgspec.json.decode(data)
    for item in chance.sample(cluster["items"], chance.choice([1, 1, 2, 3])):
        mutated(item, chance, 3)
    form = ("-o", chance.choice(_FORMATS))
    command = chance.choices(
        [
            ("explain", target, "-n", "team-a", *form),
            ("explain", "--pending", "-A", *form),
            ("triage", "-A", "-o", chance.choice(_FORMATS[:5])),
            ("snapshot", "-", *(["--anonymize"] if chance.random() < 0.5 else [])),
        ],
        [70, 10, 10, 10],
    )[0]
    return Case((*command, "--from", "dump.json"), {"dump.json": as_json(cluster, chance)})


TARGETS: dict[str, Callable[[Random], Case]] = {
    "message": _message,
    "json": _json,
    "yaml": _yaml,
    "archive": _archive,
    "configuration": _configuration,
    "kubeconfig": _kubeconfig,
    "manifest": _manifest,
    "whole": _whole,
    "new-nodes": _new_nodes,
    "gates": _gates,
}

SHARES: dict[str, int] = {
    "message": 34,
    "json": 20,
    "yaml": 12,
    "archive": 16,
    "configuration": 7,
    "kubeconfig": 3,
    "manifest": 2,
    "whole": 4,
    "new-nodes": 1,
    "gates": 1,
}
"""The cases of each target among a hundred: what is quick is asked more often."""
