"""Help reads as kubectl's own, and every example in it is a command line that the program takes."""

from __future__ import annotations

import json
import shlex
from importlib.metadata import version

import pytest

from kubectl_sched.cli.app import with_command
from kubectl_sched.cli.command_line import command_first
from kubectl_sched.cli.help import help_texts
from kubectl_sched.cli.lazy_commands import COMMANDS, command
from kubectl_sched.config.versions import NEWEST, OLDEST_EXACT, PRERELEASES, SUPPORTED
from tests.terminal import on_terminal

HELP = help_texts().commands
EXAMPLES = [(name, line) for name in COMMANDS for line in HELP[name].examples]
GROUPS_OF_OPTIONS = ("Options:", "Selection Options:", "Replay Options:", "Output Options:")
PROGRAMS = ("kubectl sched", "kubectl-sched")


def test_every_command_is_documented_and_in_one_group() -> None:
    assert set(COMMANDS) == set(HELP)
    grouped = [name for names in help_texts().groups.values() for name in names]
    assert sorted(grouped) == sorted(HELP)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_three_examples(name: str) -> None:
    assert len(HELP[name].examples) >= 3


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_the_flags_of_an_example_parse(name: str, line: str) -> None:
    """Each part of a pipe that is ours; what the shell makes of the rest is not looked at."""
    ours = 0
    for part in line.removeprefix("source <(").removesuffix(")").replace(" > ", " | ").split(" | "):
        if part.startswith(PROGRAMS):
            typed = shlex.split(part.removeprefix("kubectl sched").removeprefix("kubectl-sched"))
            first, *rest = with_command(command_first(typed))
            built = command(first)
            context = built.make_context(first, list(rest))
            assert context.params, part
            ours += first == name
    assert ours >= 1


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"]])
def test_the_overview_lists_every_command_within_80_columns(arguments: list[str]) -> None:
    shown, code = on_terminal(arguments)
    assert code == 0
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert [name for name in HELP if f"\n  {name} " not in shown] == []
    assert "\nUsage:\n  kubectl sched <command> [flags] [options]\n" in shown
    assert 'Use "kubectl sched <command> --help" for more information about a given command.' in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_help_has_kubectls_parts_in_kubectls_order(name: str) -> None:
    shown, code = on_terminal([name, "--help"])
    assert code == 0
    lines = shown.splitlines()
    headings = [line for line in lines if line.endswith(":") and line[:1].isalpha() and line != lines[0]]
    assert (headings[0], headings[-1]) == ("Examples:", "Usage:")
    assert [each for each in GROUPS_OF_OPTIONS if each in headings] == [
        each for each in headings if each in GROUPS_OF_OPTIONS
    ]
    assert lines[lines.index("Usage:") + 1].startswith(f"  kubectl sched {name} ")
    examples = {f"  {line}" for line in HELP[name].examples}
    assert all(len(line) <= 80 or line in examples for line in lines)


@pytest.mark.parametrize("heading", ["Selection Options:", "Replay Options:", "Output Options:"])
def test_commands_share_their_groups_of_options(heading: str) -> None:
    """Whoever knows one command knows the same options of the others."""
    shown = {name: _options_under(heading, on_terminal([name, "--help"])[0]) for name in ("explain", "whatif", "diff")}
    texts = [options for options in shown.values() if options]
    assert len(texts) == len(shown)
    for flag in set.intersection(*(set(options) for options in texts)) - {"    -o, --output='table':"}:
        assert len({options[flag] for options in texts}) == 1


def _options_under(heading: str, shown: str) -> dict[str, str]:
    """The flags of a group with what is said of each."""
    text = shown.partition(f"{heading}\n")[2]
    options: dict[str, str] = {}
    for paragraph in text.split("\n\n"):
        if not paragraph.startswith("    "):
            break
        flag, _, said = paragraph.partition("\n")
        options[flag] = said
    return options


def test_options_are_shown_with_their_defaults_and_choices() -> None:
    shown, _ = on_terminal(["explain", "--help"])
    assert "    -A, --all-namespaces=false:\n        Look in all namespaces.\n" in shown
    assert "    -o, --output='table':\n        How to print the answer. One of: (table, wide, json," in shown
    assert "--kubeconfig" not in shown


def test_the_connection_options_have_a_page_of_their_own() -> None:
    shown, code = on_terminal(["options"])
    assert code == 0
    assert "    --kubeconfig='':" in shown
    assert "    -s, --server='':" in shown
    assert "    --insecure-skip-tls-verify=false:" in shown


def test_help_may_come_first() -> None:
    assert on_terminal(["help", "diff"]) == on_terminal(["diff", "--help"])


@pytest.mark.parametrize("arguments", [["explain", "message", "--help"], ["help", "explain", "message"]])
def test_what_stands_below_a_command_has_its_own_help(arguments: list[str]) -> None:
    assert on_terminal(arguments) == on_terminal(["message", "--help"])


UNKNOWN = 'error: unknown command "{}" for "kubectl sched" ({})'
WAY = "write `kubectl sched web-0` or `kubectl sched deploy/web`; see kubectl sched --help"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["exlpain"], UNKNOWN.format("exlpain", "did you mean explain? a pod of that name is pod/exlpain")),
        (["describe"], UNKNOWN.format("describe", WAY)),
        (["--frobnicate"], "error: No such option: --frobnicate (see kubectl sched triage --help)"),
        (["--from"], "error: Option '--from' requires an argument (see kubectl sched --help)"),
        (
            ["--node", "w1", "explain"],
            "error: --node belongs behind the command: write explain --node ... (see kubectl sched explain --help)",
        ),
        (["explain", "--frobnicate"], "error: No such option: --frobnicate (see kubectl sched explain --help)"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(arguments: list[str], said: str) -> None:
    shown, code = on_terminal(arguments, columns=200)
    assert (shown.strip(), code) == (said, 2)


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_the_version_comes_with_the_minors_that_are_replayed(arguments: list[str]) -> None:
    early = "".join(f", and {minor} as of {tag}" for minor, tag in PRERELEASES.items())
    said = f"kubectl-sched {version('kubectl-sched')} (replays Kubernetes {OLDEST_EXACT} to {NEWEST}{early})"
    shown, code = on_terminal(arguments)
    assert (shown.strip(), code) == (said, 0)


def test_the_version_is_data_too() -> None:
    shown, code = on_terminal(["version", "-o", "json"])
    data = json.loads(shown)
    assert (code, data["kind"], data["version"]) == (0, "Version", version("kubectl-sched"))
    assert data["kubernetesVersions"] == [str(each) for each in SUPPORTED if each >= OLDEST_EXACT]
