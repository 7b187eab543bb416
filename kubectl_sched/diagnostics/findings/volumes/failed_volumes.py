"""Short clauses about volumes that nobody could make, out of a provisioner's own words."""

from __future__ import annotations

from typing import Final

from kubectl_sched.lazy_pattern import pattern

_FRAME: Final = pattern(r"failed to provision volume with StorageClass \S+:\s|rpc error:\s(code = \w+ desc =\s)?", 2)
"""Words that provisioners and gRPC put around the reason."""


def not_made(claim: str, text: str) -> tuple[str, ...]:
    """Return clauses on why no volume is made for the claim, those with the provisioner's words first."""
    start = f"no volume can be made for claim {claim}"
    reason = _FRAME.sub("", " ".join(text.split())).strip(" .")
    parts = reason.split(": ")
    ends = (": ".join(parts[at:]) for at in range(len(parts)))
    return (*(f"{start}: {end}" for end in ends if end), start, "no volume can be made for its claim")
