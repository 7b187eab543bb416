"""Reads a page as a browser would, strictly: what is in it, and that it is well-formed."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "input", "wbr"})


@dataclass
class Element:
    """A tag with its attributes; `children` are elements and texts."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text inside."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def words(self) -> str:
        """All text inside with its blanks folded, as it is shown."""
        return " ".join(self.text.split())

    def every(self, tag: str = "", class_: str = "") -> list[Element]:
        """All elements inside of that tag and class, in the order of the page."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if tag in {"", child.tag} and (not class_ or class_ in child.attributes.get("class", "").split()):
                    found.append(child)
                found += child.every(tag, class_)
        return found

    def one(self, tag: str = "", class_: str = "") -> Element:
        """The only one of them."""
        (found,) = self.every(tag, class_)
        return found

    @property
    def elements(self) -> list[Element]:
        """The children that are elements."""
        return [child for child in self.children if isinstance(child, Element)]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.top = Element("", {})
        self._open = [self.top]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"</{tag}> ends <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def finished(self) -> Element:
        self.close()
        assert self._open == [self.top], "elements are left open"
        return self.top


def read(page: str) -> Element:
    """The page; every element is closed where it must be, and nothing stands twice in a tag."""
    assert page.startswith("<!DOCTYPE html>\n")
    reader = _Reader()
    reader.feed(page)
    return reader.finished()
