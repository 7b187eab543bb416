"""Validation of update strategies of workloads.

Answers to pkg/apis/apps/validation/validation.go, in the words of 1.36.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apimachinery.validation import invalid, not_negative
from kubectl_sched.api.apps import DaemonSet, Deployment, RollingUpdate, StatefulSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.apps import IntOrPercent, UpdateStrategy
    from kubectl_sched.api.meta import KubernetesObject

_PERCENT: Final = re.compile("[0-9]+%")
_ROLLING: Final = "RollingUpdate"
_PERCENT_IS_WRONG: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def strategy_problems(item: KubernetesObject) -> Iterator[str]:
    """Yield the errors of a workload's update strategy and of a StatefulSet's pod management policy."""
    match item:
        case Deployment():
            yield from _of_deployment(item.spec.strategy)
        case StatefulSet():
            yield from _of_stateful_set(item)
        case DaemonSet():
            yield from _of_daemon_set(item.spec.update_strategy)
        case _:
            pass


def _of_deployment(strategy: UpdateStrategy) -> Iterator[str]:
    rolling = strategy.rolling_update
    if strategy.type == "Recreate" and rolling is not None:
        yield "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"
    elif strategy.type not in {"", _ROLLING, "Recreate"}:
        yield f'spec.strategy: Unsupported value: {_shown(strategy)}: supported values: "Recreate", "{_ROLLING}"'
    elif strategy.type != "Recreate" and rolling is not None:
        path = "spec.strategy.rollingUpdate"
        unavailable, surge = _stated(rolling.max_unavailable, "25%"), _stated(rolling.max_surge, "25%")
        yield from _share(f"{path}.maxUnavailable", unavailable)
        yield from _share(f"{path}.maxSurge", surge)
        if _is_none(unavailable) and _is_none(surge):
            yield invalid(f"{path}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
        yield from _at_most_all(f"{path}.maxUnavailable", unavailable)


def _of_stateful_set(item: StatefulSet) -> Iterator[str]:
    spec, strategy = item.spec, item.spec.update_strategy
    policy, path = spec.pod_management_policy, "spec.updateStrategy"
    if policy not in {"", "OrderedReady", "Parallel"}:
        yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    if strategy.type == "OnDelete" and strategy.rolling_update is not None:
        shown = _shown_partition(strategy.rolling_update)
        yield f"{path}.rollingUpdate: Invalid value: {shown}: only allowed for updateStrategy '{_ROLLING}'"
    elif strategy.type not in {"", _ROLLING, "OnDelete"}:
        yield f"{path}: Invalid value: {_shown(strategy, _shown_partition)}: must be '{_ROLLING}' or 'OnDelete'"
    elif strategy.rolling_update is not None:
        yield from not_negative(f"{path}.rollingUpdate.partition", strategy.rolling_update.partition)
    if spec.ordinals is not None:
        yield from not_negative("spec.ordinals.start", spec.ordinals.start)


def _of_daemon_set(strategy: UpdateStrategy) -> Iterator[str]:
    if strategy.type == "OnDelete":
        return
    if strategy.type not in {"", _ROLLING}:
        yield f'spec.updateStrategy: Unsupported value: {_shown(strategy)}: supported values: "{_ROLLING}", "OnDelete"'
        return
    rolling, path = strategy.rolling_update or RollingUpdate(), "spec.updateStrategy.rollingUpdate"
    unavailable, surge = _stated(rolling.max_unavailable, 1), _stated(rolling.max_surge, 0)
    for field, amount in (("maxUnavailable", unavailable), ("maxSurge", surge)):
        yield from _share(f"{path}.{field}", amount)
        yield from _at_most_all(f"{path}.{field}", amount)
    if not _is_none(unavailable) and not _is_none(surge):
        yield invalid(f"{path}.maxSurge", surge, "may not be set when maxUnavailable is non-zero")
    elif _is_none(unavailable) and _is_none(surge):
        yield f"{path}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"


def _shown_bounds(rolling: RollingUpdate) -> str:
    return _json({"MaxUnavailable": rolling.max_unavailable or 0, "MaxSurge": rolling.max_surge or 0})


def _shown_partition(rolling: RollingUpdate) -> str:
    return _json({"Partition": rolling.partition or 0, "MaxUnavailable": rolling.max_unavailable})


def _shown(strategy: UpdateStrategy, of: Callable[[RollingUpdate], str] = _shown_bounds) -> str:
    """A strategy as the API server shows it, by the names that it has in there."""
    rolling = strategy.rolling_update
    return f'{{"Type":{_json(strategy.type)},"RollingUpdate":{"null" if rolling is None else of(rolling)}}}'


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _stated(amount: IntOrPercent | None, default: IntOrPercent) -> IntOrPercent:
    return default if amount is None else amount


def _share(path: str, amount: IntOrPercent) -> Iterator[str]:
    """Yield an error if the amount is neither a number of pods nor a percentage."""
    if isinstance(amount, int):
        yield from not_negative(path, amount)
    elif not _PERCENT.fullmatch(amount):
        yield invalid(path, amount, _PERCENT_IS_WRONG)


def _at_most_all(path: str, amount: IntOrPercent) -> Iterator[str]:
    if isinstance(amount, str) and _PERCENT.fullmatch(amount) and (parse_int64(amount[:-1]) or 0) > 100:
        yield invalid(path, amount, "must not be greater than 100%")


def _is_none(amount: IntOrPercent) -> bool:
    """Report whether it is 0 of any number of pods; a text without a percent sign counts as its number, or 0."""
    if isinstance(amount, int):
        return amount == 0
    digits = amount.removesuffix("%")
    number = parse_int64(digits) if digits.isdecimal() else 0
    return not number if number is not None else digits != amount
