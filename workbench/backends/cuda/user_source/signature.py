"""Kernels and variables that a CUDA C++ text defines: their names and locations, and where their parameters are.

The types are NVRTC's to say (`probe`); so a kernel is known by name before the text is compiled, and can be called
afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from workbench.backends.cuda.user_source.declarations import Declaration, blanked, declarations
from workbench.backends.cuda.user_source.probe import Element
from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.source import Location, Source
from workbench.types import SCALARS, Scalar, Vector

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_NAME = re.compile(r"(\w+)\s*$")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?::\s*\w+\s*)?$")
_NO_MEMBER = re.compile(r"(?:using|typedef|template|enum|friend|struct|class|union)\b")
_SHARED = frozenset(("__constant__", "__managed__", "__device__"))
_BYTE = SCALARS["uint8"]


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a `__global__` function.

    Attributes:
        name: as written; `p0`, `p1`, … if a macro or a template writes it.
        text: its C++ type as written.
        type: of the number, or of what the pointer points to; a vector of bytes for a class.
        pointer: whether it is a pointer.
        const: whether what it points to is only read.
        location: where it is in the text.
        element: its type as NVRTC sees it; None before `typed`.
    """

    name: str
    text: str
    type: Scalar | Vector
    pointer: bool
    const: bool
    location: Location
    element: Element | None = None


class Signature(msgspec.Struct, frozen=True):
    """A `__global__` function of a CUDA C++ text.

    Attributes:
        name: as it is requested: with its namespace; of a template's instance, with its arguments.
        parameters: in order; before `typed`, their types are unknown and stand as a byte.
        location: of its name.
        first, last: lines of its text.
        words: names that its body uses.
        template: whether it is a template, which has no code before its arguments are known.
    """

    name: str
    parameters: tuple[Parameter, ...]
    location: Location
    first: int
    last: int
    words: frozenset[str]
    template: bool = False


def signatures(source: Source, defined: Mapping[str, str]) -> tuple[Signature, ...]:
    """Return the kernels that a text defines, in order; specialisations of templates are left out.

    Args:
        source: the text.
        defined: macros, which may stand for annotations.

    Raises:
        KernelSyntaxError: a kernel's body is never closed.
    """
    text = blanked(source.text)
    signatures: list[Signature] = []
    for d in declarations(text, dict(defined)):
        opening = _parameters(d)
        if d.form != "function" or "__global__" not in d.annotations or not opening:
            continue
        named = _NAME.search(d.head[: opening - 1])
        if named is None:
            continue  # a specialisation of a template
        where = _location(source, d.start + named.start(1), d.start + named.end(1))
        if d.end > len(text) or text[d.end - 1] != "}":
            raise KernelSyntaxError("A `{` is never closed.", where, "Add what closes it.")
        parameters = tuple(
            _parameter(source, n, d.start + begin, piece)
            for n, (begin, piece) in enumerate(_pieces(d.head, opening, d.head.rindex(")")))
        )
        first, last = (text.count("\n", 0, at) + 1 for at in (d.start, d.end))
        words = set(_WORD.findall(text[d.start + len(d.head) : d.end]))
        words.update(w for macro in words & set(defined) for w in _WORD.findall(defined[macro]))
        name = "::".join((*d.scope, named[1]))
        signatures.append(
            Signature(name, parameters, where, first, last, frozenset(words), bool(re.match(r"template\b", d.head)))
        )
    return tuple(signatures)


def variables(source: Source, defined: Mapping[str, str]) -> tuple[str, ...]:
    """Return the qualified names of the variables declared `__device__`, `__constant__` or `__managed__`."""
    return tuple(
        "::".join((*d.scope, name))
        for d in declarations(blanked(source.text), dict(defined))
        if not d.member and d.annotations & _SHARED and "__shared__" not in d.annotations
        for name in _declared(d)
    )


