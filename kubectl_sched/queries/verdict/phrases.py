"""Clauses about nodes that one plugin rejects; kube-scheduler's own reason where a plugin has no clause here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import bytes_text
from kubectl_sched.framework.clauses import agreeing, first_few
from kubectl_sched.framework.plugin_error_boundary import NOT_JUDGED
from kubectl_sched.framework.runtime import nominated_ahead
from kubectl_sched.queries.verdict.rejections import (
    CORDONED,
    FIT,
    NOMINATED,
    OF_CONTROLLERS,
    TAINTS,
    VOLUME_PLUGINS,
    Rejection,
    set_by_controller,
)
from kubectl_sched.queries.verdict.resource_words import missing_amount, of_resource
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.scheduler.result import ScheduleResult

_SHORT_KEYS: Final = {
    "kubernetes.io/hostname": "node",
    "topology.kubernetes.io/zone": "zone",
    "topology.kubernetes.io/region": "region",
    "failure-domain.beta.kubernetes.io/zone": "zone",
    "topology.ebs.csi.aws.com/zone": "zone",
    "topology.gke.io/zone": "zone",
    "topology.disk.csi.azure.com/zone": "zone",
}


_ROWS_EXAMINED: Final = 20


class Phrase(Record, frozen=True, kw_only=True):
    """One rejection of some nodes in words."""

    several: str
    """About several nodes, its verb first: `lack cpu`."""

    detail: str = ""
    """The numbers or objects behind it; may stand behind a colon."""

    none_has: str = ""
    """About all nodes, behind `no node`; empty where `several` is all there is."""

    one_has: str = ""
    """About a single node, behind its name; empty where `several` is all there is."""

    sums: str = ""
    """About a whole group of nodes; empty where `several` is all there is."""

    @property
    def of_one(self) -> str:
        """The clause about a single node, behind its name."""
        return self.one_has or agreeing(1, self.several)


def short_key(key: str) -> str:
    """Return `zone` for the well-known labels of zones, and alike for hosts and regions; else the key."""
    return _SHORT_KEYS.get(key, key)


def phrase_of(result: ScheduleResult, rejection: Rejection, rows: Sequence[int]) -> Phrase:
    """Return the clauses about rows that are all kept out by the rejection."""
    if rejection.plugin == FIT:
        return _fit(result, rejection.what, rows)
    if rejection == Rejection("", NOT_JUDGED):
        return Phrase(several="pass everything that was judged")
    if rejection.plugin == CORDONED:
        return Phrase(several="are cordoned")
    if rejection.plugin == TAINTS:
        return _of_taint(rejection.what)
    by_facts = _BY_PLUGIN.get(rejection.plugin)
    facts = next((each.facts for each in result.filter_evidence(rejection.plugin, rows[0])), {})
    if by_facts is not None and facts:  # a spec that is too large has no evidence
        return _APART if _lack_different_volumes(result, rejection.plugin, rows) else by_facts(facts)
    by = f" by {rejection.plugin}" if rejection.plugin else ""
    return Phrase(several=f"are rejected{by}", detail=rejection.what)


_APART: Final = Phrase(several="do not reach all of its volumes", none_has="reaches all of its volumes")


def _lack_different_volumes(result: ScheduleResult, plugin: str, rows: Sequence[int]) -> bool:
    """Report whether some of the nodes lack one volume of the pod, and some another."""
    if plugin not in VOLUME_PLUGINS:
        return False
    evidence = [result.filter_evidence(plugin, row)[:1] for row in rows[:_ROWS_EXAMINED]]
    return len({str(each.facts.get("claim")) for first in evidence for each in first}) > 1


def _fit(result: ScheduleResult, what: str, rows: Sequence[int]) -> Phrase:
    if what == NOMINATED:
        ahead = nominated_ahead(result.nodes.nominated.get(result.nodes.names[rows[0]], ()), result.pod)
        return Phrase(several="have room only for nominated pods", detail=first_few([each.key for each in ahead]))
    words = of_resource(result, what, rows)
    return Phrase(
        several=words.lack,
        detail=words.detail,
        none_has=words.none_has,
        one_has=words.one_has,
        sums=words.sums,
    )


def lacks(result: ScheduleResult, rejections: Sequence[Rejection], row: int) -> str:
    """Return what one node lacks, for the closest node of a group."""
    told = [
        missing_amount(result, each.what, row)
        if each.plugin == FIT and each.what != NOMINATED
        else agreeing(1, phrase_of(result, each, [row]).several)
        for each in rejections
    ]
    return "; ".join(told)


def _of_taint(taint: str) -> Phrase:
    key = taint.partition(":")[0].partition("=")[0]
    if key in OF_CONTROLLERS:
        return Phrase(several=OF_CONTROLLERS[key])
    if set_by_controller(key):
        return Phrase(several=f"have taint {key}, which its controller removes")
    if key in {"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"}:
        return Phrase(several="have the taint of the control plane")
    short = taint.removesuffix(":NoSchedule")
    return Phrase(several=f"have taint {short}")


def _spread(facts: Mapping[str, JSON]) -> Phrase:
    key = short_key(str(facts["topologyKey"]))
    if "missingLabel" in facts:
        label = f"label {facts['missingLabel']}"
        return Phrase(several=f"have no {label}", none_has=f"has {label}, over which its pods are spread")
    wanted, existing = facts["minDomains"], facts["domainCount"]
    domains = facts["domains"]
    counts = dict(domains) if isinstance(domains, dict) else {}
    fewest = min(counts, key=lambda name: counts[name], default="")
    detail = f"{fewest} has {counts[fewest]}, {facts['domain']} has {facts['matching']}" if counts else ""
    if facts["minimum"] == 0 and isinstance(wanted, int) and isinstance(existing, int) and wanted > existing:
        detail = f"minDomains is {wanted}, only {existing} exist"
    elif key == "node":
        detail = f"they have {facts['matching']} of its pods, others {facts['minimum']}"
    return Phrase(several=f"would exceed maxSkew {facts['maxSkew']} over {key}", detail=detail)


def _neighbours(facts: Mapping[str, JSON]) -> Phrase:
    rule, key = facts["rule"], short_key(str(facts.get("topologyKey", "")))
    named = facts.get("pods")
    pods = ", ".join(map(str, named[:1])) if isinstance(named, list) else ""
    where = "on the same node" if key == "node" else f"in the same {key}"
    if rule == "affinity":
        domains = facts.get("domains")
        if facts.get("domain") is None:
            label = f"label {facts['topologyKey']}"
            return Phrase(several=f"have no {label}", none_has=f"has {label}, which its pod affinity needs")
        if isinstance(domains, list) and domains:
            return Phrase(several=f"have no pod {facts['selector']} {where}", detail=f"{domains[0]} has")
        return Phrase(several=f"have no pod {facts['selector']} {where}", detail=f"no node has one{_like(facts)}")
    if rule == "antiAffinity":
        return Phrase(several=f"have pods {facts['selector']} {where}", detail="its anti-affinity keeps it away")
    return Phrase(several=f"have pods {where} whose anti-affinity keeps it away", detail=pods)


def _like(facts: Mapping[str, JSON]) -> str:
    """Return `; there is app=redis`, or where such pods are that the term does not see; empty without either."""
    near, namespaces = facts.get("nearLabels"), facts.get("namespacesWithPods")
    if isinstance(near, list) and near and isinstance(near[0], list):
        return f"; there is {near[0][2]}={near[0][3]}"
    return f"; one is in namespace {namespaces[0]}" if isinstance(namespaces, list) and namespaces else ""


def _volume(facts: Mapping[str, JSON]) -> Phrase:
    volume, wanted = facts.get("persistentVolume") or facts.get("volume"), facts.get("wanted")
    if volume is None:
        return _unbound(facts)
    several, none_has = f"do not reach volume {volume}", f"reaches volume {volume}"
    if not isinstance(wanted, list) or not wanted:
        return Phrase(several=several, none_has=none_has)
    unmet, labels = facts.get("unmet"), facts.get("labels")
    keys = [str(each) for each in unmet] if isinstance(unmet, list) else []
    if isinstance(labels, dict) and keys and all(labels.get(key) is None for key in keys):
        return Phrase(several=several, none_has=none_has, detail=f"label {keys[0]} is missing")
    where = _place(_unmet_part(wanted, keys))
    if "label" in facts:  # VolumeZone names the label, and its values
        where = f"in {short_key(str(facts['label']))} {' or '.join(map(str, wanted))}"
    return Phrase(several=several, none_has=none_has, detail=f"it is {where}")


def _unbound(facts: Mapping[str, JSON]) -> Phrase:
    """Say why no volume can be made or found for a claim on the nodes."""
    claim, name, wanted = facts.get("claim"), facts.get("storageClass"), facts.get("wanted")
    detail = f"claim {claim} wants {wanted}"
    if "largest" in facts:
        largest = facts["largest"]
        none = f"have no capacity of class {name} reported by driver {facts.get('driver')}"
        most = f"have at most {bytes_text(largest)} for a volume of class {name}" if isinstance(largest, int) else none
        return Phrase(several=most, detail=detail)
    if "selectedNode" in facts:
        return Phrase(several=f"are not {facts['selectedNode']}, chosen before for the volume of claim {claim}")
    if "allowedTopologies" in facts:
        allowed = facts["allowedTopologies"]
        where = _place(str(allowed[0])) if isinstance(allowed, list) and len(allowed) == 1 else ""
        return Phrase(several=f"are not where class {name} of claim {claim} makes volumes", detail=where)
    volumes = facts.get("volumes")
    if isinstance(volumes, dict):
        why = [f"{volume} {reason}" for volume, reason in volumes.items()]
        return Phrase(several=f"have no volume of class {name} for claim {claim}", detail=(why or ["there is none"])[0])
    return Phrase(several=f"cannot have a volume for claim {claim}")


def _unmet_part(wanted: Sequence[JSON], keys: Sequence[str]) -> str:
    """Return the first requirement of a volume's terms on one of the keys; the first term if there is none."""
    terms = [str(each) for each in wanted]
    parts = [f"{part.removesuffix(')')})" for term in terms for part in term.split("),")]
    return next((part for part in parts for key in keys if part.startswith(f"{key} in (")), terms[0])


