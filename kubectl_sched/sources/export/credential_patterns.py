"""Takes what looks like a credential out of texts, in linear time.

It stands behind the lists of what a snapshot keeps, for warnings, for configurations, and for tokens whose shape is
known wherever they are.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

_HIDDEN: Final = "***"
_VALUE: Final = r"""(?:"[^"]*"|'[^']*'|[^\s&,;}"']+)"""
_BEFORE: Final = r"(^|[^\w.-])"
_SCHEME: Final = r"(?:(?:bearer|basic|token|digest|negotiate|apikey|aws4-hmac-sha256)\s+)?"
_LONG_WORDS: Final = (
    r"[\w.-]*(?:password|passwd|passphrase|secret|token|credential|authorization|authentication|accountkey|signature|"
    r"x-amz-|session[-_]?id|(?:api|access|private|account|encryption|signing|storage|license)[-_]?key)[\w.-]*"
)
_SHORT_WORDS: Final = r"(?:[\w.-]*[_.-])?(?:pass|pwd|pw|auth|key|sig|sas|pin|otp)"
_RULES: Final = (
    # a cookie is all that its header holds
    (rf"(?i){_BEFORE}((?:set-)?cookie2?[\"']?\s*[:=]\s*)[^\r\n]+", rf"\1{_HIDDEN}"),
    (rf"(?i){_BEFORE}((?:{_LONG_WORDS}|{_SHORT_WORDS})[\"']?\s*[:=]\s*{_SCHEME}){_VALUE}", rf"\1{_HIDDEN}"),
    (rf"(?i){_BEFORE}(--?(?:{_LONG_WORDS}|{_SHORT_WORDS})\s+){_VALUE}", rf"\1{_HIDDEN}"),
    (rf"(?i){_BEFORE}((?:password|passwd|passphrase|pwd|x-[\w-]*(?:key|token))\s+){_VALUE}", rf"\1{_HIDDEN}"),
    (rf"(?i){_BEFORE}((?:bearer|basic)\s+)[\w.~+/=-]{{8,}}", rf"\1{_HIDDEN}"),
    (rf"(?i){_BEFORE}(token\s+)[\w.~+/=-]{{16,}}", rf"\1{_HIDDEN}"),
    (r"(://)[^/\s@'\"]+@", r"\1"),
    (r"\b(?:glpat|gldt|glrt|glcbt|glptt|glft|glagent|glsoat|gloas)-[\w.-]{10,}", _HIDDEN),
    (r"\bxox[a-z]-[\w-]{8,}|\bsk-[\w-]{16,}|\bya29\.[\w-]{10,}|\bhv[sbr]\.[\w-]{10,}", _HIDDEN),
)
"""Expressions for RE2, which has no looking around, with what stands for a match."""

_TOKENS: Final = (
    r"\beyJ[\w-]{6,}(?:\.[\w-]*)+"
    r"|\b(?:A3T[A-Z0-9]|ABIA|ACCA|AGPA|AIDA|AIPA|AKIA|ANPA|ANVA|AROA|ASIA)[A-Z0-9]{12,}"
    r"|\bgh[a-z]_[A-Za-z0-9]{8,}|\bgithub_pat_\w{8,}|\b(?:npm|dckr_pat|pypi|hf|sntrys|dop_v1|shpat)_[\w-]{16,}"
    r"|\b[sr]k_(?:live|test)_\w{8,}|\bAIza[\w-]{30,}|\bAGE-SECRET-KEY-1[0-9A-Z]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}"
)
"""Tokens with a shape of their own, which no name of an object has."""

_PEM: Final = r"-----BEGIN [A-Z0-9 ]+-----[^\"]*"


def without_credentials(text: str) -> str:
    """Return a text that may quote anybody without what looks like a credential in it."""
    for rule, instead in _compiled():
        text = rule.sub(instead, text)
    return text


def names_a_credential(key: str) -> bool:
    """Report whether a field of that name holds a credential."""
    import re2

    return re2.fullmatch(f"(?i){_LONG_WORDS}", key) is not None


def without_tokens(data: bytes) -> bytes:
    """Return JSON without tokens and keys whose shape is known, in whatever field they are."""
    import re2

    known = re2.compile(f"{_TOKENS}|{_PEM}".encode())
    return known.sub(_HIDDEN.encode(), data) if known.search(data) is not None else data


@cache
def _compiled() -> tuple[tuple[Any, str], ...]:
    import re2

    rules = ((r"(?s)-----BEGIN [A-Z0-9 ]+-----.*", _HIDDEN), (_TOKENS, _HIDDEN), *_RULES)
    return tuple((re2.compile(rule), instead) for rule, instead in rules)
