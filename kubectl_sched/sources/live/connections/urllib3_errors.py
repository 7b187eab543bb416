"""Errors of urllib3 as what they are about, so that whoever reads from a server need not know of the library."""

from __future__ import annotations

from contextlib import contextmanager
from http.client import HTTPException
from typing import TYPE_CHECKING

from urllib3.exceptions import HTTPError

if TYPE_CHECKING:
    from collections.abc import Iterator


def cause_of(error: BaseException) -> BaseException:
    """Return the error of the line, of TLS or of HTTP that an error of urllib3 is about; any other error as it is."""
    while isinstance(error, HTTPError) and not isinstance(error, HTTPException) and error.__context__ is not None:
        error = error.__context__
    return error


@contextmanager
def errors_of_the_line() -> Iterator[None]:
    """Raise OSError, TimeoutError and ssl.SSLError among them, or HTTPException for what is no HTTP."""
    try:
        yield
    except HTTPError as error:
        cause = cause_of(error)
        if isinstance(cause, OSError | HTTPException):
            raise cause from None
        raise HTTPException(str(error)) from None
