"""Semantics of the API that no kind owns: quantities, selectors, names, patches (k8s.io/apimachinery)."""
