"""Near which other pods: InterPodAffinity and PodTopologySpread."""

from __future__ import annotations

from typing import Final

from kubectl_sched.diagnostics.messages.reasons.reason import ALWAYS, BEFORE, Reason

_INTER_POD = "InterPodAffinity"
_SPREAD = "PodTopologySpread"

PODS: Final = (
    Reason(
        "Pod affinity",
        _INTER_POD,
        {"node(s) didn't match pod affinity rules": ALWAYS},
        "near the node runs no pod that this pod must be near to, or the node lacks the label of the topology key",
        "The other pods are in another namespace, are not scheduled yet, or carry other labels. The first pod of a "
        "group may go anywhere only if it matches its own term.",
        "check the labels of the pods that are meant, their namespace and the topologyKey",
        "plugins/interpodaffinity/filtering.go: satisfyPodAffinity",
    ),
    Reason(
        "Pod anti-affinity",
        _INTER_POD,
        {"node(s) didn't match pod anti-affinity rules": ALWAYS},
        "near the node runs a pod that this pod must keep away from",
        "One replica a node or zone, and more replicas than those; in a rollout the old pods count, too.",
        "have more nodes or zones than such pods, or prefer instead of require",
        "plugins/interpodaffinity/filtering.go: satisfyPodAntiAffinity",
    ),
    Reason(
        "Pod affinity or anti-affinity",
        _INTER_POD,
        {
            "node(s) didn't match pod affinity/anti-affinity rules": BEFORE,
            "node(s) didn't match pod affinity/anti-affinity": BEFORE,
        },
        "the pods near the node do not suit this pod's required affinity or anti-affinity",
        "As with either of them; old kube-schedulers gave this beside the more exact reason.",
        "check the labels of the pods that are meant, and the topologyKey",
        "plugins/interpodaffinity/filtering.go: Filter",
    ),
    Reason(
        "Anti-affinity of existing pods",
        _INTER_POD,
        {"node(s) didn't satisfy existing pods anti-affinity rules": ALWAYS},
        "a pod that runs near the node wants no pod such as this one near it",
        "Required anti-affinity works both ways: a pod that wants to be alone keeps others out that never said so.",
        "find the pods whose anti-affinity matches this pod's labels",
        "plugins/interpodaffinity/filtering.go: satisfyExistingPodsAntiAffinity",
    ),
    Reason(
        "Spread label is missing",
        _SPREAD,
        {"node(s) didn't match pod topology spread constraints (missing required label)": ALWAYS},
        "the node lacks the label that the pod is to be spread over",
        "Bare-metal nodes without zone labels, or a topologyKey that is misspelt.",
        "label the node, or choose a topologyKey that all nodes carry",
        "plugins/podtopologyspread/filtering.go: Filter",
    ),
    Reason(
        "Spread would be uneven",
        _SPREAD,
        {"node(s) didn't match pod topology spread constraints": ALWAYS},
        "one more pod here would make the spread more uneven than maxSkew allows",
        "A zone is full, cordoned or tainted but still counts, so the others may not get ahead of it; or the pods of "
        "an "
        "earlier revision are counted, too.",
        "make room where there are fewer pods, raise maxSkew, or use whenUnsatisfiable: ScheduleAnyway; "
        "matchLabelKeys: [pod-template-hash] counts only one revision",
        "plugins/podtopologyspread/filtering.go: Filter",
    ),
    Reason(
        "Selector of an affinity is invalid",
        _INTER_POD,
        {"parsing pod: <kind>Terms: <...>": ALWAYS, "failed to parse pod: <kind>Terms: <...>": ALWAYS},
        "a label selector in the pod's affinity is not valid ({kind})",
        "A value in matchExpressions that no label can have, which the API server let through.",
        "correct the selector's values in the pod's affinity terms",
        "plugins/interpodaffinity/filtering.go: PreFilter",
    ),
)
