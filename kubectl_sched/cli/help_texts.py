"""The help of each command: data, which only help and completion import."""

from __future__ import annotations

from typing import Final, NamedTuple

ABOUT: Final = "kubectl sched says why a pod lands where it does, and why it does not fit, by replaying kube-scheduler."
"""The first line of the help as a whole."""


class Example(NamedTuple):
    """A command line, and what somebody wants who types it."""

    wanted: str
    line: str


class CommandHelp(NamedTuple):
    """A command in one phrase, in paragraphs, by example, and how its arguments stand."""

    short: str
    text: str
    examples: tuple[Example, ...]
    usage: str


_FROM = "Without --from it reads the cluster of the kubeconfig, as kubectl does; nothing is ever written."

COMMANDS: Final[dict[str, CommandHelp]] = {
    "triage": CommandHelp(
        "Group all pending pods by cause; the same as no command",
        f"""\
Group all pending pods by what keeps them pending, the largest group first, and say what helps.

A line that names no command does the same. The pods of a group share the outcome, and the plugins and reasons
that keep out the last nodes. What helps was replayed for all pods of the group, one after the other.

{_FROM} Exit code: 0 nothing is pending, 1 something is, 2 bad input, 3 the cluster cannot be read.""",
        (
            Example("What is pending, and why?", "kubectl sched"),
            Example("The same of one namespace, from a dump", "kubectl sched --from dump.json -n shop"),
            Example("Every pod by name, and the commands to paste", "kubectl sched triage -o wide"),
            Example("As data", "kubectl sched -o json"),
        ),
        "triage [options]",
    ),
    "explain": CommandHelp(
        "Say why pods land where they do, or why they do not fit",
        f"""\
Say why pods land where they do, or why they do not fit.

Each pod is taken through the whole pipeline of kube-scheduler: every plugin judges every node, and every
feasible node is scored. Where a pod does not fit, the smallest change that lets it in is found, replayed and
shown as a command. A pod that is bound already is explained as if it were pending.

{_FROM} Exit code: 0 it fits, 1 it does not, 2 bad input, 3 the cluster cannot be read,
4 a bug in kubectl-sched (all that it does not touch is still shown), 130 interrupted.""",
        (
            Example("Why is the pod web-0 pending?", "kubectl sched explain pod web-0 -n shop"),
            Example("Why not on the node worker-3, plugin by plugin?", "kubectl sched explain web-0 --node worker-3"),
            Example("All pending pods of all namespaces, a line each", "kubectl sched explain pods --pending -A"),
            Example("The pods of a workload, from a dump instead", "kubectl sched explain deploy/web --from dump.json"),
            Example("Explore the answer, and change it, full screen", "kubectl sched explain pod web-0 --interactive"),
            Example("Why does the gang train not fit as a whole?", "kubectl sched explain podgroup train -n ml"),
            Example("One page to attach to a ticket", "kubectl sched explain pod web-0 -o html > web-0.html"),
            Example("The whole answer as data, with evidence", "kubectl sched explain pod web-0 -o json --evidence"),
            Example(
                "What a FailedScheduling message means, without any cluster",
                "kubectl sched explain message '0/3 nodes are available: 3 Insufficient cpu.'",
            ),
        ),
        "explain [pod] NAME... | podgroup NAME | TYPE/NAME... [options]",
    ),
    "message": CommandHelp(
        "Say what a pasted FailedScheduling message means",
        """\
Say in plain words what a FailedScheduling message means, clause by clause, without any cluster.

The text may be of any kube-scheduler since 1.22, cut short, or copied with the line of kubectl describe or of a
log around it. docs/reasons.md has an entry for each reason. The same as `explain message`.""",
        (
            Example(
                "Paste what kubectl describe pod shows",
                "kubectl sched message '0/3 nodes are available: 3 Insufficient cpu.'",
            ),
            Example(
                "Read it from standard input",
                "kubectl get events -o jsonpath='{.items[-1:].message}' | kubectl sched message -",
            ),
            Example("As data", "kubectl sched message '0/9 nodes are available: 9 Too many pods.' -o json"),
        ),
        "message TEXT | - [options]",
    ),
    "whatif": CommandHelp(
        "Say where pods would land, whether they fit, and how many more do",
        f"""\
Say where pods would land, whether they fit, and how many more do, before anything is changed.

Pods of a manifest, or of a workload that exists, are placed one after the other, each seeing those before it.
The cluster can be edited first: nodes added, drained, removed, cordoned, tainted, labelled.

NODE is a name, a pattern (gpu-*) or a selector ((zone=a,!gpu)). {_FROM}""",
        (
            Example("Would this deployment fit?", "kubectl sched whatif web.yaml"),
            Example("How many more replicas fit?", "kubectl sched whatif deployment/web --replicas max"),
            Example("Do all pods find another node if one is drained?", "kubectl sched whatif --drain worker-3"),
            Example(
                "How many nodes like worker-1 are missing?",
                "kubectl sched whatif web.yaml --replicas 40 --find-nodes worker-1",
            ),
        ),
        "whatif [MANIFEST... | TYPE/NAME...] [edits] [options]",
    ),
    "capacity": CommandHelp(
        "Say how many more pods fit, and where free capacity is stranded",
        f"""\
Say how many more pods of each shape fit, and where capacity is free but out of their reach.

Without --shape the shapes are those of the pending and running pods. What is free counts as stranded on nodes where
no pod of the shapes that request it fits, which is found by running the profile's filters, not by arithmetic.

{_FROM}""",
        (
            Example("How much room is left, and for whom?", "kubectl sched capacity"),
            Example(
                "How many more pods with 4 cpu, 16Gi and a GPU fit?",
                "kubectl sched capacity --shape train=cpu=4,memory=16Gi,nvidia.com/gpu=1",
            ),
            Example("A page with a heat map of nodes", "kubectl sched capacity -o html > capacity.html"),
        ),
        "capacity [--shape NAME=cpu=4,memory=16Gi]... [options]",
    ),
    "bind": CommandHelp(
        "Schedule a pending pod yourself, or watch over a schedulerName",
        """\
Run one scheduling cycle for a pending pod and write the binding, as kube-scheduler does.

The plan is printed and confirmed first. A pod whose own scheduler is running is refused without --take-over, a
gated pod always. With --watch it goes on for every pending pod of a schedulerName.

Exit code: 0 bound or planned, 1 it does not fit or is refused, 2 bad usage, 3 the server refused,
4 a bug in kubectl-sched.""",
        (
            Example("Show the plan, and write nothing", "kubectl sched bind pod web-0 --dry-run=client"),
            Example("Bind it to a node that the filters allow", "kubectl sched bind pod web-0 --node worker-3"),
            Example("Bind it without being asked", "kubectl sched bind pod web-0 --yes"),
            Example(
                "Serve the pods of a schedulerName until interrupted",
                "kubectl sched bind --watch --scheduler-name my-scheduler",
            ),
        ),
        "bind pod NAME [options]",
    ),
    "diff": CommandHelp(
        "Compare two configurations, two versions or two dumps",
        """\
Compare where pods land under two configurations, two versions or two dumps.

A pod differs where its outcome or its best nodes do. The plain flags say what to start from, those that begin
with --to what to compare with. Exit code: 0 nothing differs, 1 something does.""",
        (
            Example(
                "What would another configuration change?", "kubectl sched diff --config now.yaml --to-config next.yaml"
            ),
            Example("What will the next version of Kubernetes change?", "kubectl sched diff --to-kube-version 1.37"),
            Example(
                "What changed for a workload between two dumps?",
                "kubectl sched diff deployment/web --from monday.json --to-dump tuesday.json",
            ),
        ),
        "diff [[pod] NAME... | TYPE/NAME...] --to-... [options]",
    ),
    "profiles": CommandHelp(
        "Show each profile of a configuration, resolved",
        """\
Show each profile of a configuration as kube-scheduler would run it, and what differs from the default.

A configuration that kube-scheduler refuses is refused here, in its own words.""",
        (
            Example("The default profile of a version", "kubectl sched profiles --kube-version 1.36"),
            Example("Check a configuration before it is rolled out", "kubectl sched profiles --config scheduler.yaml"),
            Example(
                "Which plugins does it run at Score, and with which weights?",
                "kubectl sched profiles --config scheduler.yaml -o json",
            ),
        ),
        "profiles [--config FILE] [options]",
    ),
    "schedulers": CommandHelp(
        "List the schedulers, their profiles, and whom nobody serves",
        """\
List the schedulers and their profiles, and the schedulerNames that pods ask for and nobody serves.

It says where each one's configuration is from, who holds its Lease, and what keeps it from serving.""",
        (
            Example("Which schedulers does this cluster have?", "kubectl sched schedulers"),
            Example("The same of a dump", "kubectl sched schedulers --from must-gather.tar.gz"),
            Example("As data", "kubectl sched schedulers -o json"),
        ),
        "schedulers [options]",
    ),
    "snapshot": CommandHelp(
        "Save what a replay needs, and nothing secret, in one file",
        """\
Save what a replay needs, and nothing that is secret, in one file that --from reads.

With --anonymize names, labels and images are replaced throughout, and every verdict stays the same.""",
        (
            Example("Keep the state of this moment", "kubectl sched snapshot now.json.gz"),
            Example("A file that can be shown to others", "kubectl sched snapshot report.json.gz --anonymize"),
            Example("Straight into an explanation", "kubectl sched snapshot - | kubectl sched explain web-0 --from -"),
        ),
        "snapshot FILE [options]",
    ),
    "completion": CommandHelp(
        "Print the completion script of a shell (bash, zsh, fish)",
        """\
Print a shell's completion script for kubectl-sched.

`kubectl sched` itself is completed by kubectl's own completion, which runs kubectl_complete-sched, where that
stands in PATH beside kubectl-sched.""",
        (
            Example("bash, in this session", "source <(kubectl-sched completion bash)"),
            Example("zsh, for good", 'kubectl-sched completion zsh > "${fpath[1]}/_kubectl-sched"'),
            Example("fish, for good", "kubectl-sched completion fish > ~/.config/fish/completions/kubectl-sched.fish"),
        ),
        "completion bash|zsh|fish",
    ),
    "version": CommandHelp(
        "Print the version, and which Kubernetes it replays",
        """\
Print the program's version, and which minors of Kubernetes it replays to the letter.

The same as --version. docs/versions.md says how the minors differ.""",
        (
            Example("For a bug report", "kubectl sched version"),
            Example("As data", "kubectl sched version -o json"),
            Example("The same without kubectl", "kubectl-sched version -o yaml"),
        ),
        "version [options]",
    ),
}

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "Understanding Commands": ("triage", "explain", "message"),
    "What-if Commands": ("whatif", "capacity", "diff"),
    "Binding Commands": ("bind",),
    "Scheduler Commands": ("schedulers", "profiles"),
    "Other Commands": ("snapshot", "completion", "version"),
}
"""The groups of commands in the overview."""
