"""The static types, and the signatures of all functions (cel-go common/stdlib, ext; apiserver pkg/cel/library).

A type is its name and its parameters. One capital letter is a type parameter.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Type(NamedTuple):
    """Such as `list(int)`."""

    name: str
    params: tuple[Type, ...] = ()

    def __str__(self) -> str:
        shown = _SHOWN.get(self.name, self.name)
        return f"{shown}({', '.join(map(str, self.params))})" if self.params else shown


_SHOWN = {"google.protobuf.Timestamp": "timestamp", "google.protobuf.Duration": "duration"}

DYN, ANY, ERROR = Type("dyn"), Type("any"), Type("!error!")
BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, NULL = Type("string"), Type("bytes"), Type("null")
DEVICE = Type("kubernetes.DRADevice")
UNKNOWN = frozenset({"dyn", "any", "!error!"})
"""Types of which only the value will tell what it is."""


def list_of(element: Type) -> Type:
    """A list's type."""
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """A map's type."""
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    """The type of an optional."""
    return Type("optional_type", (value,))


class Overload(NamedTuple):
    """One signature; of a method the first argument is the target."""

    args: tuple[Type, ...]
    result: Type
    is_method: bool


# One line a function: name, then signatures. A dot before the signature makes it a method of its first argument.
# ts, dur, q, sv: timestamp, duration, Quantity, Semver; l, m, o: list, map, optional.
_SIGNATURES = """
_?_:_ (bool,A,A)->A
_&&_ (bool,bool)->bool
_||_ (bool,bool)->bool
!_ (bool)->bool
-_ (int)->int (double)->double
_==_ (A,A)->bool
_!=_ (A,A)->bool
_<_ ORDER
_<=_ ORDER
_>_ ORDER
_>=_ ORDER
_+_ (int,int)->int (uint,uint)->uint (double,double)->double JOIN SHIFT
_-_ (int,int)->int (uint,uint)->uint (double,double)->double (ts,ts)->dur (ts,dur)->ts (dur,dur)->dur
_*_ (int,int)->int (uint,uint)->uint (double,double)->double
_/_ (int,int)->int (uint,uint)->uint (double,double)->double
_%_ (int,int)->int (uint,uint)->uint
@in (A,l(A))->bool (A,m(A,B))->bool
_[_] (l(A),int)->A (m(A,B),A)->B (o(l(A)),int)->o(A) (o(m(A,B)),A)->o(B)
_[?_] (l(A),int)->o(A) (m(A,B),A)->o(B) (o(l(A)),int)->o(A) (o(m(A,B)),A)->o(B)
size SIZE
int (int)->int (uint)->int (double)->int (string)->int (ts)->int (dur)->int
uint (uint)->uint (int)->uint (double)->uint (string)->uint
double (double)->double (int)->double (uint)->double (string)->double
bool (bool)->bool (string)->bool
string TEXT
bytes (bytes)->bytes (string)->bytes
duration (dur)->dur (string)->dur (int)->dur
timestamp (ts)->ts (string)->ts (int)->ts
dyn (A)->dyn
type (A)->type(A)
matches (string,string)->bool .(string,string)->bool
contains .(string,string)->bool
startsWith .(string,string)->bool
endsWith .(string,string)->bool
getFullYear TIME
getMonth TIME
getDayOfYear TIME
getDayOfMonth TIME
getDate TIME
getDayOfWeek TIME
getHours TIME .(dur)->int
getMinutes TIME .(dur)->int
getSeconds TIME .(dur)->int
getMilliseconds TIME .(dur)->int
charAt .(string,int)->string
indexOf .(string,string)->int .(string,string,int)->int .(l(A),A)->int
lastIndexOf .(string,string)->int .(string,string,int)->int .(l(A),A)->int
lowerAscii .(string)->string
upperAscii .(string)->string
trim .(string)->string
replace .(string,string,string)->string .(string,string,string,int)->string
split .(string,string)->l(string) .(string,string,int)->l(string)
substring .(string,int)->string .(string,int,int)->string
join .(l(string))->string .(l(string),string)->string
format .(string,l(dyn))->string
strings.quote (string)->string
find .(string,string)->string
findAll .(string,string)->l(string) .(string,string,int)->l(string)
isSorted .(l(A))->bool
sum .(l(A))->A
min .(l(A))->A
max .(l(A))->A
distinct .(l(A))->l(A)
flatten .(l(l(A)))->l(A) .(l(dyn),int)->l(dyn)
reverse .(l(A))->l(A)
slice .(l(A),int,int)->l(A)
sort .(l(A))->l(A)
first .(l(A))->o(A)
last .(l(A))->o(A)
lists.range (int)->l(int)
sets.contains (l(A),l(A))->bool
sets.equivalent (l(A),l(A))->bool
sets.intersects (l(A),l(A))->bool
optional.of (A)->o(A)
optional.ofNonZeroValue (A)->o(A)
optional.none ()->o(A)
hasValue .(o(A))->bool
value .(o(A))->A .(net.IP)->A
or .(o(A),o(A))->o(A)
orValue .(o(A),A)->A
quantity (string)->q
isQuantity (string)->bool
sign (q)->int
isGreaterThan .(q,q)->bool .(sv,sv)->bool
isLessThan .(q,q)->bool .(sv,sv)->bool
compareTo .(q,q)->int .(sv,sv)->int
asApproximateFloat .(q)->double
asInteger .(q)->int
isInteger .(q)->bool
add .(q,q)->q .(q,int)->q
sub .(q,q)->q .(q,int)->q
semver (string)->sv (string,bool)->sv
isSemver (string)->bool (string,bool)->bool
major .(sv)->int
minor .(sv)->int
patch .(sv)->int
url (string)->kubernetes.URL
isURL (string)->bool
getScheme .(kubernetes.URL)->string
getHost .(kubernetes.URL)->string
getHostname .(kubernetes.URL)->string
getPort .(kubernetes.URL)->string
getEscapedPath .(kubernetes.URL)->string
getQuery .(kubernetes.URL)->m(string,l(string))
ip (string)->net.IP .(net.CIDR)->net.IP
isIP (string)->bool
ip.isCanonical (string)->bool
family .(net.IP)->int
isUnspecified .(net.IP)->bool
isLoopback .(net.IP)->bool
isLinkLocalMulticast .(net.IP)->bool
isLinkLocalUnicast .(net.IP)->bool
isGlobalUnicast .(net.IP)->bool
cidr (string)->net.CIDR
isCIDR (string)->bool
containsIP .(net.CIDR,string)->bool .(net.CIDR,net.IP)->bool
containsCIDR .(net.CIDR,string)->bool .(net.CIDR,net.CIDR)->bool
prefixLength .(net.CIDR)->int
masked .(net.CIDR)->net.CIDR
includes .(dyn,dyn)->bool
"""
_ORDERED = ("bool", "int", "uint", "double", "string", "bytes", "ts", "dur")
_MIXED = (
    ("int", "double"),
    ("int", "uint"),
    ("uint", "double"),
    ("uint", "int"),
    ("double", "int"),
    ("double", "uint"),
)
_GROUPS = {
    "ORDER": " ".join(f"({one},{other})->bool" for one, other in (*((t, t) for t in _ORDERED), *_MIXED)),
    "JOIN": "(string,string)->string (bytes,bytes)->bytes (l(A),l(A))->l(A)",
    "SHIFT": "(ts,dur)->ts (dur,ts)->ts (dur,dur)->dur",
    "SIZE": " ".join(f"{dot}({one})->int" for dot in ("", ".") for one in ("string", "bytes", "l(A)", "m(A,B)")),
    "TEXT": " ".join(f"({one})->string" for one in (*_ORDERED, "net.IP", "net.CIDR")),
    "TIME": ".(ts)->int .(ts,string)->int",
}
_SHORT = {
    "l": "list", "m": "map", "o": "optional_type", "ts": "google.protobuf.Timestamp",
    "dur": "google.protobuf.Duration", "q": "kubernetes.Quantity", "sv": "kubernetes.Semver",
}  # fmt: skip
_INCLUDES = "includes"


