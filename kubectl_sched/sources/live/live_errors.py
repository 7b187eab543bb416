"""Errors of talking to a running cluster."""

from __future__ import annotations

from kubectl_sched.errors import SchedError


class ClusterError(SchedError):
    """The cluster cannot be read: no connection, no rights, or no sensible answer."""

    exit_code = 3


class UnconnectedError(Exception):
    """There is no connection, so that nothing was sent; the text says why. One that `may_come` is worth another try."""

    def __init__(self, said: str, *, may_come: bool = False) -> None:
        super().__init__(said)
        self.may_come = may_come


class BrokenHandshakeError(UnconnectedError):
    """The server was there, but the line broke before anything was sent: worth another try, also of a read."""

    def __init__(self, said: str) -> None:
        super().__init__(said, may_come=True)


class NoClusterError(ClusterError):
    """Nothing says which cluster is meant; the sentence ends with what would, so that more can follow it."""


class KubeconfigError(SchedError):
    """A kubeconfig, or a flag that refers to it, that makes no sense."""


class LostResponseError(ClusterError):
    """A write was sent, and it is not known whether the server carried it out."""


class ResponseError(ClusterError):
    """The server's refusal of one request; `status` is HTTP's, `reason` and `message` are those of its Status.

    `after_lost` says that the same write was sent before and its answer lost: that one may have been carried out.
    """

    def __init__(self, sentence: str, status: int, reason: str = "", message: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.reason = reason
        self.message = message
        self.after_lost = False
