"""The declarations of a CUDA C++ text: where each begins and ends, as far as braces, semicolons and annotations tell.

What they mean is the compiler's matter. Comments, strings and directives are blanked out first, so that every position
is one in the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_BLANKED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_OFF = re.compile(r"^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*(endif|else)\b", re.DOTALL | re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_ATTRIBUTE = re.compile(r"\b(?:__(?!global__|device__|host__)\w+__|alignas)\s*(?=\()|\[\[")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\([^)\n]*\))?((?:[^\n\\]|\\.|\\\n)*)", re.MULTILINE)
_ANNOTATIONS = r"__global__|__device__|__constant__|__managed__|__shared__|__host__"
_MARK = re.compile(r"[;{}(]|\b(?:public|private|protected)\s*:(?!:)")
_SCOPE = re.compile(r"\s*(?:inline\s+)?namespace\b\s*(?P<name>[\w:]*)\s*$|\s*extern\s*\"C\"\s*$")
_CLASS = re.compile(r"\s*(?:template\s*<.*>\s*)?(?:typedef\s+)?(?:struct|class|union)\b(?:.*[^)\s])?\s*$", re.DOTALL)
_ASSIGNS = re.compile(r"(?<![=!<>+\-*/&|^])=(?!=)")
_MEMBER_INITIALISER = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:).*[\w>]\s*$", re.DOTALL)
_PAIRS = {"(": ")", "{": "}", "[": "]"}


class Declaration(msgspec.Struct, frozen=True):
    """A declaration in a CUDA C++ text.

    Attributes:
        start, end: the positions of its text, without blanks before it.
        head: the text before its braces, or all of it, with attributes and macros' arguments blanked out.
        scope: the names of the namespaces and classes around it.
        form: "function" with a body, "class" or "other".
        member: whether it is a member of a class.
        annotations: `__global__`, `__device__`, … in its head, through macros too.
    """

    start: int
    end: int
    head: str
    scope: tuple[str, ...]
    form: str
    member: bool
    annotations: frozenset[str]


def blanked(text: str) -> str:
    """Return the text with blanks for comments, strings and what `#if 0` leaves out; length and lines stay the same."""
    text = _BLANKED.sub(lambda m: blank(m[0]) if m[0] != '"C"' else m[0], text)
    return _OFF.sub(lambda m: blank(m[0]), text)


def blank(text: str) -> str:
    """Return blanks in place of a text, of the same length and lines."""
    return re.sub(r"[^\n]", " ", text)


def macros(text: str) -> dict[str, str]:
    """Return the replacements of the macros that a text defines, by name."""
    return {name: " ".join(value.replace("\\\n", " ").split()) for name, value in _DEFINE.findall(text)}


def closing(text: str, opening: int) -> int:
    """Return the position of what closes the parenthesis or brace at `opening`; the text's length if nothing does."""
    one, other, depth = text[opening], _PAIRS[text[opening]], 0
    for mark in re.compile(rf"[{re.escape(one + other)}]").finditer(text, opening):
        depth += 1 if mark[0] == one else -1
        if not depth:
            return mark.start()
    return len(text)


def declarations(text: str, defined: dict[str, str]) -> Iterator[Declaration]:
    """Yield the declarations of a blanked text, members before their class.

    Args:
        text: as `blanked` returns it.
        defined: macros, some of which may stand for annotations.
    """
    words = {name for name in defined if _stands_for(name, defined)}
    named = re.compile(rf"\b(?:{'|'.join([_ANNOTATIONS, *map(re.escape, sorted(words))])})\b")

    def annotations(head: str) -> frozenset[str]:
        return frozenset(w for m in named.findall(head) for w in (_stands_for(m, defined) or {m}))

    plain = _DIRECTIVE.sub(lambda m: blank(m[0]), text)
    for attribute in _ATTRIBUTE.finditer(plain):
        end = closing(plain, plain.index("[" if attribute[0] == "[[" else "(", attribute.start())) + 1
        plain = plain[: attribute.start()] + blank(plain[attribute.start() : end]) + plain[end:]
    for start, end, body, scope, form, member in _scan(plain, 0, len(plain), (), False):
        first = start + len(plain[start:end]) - len(plain[start:end].lstrip())
        head = plain[first:body]
        if head.strip(" \n;"):
            yield Declaration(first, end, head, scope, form, member, annotations(head))


def _stands_for(name: str, defined: dict[str, str]) -> set[str]:
    """Return the annotations that a name stands for, through macros; empty if it stands for none."""
    seen: set[str] = set()
    pending = [name]
    while pending:
        word = pending.pop()
        if word in defined and word not in seen:
            seen.add(word)
            pending += re.findall(r"\w+", defined[word])
            continue
        seen.add(word)
    return seen & set(_ANNOTATIONS.split("|"))


_Piece = tuple[int, int, int, tuple[str, ...], str, bool]


def _scan(text: str, at: int, end: int, scope: tuple[str, ...], member: bool) -> Iterator[_Piece]:
    """Yield start, end, begin of the body (without one: end), scope, form and membership of each declaration."""
    start, body = at, -1
    while (mark := _MARK.search(text, at, end)) is not None:
        at = mark.end()
        if mark[0] == "(":
            at = closing(text, mark.start()) + 1
        elif mark[0] == ";":
            yield start, at, body if body >= 0 else at, scope, "class" if body >= 0 else "other", member
            start, body = at, -1
        elif mark[0] != "{":  # a `}` too many, `public:`
            start = at
        else:
            head, at = text[start : mark.start()], min(closing(text, mark.start()) + 1, end)
            space = _SCOPE.match(head)
            if space is not None:
                inner = (*scope, *(n for n in (space["name"] or "").split("::") if n))
                yield from _scan(text, mark.end(), at - 1, inner, False)
                start = at
            elif _CLASS.match(head):
                name = re.findall(r"\w+", head.split(":")[0])[-1]
                yield from _scan(text, mark.end(), at - 1, (*scope, name), True)
                body = mark.start()
            elif "(" in head and not _ASSIGNS.search(_outside(head)) and not _MEMBER_INITIALISER.search(head):
                yield start, at, mark.start(), scope, "function", member
                start = at


def _outside(head: str) -> str:
    """Return a head without what is in parentheses, template arguments, and symbols of operators."""
    head = re.sub(r"\boperator\s*[^\w\s(]+", "operator", head)
    while (shorter := re.sub(r"\([^()]*\)|<[^<>]*>", " ", head)) != head:
        head = shorter
    return head
