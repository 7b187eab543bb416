"""All that `schedulers` says, as plain data. The schema is stable: fields are added, never renamed or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.sources.discovery.known_schedulers import PRODUCTS, product_pods
from kubectl_sched.sources.discovery.serving_schedulers import asked_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.schedulers import Lease
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.discovery.kube_schedulers import FoundScheduler


def scheduler_report(schedulers: ClusterSchedulers, pods: Iterable[Pod] | None = None) -> dict[str, Any]:
    """The schedulers with what each serves, then the names that pods ask for and nobody is seen to serve.

    `pods` are those whose names are meant; None for all.
    """
    seen = schedulers.seen
    asked = asked_for(seen.pods if pods is None else pods)
    items = [_item(scheduler, asked) for scheduler in seen.found]
    if not any(DEFAULT_SCHEDULER_NAME in scheduler.profiles for scheduler in seen.found):
        items += _unseen(schedulers, asked)
    items += (item for name in asked for item in _of_product(name, asked[name], seen.pods))
    items += (item for name in asked for item in _by_lease(name, asked, schedulers))
    served = {profile["schedulerName"] for item in items if item["serves"] for profile in item["profiles"]}
    return {
        "apiVersion": API_VERSION,
        "kind": "Schedulers",
        "items": items,
        "unserved": [
            {
                "schedulerName": name,
                "pods": total,
                "pending": pending,
                "product": PRODUCTS[name].name if name in PRODUCTS else None,
                "wouldServe": owner.key if (owner := seen.owner(name)) is not None else None,
                "mayServe": [scheduler.key for scheduler in schedulers.may_serve(name)],
            }
            for name, (total, pending) in asked.items()
            if name not in served
        ],
        "warnings": list(schedulers.dump.warnings),
    }


def _item(scheduler: FoundScheduler, asked: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    source = scheduler.configuration
    lease = scheduler.lease
    return {
        "kind": scheduler.kind,
        "namespace": scheduler.namespace,
        "name": scheduler.name,
        "pods": [pod.metadata.name for pod in scheduler.pods],
        "image": scheduler.image,
        "version": str(scheduler.version.of_minor) if scheduler.version else None,
        "patch": str(scheduler.version) if scheduler.version and scheduler.version.names_patch else None,
        "flags": dict(sorted(scheduler.flags.items())),
        "configuration": {
            "source": source.source,
            "apiVersion": source.document.get("apiVersion") if source.document is not None else None,
            "command": str(source.commands[0]) if source.commands else None,
            "commands": list(map(str, source.commands)),
            "problem": source.problem,
        },
        "leaderElection": scheduler.lease_key
        and {
            "lease": scheduler.lease_key,
            "holder": lease.spec.holder_identity if lease else None,
            "isHolder": scheduler.holds_lease,
            "renewTime": lease.spec.renew_time if lease else None,
        },
        "profiles": [_profile(name, asked) for name in scheduler.profiles],
        "serves": scheduler.serves,
        "problems": list(scheduler.problems),
    }


def _profile(name: str, asked: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    total, pending = asked.get(name, (0, 0))
    return {"schedulerName": name, "pods": total, "pending": pending}


def _assumed(kind: str, name: str, source: str, profiles: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "kind": kind,
        "namespace": "",
        "name": name,
        "pods": [],
        "image": None,
        "version": None,
        "flags": {},
        "configuration": {"source": source, "apiVersion": None, "command": None, "commands": [], "problem": None},
        "leaderElection": None,
        "profiles": list(profiles),
        "serves": True,
        "problems": [],
    }


def _unseen(schedulers: ClusterSchedulers, asked: Mapping[str, tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """The default scheduler, if it is one that cannot be seen."""
    if schedulers.seen.lacks_default:
        return
    assumed = schedulers.assumed(DEFAULT_SCHEDULER_NAME)
    profiles = [_profile(name, asked) for name in assumed.configuration.profiles]
    item = _assumed("assumed", DEFAULT_SCHEDULER_NAME, assumed.evidence, profiles)
    yield {
        **item,
        "version": str(assumed.configuration.version),
        "leaderElection": _held(schedulers.seen.renewed_lease),
    }


def _by_lease(
    name: str, asked: Mapping[str, tuple[int, int]], schedulers: ClusterSchedulers
) -> Iterator[dict[str, Any]]:
    """Yield the scheduler that serves the name without a visible pod, such as `bind --watch` outside of the cluster."""
    lease = schedulers.seen.lease_of_unseen(name) if schedulers.seen.owner(name) is None else None
    if lease is not None:
        assumed = schedulers.assumed(name)
        item = _assumed("assumed", name, assumed.evidence, [_profile(name, asked)])
        yield {**item, "version": str(assumed.configuration.version), "leaderElection": _held(lease)}


def _held(lease: Lease | None) -> dict[str, Any] | None:
    if lease is None:
        return None
    spec = lease.spec
    return {"lease": lease.key, "holder": spec.holder_identity, "isHolder": None, "renewTime": spec.renew_time}


def _of_product(name: str, asked: tuple[int, int], pods: Sequence[Pod]) -> Iterator[dict[str, Any]]:
    own = product_pods(name, pods)
    if own:
        item = _assumed("product", PRODUCTS[name].name, "not a kube-scheduler, so not replayed", [])
        profiles = [{"schedulerName": name, "pods": asked[0], "pending": asked[1]}]
        yield {
            **item,
            "namespace": own[0].metadata.namespace,
            "pods": [pod.metadata.name for pod in own],
            "profiles": profiles,
        }
