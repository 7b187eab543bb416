"""Measures what docs/development/performance.md says: `python -m tests.bench.measure [--only NAME]`.

Whole programs are run in turn with their baseline, several times, and the ratio of the medians is what counts: the
machine's own speed falls out of it. What has no baseline is a figure, of the machine that the first line names. Nothing
here is asserted by a test.
"""

from __future__ import annotations

import argparse
import gzip
import os
import platform
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from tests.bench import clusters, make_dump
from tests.bench.figures import Pairs, own_environment, with_spread
from tests.scheduler.cycles import with_cycle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_WAITING = 100
PODS = ["explain", "pods", "-A"]
IMPORTS = [sys.executable, "-c", "import typer, rich.table, msgspec, numpy"]
OTHERS = ("pending", "triage_screen", "placements", "live", "bind_watch", "cluster_capacity")
_TOUCHED_BYTES = 3 << 30
"""Twice what the largest dump takes."""
_TAKEN_BACK_SECONDS = 6
_PEAK = "import resource, sys; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def run(command: Sequence[str]) -> float:
    """Wall seconds of one run; its exit code says what the pod's outcome is, not whether it ran."""
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False, env=own_environment())
    seconds = time.perf_counter() - started
    if done.returncode not in {0, 1} or b"Traceback" in done.stderr:
        raise RuntimeError(done.stderr.decode())
    return seconds


def peak_bytes(command: Sequence[str]) -> int:
    """Peak resident memory of one run."""
    script = f"import subprocess; subprocess.run({list(command)!r}, capture_output=True); {_PEAK}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    return int(done.stdout) * 1024


def paired(
    command: Sequence[str], baseline: Sequence[str], runs: int, before: Callable[[], object] = lambda: None
) -> Pairs:
    """Both, run in turn after one warm-up each, and something before each run."""
    run(command), run(baseline)
    both = []
    for _ in range(runs):
        before()
        seconds = run(command)
        before()
        both.append((seconds, run(baseline)))
    return Pairs([each[0] for each in both], [each[1] for each in both])


def touch_memory() -> None:
    """Let a process touch memory and end.

    The host of a virtual machine may take back what has been free for some seconds (free page reporting). It gives each
    page again more slowly than the kernel does, which no program can change.
    """
    touch = f"for _ in range(0, {_TOUCHED_BYTES}, 1 << 28): blocks.append(b'x' * (1 << 28))"
    subprocess.run([sys.executable, "-c", f"blocks = []\n{touch}"], check=True)


def wait_for_the_host() -> None:
    """Let it take back what is free."""
    time.sleep(_TAKEN_BACK_SECONDS)


def times_of(call: Callable[[], object], runs: int) -> list[float]:
    """Seconds of a call in this process, after one warm-up."""
    call()
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return seconds


def row(what: str, measured: str, bound: str) -> None:
    """One line of the table."""
    sys.stdout.write(f"| {what} | {measured} | {bound} |\n")
    sys.stdout.flush()


def explain(dump: Path) -> list[str]:
    """The command that explains a pod of the synthetic dump, as a person would ask."""
    pod = "node-agent-00000-0000000"
    return [sys.executable, "-m", "kubectl_sched", "explain", "pod", pod, "-n", "kube-system", "--from", str(dump)]


def small(folder: Path) -> None:
    """Start-up included, against importing what the program is made of; as JSON and as YAML."""
    dump, as_yaml = folder / "small.json", folder / "small.yaml"
    write_dump(dump, 10, 60)
    as_yaml.write_bytes(msgspec.yaml.encode(msgspec.json.decode(dump.read_bytes())))
    for what, path, bound in (
        ("a 10-node dump, end to end, against importing typer, rich.table, msgspec and numpy", dump, "at most 1.3"),
        ("the same as YAML", as_yaml, "at most 1.6"),
    ):
        row(what, str(paired(explain(path), IMPORTS, 31)), bound)


