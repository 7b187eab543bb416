"""Differences between a node's labels and the terms that it does not match."""

from __future__ import annotations

from functools import lru_cache, partial
from operator import eq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kubectl_sched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_sched.api.component_helpers.node_affinity import METADATA_NAME, parse_node_selector
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.snapshot.node_selection import nodes_selected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.affinity import PreferredSchedulingTerm
    from kubectl_sched.api.component_helpers.node_affinity import Term
    from kubectl_sched.api.meta import ObjectMeta
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows


class _TermResult(NamedTuple):
    """The unmet requirements of one term on one node."""

    unmet: tuple[NodeSelectorRequirement, ...]
    unmet_fields: tuple[NodeSelectorRequirement, ...]
    size: int
    errors: tuple[str, ...]

    @property
    def matches(self) -> bool:
        return self.size > 0 and not self.unmet and not self.unmet_fields and not self.errors


def unmet(
    required: NodeSelector | None,
    node_selector: Mapping[str, str],
    added: NodeSelector | None,
    nodes: Snapshot,
    row: int,
) -> tuple[Evidence, ...]:
    """One Evidence for each of added affinity, nodeSelector and required affinity that the node does not match."""
    found: list[Evidence] = []
    if added is not None:
        found += _of_selector(added, "addedAffinity", "the profile's added affinity", nodes, row)
    if node_selector:
        expressions = tuple(
            NodeSelectorRequirement(key=key, operator="In", values=(value,)) for key, value in node_selector.items()
        )
        # The values of a nodeSelector are compared unchecked, so this term cannot have errors.
        result = _TermResult(_unmet_labels(expressions, _metadata(nodes, row)), (), len(expressions), ())
        if not result.matches:
            found.append(_evidence("nodeSelector", "nodeSelector", [result], nodes, row))
    if required is not None:
        found += _of_selector(required, "requiredAffinity", "required node affinity", nodes, row)
    return tuple(found)


def conflict(required: NodeSelector) -> tuple[Evidence, ...]:
    """Terms that each ask for several names at once."""
    asked = [
        [field for field in term.match_fields if field.key == METADATA_NAME and field.operator == "In"]
        for term in required.node_selector_terms
    ]
    texts = [" and ".join(_requirement_text(field) for field in fields) for fields in asked]
    facts: dict[str, JSON] = {"terms": [[list(field.values) for field in fields] for fields in asked]}
    return (Evidence(text=f"no node can have two names: {'; '.join(texts)}", facts=facts),)


def preferences(
    preferred: tuple[PreferredSchedulingTerm, ...], source: str, nodes: Snapshot, row: int
) -> tuple[Evidence, ...]:
    """Each preferred term that counts at all."""
    return tuple(
        _preference(term, _result(term.preference, _metadata(nodes, row)), source, nodes, row)
        for term in preferred
        if term.weight and (term.preference.match_expressions or term.preference.match_fields)
    )


def _preference(term: PreferredSchedulingTerm, result: _TermResult, source: str, nodes: Snapshot, row: int) -> Evidence:
    wanted = " and ".join(
        _requirement_text(each) for each in (*term.preference.match_expressions, *term.preference.match_fields)
    )
    facts: dict[str, JSON] = {"source": source, "weight": term.weight, "matches": result.matches, "term": wanted}
    if result.matches:
        return Evidence(text=f"has {wanted}, which is worth {term.weight}", facts=facts, distance=0.0)
    return Evidence(
        text=f"lacks {wanted} (worth {term.weight}): {_term_text(result, _metadata(nodes, row))}",
        facts=facts,
        hints=_hints([result], nodes, row),
    )


def summary(
    required: NodeSelector | None,
    node_selector: Mapping[str, str],
    added: NodeSelector | None,
    nodes: Snapshot,
    rows: Rows,
) -> str:
    """Return a clause about many rejected nodes: what they do not match, and the near miss of the closest of them."""
    parts = [
        f"{key}={value}"
        for key, value in node_selector.items()
        if not nodes.label(key).take(rows).where(partial(eq, value)).all()
    ]
    verb = "are not in" if len(parts) == 1 else "do not match"
    if required is not None and not _selected(required, nodes)[rows].all():
        verb = "do not match"
        terms = dict.fromkeys(_term_words(term) for term in required.node_selector_terms)
        either = " or ".join(terms)
        parts.append(f"({either})" if len(terms) > 1 and parts else either)
    outside_added = np.zeros(len(nodes), dtype=np.bool_)
    if added is not None:
        outside_added = ~_selected(added, nodes)
        if outside_added[rows].all():
            terms_of_profile = " or ".join(map(_term_words, added.node_selector_terms))
            return f"do not match the profile's added affinity {terms_of_profile}"
    wanted = ", ".join(parts) or "the profile's added affinity"
    closest = _closest(required, node_selector, nodes, rows[~outside_added[rows]])
    told = unmet(required, node_selector, None, nodes, closest)
    hints = [hint for each in told for hint in each.hints]
    return f"{verb} {wanted}{_near_miss(hints, nodes.names[closest])}"


