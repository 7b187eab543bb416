"""Random device selectors and regular expressions, for comparing with the real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

_DEVICE = 'device.attributes["gpu.example.com"]'
_LEAVES = {
    "b": ["true", "false", f"{_DEVICE}.ecc == true", f"has({_DEVICE}.x)", f'"numa" in {_DEVICE}', "dyn(true)"],
    "i": ["0", "1", "7", "-3", "size('abc')", f"int({_DEVICE}.numa)", "9223372036854775807", "int('5')"],
    "s": ["''", "'abc'", "'a100'", "'é日'", "device.driver", f"string({_DEVICE}.model)", "string(b'xy')", "'x'+'yz'"],
    "l": ["[]", "[1]", "[1, 2, 3]", "[3, 1, 2, 1]", "[int('4')]", "lists.range(5)", "[1] + [2]"],
    "t": ["['a']", "['b', 'a', 'b']", "'a,b'.split(',')", "['é']"],
    "m": ["{'a': 1}", "{'a': 1, 'b': 2}", "{'k': int('4')}"],
    "x": [f"{_DEVICE}.model", f"{_DEVICE}.numa", f"{_DEVICE}.missing", "device.attributes['other'].y"],
    "o": ["optional.of(1)", f"{_DEVICE}.?numa", "optional.none()", "{'a': 1}[?'b']", "[1][?0]"],
    "q": ["quantity('1Gi')", 'device.capacity["gpu.example.com"].memory', "quantity('500m')"],
    "v": ["semver('1.2.3')", f"{_DEVICE}.driverVersion", "semver('v1', true)"],
    "y": ["b'xy'", "bytes('abc')"],
}
_FORMS = {
    "b": """!(b) b||b b&&b b?b:b i==i i<i i>=i s==s s!=s s<s s.startsWith(s) s.endsWith(s) s.contains(s) x==s x==i
        s.matches('[a-c]+')
        matches(s,'^a.*') l==l i@in@l s@in@t s@in@m l.all(e,e>i) l.exists(e,e==i) l.exists_one(e,e>1) m.all(k,k!=s)
        t.exists(e,e==s)
        l.isSorted() q.isGreaterThan(q) q==q v.isLessThan(v) v==v o.hasValue() isQuantity(s) isSemver(s)
        sets.contains(l,l)
        sets.equivalent(l,l) sets.intersects(l,l) o==o y==y l.all(n,e,n<e) l.existsOne(n,e,n==e) x.startsWith(s) m==m
        bool('true')
        isIP(s) isURL(s) x<i x!=x cel.bind(z,i,z>1) t.isSorted() x@in@l""",
    "i": """i+i i-i i*i i/i i%i -(i) b?i:i size(s) size(l) size(m) s.indexOf(s) s.lastIndexOf(s) l.sum() l.min()
        l.max() l[i] m['a']
        o.orValue(i) q.sign() q.compareTo(q) v.major() l.indexOf(i) t.indexOf(s) cel.bind(z,i,z+z) int(s)
        timestamp('2026-01-02T03:04:05Z').getHours()
        duration('90s').getSeconds() o.value() int(x) cel.bind(z,l,z.size())""",
    "s": """s+s b?s:s s.lowerAscii() s.upperAscii() s.trim() s.replace(s,s) s.substring(1) t.join(',') t.join() t[0]
        string(i) strings.quote(s)
        s.find('[a-z]') '%s:%d'.format([s,i]) s.charAt(i) string(y) string(b) s.replace('','-') t.max()""",
    "l": """l+l b?l:l l.map(e,e+i) l.filter(e,e>i) l.map(e,e>1,e*2) l.map(e,1) l.sort() l.distinct() l.reverse()
        l.slice(0,1) [l,l].flatten()
        lists.range(3) [i,i] l.transformList(n,e,n+e) l.transformList(n,e,e>1,n) [?o,1] m.map(k,m[k])""",
    "t": """s.split(s) s.findAll('[a-z]') t.map(e,e+s) t.filter(e,e!=s) t.sort() t.distinct() [s,s] m.map(k,k) t+t""",
    "m": """m.transformMap(k,e,e+1) m.transformMap(k,e,e>1,e) {s:i} t.transformMapEntry(n,e,{e:n}) {'z':i}""",
    "x": "",
    "o": """o.optMap(e,e+i) o.optFlatMap(e,optional.of(e)) optional.of(i) o.or(o) l.first() l.last()
        optional.ofNonZeroValue(i)""",
    "q": "q.add(q) q.sub(q) q.add(i)", "v": "", "y": "bytes(s) y+y",
}  # fmt: skip
_KINDS = frozenset(_LEAVES)


def expression(random: Random, kind: str = "b", depth: int = 4) -> str:
    """Return an expression of a kind, often one that fails while it runs."""
    forms = _FORMS[kind].split()
    if depth <= 0 or not forms or random.random() < 0.15:
        return random.choice(_LEAVES[kind])
    return _filled(random, random.choice(forms), depth - 1)


def _filled(random: Random, form: str, depth: int) -> str:
    """Replace each single letter that stands for a kind; letters of words, texts and bound names stay."""
    made = []
    bound = frozenset(name for name in "eknz" if f"({name}," in form or f",{name}," in form)
    quoted = False
    for place, letter in enumerate(form):
        quoted ^= letter == "'"
        around = form[place - 1 : place] + form[place + 1 : place + 2]
        alone = not any(sign.isalnum() or sign in "_'" for sign in around)
        if letter == "@":
            made.append(" ")
        elif not quoted and alone and letter in _KINDS and letter not in bound:
            inner = expression(random, letter, depth)
            made.append(inner if inner.isalnum() else f"({inner})")
        else:
            made.append(letter)
    return "".join(made)
