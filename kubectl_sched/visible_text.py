"""Tells text that is seen as what it is from text with characters that hide, move a cursor or are drawn as nothing."""

from __future__ import annotations

from typing import Final

from kubectl_sched.lazy_pattern import pattern

_UNSEEN: Final = pattern(
    # Default_Ignorable_Code_Point, as far as Python calls it printable
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
    # characters that fonts draw as a blank or not at all
    "\u2800\u2d7f\ufffc\U0001107f\U00013441\U00013442\U00016fe4\U0001d159]"
)


def is_plain(text: str) -> bool:
    """Report whether each character of the text is seen as what it is."""
    return text.isprintable() and (text.isascii() or _UNSEEN.search(text) is None)
