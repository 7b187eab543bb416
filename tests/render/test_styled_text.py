"""Text with styles is what rich makes of it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich import text as rich

from kubectl_sched.render.writers.styled_text import Text
from tests.examples import examples

parts = st.tuples(st.sampled_from(("bold", "red", "")), st.integers(0, 30), st.integers(0, 30))


@given(st.text(), st.sampled_from(("", "dim")), st.lists(parts, max_size=3))
@settings(max_examples=examples(100))
def test_a_console_gets_what_was_said(words: str, style: str, styled: list[tuple[str, int, int]]) -> None:
    text, wanted = Text(words, style), rich.Text(words, style)
    for each in styled:
        text.stylize(*each)
        wanted.stylize(*each)
    assert text.plain == wanted.plain
    assert text.for_console().markup == wanted.markup


def test_what_no_terminal_prints_is_left_out() -> None:
    assert Text("a\a\b\v\f\rb\tc\nd\x1b").plain == "ab\tc\nd\x1b"