def members(text: str, defined: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the member variables of a text's classes, and of the components of CUDA's vectors."""
    listed = (name for d in declarations(blanked(text), dict(defined)) if d.member for name in _declared(d))
    return tuple(dict.fromkeys((*"xyzw", *listed)))


def _declared(d: Declaration) -> list[str]:
    """Return the names of the variables that a declaration declares; empty for one of a function or a type."""
    plain = re.sub(r"<[^<>]*>", "", d.head).rstrip(" ;\n")
    if d.form != "other" or "(" in plain.split("=")[0] or _NO_MEMBER.match(plain):
        return []
    pieces = (re.split(r"[={]", text)[0] for _, text in _pieces(plain, 0, len(plain)))
    return [m[1] for text in pieces if (m := _VARIABLE.search(text))]


def typed(signature: Signature, elements: Sequence[Element]) -> Signature:
    """Return the signature with the parameter types that NVRTC reported.

    If their number differs from the written ones, as with a macro or a pack, they are named `p0`, `p1`, …, and
    count as used in the body.

    Raises:
        KernelTypeError: a parameter is a reference, which no launch can pass.
    """
    written = signature.parameters
    words = signature.words
    if len(written) != len(elements):  # of a macro, or of a pack
        written = tuple(_unnamed(n, signature.location) for n in range(len(elements)))
        words |= {p.name for p in written}  # what the body does with them is not seen
    return replace(signature, parameters=tuple(map(_typed, written, elements)), words=words)


def _typed(p: Parameter, element: Element) -> Parameter:
    """Return a parameter with the type that NVRTC sees: a class as a vector of bytes.

    Raises:
        KernelTypeError: it is a reference.
    """
    if element.depth > 2:
        raise KernelTypeError(
            f"The parameter {p.name} is `{p.text}`, a reference, which cannot be passed from Python.",
            p.location,
            "Take a pointer, or the value.",
        )
    pointer = element.depth > 0
    type = element.type or (_BYTE if pointer or element.size == 1 else Vector(element.size, _BYTE))
    return replace(p, type=type, pointer=pointer, const=element.constant, element=element)


def _parameters(d: Declaration) -> int:
    """Return the offset in a function's head behind the parenthesis that opens its parameters; 0 if there is none."""
    depth = 0
    for at in range(d.head.rfind(")"), -1, -1):
        depth += (d.head[at] == ")") - (d.head[at] == "(")
        if not depth:
            return at + 1
    return 0


def _pieces(text: str, start: int, end: int) -> list[tuple[int, str]]:
    """Split a text at its outermost commas; return offsets and pieces. An empty list or `void` has none."""
    pieces: list[tuple[int, str]] = []
    depth, begin = 0, start
    for at in range(start, end):
        depth += text[at] in "(<[{"
        depth -= text[at] in ")>]}"
        if text[at] == "," and not depth:
            pieces.append((begin, text[begin:at]))
            begin = at + 1
    pieces.append((begin, text[begin:end]))
    return [] if len(pieces) == 1 and pieces[0][1].strip() in ("", "void") else pieces


def _parameter(source: Source, number: int, begin: int, piece: str) -> Parameter:
    """Return the parameter that a piece of a kernel's head declares, of unknown type; `p<number>` if it has no name.

    `begin` is the offset of the piece in the text.
    """
    lead = len(piece) - len(piece.lstrip())
    written = piece.strip()
    where = _location(source, begin + lead, begin + lead + len(written))
    declared = re.fullmatch(
        r"(?P<type>.*?[\s*&>])\s*(?P<name>\w+)\s*(?P<array>(?:\[[^\]]*\]\s*)*)(?:=.*)?", written, re.DOTALL
    )
    if declared is None:
        return replace(_unnamed(number, where), text=written)
    text = " ".join(declared["type"].split()) + ("*" if declared["array"] else "")
    return replace(_unnamed(number, where), name=declared["name"], text=text)


def _unnamed(number: int, where: Location) -> Parameter:
    """Return a parameter `p<number>` of unknown type."""
    return Parameter(f"p{number}", "", _BYTE, False, False, where)


def _location(source: Source, start: int, end: int) -> Location:
    """Return the location of a range of the source's text, from offsets; it has to be on one line."""
    line = source.text.count("\n", 0, start) + 1
    column = start - (source.text.rfind("\n", 0, start) + 1)
    return Location(source, line, column, line, column + end - start)
