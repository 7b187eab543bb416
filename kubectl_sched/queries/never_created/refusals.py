"""Texts with which the API server refuses a workload's pods, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.diagnostics.messages.component_statements import statements_in
from kubectl_sched.queries.never_created.missing_pods import Obstacle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.diagnostics.messages.component_statements import Statement

_API_SERVER: Final = "kube-apiserver"
_CAUSES: Final[Mapping[str, tuple[str, str]]] = {
    "QuotaExceeded": ("Quota", "quota {} has no room for more"),
    "QuotaForClaimsExceeded": ("Quota", "quota {} has no room for more claims"),
    "QuotaWantsRequests": ("Quota", "quota {} wants requests or limits that they lack"),
    "LimitRangeTooMuch": ("LimitRange", "a LimitRange of the namespace refuses them"),
    "LimitRangeTooLittle": ("LimitRange", "a LimitRange of the namespace refuses them"),
    "LimitRangeRatio": ("LimitRange", "a LimitRange of the namespace refuses them"),
    "PodSecurity": ("PodSecurity", "pod security level {} refuses them"),
    "WebhookRefuses": ("Webhook", "webhook {} refuses them"),
    "WebhookDoesNotAnswer": ("Webhook", "webhook {} does not answer"),
    "AdmissionPolicyRefuses": ("Policy", "policy {} refuses them"),
    "ServiceAccountMissing": ("ServiceAccount", "service account {} does not exist"),
    "PriorityClassMissing": ("PriorityClass", "priority class {} does not exist"),
    "PriorityAgainstItsClass": (
        "PriorityClass",
        "priority or policy differs from the PriorityClass",
    ),
    "PriorityClassIsForOtherNamespaces": ("Quota", "no quota of the namespace allows their priority class"),
    "RequestAboveItsLimit": ("Limits", "a container requests more than its own limit"),
    "RuntimeClassMissing": ("RuntimeClass", "runtime class {} does not exist"),
    "SecurityContextConstraints": ("PodSecurity", "no security context constraints allow them"),
    "NamespaceSelectsOtherNodes": ("Namespace", "their node selector contradicts that of the namespace"),
    "NamespaceAllowsOtherTolerations": ("Namespace", "the namespace does not allow their tolerations"),
    "NamespaceIsEnding": ("Namespace", "namespace {} is being deleted"),
}
"""By the name of a text: the cause, and a clause that takes the name of the object."""

_NAMES: Final = ("quota", "webhook", "policy", "level", "name", "namespace")
_LONGEST_TEXT: Final = 4096


def refusal(text: str, source: str, since: str | None) -> Obstacle:
    """Return what a text of an event or a condition says, in plain words where its spelling is known."""
    text = " ".join(text[:_LONGEST_TEXT].split())
    found = next((each for each in statements_in(text) if each.component == _API_SERVER and each.meaning), None)
    if found is None or found.meaning is None:
        return Obstacle(cause="Refused", clause=text, says=text, source=source, since=since)
    name = next(filter(None, map(found.place, _NAMES)), "")
    cause, clause = _CAUSES.get(
        found.meaning.name, ("Refused", found.meaning.says.replace("{", "{{").replace("}", "}}"))
    )
    return Obstacle(
        cause=cause,
        clause=clause.format(name),
        detail=_detail(found),
        name=name,
        says=text,
        helps=found.meaning.helps,
        source=source,
        since=since,
    )


def _detail(found: Statement) -> str:
    """Return what the text says beyond its clause: a quota's numbers, the reason given, or the meaning."""
    if found.place("requested"):
        return _quota_numbers(found)
    if found.place("why"):
        return found.place("why")
    return found.meaning.says if found.meaning is not None and found.meaning.name in _CAUSES else ""


def _quota_numbers(found: Statement) -> str:
    """Return `a pod asks for 2 requests.cpu, 3 of 4 are used`, for each resource."""
    what = "a claim" if found.place("claim") else "a pod"
    asked, used, limits = (_amounts(found.place(name)) for name in ("requested", "used", "limited"))
    parts = (
        f"{what} asks for {amount} {resource}, {used.get(resource, '?')} of {limits.get(resource, '?')} are used"
        for resource, amount in asked.items()
    )
    return "; ".join(parts)


def _amounts(text: str) -> dict[str, str]:
    """Return the amounts of `requests.cpu=2,requests.memory=4Gi` by resource."""
    pairs = (part.partition("=") for part in text.split(","))
    return {resource: amount for resource, equals, amount in pairs if equals}
