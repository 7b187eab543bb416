"""Other names in place of names, so that whatever was equal, derived or valid before is so after."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery import timestamps

if TYPE_CHECKING:
    from collections.abc import Iterable

KEPT_WORDS = frozenset(
    re.findall(
        r"\S+",
        """
        0 aks amd64 arm64 cluster control controlplane critical daemon default eks eksctl false gke grp kube kubernetes
        lease linux node nodegroup nodes NodeGroup operator plane ppc64le public s390x scheduler system true
        vmss windows
        """,
    )
)
"""Parts of names that say nothing of whose cluster it is, and from which schedulers and system pods are known."""

_KEPT_KEYS = frozenset(
    {
        "agentpool",
        "component",
        "controller-revision-hash",
        "metadata.name",
        "pod-template-generation",
        "pod-template-hash",
        "tier",
    }
)
_KEPT_DOMAINS = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "karpenter.k8s.aws",
    "eks.amazonaws.com",
    "alpha.eksctl.io",
    "cloud.google.com",
    "kubernetes.azure.com",
)
"""Domains of Kubernetes and of providers, by whose labels autoscalers know their nodes."""

_KEPT_ADDRESSES = frozenset({"0.0.0.0", "::", "127.0.0.1", "::1"})  # noqa: S104 - nothing listens here
_INTEGER = re.compile(r"-?\d+\Z")
_NAME = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z")
_DOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
_INVALID_END = "-"
_MOST_PARTS = 12
"""A name of more parts than that is replaced as a whole, or the new one might be too long for a label."""

_MAX_LABEL = 63
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class Pseudonyms:
    """Notes every part of the names that it is asked for; after `settle` it gives each part another text.

    A name is replaced part by part, as its dashes divide it. So `web-0` still belongs to `web`, and the claim
    `web-0-data` to the volume `data` of `web-0`. Parts keep their order, and so do names.
    """

    def __init__(self) -> None:
        self._parts: dict[str, str] = {}
        self._noted: set[str] = set()
        self._settled = False
        self._uids: dict[str, str] = {}
        self._times: dict[str, str] = {}
        self._addresses: dict[str, str] = {}
        self.device_texts: set[str] = set()
        """The texts of devices' attributes, and those that expressions compare them with, as they were before."""
        self.taken_apart: set[str] = set()
        """Functions of expressions that no pseudonyms can answer for."""
        self.looked_at = 0
        """The number of comparisons of texts with the parts that expressions look for."""

    def settle(self) -> None:
        """Choose the pseudonym of each part that was noted."""
        parts = sorted(self._noted)
        width = max(2, len(_base36(len(parts))))
        self._parts = {part: f"n{_base36(index).zfill(width)}" for index, part in enumerate(parts)}
        self._uids = {uid: f"00000000-0000-4000-8000-{index:012x}" for index, uid in enumerate(sorted(self._uids))}
        self._times = _later_and_later(self._times)
        self._addresses = {
            address: f"10.{index >> 16 & 255}.{index >> 8 & 255}.{index & 255}"
            for index, address in enumerate(sorted(self._addresses), start=1)
        }
        self._settled = True

    def uid(self, text: str) -> str:
        """Of an object; UIDs keep their order."""
        return self._uids.setdefault(text, text)

    def creation_time(self, text: str) -> str:
        """Of an object: objects stay older or younger than each other, and as old as their cluster in years."""
        return self._times.setdefault(text, text)

    def address(self, text: str) -> str:
        """Of a host; one that means every address, or the host itself, stays."""
        return text if text in _KEPT_ADDRESSES else self._addresses.setdefault(text, text)

    def _part(self, part: str) -> str:
        if not part or part in KEPT_WORDS:
            return part
        if not self._settled:
            self._noted.add(part)
            return part
        return self._parts[part]

    def name(self, text: str) -> str:
        """Of an object, a container, a volume."""
        parts = text.split("-")
        return "-".join(map(self._part, parts)) if len(parts) <= _MOST_PARTS else self._part(text)

    def whole(self, text: str) -> str:
        """Of a text whose parts say nothing."""
        return self._part(text)

    def _invalid(self, text: str) -> str:
        """Return another text that is no valid key and no valid value of a label either."""
        return f"{self._part(text)}{_INVALID_END}" if text else text

    def key(self, text: str) -> str:
        """Of a label or a taint. Those of Kubernetes itself stay, and what is no valid key becomes none either."""
        domain, slash, name = text.rpartition("/")
        if text in _KEPT_KEYS or (domain.endswith(_KEPT_DOMAINS) and _is_label(name)):
            return text
        if not _is_label(name) or (slash and not _DOMAIN.fullmatch(domain)):
            return self._invalid(text)
        return f"{self._part(domain)}{slash}{self.name(name)}" if slash else self.name(name)

    def value(self, text: str) -> str:
        """Of a label or a taint. Numbers stay, as they may be compared; what is no valid value becomes none either."""
        if text in self._uids:
            return self._uids[text]
        if _INTEGER.match(text):
            return text
        if not _is_label(text):
            return self._invalid(text)
        return "__".join(map(self.name, text.split("__")))

    def device_text(self, text: str) -> str:
        """Of an attribute of a device, or of an expression that compares one."""
        self.device_texts.add(text)
        return self.value(text)

    def image(self, text: str) -> str:
        """Of a container or a node; the tag stays, and so does kube-scheduler's own, which tells its version."""
        if not text or text.rpartition("/")[2].startswith("kube-scheduler"):
            return text
        if " " in text:
            return self.whole(text)
        name, at, digest = text.partition("@")
        colon = name.rfind(":")
        end = colon if colon > name.rfind("/") else len(name)
        algorithm, sign, value = digest.partition(":")
        return f"{self._part(name[:end])}{name[end:]}{at}{algorithm}{sign}{self._part(value)}"

    def names(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Several names."""
        return tuple(map(self.name, texts))


def _later_and_later(times: Iterable[str]) -> dict[str, str]:
    """A second apart from the beginning of the oldest one's year on, in their order."""
    moments = {time: moment for time in times if (moment := timestamps.moment(time)) is not None}
    if not moments:
        return dict.fromkeys(times, "")
    start = datetime(min(moments.values()).year, 1, 1, tzinfo=UTC)
    rank = {moment: index for index, moment in enumerate(sorted(set(moments.values())))}
    return {
        time: (start + timedelta(seconds=rank[moments[time]])).strftime("%Y-%m-%dT%H:%M:%SZ") if time in moments else ""
        for time in times
    }


def _is_label(text: str) -> bool:
    return len(text) <= _MAX_LABEL and _NAME.match(text) is not None


def _base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if not number:
            return digits
