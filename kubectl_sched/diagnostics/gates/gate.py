"""Values about what holds a pod back before kube-scheduler sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.affinity import Toleration
    from kubectl_sched.api.meta import Condition, FieldManager, KubernetesObject, Labels

T = TypeVar("T")

_LONGEST = 500
_MOST = 64
_MOST_CONDITIONS = 32


class Statement(Record, frozen=True, kw_only=True):
    """A sentence of a controller, quoted from a condition, a check's state or an annotation of an object."""

    about: str
    """The object that it stands on: `Workload ml/train`."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    since: str | None = None
    says: str = ""
    """The reason in plain words, where it is a known one; else empty."""


class Owner(Record, frozen=True, kw_only=True):
    """The controller that lifts a gate, and its object for the pod, whose kind is empty if it is not known."""

    controller: str
    kind: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def about(self) -> str:
        """`Workload ml/train`."""
        return " ".join(filter(None, (self.kind, "/".join(filter(None, (self.namespace, self.name))))))


class Quota(Record, frozen=True, kw_only=True, rename="camel"):
    """The quota of one resource in one flavor. Amounts are quantities as they are written; None if not known."""

    flavor: str
    resource: str
    nominal: str
    reserved: str | None = None
    used: str | None = None
    borrowed: str | None = None
    borrowing_limit: str | None = None
    lending_limit: str | None = None
    wanted: str | None = None


class QueuePlace(Record, frozen=True, kw_only=True, rename="camel"):
    """The place in a queue as its controller tells it, counted from 1."""

    local_queue: int
    cluster_queue: int


class Queue(Record, frozen=True, kw_only=True):
    """The queues that a pod waits in, and their quotas."""

    local_queue: str
    cluster_queue: str | None = None
    cohorts: tuple[str, ...] = ()
    """The cohort of the ClusterQueue, and those above it."""

    place: QueuePlace | None = None
    priority: int | None = None
    created: str | None = None
    pending: int | None = None
    """The workloads that wait in the ClusterQueue, as its status counts them."""

    waiting: tuple[str, ...] = ()
    """Other workloads of the LocalQueue without quota."""

    quotas: tuple[Quota, ...] = ()
    cohort_quotas: tuple[Quota, ...] = ()
    """The sums over all that was read of the uppermost cohort."""


class Need(Record, frozen=True, kw_only=True):
    """Something without which a controller never lifts its gate, and which does not come by itself."""

    controller: str
    fact: str
    """The sentence that says what is stopped or missing."""

    once: str
    """The words that follow `once`: `LocalQueue ml/batch is there`."""

    instruction: str
    """The ways to bring it about."""


class Injection(Record, frozen=True, kw_only=True):
    """Fields that a controller sets on a pod when it lets it go, with the flavors that they come from."""

    flavors: tuple[str, ...] = ()
    assigned: bool = False
    """True if the controller has chosen the flavors; else this is one of several choices."""

    labels: Labels = {}  # noqa: RUF012 - frozen
    node_selector: Labels = {}  # noqa: RUF012 - frozen
    tolerations: tuple[Toleration, ...] = ()
    domain: Labels = {}  # noqa: RUF012 - frozen
    """The labels of the topology domain that is assigned, which the node selector has, too."""

    unknown: tuple[str, ...] = ()
    """Sentences about what of it could not be read."""


class Gate(Record, frozen=True, kw_only=True):
    """A gate of a pod, or (None) a controller that holds it back without one."""

    gate: str | None
    owner: Owner | None = None
    since: str | None = None
    set_by: FieldManager | None = None
    says: tuple[Statement, ...] = ()
    facts: tuple[str, ...] = ()
    """Sentences about what is stopped, missing or could not be read."""

    needs: tuple[Need, ...] = ()
    queue: Queue | None = None
    injections: tuple[Injection, ...] = ()


def quoted(text: str) -> str:
    """Return a controller's text on one line and of bounded length."""
    line = " ".join(text[: 4 * _LONGEST].split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def bounded(value: T) -> T:
    """Return the value with every text in it quoted, and no more than some of many."""
    return _bounded(value)  # type: ignore[no-any-return] # of the same type


def _bounded(value: Any) -> Any:
    match value:
        case str():
            return quoted(value)
        case tuple():
            return tuple(map(_bounded, value[:_MOST]))
        case Struct():
            return replace(value, **{name: _bounded(getattr(value, name)) for name in value.__struct_fields__})
    return value


def about(item: KubernetesObject) -> str:
    """`Workload ml/train`."""
    return f"{spelled(item)} {item.key}"


def spelled(item: KubernetesObject) -> str:
    """Return the kind as the object spells it."""
    return str(type(item).__struct_config__.tag)


def conditions_of(item: KubernetesObject, conditions: Iterable[Condition]) -> tuple[Statement, ...]:
    """Quote the conditions of an object."""
    return tuple(
        Statement(
            about=about(item),
            type=each.type,
            status=each.status,
            reason=each.reason,
            message=each.message,
            since=each.last_transition_time,
        )
        for each in list(conditions)[:_MOST_CONDITIONS]
    )
