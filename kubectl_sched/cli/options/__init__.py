"""The groups of options that commands share, as kubectl and the contract have them."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar

from typer import BadParameter, Option

from kubectl_sched.cli.options.option_groups import OptionGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.render.display import Display
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.pod_selection import Selection


class Output(StrEnum):
    """The format of the answer."""

    table = "table"
    wide = "wide"
    json = "json"
    yaml = "yaml"
    name = "name"


class PageOutput(StrEnum):
    """The format of an answer, which may also be a whole page to hand on."""

    table = "table"
    wide = "wide"
    json = "json"
    yaml = "yaml"
    name = "name"
    html = "html"
    markdown = "markdown"


class GateFormat(StrEnum):
    """The format of an answer, which may also be a report that CI reads."""

    table = "table"
    wide = "wide"
    json = "json"
    yaml = "yaml"
    name = "name"
    html = "html"
    markdown = "markdown"
    junit = "junit"
    github = "github"


class Color(StrEnum):
    """The values of --color."""

    auto = "auto"
    always = "always"
    never = "never"


def not_empty(value: str | None) -> str | None:
    """The value. Refuses an empty one, which a script gives whose variable is not set."""
    if value == "":
        raise BadParameter("it is given an empty name")
    return value


class StateSource(OptionGroup, frozen=True, kw_only=True):
    """The dumps to read instead of the cluster."""

    heading: ClassVar = "Selection Options"
    from_: Annotated[
        list[str] | None,
        Option("--from", metavar="PATH", help="Read a dump (file, directory, archive or - for stdin); repeatable."),
    ] = None
    max_age: Annotated[
        str | None, Option("--max-age", metavar="24h", help="Refuse a dump of --from that is older.")
    ] = None


class OneNamespace(OptionGroup, frozen=True, kw_only=True):
    """The namespace of what is named."""

    heading: ClassVar = "Selection Options"
    namespace: Annotated[str | None, Option("--namespace", "-n", help="The namespace to look in.")] = None
    all_namespaces: Annotated[bool, Option("--all-namespaces", "-A", help="Look in all namespaces.")] = False


class ManifestSelection(OneNamespace, frozen=True, kw_only=True):
    """The objects of manifests that a command is about."""

    selector: Annotated[
        str | None,
        Option("--selector", "-l", help="Only what has labels that match, as kubectl's -l."),
    ] = None


class NodeSelection(OptionGroup, frozen=True, kw_only=True):
    """The nodes that a command is about, besides those it names; their pods are of whatever namespace."""

    heading: ClassVar = "Selection Options"
    selector: Annotated[
        str | None, Option("--selector", "-l", help="Nodes whose labels match, as kubectl drain's -l.")
    ] = None
    namespace: Annotated[
        str | None, Option("--namespace", "-n", help="As kubectl has it: pods of all namespaces count anyway.")
    ] = None
    all_namespaces: Annotated[bool, Option("--all-namespaces", "-A", help="Pods of all namespaces, as always.")] = False

    def of(self, names: "Sequence[str] | None") -> "tuple[str, ...]":
        """Return the nodes as edits take them: names, patterns, and a selector in parentheses."""
        return (*(names or ()), *((f"({self.selector})",) if self.selector else ()))


class PodSelection(OneNamespace, frozen=True, kw_only=True):
    """The pods that a command is about, besides those it names."""

    selector: Annotated[
        str | None, Option("--selector", "-l", help="Only what has labels that match, as kubectl's -l.")
    ] = None
    pending: Annotated[bool, Option("--pending", help="Only pods that no node has yet.")] = False

    @property
    def in_namespace(self) -> str | None:
        """The namespace as a Selection has it: None for all, `""` for the context's own."""
        return None if self.all_namespaces else self.namespace or ""

    def of(self, targets: "Sequence[str] | None", *, pending: bool) -> "Selection":
        """These pods, and those that `targets` names."""
        from kubectl_sched.sources.pod_selection import Selection

        return Selection(
            targets=tuple(targets or ()),
            namespace=self.in_namespace,
            label_selector=self.selector,
            pending=pending,
            looks_elsewhere=not (self.all_namespaces or self.namespace),
        )


