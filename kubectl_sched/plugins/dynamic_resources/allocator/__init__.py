"""The search for devices that answer the requests of claims (k8s.io/dynamic-resource-allocation/structured)."""
