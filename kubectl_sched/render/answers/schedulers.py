"""The schedulers of a cluster, what each serves, and which schedulerNames nobody serves."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.writers.data import warn, write_data, write_names
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.render.writers.suggestion_text import command_lines, unbroken

if TYPE_CHECKING:
    from collections.abc import Iterator


_INDENT = "  "
_TO_FETCH = "default profile assumed; this fetches its own, for --config scheduler.yaml:"


def show_schedulers(data: dict[str, Any], output: str, color: str) -> None:
    """Print a report, as `cluster.scheduler_report` makes it."""
    if output not in {"json", "yaml"}:
        warn(data["warnings"])
    if output == "name":
        write_names(f"scheduler/{each['name']}" for each in data["items"])
    elif output in {"json", "yaml"}:
        write_data(data, output)
    else:
        from kubectl_sched.render.writers.terminal import print_parts

        print_parts(partial(_page, data), color)


def _page(data: dict[str, Any], width: int) -> Iterator[Text]:
    for item in data["items"]:
        yield Text(_head(item), style="bold" if item["serves"] else "bold red")
        yield from _lines(item, width - len(_INDENT))
    for each in data["unserved"]:
        yield Text(_unserved(each), style="bold red")


def _head(item: dict[str, Any]) -> str:
    where = f"{item['namespace']}/{item['name']}" if item["namespace"] else item["name"]
    version = f", kube-scheduler {item['version']}" if item["version"] else ""
    replicas = f", {count(len(item['pods']), 'replica')}" if len(item["pods"]) > 1 else ""
    serves = "" if item["serves"] else ", serves nobody"
    return safe(f"{item['kind']} {where}{version}{replicas}{serves}")


def _lines(item: dict[str, Any], width: int) -> Iterator[Text]:
    yield from (Text(f"{_INDENT}{line}") for line in _profiles(item))
    for number, command in enumerate(item["configuration"]["commands"]):
        yield Text(f"{_INDENT}{'or from the scheduler itself:' if number else _TO_FETCH}")
        yield from (unbroken(f"{_INDENT}{line}") for line in command_lines(command, width))
    yield from (Text(f"{_INDENT}{line}") for line in _state(item))


def _profiles(item: dict[str, Any]) -> Iterator[str]:
    for profile in item["profiles"]:
        pending = f", {profile['pending']:,} without a node" if profile["pending"] else ""
        yield safe(f"profile {profile['schedulerName']}: {count(profile['pods'], 'pod')}{pending}")
    source = item["configuration"]
    problem = f"; {source['problem']}" if source["problem"] else ""
    yield safe(f"configuration: {source['source']}{problem}")


def _state(item: dict[str, Any]) -> Iterator[str]:
    election = item["leaderElection"]
    if election and election["holder"]:
        whose = {True: "", False: ", none of these"}.get(election["isHolder"], "")
        yield safe(f"Lease {election['lease']}: held by {election['holder']}{whose}")
    for flag in ("emulated-version", "feature-gates"):
        if value := item["flags"].get(flag):
            yield safe(f"{flag.replace('-', ' ')}: {value}")
    yield from (safe(f"! {problem}") for problem in item["problems"])


def _unserved(each: dict[str, Any]) -> str:
    pending = f", {each['pending']:,} of them without a node" if each["pending"] else ""
    told = f"nobody is seen to serve schedulerName {each['schedulerName']} ({count(each['pods'], 'pod')}{pending})"
    if each["product"]:
        told += f": it is {each['product']}"
    if each["wouldServe"]:
        told += f": {each['wouldServe']} has the profile, but does not serve"
    if each["mayServe"]:
        told += f": {' and '.join(each['mayServe'])} may, whose configuration was not read"
    return safe(told)