def large(folder: Path) -> None:
    """Half a gigabyte, against json.load of the same file; and three times the pods."""
    dump, larger = folder / "large.json", folder / "larger.json"
    write_dump(dump, 5000, 50_000)
    compressed(dump)
    load = [sys.executable, "-c", f"import json; json.load(open({str(dump)!r}))"]
    against_load = paired(explain(dump), load, 5)
    size = dump.stat().st_size
    row(f"5,000 nodes and 50,000 pods ({size / 1e6:.0f} MB), end to end, against json.load",
        str(against_load), "at most 0.35")  # fmt: skip
    row("peak memory, against the file's size", f"{peak_bytes(explain(dump)) / size:.2f}", "at most 1.0")
    write_dump(larger, 5000, 150_000)
    sizes = larger.stat().st_size / 1e9, size / 1e9
    for before, where, bound in (
        (touch_memory, "", "at most 1.0"),
        (wait_for_the_host, ", the machine's memory taken back before", ""),
    ):
        pairs = paired(explain(larger), explain(dump), 5, before)
        row(f"150,000 pods, seconds per GB, against 50,000 pods{where}", str(pairs.per(*sizes, "GB")), bound)
    row(
        "its peak memory, against the file's size", f"{peak_bytes(explain(larger)) / sizes[0] / 1e9:.2f}", "at most 1.0"
    )
    larger.unlink()
    dump.unlink()


def compressed(dump: Path) -> None:
    """The large file compressed, against expanding it alone."""
    packed = dump.with_suffix(".json.gz")
    with dump.open("rb") as content, gzip.open(packed, "wb") as file:
        shutil.copyfileobj(content, file)
    row("the same file compressed by gzip, against `gzip -dc` of it",
        str(paired(explain(packed), ["gzip", "-dc", str(packed)], 5)), "at most 1.5")  # fmt: skip
    packed.unlink()


def lists(folder: Path) -> None:
    """Answers about many pods at once."""
    dump, larger = folder / "lists.json", folder / "diff.json"
    write_dump(dump, 300, 300)
    program = [sys.executable, "-m", "kubectl_sched"]
    for output in ("wide", "html"):
        seconds = [run([*program, *PODS, "-o", output, "--from", str(dump)]) for _ in range(5)]
        row(f"`-o {output}` of 300 pods on 300 nodes", with_spread(seconds, "s"), "at most 3 s")
    write_dump(larger, 1000, 20_000)
    diff = [*program, "diff", "-A", "--to-kube-version", "1.37", "--from", str(larger)]
    seconds = [run(diff) for _ in range(3)]
    row("`diff` of 20,000 pods on 1,000 nodes", with_spread(seconds, "s"), "at most 10 s")
    larger.unlink()


def cycle() -> None:
    """The cycle itself, columns warm."""
    scheduler = clusters.scheduler(5000, 50_000, cpu="100m")
    for what, pod in (
        ("plain pod", clusters.plain_pod("100m")),
        ("pod with spread and affinity", clusters.choosy_pod()),
    ):
        seconds = times_of(lambda pod=pod: scheduler.schedule_one(pod), 9)  # type: ignore[misc]
        milliseconds = [each * 1000 for each in seconds]
        row(f"all filters and scores over 5,000 nodes and 50,000 pods, {what}",
            with_spread(milliseconds, "ms"), "about 30 ms")  # fmt: skip


def preemption() -> None:
    """PostFilter where every node is full."""
    scheduler = clusters.scheduler(5000, 150_000, cpu="530m")
    result = with_cycle(scheduler.schedule_one(clusters.plain_pod()))
    framework, state, verdict = result.framework, result.state, result.verdict
    assert verdict is not None
    seconds = times_of(lambda: framework.run_post_filter(state, result.pod, result.nodes, verdict), 5)
    row("PostFilter over 5,000 full nodes with 150,000 pods, every node dry-run",
        with_spread(seconds, "s"), "at most 0.3 s")  # fmt: skip


