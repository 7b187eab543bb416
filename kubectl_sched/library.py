"""The library: what the command line can ask, asked from Python. It reads and answers; it writes to no cluster.

`import kubectl_sched as ks` offers what the `__all__` of the package names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.library_answers import (
    Explanation,
    Explanations,
    Message,
    Nodes,
    PodGroups,
    Profiles,
    Schedulers,
    Triage,
)
from kubectl_sched.library_simulations import Simulations, autoscaler_flags

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Unpack

    from kubectl_sched.library_simulations import ReplayFlags
    from kubectl_sched.queries.explain import ExplainAnswer
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.pod_selection import Selection


def read(*paths: str | PathLike[str]) -> Cluster:
    """Read dumps: files, directories or archives, as `--from` does.

    Raises SchedError if one cannot be read.
    """
    from os import fspath

    from kubectl_sched.sources.dump.reader import read as read_dump

    named = [fspath(path) for path in paths]
    dump = read_dump(named)
    return Cluster(lambda _: dump, "default", ", ".join(named))


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

    where = "a running cluster" if context is None else f"the running cluster of context {context}"
    return Cluster(state_for, endpoint.namespace, where)


def message(text: str) -> Message:
    """Say what a text of kube-scheduler or another component means; no cluster is asked.

    Raises SchedError if nothing in it is known.
    """
    from kubectl_sched.diagnostics.messages.pasted_text import pasted_text
    from kubectl_sched.render.answers.message import shown_message

    pasted = pasted_text(text)
    return Message(pasted, shown_message(pasted))


def profiles(**replay: Unpack[ReplayFlags]) -> Profiles:
    """Resolve each profile of a configuration, the default one without any; no cluster is asked.

    Raises SchedError for a configuration that kube-scheduler refuses.
    """
    from kubectl_sched.config import load_configuration, parse_feature_gates
    from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
    from kubectl_sched.render.answers.profiles import shown_profiles
    from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for
    from kubectl_sched.sources.dump.dump import Dump

    asked = Replay(**replay)
    configuration = configuration_for(Dump(), asked)
    gates = parse_feature_gates(asked.feature_gates) if asked.feature_gates else None
    default = load_configuration(None, configuration.version, gates).profiles[DEFAULT_SCHEDULER_NAME]
    return Profiles(configuration, shown_profiles(configuration, default))


class Cluster(Simulations):
    """A cluster that can be asked: a dump, or a running one."""

    def __init__(self, state_for: Callable[[Selection], Dump], namespace: str, where: str = "a dump") -> None:
        super().__init__(state_for, namespace)
        self._where = where

    def __repr__(self) -> str:
        return f"<Cluster: {self._where}, namespace {self.namespace}>"

    def explain(
        self,
        pod: str,
        *,
        node: str | None = None,
        new_nodes: bool | str | PathLike[str] = False,
        node_group_label: str | None = None,
        node_template: str | PathLike[str] | None = None,
        profile: str | None = None,
        **replay: Unpack[ReplayFlags],
    ) -> Explanation:
        """Explain one pod, `web-0` or `shop/web-0`; with `node` the suggestions are about that node.

        With `new_nodes` the answer has in full what autoscalers would do; it may name the file of all instance types,
        and `node_group_label` and `node_template` are the flags of these names.

        Raises SchedError if there is no such pod, node, profile or version.
        """
        from kubectl_sched.queries.explain import ExplainQuestion
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.live.needed_kinds import FOR_NEW_NODES
        from kubectl_sched.sources.pod_selection import Selection

        namespace, _, name = pod.rpartition("/")
        selection = Selection(
            targets=(f"pod/{name}",),
            namespace=namespace or self.namespace,
            also=FOR_NEW_NODES if new_nodes else (),
        )
        flags = autoscaler_flags(new_nodes, node_group_label, node_template)
        question = ExplainQuestion(
            selection=selection, replay=Replay(**replay), profile=profile, node=node, new_nodes=flags
        )
        return Explanation(self._explained(question), node)

    def explain_workload(
        self, workload: str, *, profile: str | None = None, **replay: Unpack[ReplayFlags]
    ) -> Explanations:
        """Explain each pod of a workload of the cluster's namespace, `deployment/web`, also those never created.

        Raises SchedError if there is no such workload.
        """
        from kubectl_sched.sources.pod_selection import Selection

        return self._several(Selection(targets=(workload,), namespace=self.namespace), profile, replay)

    def explain_manifests(
        self, *manifests: str | PathLike[str], profile: str | None = None, **replay: Unpack[ReplayFlags]
    ) -> Explanations:
        """Explain one pod of each workload of the manifests, as if they were applied.

        `marks` of an answer are the fields in the files that keep its pod out. Raises SchedError for a manifest that
        would be refused.
        """
        from os import fspath

        from kubectl_sched.queries.explain import ExplainQuestion, explain
        from kubectl_sched.queries.what_if.question import WhatIfQuestion
        from kubectl_sched.queries.whatif import with_manifests
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.pod_selection import Selection

        paths, asked = tuple(fspath(each) for each in manifests), Replay(**replay)
        applied = with_manifests(WhatIfQuestion(targets=paths, namespace=self.namespace, replay=asked), self._whole())
        question = ExplainQuestion(selection=Selection(), replay=asked, profile=profile, manifests=applied)
        return Explanations(explain(question, applied.dump)[0])

    def explain_pending(
        self,
        *,
        namespace: str | None = None,
        selector: str | None = None,
        profile: str | None = None,
        **replay: Unpack[ReplayFlags],
    ) -> Explanations:
        """Explain every pending pod, of all namespaces or of one, each on its own."""
        from kubectl_sched.sources.pod_selection import Selection

        selection = Selection(targets=(), namespace=namespace, label_selector=selector, pending=True)
        return self._several(selection, profile, replay)

    def explain_nodes(self, *nodes: str, profile: str | None = None, **replay: Unpack[ReplayFlags]) -> Nodes:
        """Say what is free on nodes, who fits there and why they stay; all nodes if none is named.

        Each is a name, a pattern (`gpu-*`) or a selector in parentheses. Raises SchedError if there is no such node.
        """
        from kubectl_sched.queries.node import NodeQuestion, explain_nodes
        from kubectl_sched.render.answers.node import shown_nodes
        from kubectl_sched.sources.discovery.replay_setup import Replay

        question = NodeQuestion(nodes=nodes, profile=profile, replay=Replay(**replay))
        answer = explain_nodes(question, self._whole(with_autoscalers=True))
        return Nodes(answer, shown_nodes(answer))

    def explain_podgroups(self, *names: str, namespace: str | None = None, **replay: Unpack[ReplayFlags]) -> PodGroups:
        """Replay the cycle of groups of the cluster's namespace; of every group with a pending pod if none is named.

        Raises SchedError if there is no such group.
        """
        from kubectl_sched.queries.podgroups import PodGroupQuestion, explain_podgroups
        from kubectl_sched.render.answers.podgroups import shown_podgroups
        from kubectl_sched.sources.discovery.replay_setup import Replay

        within = namespace or (self.namespace if names else None)
        question = PodGroupQuestion(names=names, namespace=within, replay=Replay(**replay))
        answer = explain_podgroups(question, self._whole())
        return PodGroups(answer, shown_podgroups(answer))

    def triage(
        self,
        *,
        namespace: str | None = None,
        selector: str | None = None,
        profile: str | None = None,
        **replay: Unpack[ReplayFlags],
    ) -> Triage:
        """Group every pending pod, of all namespaces or of one, by what keeps it pending."""
        from kubectl_sched.queries.explain import ExplainQuestion
        from kubectl_sched.queries.triage import triage
        from kubectl_sched.render.answers.triage import shown_triage
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.pod_selection import Selection

        selection = Selection(targets=(), namespace=namespace, label_selector=selector, pending=True)
        question = ExplainQuestion(selection=selection, replay=Replay(**replay), profile=profile, suggesting=False)
        answer = triage(question, self._state_for(selection))
        return Triage(answer, shown_triage(answer))

    def schedulers(self, *, kube_version: str | None = None) -> Schedulers:
        """Return the schedulers, their profiles, and the schedulerNames that nobody serves."""
        from kubectl_sched.queries.schedulers import scheduler_report
        from kubectl_sched.render.answers.schedulers import shown_schedulers
        from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
        from kubectl_sched.sources.discovery.replay_setup import Replay
        from kubectl_sched.sources.pod_selection import Selection

        dump = self._state_for(Selection(namespace=None, replays=False))
        report = scheduler_report(ClusterSchedulers(dump, Replay(kube_version=kube_version)))
        return Schedulers(report, shown_schedulers(report))

    def snapshot(self, file: str | PathLike[str], *, anonymize: bool = False) -> None:
        """Save what a replay needs, and nothing that is secret, in a .json or .json.gz file that `read` reads.

        Raises SchedError if the file cannot be written.
        """
        from os import fspath

        from kubectl_sched.diagnostics.messages.scheduler_reasons import own_reasons
        from kubectl_sched.sources.export.anonymizer import anonymized
        from kubectl_sched.sources.export.snapshot_file import check_name, write_snapshot
        from kubectl_sched.sources.live.needed_kinds import EVERYTHING, GATES
        from kubectl_sched.sources.pod_selection import Selection

        check_name(fspath(file))
        dump = self._state_for(Selection(namespace=None, also=(*EVERYTHING, *GATES)))
        write_snapshot(anonymized(dump) if anonymize else dump, fspath(file), own_reasons)

    def _several(self, selection: Selection, profile: str | None, replay: Any) -> Explanations:
        from kubectl_sched.queries.explain import ExplainQuestion
        from kubectl_sched.sources.discovery.replay_setup import Replay

        return Explanations(
            self._explained(ExplainQuestion(selection=selection, replay=Replay(**replay), profile=profile))
        )

    def _explained(self, question: Any) -> ExplainAnswer:
        from kubectl_sched.queries.explain import explain

        return explain(question, self._state_for(question.selection))[0]
