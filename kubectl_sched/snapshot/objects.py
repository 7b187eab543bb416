"""All API objects besides nodes and pods, as the scheduler's listers would answer for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject


Kind = TypeVar("Kind", bound="KubernetesObject")
T = TypeVar("T")


class Objects:
    """Objects by type, in the order they were read. Immutable once made; indexes are built when first asked for."""

    def __init__(self, objects: Iterable[KubernetesObject] = ()) -> None:
        by_type: dict[type[KubernetesObject], list[KubernetesObject]] = {}
        for item in objects:
            by_type.setdefault(type(item), []).append(item)
        self._by_type: dict[type[KubernetesObject], Sequence[KubernetesObject]] = dict(by_type)
        self._index: dict[type[KubernetesObject], dict[tuple[str, str], KubernetesObject]] = {}
        self._by_namespace: dict[type[KubernetesObject], dict[str, list[KubernetesObject]]] = {}
        self._derived: dict[type[KubernetesObject], dict[Callable[[Any], Any], Any]] = {}
        self._to_come: dict[type[KubernetesObject], Callable[[], Objects]] = {}
        """The kinds of which nobody has looked at any object yet."""

    def all(self, kind: type[Kind]) -> Sequence[Kind]:
        """Every object of the kind."""
        return cast("Sequence[Kind]", self._of(kind))

    def get(self, kind: type[Kind], name: str, namespace: str = "") -> Kind | None:
        """The object of that name; cluster-scoped kinds have no namespace."""
        return cast("Kind | None", self._indexed(kind).get((namespace, name)))

    def absence(self, kind: type[KubernetesObject]) -> str:
        """Return what is known of an object that is not among these: nothing where none of its kind was read."""
        return "does not exist" if self._of(kind) else f"was not read, as no {kind.__name__} was"

    def by_key(self, kind: type[Kind]) -> Mapping[tuple[str, str], Kind]:
        """The objects of the kind by namespace and name."""
        return cast("Mapping[tuple[str, str], Kind]", self._indexed(kind))

    def _indexed(self, kind: type[KubernetesObject]) -> dict[tuple[str, str], KubernetesObject]:
        index = self._index.get(kind)
        if index is None:
            index = {(item.metadata.namespace, item.metadata.name): item for item in self._of(kind)}
            self._index[kind] = index
        return index

    def derived(self, kind: type[Kind], make: Callable[[Sequence[Kind]], T]) -> T:
        """Return what `make` makes of all objects of the kind, made once as long as these stay the same."""
        made = self._derived.setdefault(kind, {})
        if make not in made:
            made[make] = make(self.all(kind))
        return cast("T", made[make])

    def in_namespace(self, kind: type[Kind], namespace: str) -> Sequence[Kind]:
        """Every object of the kind in the namespace."""
        index = self._by_namespace.get(kind)
        if index is None:
            index = self._by_namespace[kind] = {}
            for item in self._of(kind):
                index.setdefault(item.metadata.namespace, []).append(item)
        return cast("Sequence[Kind]", index.get(namespace, ()))

    def replacing(self, kind: type[Kind], items: Sequence[Kind]) -> Objects:
        """Return the objects with these as all that there are of the kind."""
        return self._with(kind, tuple(items))

    def with_these(self, kind: type[Kind], items: Iterable[Kind]) -> Objects:
        """With these objects of the kind in the places of those of the same names, new ones last."""
        before = self._indexed(kind)
        made: dict[tuple[str, str], KubernetesObject] = {
            (item.metadata.namespace, item.metadata.name): item for item in items
        }
        index = {**before, **made}
        of_kind = list(index.values())
        if len(before) < len(self.all(kind)):  # several have the same name
            kept = [made.get((item.metadata.namespace, item.metadata.name), item) for item in self.all(kind)]
            of_kind = [*kept, *(item for key, item in made.items() if key not in before)]
        return self._with(kind, of_kind, index)

    def with_these_later(self, kind: type[Kind], make: Callable[[], Iterable[Kind]]) -> Objects:
        """`with_these`, of objects that are made when somebody first asks for any of the kind."""
        return self._with(kind, (), to_come=lambda: self.with_these(kind, make()))

    def _with(
        self,
        kind: type[KubernetesObject],
        items: Sequence[KubernetesObject],
        index: dict[tuple[str, str], KubernetesObject] | None = None,
        to_come: Callable[[], Objects] | None = None,
    ) -> Objects:
        changed = Objects()
        changed._by_type = {**self._by_type, kind: items}
        changed._index = {other: each for other, each in self._index.items() if other is not kind}
        changed._derived = {other: each for other, each in self._derived.items() if other is not kind}
        changed._to_come = {other: each for other, each in self._to_come.items() if other is not kind}
        if index is not None:
            changed._index[kind] = index
        if to_come is not None:
            changed._to_come[kind] = to_come
        return changed

    def _of(self, kind: type[KubernetesObject]) -> Sequence[KubernetesObject]:
        to_come = self._to_come.get(kind)
        if to_come is not None:
            self._by_type[kind] = to_come().all(kind)
            self._to_come.pop(kind, None)
        return self._by_type.get(kind, ())

    def without(self, kind: type[Kind], keys: Iterable[tuple[str, str]]) -> Objects:
        """Without the objects of the kind of these (namespace, name)."""
        gone = frozenset(keys)
        kept = [item for item in self.all(kind) if (item.metadata.namespace, item.metadata.name) not in gone]
        return self.replacing(kind, kept)
