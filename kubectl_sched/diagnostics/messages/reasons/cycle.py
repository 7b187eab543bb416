"""The attempt as a whole: no nodes, failures, extenders, binding."""

from __future__ import annotations

from typing import Final

from kubectl_sched.diagnostics.messages.reasons.reason import ALWAYS, BEFORE, Reason

_RUNTIME = "framework/runtime/framework.go"
_LOG = "see kube-scheduler's log"
_WAIT = "wait: this passes by itself"

CYCLE: Final = (
    Reason(
        "No nodes at all",
        "",
        {"no nodes available to schedule pods": ALWAYS, "no nodes available": ALWAYS},
        "the cluster has no node at all",
        "A new cluster whose nodes have not registered, or a node pool scaled to zero.",
        "add nodes, or see why they do not register",
        "schedule_one.go: schedulePod",
    ),
    Reason(
        "Pod is being deleted",
        "",
        {"skip schedule deleting pod: <...>": ALWAYS},
        "the pod is being deleted, so it is not scheduled any more",
        "The pod was deleted while it waited.",
        "",
        "schedule_one.go: skipPodSchedule",
    ),
    Reason(
        "No profile of that name",
        "",
        {'profile not found for scheduler name "<name>"': ALWAYS},
        "this kube-scheduler serves no profile {name}",
        "A misspelt schedulerName, or a second scheduler that does not run.",
        "correct the pod's schedulerName",
        "schedule_one.go: frameworkForPod",
    ),
    Reason(
        "Changed at the same moment",
        "DefaultBinder",
        {
            "Operation cannot be fulfilled on <...>": ALWAYS,
            "<...>: Operation cannot be fulfilled on <...>": ALWAYS,
            "<...> is already assigned to node <...>": ALWAYS,
            "conflicting concurrent modification": "1.32 to 1.37",
        },
        "something else changed or bound the pod at the same moment",
        "Two schedulers serve one schedulerName, or a controller updates the pod's claims.",
        _WAIT,
        "plugins/defaultbinder/default_binder.go: Bind",
    ),
    Reason(
        "Pod is gone",
        "DefaultBinder",
        {
            'pods "<pod>" not found': ALWAYS,
            '<...>: pods "<pod>" not found': ALWAYS,
            "pod does not exist any more: <...>": ALWAYS,
        },
        "the pod was deleted while it was being bound",
        "Its owner scaled down, or made it anew.",
        "",
        "plugins/defaultbinder/default_binder.go: Bind",
    ),
    Reason(
        "Permit took too long",
        "{plugin}",
        {
            "rejected due to timeout after waiting <time> at plugin <plugin>": ALWAYS,
            "<...> while waiting on permit: rejected due to timeout after waiting <time> at plugin <plugin>": "1.22",
        },
        "the pod had a node, but {plugin} did not let it go on within {time}",
        "Group scheduling holds pods until all of the group have a node; the others did not come or did not fit.",
        "look at the other pods of its group",
        "framework/runtime/waiting_pods_map.go: newWaitingPod",
    ),
    Reason(
        "Held at permit",
        "",
        {
            "one or more plugins asked to wait and no plugin rejected pod<...>": ALWAYS,
            'pod "<...>" rejected while waiting on permit: <...>': "1.22",
            'rejected pod "<...>" by permit plugin "<...>": <...>': "1.22",
            "waiting on permit for pod: <...>": ALWAYS,
        },
        "the pod had a node, but a plugin held it back or turned it away before binding",
        "Group scheduling holds pods until all of the group have a node.",
        "look at the other pods of its group",
        f"{_RUNTIME}: RunPermitPlugins, WaitOnPermit",
    ),
    Reason(
        "An extender failed",
        "",
        {
            "failed <...> with extender at URL <url>, code <code>": ALWAYS,
            'extender "<url>" claims a filtered node "<...>" which is not found in the input node list': ALWAYS,
            "extender: <url> claims to preempt pod <...>": ALWAYS,
            "preempt verb is not defined for extender <url> but run into ProcessPreemption": ALWAYS,
            "unexpected empty bindVerb in extender": ALWAYS,
        },
        "an extender answered with an error, or with what cannot be: {url}",
        "The extender is broken, or of another version than the configuration expects.",
        "see the extender's log; ignorable: true lets scheduling go on without it",
        "extender.go: Filter, send, ProcessPreemption",
    ),
    Reason(
        "A server did not answer",
        "",
        {
            'Post "<...>': ALWAYS,
            'post "<...>': ALWAYS,
            "Post http<...>": BEFORE,
            "<...>connection refused<...>": ALWAYS,
            "<...>context deadline exceeded<...>": ALWAYS,
            "<...>no such host<...>": ALWAYS,
        },
        "an extender did not answer (or another server that kube-scheduler asks)",
        "The extender's pods are down, or the network keeps kube-scheduler from them.",
        "see that it runs",
        "extender.go: send",
    ),
    Reason(
        "A filter failed",
        "{plugin}",
        {
            'running "<plugin>" filter plugin: <...>': ALWAYS,
            'running "<plugin>" filter plugin for pod "<...>": <...>': BEFORE,
            'error while running "<plugin>" filter plugin for pod "<...>": <...>': BEFORE,
            'error while running "<plugin>" prefilter plugin for pod "<...>": <...>': BEFORE,
            'running "<plugin>" prefilter plugin <...>': BEFORE,
        },
        "the plugin {plugin} failed with an error, so the whole attempt counts for nothing",
        "An object that the plugin reads is missing or malformed, or PreFilter is disabled for it in the "
        "configuration.",
        _LOG,
        f"{_RUNTIME}: runFilterPlugin",
    ),
    Reason(
        "A plugin failed",
        "{plugin}",
        {
            'running <point> plugin "<plugin>": <...>': ALWAYS,
            "running <point> on Score plugins: <...>": ALWAYS,
            "running Score plugins: <...>": ALWAYS,
            'binding rejected: running <point> plugin "<plugin>": <...>': "1.22 to 1.25",
            'running PreBindPreFlight "<plugin>": <...>': "1.34 to 1.37",
            "running <point> plugin: <...>": "1.37",
            "running <point> plugins: <...>": "1.36 to 1.37",
            'error in "<plugin>" <point> plugins: <...>': "1.37",
            'plugin "<plugin>" failed with: <...>': ALWAYS,
            'plugin "<plugin>" returns an invalid score <...>': ALWAYS,
            'running AddPod on PreFilter plugin "<plugin>": <...>': ALWAYS,
            'running RemovePod on PreFilter plugin "<plugin>": <...>': ALWAYS,
        },
        "a plugin failed with an error, so the whole attempt counts for nothing",
        "An object that the plugin reads is missing or malformed, or its PreScore is disabled in the configuration.",
        _LOG,
        f"{_RUNTIME}: RunPreFilterPlugins, RunScorePlugins, RunPreBindPlugins, RunBindPlugins",
    ),
    Reason(
        "Binding was rejected",
        "",
        {"binding rejected: <...>": "1.22 to 1.25", "bind status: <...>": "1.22 to 1.25"},
        "a node was chosen, but the API server did not take the binding",
        "The pod or its node went away or changed at the same moment.",
        _WAIT,
        "schedule_one.go: bind",
    ),
)