def _near_miss(hints: Sequence[str], node_name: str) -> str:
    """The first hint, with the node's name where it speaks of the node; a misspelling goes before what is absent."""
    if not hints:
        return ""
    hint = next((hint for hint in hints if not hint.startswith("no node ")), hints[0])
    return f" ({hint.replace('the node has', f'{node_name} has', 1)})"


def _term_words(term: NodeSelectorTerm) -> str:
    words = [_requirement_text(each) for each in (*term.match_expressions, *term.match_fields)]
    return ", ".join(words) or "an empty term"


def _selected(selector: NodeSelector, nodes: Snapshot) -> Mask:
    return nodes_selected(nodes.table, parse_node_selector(selector))


def _closest(required: NodeSelector | None, node_selector: Mapping[str, str], nodes: Snapshot, rows: Rows) -> int:
    """The row that fails the fewest requirements, by name where several do."""
    missing = np.zeros(len(rows), dtype=np.int64)
    for key, value in node_selector.items():
        missing += ~nodes.label(key).take(rows).where(partial(eq, value))
    of_terms = [_unmet_counts(term, nodes, rows) for term in required.node_selector_terms] if required else []
    if of_terms:
        missing += np.min(of_terms, axis=0)
    nearest_rows = rows[missing == missing.min()].tolist()
    return int(min(nearest_rows, key=nodes.names.__getitem__))


def _unmet_counts(term: NodeSelectorTerm, nodes: Snapshot, rows: Rows) -> Integers:
    counts = np.full(len(rows), len(term.match_fields), dtype=np.int64)
    if _matches_nothing(term):
        return counts + len(term.match_expressions) + 1
    for each in term.match_expressions:
        counts += ~_meeting(each, nodes, rows)
    return counts


def _meeting(requirement: NodeSelectorRequirement, nodes: Snapshot, rows: Rows) -> Mask:
    key = requirement.key
    return nodes.label(key).take(rows).where(lambda has: _meets(requirement, {} if has is None else {key: has}))


def _metadata(nodes: Snapshot, row: int) -> ObjectMeta:
    return nodes.node_objects[row].metadata


def _matches_nothing(term: NodeSelectorTerm) -> bool:
    """Report whether it is empty or cannot be parsed."""
    parsed = parse_node_selector(NodeSelector(node_selector_terms=(term,))).terms
    return not parsed or bool(parsed[0].errors)


