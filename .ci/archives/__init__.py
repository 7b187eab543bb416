"""Builds the archives and the krew manifest of a release: `python .ci/archives`."""
