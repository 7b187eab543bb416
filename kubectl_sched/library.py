"""The library: what the command line can ask, asked from Python. It reads and answers; it writes nothing.

`import kubectl_sched as ks` offers everything that `__all__` names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

from kubectl_sched.library_answers import Capacity, Diff, Explanation, Explanations, Triage, WhatIf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import Unpack

    from kubectl_sched.queries.explain import Answer
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.pod_selection import Selection

__all__ = ["Capacity", "Cluster", "Diff", "Explanation", "Explanations", "Triage", "WhatIf", "connect", "read"]


class _ReplayFlags(TypedDict, total=False):
    """The scheduler to replay: the flags of the command line of the same names."""

    config: str | None
    kube_version: str | None
    feature_gates: str | None


def read(*paths: str | PathLike[str]) -> Cluster:
    """Read dumps: files, directories or archives, as `--from` does.

    Raises SchedError if one cannot be read.
    """
    from os import fspath

    from kubectl_sched.sources.dump.reader import read as read_dump

    dump = read_dump([fspath(path) for path in paths])
    return Cluster(lambda _: dump, "default")


def connect(
    *, context: str | None = None, kubeconfig: str | PathLike[str] | None = None, namespace: str | None = None
) -> Cluster:
    """Return the cluster that kubectl would talk to. Each question reads what it needs, and nothing else.

    Raises SchedError if the kubeconfig names no such cluster.
    """
    from os import fspath

    from kubectl_sched.sources.live.cluster_reader import read_live
    from kubectl_sched.sources.live.connection_flags import Connection
    from kubectl_sched.sources.live.kubeconfig import resolve
    from kubectl_sched.sources.live.missing_rights import check_replayable

    path = None if kubeconfig is None else fspath(kubeconfig)
    endpoint = resolve(Connection(kubeconfig=path, context=context, namespace=namespace))

    def state_for(selection: Selection) -> Dump:
        dump = read_live(endpoint, selection)
        return check_replayable(dump) if selection.replays else dump

    return Cluster(state_for, endpoint.namespace)


class Cluster:
    """A cluster that can be asked: a dump, or a running one."""

    def __init__(self, state_for: Callable[[Selection], Dump], namespace: str) -> None:
        self._state_for = state_for
        self.namespace = namespace
        """The namespace of a name that has none before a slash."""

    def explain(
        self,
        pod: str,
        *,
        node: str | None = None,
        profile: str | None = None,
        **replay: Unpack[_ReplayFlags],
    ) -> Explanation:
        """Explain one pod, `web-0` or `shop/web-0`; with `node` the suggestions are about that node.

        Raises SchedError if there is no such pod, node, profile or version.
        """
        from kubectl_sched.queries.explain import Question
        from kubectl_sched.render.answers.explain_output import check_is_node
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.pod_selection import Selection

        namespace, _, name = pod.rpartition("/")
        selection = Selection(targets=(f"pod/{name}",), namespace=namespace or self.namespace)
        answer = self._explained(Question(selection=selection, replay=Replay(**replay), profile=profile, node=node))
        if node is not None:
            check_is_node(node, answer.explanations[0].result.nodes)
        return Explanation(answer, node)

    def explain_pending(
        self,
        *,
        namespace: str | None = None,
        selector: str | None = None,
        profile: str | None = None,
        **replay: Unpack[_ReplayFlags],
    ) -> Explanations:
        """Explain every pending pod, of all namespaces or of one, each on its own."""
        from kubectl_sched.queries.explain import Question
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.pod_selection import Selection

        selection = Selection(targets=(), namespace=namespace, label_selector=selector, pending=True)
        return Explanations(self._explained(Question(selection=selection, replay=Replay(**replay), profile=profile)))

    def triage(
        self,
        *,
        namespace: str | None = None,
        selector: str | None = None,
        profile: str | None = None,
        **replay: Unpack[_ReplayFlags],
    ) -> Triage:
        """Group every pending pod, of all namespaces or of one, by what keeps it pending."""
        from kubectl_sched.queries.explain import Question
        from kubectl_sched.queries.triage import triage
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.pod_selection import Selection

        selection = Selection(targets=(), namespace=namespace, label_selector=selector, pending=True)
        question = Question(selection=selection, replay=Replay(**replay), profile=profile, suggesting=False)
        return Triage(_answer=triage(question, self._state_for(selection)))

    def whatif(
        self,
        *manifests: str | PathLike[str],
        replicas: int | str | None = None,
        edits: Sequence[tuple[str, str]] = (),
        with_pending: bool = False,
        replace: bool = False,
        find_nodes: str | None = None,
        profile: str | None = None,
        **replay: Unpack[_ReplayFlags],
    ) -> WhatIf:
        """Place manifests, or `deployment/web` of the cluster. `replicas` is a number, or "max" until one fits no more.

        `edits` are flags of `whatif` with their values, in order: `[("drain", "w1"), ("taint", "w2=a:NoSchedule")]`.
        Raises SchedError for a manifest that would be refused and for an edit that cannot be made.
        """
        from os import fspath

        from kubectl_sched.queries.whatif import Question, what_if
        from kubectl_sched.simulation.node_edits import FLAGS, Edit
        from kubectl_sched.simulation.queue_simulation import Choices
        from kubectl_sched.simulation.workloads_to_place import Sizing
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.live.needed_kinds import EVERYTHING
        from kubectl_sched.sources.pod_selection import Selection

        flags = tuple(Edit(f"--{name}", value) for name, value in edits)
        unknown = next((edit for edit in flags if edit.flag not in FLAGS), None)
        if unknown is not None:
            _refuse(f"edits: {unknown.flag[2:]} is none of {', '.join(sorted(flag[2:] for flag in FLAGS))}")
        if isinstance(replicas, str) and replicas != "max":
            _refuse(f"replicas: {replicas} is neither a number nor max")
        fills = replicas == "max"
        count = replicas if isinstance(replicas, int) else None
        question = Question(
            targets=tuple(fspath(each) for each in manifests),
            namespace=self.namespace,
            sizing=Sizing(replicas=count, fill=fills, replace=replace),
            edits=flags,
            with_pending=with_pending,
            find_nodes=find_nodes,
            choices=Choices(profile=profile),
            replay=Replay(**replay),
        )
        return WhatIf(_answer=what_if(question, self._state_for(Selection(namespace=None, also=EVERYTHING))))

    def capacity(
        self,
        *shapes: str,
        namespace: str | None = None,
        profile: str | None = None,
        **replay: Unpack[_ReplayFlags],
    ) -> Capacity:
        """Count what is free, and how many more pods of each shape fit: `"train=cpu=4,nvidia.com/gpu=1"`.

        Without shapes it takes those of the existing pods, of one namespace if it is given. Raises SchedError for a
        shape that cannot be read.
        """
        from kubectl_sched.queries.capacity import Question, capacity
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.live.needed_kinds import EVERYTHING
        from kubectl_sched.sources.pod_selection import Selection

        state = self._state_for(Selection(namespace=None, also=EVERYTHING))
        question = Question(shapes=shapes, namespace=namespace, profile=profile, replay=Replay(**replay))
        return Capacity(_answer=capacity(question, state))

    def diff(
        self,
        other: Cluster | None = None,
        *,
        namespace: str | None = None,
        selector: str | None = None,
        to_config: str | None = None,
        to_kube_version: str | None = None,
        to_feature_gates: str | None = None,
        **replay: Unpack[_ReplayFlags],
    ) -> Diff:
        """Compare where pods land now and under another configuration, version or state."""
        from kubectl_sched.queries.diff import Question, diff
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.pod_selection import Selection

        selection = Selection(targets=(), namespace=namespace, label_selector=selector)
        question = Question(
            selection=selection,
            replay=Replay(**replay),
            to_replay=Replay(config=to_config, kube_version=to_kube_version, feature_gates=to_feature_gates),
        )
        to_dump = None if other is None else other._state_for(selection)  # noqa: SLF001 - a cluster like this one
        return Diff(_answer=diff(question, self._state_for(selection), to_dump))

    def schedulers(self, *, kube_version: str | None = None) -> dict[str, Any]:
        """Return the schedulers, their profiles, and the schedulerNames that nobody serves, as `-o json` has them."""
        from kubectl_sched.queries.schedulers import scheduler_report
        from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.pod_selection import Selection

        dump = self._state_for(Selection(namespace=None, replays=False))
        return scheduler_report(ClusterSchedulers(dump, Replay(kube_version=kube_version)))

    def _explained(self, question: Any) -> Answer:
        from kubectl_sched.queries.explain import explain

        return explain(question, self._state_for(question.selection))[0]


def _refuse(text: str) -> NoReturn:
    from kubectl_sched.errors import SchedError

    raise SchedError(text)
