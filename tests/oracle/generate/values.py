"""Small vocabularies in which much collides, and the strategies for what many objects have."""

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
JsonStrategy = st.SearchStrategy[Json]

NAMESPACES = ("default", "team-a", "prod")
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOSTNAME = "kubernetes.io/hostname"
APPS = ("web", "db", "api")
KEYS = ("app", "tier", "version", "example.com/part-of")
LABEL_VALUES = (*APPS, "front", "v1", "")
NODE_KEYS = ("pool", "size", "disk", ZONE, REGION, HOSTNAME)
NODE_VALUES = ("", "a", "b", "4", "12", "-1", "007", "za", "zb", "n0", "n1")


def some(values: Any, *, up_to: int = 3, least: int = 0) -> st.SearchStrategy[list[Any]]:
    """A list of values, without repeats where they are plain."""
    strategy = values if isinstance(values, st.SearchStrategy) else st.sampled_from(values)
    return st.lists(strategy, min_size=least, max_size=up_to)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The strategy's value, or None."""
    return st.none() | strategy


def often(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The strategy's value three times in four."""
    return st.one_of(st.none(), strategy, strategy, strategy)


def without_nothing(fields: Json) -> Json:
    """The fields without what the API server does not store: those that are None, and empty lists."""
    return {name: _without_nothing(part) for name, part in fields.items() if part is not None and part != []}


def _without_nothing(value: Any) -> Any:
    if isinstance(value, dict):
        return without_nothing(value)
    if isinstance(value, list):
        return [_without_nothing(part) for part in value]
    return value


labels = st.fixed_dictionaries(
    {},
    optional={
        "app": st.sampled_from(APPS),
        "tier": st.sampled_from(["front", "back"]),
        "version": st.sampled_from(["v1", "v2"]),
        "example.com/part-of": st.sampled_from(["", "web"]),
    },
)


def expressions(
    keys: tuple[str, ...], values: tuple[str, ...], operators: tuple[str, ...]
) -> st.SearchStrategy[list[Json]]:
    """Requirements as the API server lets them through: Exists has no values, Gt and Lt have one."""
    one = st.builds(
        _expression,
        st.sampled_from(keys),
        st.sampled_from(operators),
        st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True),
    )
    return st.lists(one, max_size=2)


def _expression(key: str, operator: str, values: list[str]) -> Json:
    if operator in {"Exists", "DoesNotExist"}:
        return {"key": key, "operator": operator}
    return {"key": key, "operator": operator, "values": values[:1] if operator in {"Gt", "Lt"} else values}


SELECTS = ("In", "NotIn", "Exists", "DoesNotExist")

label_selectors: JsonStrategy = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.dictionaries(st.sampled_from(KEYS), st.sampled_from(LABEL_VALUES), max_size=2),
        "matchExpressions": expressions(KEYS, LABEL_VALUES, SELECTS),
    },
)

namespace_selectors: JsonStrategy = st.fixed_dictionaries(
    {},
    optional={
        "matchLabels": st.dictionaries(st.just("env"), st.sampled_from(["dev", "live"]), max_size=1),
        "matchExpressions": expressions(("env", "team"), ("dev", "live", "a"), SELECTS),
    },
)


def metadata(name: str, uid: str, namespace: str | None = None, **more: Any) -> Json:
    """An object's metadata."""
    return without_nothing({"name": name, "uid": uid, "namespace": namespace, **more})


namespaces: JsonStrategy = st.fixed_dictionaries(
    {}, optional={"env": st.sampled_from(["dev", "live"]), "team": st.sampled_from(["a", "b"])}
)