@cache
def signatures(name: str, includes: bool) -> tuple[Overload, ...]:
    """The overloads of a function; none if there is no such function, as includes() may not be."""
    if name == _INCLUDES and not includes:
        return ()
    return _table().get(name, ())


@cache
def namespaces() -> frozenset[str]:
    """The names that may stand before the dot of a function such as `strings.quote`."""
    return frozenset(name.partition(".")[0] for name in _table() if "." in name)


@cache
def _table() -> dict[str, tuple[Overload, ...]]:
    table: dict[str, tuple[Overload, ...]] = {}
    for line in _SIGNATURES.strip().splitlines():
        name, _, text = line.partition(" ")
        for group, expanded in _GROUPS.items():
            text = text.replace(group, expanded)
        table[name] = tuple(_overload(signature) for signature in text.split())
    return table


def _overload(signature: str) -> Overload:
    is_method = signature.startswith(".")
    args, _, result = signature.removeprefix(".").rpartition("->")
    return Overload(_types(args[1:-1]), _types(result)[0], is_method)


def _types(text: str) -> tuple[Type, ...]:
    """Types separated by commas."""
    found: list[Type] = []
    start = depth = 0
    for at, sign in enumerate(text + ","):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            if piece := text[start:at]:
                name, _, inner = piece.partition("(")
                found.append(Type(_SHORT.get(name, name), _types(inner[:-1]) if inner else ()))
            start = at + 1
    return tuple(found)
