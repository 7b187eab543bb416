"""The questions of the library that change something in thought: nodes, workloads, configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypedDict

from kubectl_sched.library_answers import Capacity, Diff, Drain, MakeRoom, WhatIf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import Unpack

    from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.pod_selection import Selection


class ReplayFlags(TypedDict, total=False):
    """The scheduler to replay: the flags of the command line of the same names."""

    config: str | None
    kube_version: str | None
    feature_gates: str | None


class Simulations:
    """A state, and the simulations on it."""

    def __init__(self, state_for: Callable[[Selection], Dump], namespace: str) -> None:
        self._state_for = state_for
        self.namespace = namespace
        """The namespace of a name that has none before a slash."""

    def whatif(
        self,
        *manifests: str | PathLike[str],
        replicas: int | str | None = None,
        edits: Sequence[tuple[str, str]] = (),
        with_pending: bool = False,
        replace: bool = False,
        find_nodes: str | None = None,
        new_nodes: bool | str | PathLike[str] = False,
        profile: str | None = None,
        **replay: Unpack[ReplayFlags],
    ) -> WhatIf:
        """Place manifests, or `deployment/web` of the cluster. `replicas` is a number, or "max" until one fits no more.

        `edits` are flags of `whatif` with their values, in order: `[("drain", "w1"), ("taint", "w2=a:NoSchedule")]`.
        With `new_nodes` Karpenter makes nodes; it may name the file of all instance types. Raises SchedError for a
        manifest that would be refused and for an edit that cannot be made.
        """
        from os import fspath

        from kubectl_sched.queries.what_if.question import WhatIfQuestion
        from kubectl_sched.queries.whatif import what_if
        from kubectl_sched.render.answers.whatif import shown_what_if
        from kubectl_sched.simulation.node_edits import FLAGS, Edit
        from kubectl_sched.simulation.queue_simulation import Choices
        from kubectl_sched.simulation.workloads_to_place import Sizing
        from kubectl_sched.sources.discovery.replay_setup import Replay

        flags = tuple(Edit(f"--{name}", value) for name, value in edits)
        unknown = next((edit for edit in flags if edit.flag not in FLAGS), None)
        if unknown is not None:
            _refuse(f"edits: {unknown.flag[2:]} is none of {', '.join(sorted(flag[2:] for flag in FLAGS))}")
        if isinstance(replicas, str) and replicas != "max":
            _refuse(f"replicas: {replicas} is neither a number nor max")
        count = replicas if isinstance(replicas, int) else None
        question = WhatIfQuestion(
            targets=tuple(fspath(each) for each in manifests),
            namespace=self.namespace,
            sizing=Sizing(replicas=count, fill=replicas == "max", replace=replace),
            edits=flags,
            with_pending=with_pending,
            find_nodes=find_nodes,
            new_nodes=autoscaler_flags(new_nodes),
            choices=Choices(profile=profile),
            replay=Replay(**replay),
        )
        answer = what_if(question, self._whole(with_autoscalers=bool(new_nodes)))
        return WhatIf(answer, shown_what_if(answer))

    def make_room(
        self,
        target: str,
        *,
        replicas: int | None = None,
        max_moves: int | None = None,
        profile: str | None = None,
        **replay: Unpack[ReplayFlags],
    ) -> MakeRoom:
        """Search for pods to move so that the target fits: `web-0`, `shop/web-0`, `deployment/web`, `podgroup/train`.

        Raises SchedError if there is no such target.
        """
        from kubectl_sched.queries.make_room import MakeRoomQuestion, make_room
        from kubectl_sched.render.answers.make_room import shown_plan
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.suggestions.room_candidates import Bounds

        bounds = Bounds() if max_moves is None else Bounds(moves=max_moves)
        question = MakeRoomQuestion(
            target=target if "/" in target else f"pod/{target}",
            namespace=self.namespace,
            replicas=replicas,
            profile=profile,
            bounds=bounds,
            replay=Replay(**replay),
        )
        answer = make_room(question, self._whole())
        return MakeRoom(answer, shown_plan(answer))

    def drain(self, *nodes: str, profile: str | None = None, **replay: Unpack[ReplayFlags]) -> Drain:
        """Plan a drain of nodes, each a name, a pattern (`gpu-*`) or a selector in parentheses; nothing is drained.

        Raises SchedError if there is no such node.
        """
        from kubectl_sched.queries.drain import DrainQuestion, drain
        from kubectl_sched.render.answers.drain import shown_drain
        from kubectl_sched.sources.discovery.replay_setup import Replay

        if not nodes:
            _refuse("nothing to drain: name a node")
        question = DrainQuestion(nodes=nodes, profile=profile, replay=Replay(**replay))
        answer = drain(question, self._whole(with_autoscalers=True))
        return Drain(answer, shown_drain(answer))

    def capacity(
        self,
        *shapes: str,
        namespace: str | None = None,
        profile: str | None = None,
        **replay: Unpack[ReplayFlags],
    ) -> Capacity:
        """Count what is free, and how many more pods of each shape fit: `"train=cpu=4,nvidia.com/gpu=1"`.

        Without shapes it takes those of the existing pods, of one namespace if it is given. Raises SchedError for a
        shape that cannot be read.
        """
        from kubectl_sched.queries.capacity import CapacityQuestion, capacity
        from kubectl_sched.render.answers.capacity import shown_capacity
        from kubectl_sched.sources.discovery.replay_setup import Replay

        question = CapacityQuestion(shapes=shapes, namespace=namespace, profile=profile, replay=Replay(**replay))
        answer = capacity(question, self._whole())
        return Capacity(answer, shown_capacity(answer))

    def diff(
        self,
        other: Simulations | None = None,
        *,
        namespace: str | None = None,
        selector: str | None = None,
        to_config: str | None = None,
        to_kube_version: str | None = None,
        to_feature_gates: str | None = None,
        **replay: Unpack[ReplayFlags],
    ) -> Diff:
        """Compare where pods land now and under another configuration, version or state."""
        from kubectl_sched.queries.diff import DiffQuestion, diff
        from kubectl_sched.render.answers.diff import shown_diff
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.pod_selection import Selection

        selection = Selection(targets=(), namespace=namespace, label_selector=selector)
        question = DiffQuestion(
            selection=selection,
            replay=Replay(**replay),
            to_replay=Replay(config=to_config, kube_version=to_kube_version, feature_gates=to_feature_gates),
        )
        to_dump = None if other is None else other._state_for(selection)  # noqa: SLF001 - a cluster like this one
        answer = diff(question, self._state_for(selection), to_dump)
        return Diff(answer, shown_diff(answer))

    def _whole(self, *, with_autoscalers: bool = False) -> Dump:
        """Return all that placing pods may look at."""
        from kubectl_sched.sources.live.needed_kinds import EVERYTHING, FOR_NEW_NODES
        from kubectl_sched.sources.pod_selection import Selection

        also = dict.fromkeys((*EVERYTHING, *(FOR_NEW_NODES if with_autoscalers else ())))
        return self._state_for(Selection(namespace=None, also=tuple(also)))


def autoscaler_flags(
    new_nodes: bool | str | PathLike[str],
    node_group_label: str | None = None,
    node_template: str | PathLike[str] | None = None,
) -> NewNodesFlags | None:
    """Return the flags of --new-nodes with the contents of their files; None without it.

    `new_nodes` is True, False or the path of all instance types.
    """
    from os import fspath

    from kubectl_sched.queries.provisioning.new_nodes_flags import new_nodes_flags

    types = None if isinstance(new_nodes, bool) else fspath(new_nodes)
    template = None if node_template is None else fspath(node_template)
    return new_nodes_flags(types, node_group_label, template, new_nodes=bool(new_nodes))


def _refuse(text: str) -> NoReturn:
    from kubectl_sched.errors import SchedError

    raise SchedError(text)
