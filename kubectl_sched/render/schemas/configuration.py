"""The answers of `profiles`, `schedulers` and `version`, as data."""

from typing import Any, NotRequired, TypedDict

from kubectl_sched.config.profiles import UnknownPlugin
from kubectl_sched.render.schemas.common import About


class Extender(TypedDict):
    """An extender of the configuration, and the verbs that it is asked."""

    urlPrefix: str
    weight: int
    ignorable: bool
    verbs: list[str]


class ProfilePlugin(TypedDict):
    """A plugin at an extension point; `difference` says how it differs from the default."""

    name: str
    weight: int | None
    difference: str | None


class Profile(TypedDict):
    """A profile as it would run; `plugins` and `removed` are by extension point."""

    schedulerName: str
    percentageOfNodesToScore: int | None
    differsFromDefault: bool
    plugins: dict[str, list[ProfilePlugin]]
    removed: dict[str, list[str]]
    args: dict[str, dict[str, Any]]
    argsThatDiffer: dict[str, list[str]]
    unknownPlugins: list[UnknownPlugin]


class Profiles(About):
    """The answer of `profiles`."""

    kubernetesVersion: str
    kubernetesPatch: str | None
    parallelism: int
    percentageOfNodesToScore: int | None
    extenders: list[Extender]
    items: list[Profile]
    warnings: list[str]


class ConfigurationSource(TypedDict):
    """The place from which a scheduler's configuration was read, or the commands that fetch it."""

    source: str
    apiVersion: str | None
    command: str | None
    commands: list[str]
    problem: str | None


class LeaderElection(TypedDict):
    """The Lease of a scheduler and who holds it."""

    lease: str
    holder: str | None
    isHolder: bool | None
    renewTime: str | None


class ServedProfile(TypedDict):
    """A profile, and the pods that ask for it."""

    schedulerName: str
    pods: int
    pending: int


class Scheduler(TypedDict):
    """A scheduler that was found, or that is assumed."""

    kind: str
    namespace: str
    name: str
    pods: list[str]
    image: str | None
    version: str | None
    patch: NotRequired[str | None]
    flags: dict[str, str]
    configuration: ConfigurationSource
    leaderElection: LeaderElection | None
    profiles: list[ServedProfile]
    serves: bool
    problems: list[str]


class Unserved(TypedDict):
    """A schedulerName that nobody serves."""

    schedulerName: str
    pods: int
    pending: int
    product: str | None
    wouldServe: str | None
    mayServe: list[str]


class Schedulers(About):
    """The answer of `schedulers`."""

    items: list[Scheduler]
    unserved: list[Unserved]
    warnings: list[str]


class Version(About):
    """The answer of `version`."""

    version: str
    kubernetesVersions: list[str]
