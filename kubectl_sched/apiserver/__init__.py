"""The API server: what it makes of a manifest, and what it refuses."""
