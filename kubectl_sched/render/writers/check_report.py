"""Reports for CI: a case a workload, as JUnit XML or as annotations of GitHub; only new failures count as failures."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from kubectl_sched.record import Record
from kubectl_sched.safe_output import append_page, safe, write_page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SUMMARY: Final = "GITHUB_STEP_SUMMARY"


class Case(Record, frozen=True, kw_only=True):
    """One workload or pod: what fails, and where its manifest is. `is_known` says that it fails at present, too."""

    name: str
    failure: str = ""
    is_known: bool = False
    file: str | None = None
    line: int = 1


def write_report(cases: Sequence[Case], command: str, output: str, summary: Callable[[], str]) -> None:
    """Print the report; of `github` the summary is appended to the file that the runner names, if it names one."""
    if output == "junit":
        write_page(junit(cases, command))
        return
    write_page("".join(map(annotation, (case for case in cases if case.failure))))
    path = os.environ.get(_SUMMARY)
    if path:
        append_page(path, summary())


def junit(cases: Sequence[Case], command: str) -> str:
    """Return the cases as JUnit XML: a known failure is skipped."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    failed = sum(bool(case.failure) and not case.is_known for case in cases)
    skipped = sum(bool(case.failure) and case.is_known for case in cases)
    name = f"kubectl sched {command}"
    numbers = {"tests": str(len(cases)), "failures": str(failed), "errors": "0", "skipped": str(skipped)}
    suites = Element("testsuites", {"name": name, **numbers})
    suite = SubElement(suites, "testsuite", {"name": name, **numbers})
    for case in cases:
        where = {} if case.file is None else {"file": safe(case.file), "line": str(case.line)}
        made = SubElement(suite, "testcase", {"name": safe(case.name), "classname": name, **where})
        if case.failure:
            message = f"fails at present, too: {case.failure}" if case.is_known else case.failure
            SubElement(made, "skipped" if case.is_known else "failure", message=safe(message))
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def annotation(case: Case) -> str:
    """Return the workflow command of a failure: an error, or a notice if it is known."""
    properties = {"title": case.name}
    if case.file is not None:
        properties = {"file": case.file, "line": str(case.line), **properties}
    written = ",".join(f"{key}={_of_property(value)}" for key, value in properties.items())
    text = f"fails at present, too: {case.failure}" if case.is_known else case.failure
    return f"::{'notice' if case.is_known else 'error'} {written}::{_of_data(text)}\n"


def _of_data(text: str) -> str:
    return safe(text).replace("%", "%25")


def _of_property(text: str) -> str:
    return _of_data(text).replace(":", "%3A").replace(",", "%2C")