def _place(selector: str) -> str:
    """Return `in zone eu-west-1b` for `topology.kubernetes.io/zone in (eu-west-1b)`, else the selector."""
    key, is_in, values = selector.partition(" in (")
    if not is_in or "," in key or " in (" in values:
        return f"where {selector}"
    value, short = values.removesuffix(")"), short_key(key)
    if key.endswith("/zone"):
        short = "zone"
    preposition = "on" if short == "node" else "in"
    return f"{preposition} {f'{short} {value}' if value else f'no {short}'}"


def _selection(facts: Mapping[str, JSON]) -> Phrase:
    """`have no pool=gpu`, for the first label of the first term that the node lacks."""
    terms = facts.get("terms")
    term = terms[0] if isinstance(terms, list) and terms else None
    unmet = term.get("unmet") if isinstance(term, dict) else None
    first = unmet[0] if isinstance(unmet, list) and unmet else None
    if not isinstance(first, dict) or first.get("operator") not in {"In", "Exists"}:
        return Phrase(several="are not selected by its affinity")
    values = first.get("values")
    either = " or ".join(map(str, values)) if isinstance(values, list) else ""
    key = str(first["key"])
    if key == "metadata.name":
        return Phrase(several=f"are not {either}")
    return Phrase(several=f"have no {key}={either}" if either else f"have no label {key}")


