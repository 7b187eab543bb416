"""Several schedulers over one cluster, each pod by the one that serves its schedulerName."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.snapshot import Snapshot


class SeveralSchedulers(Scheduler):
    """A scheduler whose profiles come from several configurations; `configuration` is that of default-scheduler.

    `configuration_of` gives the configuration in force for a schedulerName, the same object for the same scheduler.
    """

    def __init__(self, configuration_of: Callable[[str], Configuration], nodes: Snapshot) -> None:
        self._configuration_of = configuration_of
        self._given = nodes
        self._others: list[Scheduler] = []
        super().__init__(configuration_of(DEFAULT_SCHEDULER_NAME), nodes)

    def framework(self, scheduler_name: str) -> Framework | None:
        """The profile of that name in the configuration that is in force for it."""
        configuration = self._configuration_of(scheduler_name)
        if configuration is self.configuration:
            return super().framework(scheduler_name)
        other = next((each for each in self._others if each.configuration is configuration), None)
        if other is None:
            other = Scheduler(configuration, self._given)
            self._others.append(other)
        return other.framework(scheduler_name)
