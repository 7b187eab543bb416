"""A slice of the fuzzing: every law holds of some inputs of each target."""

import pytest

from tests.fuzz.exploring import explore
from tests.fuzz.mutations import HOSTILE_TEXTS
from tests.fuzz.pasting import wrongly_run
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_broken_and_hostile_inputs_break_no_law(name: str) -> None:
    report = explore([name], seed=1, cases=60, seconds=None)
    assert report.cases[name] == 60
    assert report.findings == []


@pytest.mark.parametrize("text", [text for text in HOSTILE_TEXTS if "touch" in text and "!" not in text], ids=ascii)
def test_a_command_that_quotes_nothing_is_found(text: str) -> None:
    """The stubs see what a shell makes of a text that stands in a command as it is."""
    assert wrongly_run({f"kubectl uncordon {text}": (("kubectl", "uncordon", text),)})
