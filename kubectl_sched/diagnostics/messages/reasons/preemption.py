"""True if ending other pods would make room: what PostFilter says."""

from __future__ import annotations

from typing import Final

from kubectl_sched.diagnostics.messages.reasons.reason import BEFORE, Reason

_PREEMPTION = "DefaultPreemption"
_PLUGIN = "plugins/defaultpreemption/default_preemption.go"
_EVALUATOR = "framework/preemption/preemption.go"
_SINCE_24 = "1.24 to 1.37"

PREEMPTION: Final = (
    Reason(
        "Preemption is not helpful",
        _PREEMPTION,
        {"Preemption is not helpful for scheduling": _SINCE_24},
        "ending other pods would not change what keeps this one out",
        "The node is kept out by what does not depend on its pods: a taint, a label, a volume of another zone.",
        "",
        f"{_EVALUATOR}: nodesWherePreemptionMightHelp",
    ),
    Reason(
        "No preemption victims",
        _PREEMPTION,
        {
            "No preemption victims found for incoming pod": _SINCE_24,
            "No preemption victims found for incoming preemptor": "1.36 to 1.37",
            "No victims found on node <node> for preemptor pod <pod>": "1.22 to 1.23",
        },
        "no pod there has a lower priority, so none may be ended for this one",
        "Without a PriorityClass all pods have priority 0, and equals are never ended for each other.",
        "give the pod a higher priority (priorityClassName), or make room otherwise",
        f"{_PLUGIN}: SelectVictimsOnNode",
    ),
    Reason(
        "Pod may not preempt",
        _PREEMPTION,
        {"not eligible due to preemptionPolicy=Never": _SINCE_24},
        "the pod's own priority class says that it ends no others (preemptionPolicy: Never)",
        "The PriorityClass is meant to go ahead in the queue only.",
        "use a PriorityClass that preempts, if that is wanted",
        f"{_PLUGIN}: PodEligibleToPreemptOthers",
    ),
    Reason(
        "Victims are still ending",
        _PREEMPTION,
        {
            "not eligible due to a terminating pod on the nominated node": _SINCE_24,
            "not eligible due to terminating pod on the nominated node": BEFORE,
            "ongoing preemption on nominated nodes": "1.37",
        },
        "pods are being ended on the node that the pod is nominated to",
        "The victims use their terminationGracePeriodSeconds.",
        "wait: this passes by itself",
        f"{_PLUGIN}: PodEligibleToPreemptOthers",
    ),
    Reason(
        "Group preempts as a whole",
        _PREEMPTION,
        {
            "not eligible due to placement-based pod group scheduling limitation": "1.36",
            "not eligible due to workload aware preemption enabled": "1.36",
            "workload aware preemption is not supported for pod groups with scheduling constraints": "1.36",
        },
        "the pod's group preempts as a whole, so no pod of it does so alone",
        "The pod is of a PodGroup, and workload-aware preemption is on.",
        "",
        f"{_PLUGIN}: PostFilter",
    ),
    Reason(
        "Group of the pod is not found",
        _PREEMPTION,
        {"pod group for pod not found": "1.36"},
        "the pod's group does not exist",
        "The PodGroup was deleted after the pod was queued.",
        "create it",
        f"{_PLUGIN}: PostFilter",
    ),
    Reason(
        "No candidate for preemption",
        _PREEMPTION,
        {"no candidate node for preemption": _SINCE_24, "not eligible due to <...>": _SINCE_24, "not eligible": "1.37"},
        "the scheduler does not end other pods for this one",
        "An extender has struck all candidates out.",
        "",
        f"{_EVALUATOR}: Preempt",
    ),
    Reason(
        "Preemption found a place",
        _PREEMPTION,
        {
            "found a potential placement for pod on node <node>, preempting <count> victims": "1.37",
            "found a placement for podgroup, preempting <count> victims": "1.37",
        },
        "{count} pods of lower priority are ended to make room for this one",
        "The pod's priority is higher than that of pods that are there.",
        "wait: this passes by itself",
        f"{_EVALUATOR}: Preempt",
    ),
    Reason(
        "Disruption budget would be violated",
        _PREEMPTION,
        {
            "node(s) PodDisruptionBudget <...> violated<...>": BEFORE,
            "PodDisruptionBudget <...> violated<...>": BEFORE,
            "node(s) minAvailable <...> violated<...>": BEFORE,
        },
        "ending pods there would break their PodDisruptionBudget",
        "kube-scheduler itself prefers not to violate budgets, but does; schedulers built on it say this.",
        "ask for less, or free or add room",
        f"{_PLUGIN}: filterPodsWithPDBViolation",
    ),
    Reason(
        "PostFilter without PreFilter",
        _PREEMPTION,
        {"not found": "", "All PostFilter plugins are skipped": "1.36 to 1.37"},
        "what the pod refers to does not exist, and ending other pods would not change that",
        "PreFilter ended before the plugins had written down what their PostFilter needs.",
        "",
        "framework/runtime/framework.go: RunPostFilterPlugins",
    ),
)
