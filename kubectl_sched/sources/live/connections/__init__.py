"""Connections to an API server: kept for reuse, through proxies, and over TLS."""
