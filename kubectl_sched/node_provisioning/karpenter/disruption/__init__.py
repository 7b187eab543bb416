"""Karpenter's removal of nodes: candidates, budgets and methods (pkg/controllers/disruption)."""
