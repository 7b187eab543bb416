"""The result of a cycle that began: with the framework that ran it, and the evidence of its plugins."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.taints import Tolerations
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.cycle_budget import BudgetEnded
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.fit_error import fit_error
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, ScorePlugin
from kubectl_sched.framework.plugin_error_boundary import error_of, unknown
from kubectl_sched.scheduler.num_feasible_nodes import num_feasible_nodes_to_find
from kubectl_sched.scheduler.result import ScheduleResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import BindingAction
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.framework.status import NodeToStatus, Status


class CycleResult(ScheduleResult, frozen=True, kw_only=True):
    """The result of a cycle under a profile."""

    framework: Framework
    state: CycleState
    """The state that plugins keep from one extension point to the next."""

    @property
    def budget_ended(self) -> str | None:
        """Return the clause that says what ended the cycle before everything was judged; None if nothing did."""
        return self.state.budget.ended

    @property
    def tolerations(self) -> Tolerations:
        """The pod's tolerations as its cycle reads them."""
        return Tolerations.of(self.pod, self.framework.handle.features)

    @property
    def is_sampled(self) -> bool:
        """Report whether more nodes are feasible than kube-scheduler would look at before it stops."""
        percentage = self.framework.profile.percentage_of_nodes_to_score
        searched = len(self.nodes)
        if self.pre_filter_nodes is not None:
            searched = len(self.pre_filter_nodes & self.nodes.row_of.keys())
        return len(self.feasible) > num_feasible_nodes_to_find(searched, percentage)

    @property
    def _unjudged_as_a_whole(self) -> Mapping[str, Status]:
        """The statuses of the plugins that judged no node."""
        return self.state.unjudged

    def fit_error(self, verdict: NodeToStatus, post_filter_message: str = "") -> str:
        """Return the FitError of a pod that fits nowhere by this verdict, with PostFilter's message."""
        counted = verdict if self.placement is None else verdict.take(self.placement)
        statuses = counted.counts() if self.extended is None else self.extended.counted(counted.counts())
        form = self.framework.handle.release.fit_error
        return fit_error(len(counted), self.pre_filter, statuses, post_filter_message, form)

    @property
    def pre_filter_evidence(self) -> tuple[Evidence, ...]:
        """The evidence behind the rejection of the pod as a whole."""
        plugin = self.framework.plugins.get(self.pre_filter.plugin or "")
        if self.pre_filter.is_success or not isinstance(plugin, PreFilterPlugin):
            return ()
        state = self.explained_state
        return self._evidence(plugin.name, lambda: plugin.explain_pre_filter(state, self.pod, self.nodes))

    def filter_evidence(self, plugin_name: str, row: int) -> tuple[Evidence, ...]:
        """The evidence behind one plugin's rejection of one node."""
        plugin = self.framework.plugins.get(plugin_name)
        if not isinstance(plugin, FilterPlugin):
            return ()
        state = self.explained_state
        return self._evidence(plugin_name, lambda: plugin.explain_filter(state, self.pod, self.nodes, row))

    def score_evidence(self, plugin_name: str, row: int) -> tuple[Evidence, ...]:
        """Return the evidence behind one plugin's points for one node."""
        plugin = self.framework.plugins.get(plugin_name)
        if not isinstance(plugin, ScorePlugin):
            return ()
        state = self.explained_state
        return self._evidence(plugin_name, lambda: plugin.explain_score(state, self.pod, self.nodes, row))

    @cached_property
    def explained_state(self) -> CycleState:
        """The state of the cycle for what explains it, whose work is none of the cycle's."""
        return self.state.clone(self.explaining.for_member(0, 0))

    def _evidence(self, plugin: str, explain: Callable[[], tuple[Evidence, ...]]) -> tuple[Evidence, ...]:
        """A plugin's evidence; where it fails unexpectedly, a sentence that says so, and nothing else is lost."""
        if not self.explaining.allows(len(self.nodes.existing_pods)):
            return (Evidence(text=f"the evidence of {plugin} was not looked for ({self.explaining.ended})"),)
        return self._explained(plugin, explain)

    def _explained(self, plugin: str, explain: Callable[[], tuple[Evidence, ...]]) -> tuple[Evidence, ...]:
        try:
            return explain()
        except SchedError:
            raise
        except PluginError:
            return ()  # the error is the verdict itself
        except BudgetEnded as ended:
            return (Evidence(text=f"the evidence of {plugin} was not looked for ({ended})"),)
        except Exception as failure:  # noqa: BLE001 - a bug costs this evidence alone
            error = error_of(unknown(plugin, failure))
            self.failed_evidence.add(plugin)
            return (Evidence(text=f"the evidence of {plugin} cannot be shown, by a bug in kubectl-sched ({error})"),)

    @cached_property
    def binding(self) -> tuple[BindingAction, ...]:
        """The actions that the end of the cycle would take on the first of the best nodes."""
        if not self.best or self.error is not None:
            return ()
        row = self.nodes.row_of[self.nominated_first or self.best[0]]
        actions: list[BindingAction] = []
        for point in ("reserve", "permit", "preBind", "bind", "postBind"):
            for plugin in self.framework.binding_plugins(point):
                actions += (
                    action
                    for action in plugin.binding_actions(self.state, self.pod, self.nodes, row)
                    if action.extension_point == point
                )
        return tuple(actions)
