"""What the tests of diagnostics share with those of the readers."""

from tests.sources.conftest import read_text

__all__ = ["read_text"]
