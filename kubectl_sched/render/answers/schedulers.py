"""The schedulers of a cluster, what each serves, and which schedulerNames nobody serves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.render.document import Commands, Document, Said, Sentence, Verdict
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.show import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator


_INDENT = 2
_TO_FETCH = "default profile assumed; this fetches its own, for --config scheduler.yaml:"


def shown_schedulers(data: dict[str, Any]) -> Shown:
    """Return a report, as `queries.schedulers` makes it, in each form."""
    return Shown(
        document=lambda _: schedulers_document(data),
        data=lambda: data,
        names=lambda: (f"scheduler/{each['name']}" for each in data["items"]),
        warnings=tuple(data["warnings"]),
    )


def schedulers_document(data: dict[str, Any]) -> Document:
    """Return what is known of each scheduler, and the schedulerNames that nobody serves."""
    parts = [said for item in data["items"] for said in _scheduler(item)]
    parts += [Sentence(text=_unserved(each), tone="bad") for each in data["unserved"]]
    schedulers = count(len(data["items"]), "scheduler")
    unserved = len(data["unserved"])
    without = f"; {count(unserved, 'schedulerName')} that nobody serves" if unserved else ""
    return Document(
        verdict=Verdict(text=f"{schedulers}{without}."), parts=tuple(parts), heading="Schedulers", command="schedulers"
    )


def _scheduler(item: dict[str, Any]) -> Iterator[Said]:
    yield Sentence(text=_head(item), tone="strong" if item["serves"] else "bad")
    yield from (Sentence(text=each, indent=_INDENT) for each in _profiles(item))
    for number, command in enumerate(item["configuration"]["commands"]):
        told = "or from the scheduler itself:" if number else _TO_FETCH
        yield Sentence(text=told, indent=_INDENT)
        yield Commands(commands=(command,), indent=2 * _INDENT)
    yield from (Sentence(text=each, indent=_INDENT) for each in _state(item))


def _head(item: dict[str, Any]) -> str:
    where = f"{item['namespace']}/{item['name']}" if item["namespace"] else item["name"]
    version = f", kube-scheduler {item['version']}" if item["version"] else ""
    replicas = f", {count(len(item['pods']), 'replica')}" if len(item["pods"]) > 1 else ""
    serves = "" if item["serves"] else ", serves nobody"
    return safe(f"{item['kind']} {where}{version}{replicas}{serves}")


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
