"""Rules that several components share: requests, QoS, node affinity, taints (k8s.io/component-helpers)."""