class ClusterSelection(OptionGroup, frozen=True, kw_only=True):
    """The pods that a question about the cluster is about; all of them unless one narrows it."""

    heading: ClassVar = "Selection Options"
    namespace: Annotated[str | None, Option("--namespace", "-n", help="Only pods of this namespace.")] = None
    all_namespaces: Annotated[bool, Option("--all-namespaces", "-A", help="Pods of all namespaces, as without -n.")] = (
        False
    )
    selector: Annotated[
        str | None, Option("--selector", "-l", help="Only what has labels that match, as kubectl's -l.")
    ] = None

    @property
    def in_namespace(self) -> str | None:
        """The namespace as queries take it: None for all."""
        return None if self.all_namespaces else self.namespace

    @property
    def pending_pods(self) -> "Selection":
        """The pending pods as queries take them."""
        from kubectl_sched.sources.pod_selection import Selection

        return Selection(targets=(), namespace=self.in_namespace, label_selector=self.selector, pending=True)


KubeVersion = Annotated[str | None, Option("--kube-version", metavar="1.36", help="Whose behaviour to replay.")]
InstanceTypes = Annotated[
    str | None,
    Option("--instance-types", metavar="FILE", help="All instance types, as Karpenter's kwok provider reads them."),
]


class SchedulerVersion(OptionGroup, frozen=True, kw_only=True):
    """The version of the schedulers that the cluster does not tell."""

    heading: ClassVar = "Replay Options"
    kube_version: KubeVersion = None


class ConfiguredScheduler(OptionGroup, frozen=True, kw_only=True):
    """The scheduler to replay."""

    heading: ClassVar = "Replay Options"
    config: Annotated[
        str | None,
        Option("--config", metavar="FILE", callback=not_empty, help="A KubeSchedulerConfiguration to replay."),
    ] = None
    kube_version: KubeVersion = None
    feature_gates: Annotated[
        list[str] | None,
        Option("--feature-gates", metavar="A=true,B=false", help="As kube-scheduler's flag; repeatable."),
    ] = None

    @property
    def replay(self) -> "Replay":
        """The scheduler as a query takes it."""
        from kubectl_sched.sources.discovery.replay_setup import Replay

        return Replay(config=self.config, kube_version=self.kube_version, feature_gates=joined(self.feature_gates))


class ProfiledScheduler(ConfiguredScheduler, frozen=True, kw_only=True):
    """The scheduler to replay, and which of its profiles."""

    profile: Annotated[
        str | None,
        Option(
            "--profile",
            metavar="NAME",
            callback=not_empty,
            help="The profile by schedulerName; the default is the pod's own.",
        ),
    ] = None


class PlainOutput(OptionGroup, frozen=True, kw_only=True):
    """The format of what is printed without colours."""

    heading: ClassVar = "Output Options"
    output: Annotated[Output, Option("--output", "-o", help="How to print the answer.")] = Output.table


class AnswerOutput(OptionGroup, frozen=True, kw_only=True):
    """The format of answers; each group below says in which formats."""

    heading: ClassVar = "Output Options"
    output: StrEnum | None
    color: Annotated[Color, Option("--color", help="When to colour.")] = Color.auto
    notes: Annotated[bool, Option("--notes", help="Show every note (as -o wide).")] = False
    brief: Annotated[bool, Option("--brief", help="With -o json or yaml: the essence, at most 8 KB for a pod.")] = False

    @property
    def shown(self) -> "Display":
        """The form of the answer. Raises SchedError for --brief with a format that is not for programs."""
        from kubectl_sched.errors import SchedError
        from kubectl_sched.render.display import DATA, Display

        output = (self.output or PageOutput.table).value
        if self.brief and output not in DATA:
            raise SchedError("--brief shortens what programs read: give it with -o json or -o yaml")
        return Display(output=output, color=self.color.value, notes=self.notes, brief=self.brief)


class TriageOutput(AnswerOutput, frozen=True, kw_only=True):
    """The format of a triage, which opens a screen on a terminal unless one is asked for."""

    output: Annotated[
        PageOutput | None, Option("--output", "-o", help="Print the answer so; else a terminal shows it to go through.")
    ] = None


class PageableOutput(AnswerOutput, frozen=True, kw_only=True):
    """The format of answers that can also be pages."""

    output: Annotated[PageOutput, Option("--output", "-o", help="How to print the answer.")] = PageOutput.table


class GateOutput(AnswerOutput, frozen=True, kw_only=True):
    """The format of answers that CI asks for, too."""

    output: Annotated[GateFormat, Option("--output", "-o", help="How to print the answer.")] = GateFormat.table


def joined(feature_gates: "Sequence[str] | None") -> str | None:
    """All gates of a flag that was given several times; None if it was not."""
    return ",".join(feature_gates) if feature_gates else None
