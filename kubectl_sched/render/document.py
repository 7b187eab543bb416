"""An answer as a value: what is said, in its order, and what gives way first. Writers draw it and decide nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.contrast import Contrast
    from kubectl_sched.render.lead_waterfall import WaterfallBar
    from kubectl_sched.render.table import Table, Tone

STAYS = 9
"""The rank of what gives way to nothing."""


class Said(Record, frozen=True, kw_only=True):
    """One part of an answer. On a terminal that is too short the part of the lowest `rank` gives way first.

    Of a sentence `keep` lines are left then. With `gap` an empty line stands before it, as long as there is room.
    """

    rank: int = STAYS
    keep: int = 0
    gap: bool = False


class Sentence(Said, frozen=True, kw_only=True):
    """A sentence, in the tone `good`, `bad`, `dim`, `changed`, or as a heading `strong`, after so many columns."""

    text: str
    tone: Tone = ""
    indent: int = 0


class Listing(Said, frozen=True, kw_only=True):
    """A table, from the most columns to the fewest: the first that the width has room for is drawn.

    Where the height has none, `lean` is drawn instead. `more` says what the table leaves out; `caption` names it for
    those who do not see the page. One that `is_split` stands in several parts where it is too wide, and one that is not
    `is_headed` has no headings on a terminal.
    """

    tables: Sequence[Table[Any]]
    lean: Sequence[Said] = ()
    more: str = ""
    caption: str = ""
    indent: int = 0
    is_headed: bool = True
    is_split: bool = False


class Commands(Said, frozen=True, kw_only=True):
    """Commands to paste, one after the other, each after so many columns."""

    commands: tuple[str, ...]
    indent: int = 2


class Rung(Record, frozen=True, kw_only=True):
    """One way to be helped: who acts (`wait`, `yours`, `move`, `pay`, `ask`, `ends`), the sentence, what to paste.

    `by_hand` are changes that no command makes: an instruction, and the document that goes into a file.
    """

    label: str = ""
    text: str
    commands: tuple[str, ...] = ()
    by_hand: tuple[tuple[str, str], ...] = ()

    @property
    def to_copy(self) -> str:
        """The commands, or where there are none the documents that go into files."""
        return "\n".join(self.commands or (document for _, document in self.by_hand))


class Ladder(Said, frozen=True, kw_only=True):
    """Ways to be helped, least harm first. A short terminal has fewer rungs, each with its commands."""

    heading: str
    rungs: tuple[Rung, ...]
    more: int = 0
    """The number of rungs that are left out."""


class Quote(Said, frozen=True, kw_only=True):
    """The words of somebody else, to the letter."""

    heading: str
    text: str


class Snippet(Said, frozen=True, kw_only=True):
    """A line of a file that a person wrote, with a mark under a part of it, a label at the mark, and what helps."""

    file: str
    line: int
    text: str
    start: int
    width: int
    label: str
    help: str = ""


class Waterfall(Said, frozen=True, kw_only=True):
    """The lead of a node over another as bars, one a plugin; `among` are the names that theirs are told from."""

    contrast: Contrast
    among: Sequence[str]
    in_full: bool

    @property
    def heading(self) -> str:
        """`w1 leads w2 by 14 points:`."""
        from kubectl_sched.render.lead_waterfall import waterfall_heading  # most pages have none

        return waterfall_heading(self.contrast)

    @property
    def table(self) -> Table[WaterfallBar]:
        """The bars as rows."""
        from kubectl_sched.render.lead_waterfall import waterfall_table  # most pages have none

        return waterfall_table(self.contrast)


class Heats(Said, frozen=True, kw_only=True):
    """The fullness of each node of a pool, for pages alone: by resource a name and a share for each node."""

    resources: tuple[tuple[str, tuple[tuple[str, float, bool], ...]], ...]


class Folding(Said, frozen=True, kw_only=True):
    """The whole cycle of a pod, for pages alone, which fold it."""

    view: Any


class Verdict(Record, frozen=True, kw_only=True):
    """The first line: whom it is about, and the answer itself."""

    text: str
    subject: str = ""
    tone: Tone = ""
    badge: str = ""
    """The outcome in a word or two, for pages."""

    @property
    def line(self) -> str:
        """`team/web-0: fits on no node.`."""
        return f"{self.subject}: {self.text}" if self.subject else self.text


class Notes(Record, frozen=True, kw_only=True):
    """Sentences on what changes the answer, which stand right below the verdict, and on its premises, the last line."""

    changing: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()


class Document(Record, frozen=True, kw_only=True):
    """The whole answer; `facts` are labels and values about the replay.

    `details` are the answers to the parts of a question about several, and the rows of the first table lead to them
    where `is_index`. `heading` and `command` are for the page.
    """

    verdict: Verdict
    parts: tuple[Said, ...] = ()
    notes: Notes = Notes()
    facts: tuple[tuple[str, str], ...] = ()
    details: tuple[Document, ...] = ()
    is_index: bool = False
    nodes: Sequence[str] = ()
    """The names of all nodes: on a screen theirs are shown without the domain that all of them share."""

    fits_screen: bool = False
    """Report whether a terminal shows no more of it than its height has room for."""

    heading: str = ""
    command: str = "explain"


def notes_of(changing: Sequence[str], premises: Sequence[str]) -> Notes:
    """Return the notes, each once."""
    first = tuple(dict.fromkeys(changing))
    return Notes(changing=first, premises=tuple(each for each in dict.fromkeys(premises) if each not in first))
