"""Finds out what an expression reads of a device, so that devices that are alike in it need one answer."""

from __future__ import annotations

from typing import NamedTuple

from kubectl_sched.dynamic_resource_allocation.cel.syntax_tree import Call, Const, Ident, Node, Select, children

_WHOLE = frozenset({"driver", "allowMultipleAllocations"})
_BY_DOMAIN = frozenset({"attributes", "capacity"})


class Read(NamedTuple):
    """`device.attributes["domain"].name`, or a capacity."""

    kind: str
    domain: str
    name: str


def reads_of(node: Node) -> frozenset[Read] | None:
    """Return the fields that the expression reads besides driver and allowMultipleAllocations; None for any."""
    found: set[Read] = set()
    return frozenset(found) if _collect(node, found) else None


def _collect(node: Node, found: set[Read]) -> bool:
    read = _read(node)
    if read is not None:
        found.add(read)
        return True
    if isinstance(node, Select) and _is_device(node.operand):
        return node.name in _WHOLE
    if _is_device(node):
        return False
    return all(_collect(child, found) for child in children(node))


def _is_device(node: Node) -> bool:
    return isinstance(node, Ident) and node.name == "device"


def _read(node: Node) -> Read | None:
    match node:
        case Select(operand=domain, name=name):
            return _of_domain(domain, name)
        case Call(function="_[_]" | "_[?_]" | "_?._", args=[domain, Const(value=str() as name)]):
            return _of_domain(domain, name)
    return None


def _of_domain(node: Node, name: str) -> Read | None:
    match node:
        case Call(
            function="_[_]",
            args=[Select(operand=Ident(name="device"), name=kind, test=False), Const(value=str() as domain)],
        ) if kind in _BY_DOMAIN and "/" not in domain + name:
            return Read(kind, domain, name)
    return None
