"""Karpenter's scheduling simulation, of sigs.k8s.io/karpenter 1.14.1."""
