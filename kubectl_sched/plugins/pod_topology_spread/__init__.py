"""PodTopologySpread: keep matching pods evenly spread over the values of node labels.

Answers to pkg/scheduler/framework/plugins/podtopologyspread. A constraint names a topology key. The nodes with the same
value of that label are a domain, and its count is the number of pods there, in the pod's namespace, that the selector
of the constraint matches. Only nodes count that have the keys of all constraints and that the inclusion policies let
count.

A node passes a hard constraint if (the domain's count) + (1 if the selector matches the pod itself) - (the lowest count
of any domain) is at most maxSkew. The lowest count is taken as 0 while there are fewer domains than minDomains. A node
without the label never passes. A soft constraint gives a node the more points the lower its domain's count is, weighed
by the logarithm of the number of domains.
"""
