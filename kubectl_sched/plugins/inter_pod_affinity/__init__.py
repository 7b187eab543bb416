"""InterPodAffinity: pods near to other pods, or away from them.

Answers to pkg/scheduler/framework/plugins/interpodaffinity. matchLabelKeys and mismatchLabelKeys are part of the
selectors already: the API server merges them when a pod is created, and kube-scheduler never looks at them.
"""