def _port(facts: Mapping[str, JSON]) -> Phrase:
    return Phrase(
        several=f"have host port {facts['port']}/{facts['protocol']} taken", detail=f"{facts['usedBy']} has it"
    )


def _limit(facts: Mapping[str, JSON]) -> Phrase:
    if "limit" not in facts:
        driver = facts.get("driver")
        return Phrase(several=f"have no CSI driver {driver}" if driver else f"cannot have claim {facts.get('claim')}")
    return Phrase(several=f"have no room for a volume of {facts['driver']}", detail=f"at most {facts['limit']}")


def _restriction(facts: Mapping[str, JSON]) -> Phrase:
    if "disk" in facts:
        return Phrase(several=f"have {facts['kind']} {facts['disk']} in use", detail=f"{facts['usedBy']} has it")
    by = f"{facts['usedBy']} on {facts['node']} uses it" if "node" in facts else ""
    return Phrase(several=f"are shut out by ReadWriteOncePod claim {facts.get('claim')}", detail=by)


def _devices(facts: Mapping[str, JSON]) -> Phrase:
    if "deviceClass" in facts:
        free = f"{facts['fitting']} of {facts['ofClass']} free" if "ofClass" in facts else "not as many at once"
        return Phrase(
            several=f"lack devices of class {facts['deviceClass']}", detail=f"wants {facts['wanted']}, has {free}"
        )
    return Phrase(several="cannot allocate its ResourceClaims")


def joined(phrases: Sequence[Phrase], number: int) -> str:
    """Return `lack cpu and memory and are cordoned`, agreeing with how many nodes there are."""
    told: list[str] = []
    for phrase in phrases:
        verb, _, rest = agreeing(number, phrase.several).partition(" ")
        told.append(rest if told and told[0].startswith(f"{verb} ") else f"{verb} {rest}")
    return f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else told[0]


_BY_PLUGIN: Final[Mapping[str, Callable[[Mapping[str, JSON]], Phrase]]] = {
    "PodTopologySpread": _spread,
    "InterPodAffinity": _neighbours,
    "DynamicResources": _devices,
    "NodeAffinity": _selection,
    "NodePorts": _port,
    "NodeVolumeLimits": _limit,
    "VolumeRestrictions": _restriction,
    "VolumeBinding": _volume,
    "VolumeZone": _volume,
}
