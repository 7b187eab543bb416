"""Validation of manifests as the API server does it."""
