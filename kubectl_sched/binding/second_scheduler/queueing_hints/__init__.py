"""Events that are worth another attempt for a pod that was rejected (EventsToRegister and QueueingHintFn)."""

from kubectl_sched.binding.second_scheduler.queueing_hints.requeue_decision import PluginHints, QueueingHints

__all__ = ["PluginHints", "QueueingHints"]
