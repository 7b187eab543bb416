"""Errors for a configuration that kube-scheduler would refuse to start with."""

from __future__ import annotations

from typing import ClassVar

from kubectl_sched.errors import SchedError


class RefusalError(SchedError):
    """kube-scheduler would not start like this.

    `reason` is its own error text, or ours if the document cannot be decoded; `advice`, if any, says what to do.
    """

    refused: ClassVar[str] = ""

    def __init__(self, reason: str, advice: str = "") -> None:
        self.reason = reason
        self.advice = advice
        super().__init__(f"kube-scheduler refuses {self.refused}: {reason}{advice and f' ({advice})'}")


class ConfigurationError(RefusalError):
    """kube-scheduler would not start with this configuration."""

    refused = "this configuration"


class FeatureGateError(RefusalError):
    """kube-scheduler would not start with these `--feature-gates`."""

    refused = "these feature gates"
