"""`explain --interactive` on a real terminal: how it begins and how it ends."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import termios
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.diagnostics.messages.reason_catalogue import link_to
from kubectl_sched.tui.palette import shows_links
from tests import program

if TYPE_CHECKING:
    from collections.abc import Sequence

DEMO = ["--from", "fixtures/demo"]
_PATIENCE_SECONDS = 120
_COLOUR = re.compile(r"\x1b\[[0-9;]*?\b(?:3[0-7]|38|4[0-7]|48|9[0-7]|10[0-7])\b[0-9;]*m")


def explored(arguments: Sequence[str], until: str, keys: str, **environment: str) -> tuple[str, int]:
    """The output of `explain` on a terminal, the keys being typed once a text is on it; and the exit code."""
    return shown(["explain", *arguments, *DEMO], [(until, keys)], **environment)


def shown(arguments: Sequence[str], steps: Sequence[tuple[str, str]], **environment: str) -> tuple[str, int]:
    """The output on the terminal, keys being typed each time that a text is on it; and the exit code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    variables = {**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
    ended = program.start(arguments, (slave, slave, slave), environment=variables)
    os.close(slave)
    written = ""
    for until, keys in steps:
        written += _read_until(master, until)
        os.write(master, keys.encode())
    written += _read_until(master, None)
    os.close(master)
    return written, ended()


def _read_until(descriptor: int, text: str | None) -> str:
    """The output until a text has come; without one, until the other end is closed."""
    read = bytearray()
    while text is None or text not in read.decode(errors="replace"):
        if not select.select([descriptor], [], [], _PATIENCE_SECONDS)[0]:
            raise TimeoutError(read.decode(errors="replace"))
        chunk = b""
        with contextlib.suppress(OSError):
            chunk = os.read(descriptor, 1 << 16)
        if not chunk:
            break
        read += chunk
    return read.decode(errors="replace")


@pytest.mark.parametrize(
    ("pod", "code"), [("api-5d9c7b8f6d-m7c5t", 0), ("web-0", 1)], ids=["a pod that fits", "a pod that does not"]
)
@pytest.mark.parametrize("key", ["q", "\x03"], ids=["q", "ctrl-c"])
def test_it_leaves_with_the_exit_code_of_explain_and_gives_the_terminal_back(pod: str, code: int, key: str) -> None:
    written, returned = explored([pod, "-i"], "best first", key)
    assert returned == code
    assert "\x1b[?1049h" in written
    assert written.rindex("\x1b[?1049l") > written.rindex("\x1b[?1049h")
    assert "Traceback" not in written


def test_reasons_are_links_and_a_copied_command_goes_to_the_clipboard_of_the_terminal() -> None:
    written, _ = shown(["explain", "web-0", "-i", *DEMO], [("ask for 2", "y"), ("copied", "q")])
    page = link_to("Insufficient nvidia.com/gpu")  # none as long as the project has no address
    linked = re.findall("\x1b]8;id=[0-9-]+;([^\x1b]+)\x1b", written)
    assert page in linked if page is not None else linked == []
    [encoded] = re.findall(r"\x1b\]52;c;([^\x07]+)\x07", written)
    assert base64.b64decode(encoded).decode().startswith("kubectl patch statefulset/web -n default")


@pytest.mark.parametrize(
    ("environment", "shown_there"),
    [({"TERM": "xterm-256color"}, True), ({"TERM": "linux"}, False), ({"TERM": "xterm", "VTE_VERSION": "4999"}, False)],
)
def test_links_are_left_out_where_a_terminal_would_show_their_addresses(
    environment: dict[str, str], shown_there: bool
) -> None:
    assert shows_links(environment) is shown_there


def test_the_exit_code_is_that_of_the_node_that_was_asked_for() -> None:
    assert explored(["api-5d9c7b8f6d-m7c5t", "-i", "--node", "master"], "best first", "q")[1] == 1


def test_there_is_colour_unless_none_is_wanted() -> None:
    assert _COLOUR.search(explored(["web-0", "-i"], "best first", "q")[0])
    for arguments, environment in ((["--color", "never"], {}), ([], {"NO_COLOR": "1"})):
        written, _ = explored(["web-0", "-i", *arguments], "best first", "q", **environment)
        assert _COLOUR.search(written) is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["web-0", "-i"], "error: --interactive needs a terminal: without -i the answer is printed\n"),
        (
            ["web-0", "-i", "-o", "json"],
            "error: --interactive shows a screen and -o prints: give one of them (e within it exports any format)\n",
        ),
        (["-i", "--watch"], "error: --watch follows the cluster and --interactive holds it still: give one of them\n"),
    ],
    ids=["no terminal", "an output format", "watching"],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(arguments: list[str], told: str) -> None:
    done = program.run("explain", *arguments, *DEMO)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_a_node_that_is_not_there_is_bad_input() -> None:
    written, returned = explored(["web-0", "-i", "--node", "gpu-9"], "near it", "")
    assert returned == 2
    assert "error: there is no node gpu-9; near it: " in written
    assert "\x1b[?1049h" not in written


def test_triage_opens_without_arguments_and_goes_through_group_pod_and_explorer() -> None:
    steps = [("2 more nodes", "\r"), ("ml/train-0", "\r"), ("best first", "q")]
    written, returned = shown(["--from", "fixtures/triage"], steps)
    assert returned == 1
    assert written.rindex("\x1b[?1049l") > written.rindex("\x1b[?1049h")
    assert "Traceback" not in written


def test_triage_with_nothing_pending_opens_no_screen() -> None:
    written, returned = shown(["--from", "fixtures/triage", "-n", "kube-system"], [])
    assert (returned, "nothing is pending" in written, "\x1b[?1049h" in written) == (0, True, False)


def test_an_output_that_is_asked_for_is_printed_on_a_terminal_too() -> None:
    written, returned = shown(["--from", "fixtures/triage", "-o", "table"], [])
    assert (returned, "no gpu node has 1 GPU free" in written, "\x1b[?1049h" in written) == (1, True, False)


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_be_drawn_on_gets_plain_text(term: str) -> None:
    for arguments in (["--from", "fixtures/triage"], ["explain", "web-0", *DEMO], ["capacity", *DEMO]):
        written, _ = shown(arguments, [], TERM=term)
        assert "nvidia.com/gpu" in written
        assert "\x1b" not in written
    written, returned = shown(["explain", "web-0", "-i", *DEMO], [], TERM=term)
    assert (returned, "--interactive needs a terminal to draw on" in written, "\x1b" in written) == (2, True, False)


def test_colours_that_are_asked_for_come_on_every_terminal() -> None:
    written, _ = shown(["explain", "web-0", "--color", "always", *DEMO], [], TERM="dumb")
    assert "\x1b[1;31m" in written


@pytest.mark.parametrize("columns", ["0", "1", "x"])
def test_any_number_of_columns_gets_an_answer(columns: str) -> None:
    for arguments in (["explain", "web-0", *DEMO], ["explain", "--pending", *DEMO], ["capacity", *DEMO]):
        written, returned = shown(arguments, [], COLUMNS=columns, PAGER="cat")
        assert returned in {0, 1}, written
        assert "error: " not in written