def distinct(folder: Path) -> None:
    """Twice as much of what has nothing in common: every pod its own labels, every node its own taints and labels."""
    manifest = folder / "manifest.json"
    manifest.write_bytes(msgspec.json.encode(stranger("new", "", {"app": "new"}, "100m")))
    whatif = ["whatif", str(manifest), "--replicas", "50"]
    for command in (["explain", "pod", "waits-0"], ["explain", "--pending"], [], ["capacity"], whatif):
        twice_as_long(folder, command, "4,000 nodes against 2,000", [(4000, 10), (2000, 10)])
    # Each pod is judged on all nodes, so this is linear in either of the two.
    diff = ["diff", "-A", "--to-kube-version", "1.37"]
    twice_as_long(folder, diff, "20 pods on each of 100 nodes against 10", [(100, 20), (100, 10)])


def twice_as_long(folder: Path, command: Sequence[str], what: str, sizes: Sequence[tuple[int, int]]) -> None:
    """Measure a command on a larger and a smaller cluster: nodes, and pods on each."""
    dumps = [folder / f"{nodes}-{pods}.json" for nodes, pods in sizes]
    for path, (nodes, pods) in zip(dumps, sizes, strict=True):
        path.write_bytes(
            msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": list(strangers(nodes, pods))})
        )
    asked = [sys.executable, "-m", "kubectl_sched", *command, "--from"]
    pairs = paired([*asked, str(dumps[0])], [*asked, str(dumps[1])], 3)
    name = " ".join(["kubectl sched", *(word for word in command[:2] if "/" not in word)])
    row(f"`{name}` where nothing is alike, {what}", str(pairs), "about 2")


def strangers(nodes: int, pods: int) -> Iterator[dict[str, Any]]:
    """Nodes without anything in common, so many pods on each, and up to 100 that wait."""
    for index in range(nodes):
        name = f"node-{index}"
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {f"label-{index}": name, clusters.HOSTNAME: name}},
            "spec": {"taints": [{"key": f"taint-{index}", "effect": "PreferNoSchedule"}]},
            "status": {"allocatable": {"cpu": "16", "memory": f"{64 + index}Gi", "pods": "110"}},
        }
        for number in range(pods):
            pod = f"pod-{index}-{number}"
            yield stranger(pod, name, {f"key-{pod}": pod}, f"{10 + index % 500 + number}m")
        if index < _WAITING:
            yield stranger(f"waits-{index}", "", {f"key-{index}": "waits"}, f"{20_000 + index}m")


def stranger(name: str, node: str, labels: dict[str, str], cpu: str) -> dict[str, Any]:
    """A pod that asks for an amount of cpu."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels},
        "spec": {
            "schedulerName": "default-scheduler",
            **({"nodeName": node} if node else {}),
            "containers": [{"name": "main", "image": name, "resources": {"requests": {"cpu": cpu}}}],
        },
        "status": {"phase": "Running" if node else "Pending"},
    }


def bench(name: str, _: Path) -> None:
    """A bench that is a program of its own and prints its own table; cluster-capacity's needs that on the PATH."""
    sys.stdout.write(f"\n{name}:\n\n")
    sys.stdout.flush()
    subprocess.run([sys.executable, "-m", f"tests.bench.{name}"], check=name != "cluster_capacity")


def write_dump(path: Path, nodes: int, pods: int) -> None:
    """The synthetic dump of make_dump.py."""
    with path.open("w", encoding="utf-8") as file:
        make_dump.write(file, nodes, pods, indent=True, managed_fields=False)
    os.sync()  # or writing to the disk would go on beside what is measured


BENCHES: dict[str, Callable[[Path], None]] = {
    "small": small,
    "large": large,
    "lists": lists,
    "distinct": distinct,
    "cycle": lambda _: cycle(),
    "preemption": lambda _: preemption(),
    **{name: partial(bench, name) for name in OTHERS},
}


def main() -> None:
    """Measure what is asked for, by default everything, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=BENCHES, help="repeatable; all of them")
    asked = parser.parse_args().only
    sys.stdout.write(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n\n")
    sys.stdout.write("| what | measured | bound |\n|---|---|---|\n")
    with TemporaryDirectory() as folder:
        for name in asked or BENCHES:
            BENCHES[name](Path(folder))


if __name__ == "__main__":
    main()
