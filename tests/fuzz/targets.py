"""What is fuzzed: each target makes files and a command line of a source of randomness."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, NamedTuple

from tests.fuzz.encodings import archived, as_documents, as_json, as_yaml
from tests.fuzz.inputs import CONFIGURATION, KUBECONFIG, MANIFESTS, MESSAGES, OBJECTS, some_objects
from tests.fuzz.mutations import HOSTILE_TEXTS, mutated, mutated_bytes, mutated_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

_OUTPUTS = ("table", "table", "wide", "json", "json", "yaml", "name", "markdown", "html")
_VERSIONS = ("1.33", "1.34", "1.35", "1.36", "1.37")


class Target(NamedTuple):
    """`make` writes the files of a case into a folder, and returns the command line. Of 100 cases `share` are its."""

    make: Callable[[Random, Path], list[str]]
    share: int


def _questions(random: Random, dump: str) -> list[str]:
    """A command line about a dump."""
    output = ["-o", random.choice(_OUTPUTS)]
    asked = random.choice(
        (
            ["explain", "web-0", "-n", "shop", *output],
            ["explain", "--pending", "-A", *output],
            ["explain", "--pending", "-A", *output],
            ["explain", "--pending", "-A", "--new-nodes"],
            ["explain", "bound-1", "-n", "shop", "--node", "w1"],
            ["explain", random.choice(HOSTILE_TEXTS) or "x", "-n", random.choice(HOSTILE_TEXTS) or "x", *output],
            ["explain", "podgroup", "train"],
            ["schedulers", "-o", random.choice(("table", "json", "yaml"))],
            ["snapshot", "-", *random.choice(([], ["--anonymize"]))],
            ["whatif", "deployment/web", "-n", "shop", "--replicas", "3", "-o", random.choice(("table", "json"))],
            ["whatif", "--drain", "w*", "-o", random.choice(("table", "json", "name"))],
            ["diff", "--to-kube-version", random.choice(_VERSIONS), "-o", random.choice(("table", "json"))],
        )
    )
    if random.random() < 0.3 and asked[0] in {"explain", "whatif"}:
        asked += ["--kube-version", random.choice(_VERSIONS)]
    return [*asked, "--from", dump]


def _json(random: Random, folder: Path) -> list[str]:
    value = {"apiVersion": "v1", "kind": "List", "items": some_objects(random)}
    path = folder / "dump.json"
    path.write_bytes(as_json(mutated(value, random), random))
    return _questions(random, str(path))


def _yaml(random: Random, folder: Path) -> list[str]:
    path = folder / "dump.yaml"
    path.write_bytes(as_yaml({"kind": "List", "items": mutated(some_objects(random)[:4], random)}, random))
    return _questions(random, str(path))


def _commands(random: Random, folder: Path) -> list[str]:
    """Names that everything agrees on are others: where Kubernetes would accept them, commands are about them."""
    text = json.dumps(OBJECTS)
    for name in random.sample(_NAMES, k=random.randint(1, 4)):
        new = random.choice(HOSTILE_TEXTS) if random.random() < 0.3 else _valid_name(random)
        text = text.replace(f'"{name}"', json.dumps(new))
    path = folder / "dump.json"
    path.write_text(text)
    output = ["-o", random.choice(("table", "json", "json", "wide", "markdown"))]
    return random.choice(
        (
            ["explain", "--pending", "-A", *output, "--from", str(path)],
            ["explain", "web-1", "huge", "-n", "shop", *output, "--from", str(path)],
            ["explain", "web-1", "-n", "shop", *output, "--from", str(path)],
            ["schedulers", "-o", random.choice(("table", "json")), "--from", str(path)],
        )
    )


_NAMES = (
    "w1",
    "w2",
    "w3",
    "shop",
    "web",
    "web-5d",
    "disk",
    "ssd",
    "nvme",
    "dedicated",
    "db",
    "gpu",
    "kube-scheduler-w1",
)


def _valid_name(random: Random) -> str:
    middle = "".join(random.choices("abcxyz0189-.", k=random.randint(0, 30)))
    return f"a{middle}z"


def _documents(random: Random, folder: Path) -> list[str]:
    """A folder of files, as dumps of whole clusters are."""
    place = folder / "dump"
    for item in some_objects(random)[:5]:
        name = f"{item['kind'].lower()}s.{random.choice(('json', 'yaml', 'yml', 'txt', 'json.gz'))}"
        inside = place / random.choice(("", "shop", "namespaces/shop/core"))
        inside.mkdir(parents=True, exist_ok=True)
        (inside / name).write_bytes(as_documents([mutated(item, random)], random))
    return _questions(random, str(place))


def _archives(random: Random, folder: Path) -> list[str]:
    files = {
        f"dump/{item['kind'].lower()}s-{number}.json": json.dumps(item).encode()
        for number, item in enumerate(some_objects(random))
    }
    path = folder / random.choice(("dump.tar.gz", "dump.zip", "dump", "dump.json", "dump.tar.xz"))
    path.write_bytes(archived(files, random))
    return _questions(random, str(path))


def _manifests(random: Random, folder: Path) -> list[str]:
    path = folder / "new.yaml"
    manifest = mutated(copy.deepcopy(random.choice(MANIFESTS)), random)
    path.write_bytes(as_json(manifest, random) if random.random() < 0.5 else as_yaml(manifest, random))
    output = ["-o", random.choice(("table", "json", "yaml", "name", "markdown"))]
    edits = random.choice(([], ["--replicas", "4"], ["--replicas", "max"], ["--cordon", "w1"], ["--add-nodes", "1=w1"]))
    return ["whatif", str(path), *edits, *output, "--from", str(folder.parent / "sound.json")]


def _configurations(random: Random, folder: Path) -> list[str]:
    path = folder / "config.yaml"
    configuration = mutated(copy.deepcopy(CONFIGURATION), random)
    path.write_bytes(as_json(configuration, random) if random.random() < 0.5 else as_yaml(configuration, random))
    version = ["--kube-version", random.choice(_VERSIONS)]
    if random.random() < 0.3:
        return ["explain", "web-0", "-n", "shop", "--config", str(path), "--from", str(folder.parent / "sound.json")]
    return ["profiles", "--config", str(path), "-o", random.choice(("table", "json", "yaml")), *version]


def _messages(random: Random, _: Path) -> list[str]:
    text = mutated_text(random.choice(MESSAGES), random)
    text = text.replace("\x00", "").encode("utf-8", "replace").decode()
    return ["message", "-o", random.choice(("table", "json", "yaml", "markdown")), "--", text]


def _kubeconfigs(random: Random, folder: Path) -> list[str]:
    path = folder / "config"
    value = mutated(copy.deepcopy(KUBECONFIG), random)
    data = as_yaml(value, random) if random.random() < 0.7 else as_json(value, random)
    path.write_bytes(mutated_bytes(data, random) if random.random() < 0.1 else data)
    users = [user["name"] for user in KUBECONFIG["users"]]
    clusters = [cluster["name"] for cluster in KUBECONFIG["clusters"]]
    flags = ["--user", random.choice(users), "--cluster", random.choice(clusters)] if random.random() < 0.5 else []
    return ["explain", "web-0", "--kubeconfig", str(path), *flags, "--request-timeout", "1s"]


TARGETS = {
    "json": Target(_json, 17),
    "commands": Target(_commands, 5),
    "yaml": Target(_yaml, 10),
    "documents": Target(_documents, 4),
    "archives": Target(_archives, 8),
    "manifests": Target(_manifests, 8),
    "configurations": Target(_configurations, 15),
    "messages": Target(_messages, 20),
    "kubeconfigs": Target(_kubeconfigs, 13),
}


def write_sound(folder: Path) -> None:
    """Write the sound dump that manifests and configurations are tried on."""
    (folder / "sound.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS}))