def _of_selector(selector: NodeSelector, source: str, title: str, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
    node = _metadata(nodes, row)
    results = [_result(term, node) for term in selector.node_selector_terms]
    if any(result.matches for result in results):
        return ()
    return (_evidence(source, title, results, nodes, row),)


@lru_cache(maxsize=1024)
def _parsed(term: NodeSelectorTerm) -> Term | None:
    """None for an empty one."""
    terms = parse_node_selector(NodeSelector(node_selector_terms=(term,))).terms
    return terms[0] if terms else None


def _result(term: NodeSelectorTerm, node: ObjectMeta) -> _TermResult:
    parsed, expressions, fields = _parsed(term), term.match_expressions, term.match_fields
    size = len(expressions) + len(fields)
    if parsed is None or parsed.errors:
        return _TermResult((), (), size, parsed.errors if parsed is not None else ())
    unmet: tuple[NodeSelectorRequirement, ...] = ()
    if fields:
        name = node.name
        unmet = tuple([asked for asked, field in zip(fields, parsed.fields, strict=True) if not field.matches(name)])
    return _TermResult(_unmet_labels(expressions, node) if expressions else (), unmet, size, ())


def _unmet_labels(
    expressions: tuple[NodeSelectorRequirement, ...], node: ObjectMeta
) -> tuple[NodeSelectorRequirement, ...]:
    return tuple([each for each in expressions if not _meets(each, node.labels)])


def _meets(expression: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    """Report whether labels meet a requirement that is known to be well formed, or comes from a nodeSelector."""
    if expression.operator == "In":
        return labels.get(expression.key) in expression.values
    term = NodeSelectorTerm(match_expressions=(expression,))
    return parse_node_selector(NodeSelector(node_selector_terms=(term,))).matches(labels, "")


def _evidence(source: str, title: str, results: list[_TermResult], nodes: Snapshot, row: int) -> Evidence:
    node = _metadata(nodes, row)
    texts = [_term_text(result, node) for result in results]
    if not texts:
        text = "has no terms, and so matches no node"
    elif len(texts) == 1:
        text = texts[0]
    else:
        text = f"none of {len(texts)} terms matches: {'; or '.join(texts)}"
    facts: dict[str, JSON] = {"source": source, "terms": [_term_facts(result, node) for result in results]}
    hints = _hints(results, nodes, row)
    missing = min([_missing_share(result) for result in results], default=1.0)
    return Evidence(text=f"{title}: {text}", facts=facts, hints=hints, distance=missing * (0.5 if hints else 1.0))


def _missing_share(result: _TermResult) -> float:
    if result.errors or not result.size:
        return 1.0
    return (len(result.unmet) + len(result.unmet_fields)) / result.size


def _term_text(result: _TermResult, node: ObjectMeta) -> str:
    if result.errors:
        return f"the term matches nothing, as it cannot be parsed ({'; '.join(result.errors)})"
    if not result.size:
        return "an empty term matches nothing"
    clauses = [f"wants {_requirement_text(each)}, {_has_text(each.key, node.labels)}" for each in result.unmet]
    clauses += [f"wants {_requirement_text(each)}, the node is {node.name}" for each in result.unmet_fields]
    return " and ".join(clauses)


def _has_text(key: str, labels: Mapping[str, str]) -> str:
    return f"the node has {key}={labels[key]}" if key in labels else f"the node has no {key}"


@lru_cache(maxsize=1024)
def _requirement_text(requirement: NodeSelectorRequirement) -> str:
    key, operator, values = requirement.key, requirement.operator, ", ".join(requirement.values)
    texts = {
        "In": f"{key} in ({values})",
        "NotIn": f"{key} not in ({values})",
        "Exists": f"the label {key}",
        "DoesNotExist": f"no label {key}",
        "Gt": f"{key} > {values}",
        "Lt": f"{key} < {values}",
    }
    if len(requirement.values) == 1:
        texts |= {"In": f"{key}={values}", "NotIn": f"{key}!={values}"}
    return texts.get(operator, f"{key} {operator} ({values})")


def _term_facts(result: _TermResult, node: ObjectMeta) -> JSON:
    requirements: list[JSON] = [_requirement_facts(each, node.labels.get(each.key)) for each in result.unmet]
    requirements += [_requirement_facts(each, node.name) for each in result.unmet_fields]
    return {"unmet": requirements, "requirements": result.size, "errors": list(result.errors)}


def _requirement_facts(requirement: NodeSelectorRequirement, has: str | None) -> JSON:
    return {
        "key": requirement.key,
        "operator": requirement.operator,
        "values": list(requirement.values),
        "nodeHas": has,
    }


def _hints(results: list[_TermResult], nodes: Snapshot, row: int) -> tuple[str, ...]:
    hints: list[str] = []
    for result in results:
        for each in result.unmet:
            if each.operator in {"In", "Exists"}:
                from kubectl_sched.framework.near_labels import label_hints

                hints += label_hints(each.key, each.values, nodes, row)
            elif each.operator in {"Gt", "Lt"}:
                hints += _number_hints(each, nodes, row)
        for field in result.unmet_fields:
            hints += _name_hints(field, nodes)
    return tuple(dict.fromkeys(hints))


def _number_hints(requirement: NodeSelectorRequirement, nodes: Snapshot, row: int) -> tuple[str, ...]:
    has = nodes.node_objects[row].metadata.labels.get(requirement.key)
    if has is None:
        from kubectl_sched.framework.near_labels import label_hints

        return label_hints(requirement.key, (), nodes, row)
    if not has.removeprefix("-").removeprefix("+").isdigit():
        return (f"{requirement.operator} compares whole numbers, and {has!r} is none",)
    return ()


def _name_hints(field: NodeSelectorRequirement, nodes: Snapshot) -> list[str]:
    if field.key != METADATA_NAME or field.operator != "In":
        return []
    hints: list[str] = []
    for name in field.values:
        if name not in nodes.whole.row_of:
            from kubectl_sched.framework.confusable_texts import nearest

            near = nearest(name, nodes.whole.names)
            hints.append(f"no node is named {name}" + (f"; there is {near}" if near is not None else ""))
    return hints
