"""The page of reasons names every kind of finding."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

from kubectl_sched.diagnostics import findings

_PAGE = Path(__file__).parents[3] / "docs" / "reasons.md"


def test_the_page_of_reasons_lists_each_kind_of_finding() -> None:
    found = pkgutil.walk_packages(findings.__path__, f"{findings.__name__}.")
    modules = [import_module(each.name) for each in found]
    kinds = {value for module in modules for name, value in vars(module).items() if re.fullmatch("(.*_)?KIND", name)}
    listed = re.findall(
        r"^- `([A-Za-z]+)`:", _PAGE.read_text("utf-8").partition("# Findings about a pod")[2], re.MULTILINE
    )
    assert listed == sorted(kinds)
