"""YAML as Kubernetes reads it, as plain values."""
