"""What kernels a CUDA C++ text defines, and with which parameters: enough of C++ to call them, and no more.

Comments and strings are blanked out first, so that lines and columns stay the text's own. A signature that cannot be
called from Python is refused with a sentence at its place; the text itself is checked by the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.source import Location, Source
from workbench.types import SCALARS, Scalar, Vector, vector

_BOUNDS = re.compile(r"__launch_bounds__\s*\([^)]*\)")
_BLANKED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_KERNEL = re.compile(
    r"(?P<template>\btemplate\s*<[^;{}]*?>\s*)?(?P<extern>\bextern\s+\"?\s*C?\s*\"?\s*)?"
    r"(?:\bstatic\s+|\binline\s+)*\b__global__\b(?P<head>[^;{}()]*)\("
)
_OFF = re.compile(r"^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*(endif|else)\b", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"(\w+)\s*$")
_QUALIFIERS = re.compile(r"\b(const|volatile|restrict|__restrict__|__restrict|__grid_constant__|struct)\b")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")

_INTEGERS = {
    "signed char": "int8", "char": "int8", "unsigned char": "uint8", "short": "int16", "unsigned short": "uint16",
    "int": "int32", "signed": "int32", "signed int": "int32", "unsigned": "uint32", "unsigned int": "uint32",
    "long": "int64", "unsigned long": "uint64", "long long": "int64", "unsigned long long": "uint64",
    "size_t": "uint64", "long int": "int64", "long long int": "int64", "unsigned long int": "uint64",
    "unsigned long long int": "uint64", "short int": "int16", "unsigned short int": "uint16",
    "int8_t": "int8", "uint8_t": "uint8", "int16_t": "int16", "uint16_t": "uint16", "int32_t": "int32",
    "uint32_t": "uint32", "int64_t": "int64", "uint64_t": "uint64",
}  # fmt: skip
_FLOATS = {
    "float": "float32", "double": "float64", "__half": "float16", "half": "float16", "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16", "bool": "bool",
}  # fmt: skip
_FAMILIES = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "longlong": "int64", "ulonglong": "uint64", "float": "float32", "double": "float64",
}  # fmt: skip
TYPES: dict[str, Scalar | Vector] = {c: SCALARS[name] for c, name in (_INTEGERS | _FLOATS).items()}
TYPES |= {f"{c}{n}": vector(n, SCALARS[name]) for c, name in _FAMILIES.items() for n in (2, 3, 4)}
"""C++ names of types to ours."""


class Parameter(msgspec.Struct, frozen=True):
    """One parameter.

    Attributes:
        name: as written.
        text: its C++ type.
        type: of the number, or of what the pointer points to.
        pointer: whether it is a pointer.
        const: whether what it points to is only read.
        location: its place in the text.
    """

    name: str
    text: str
    type: Scalar | Vector
    pointer: bool
    const: bool
    location: Location


class Signature(msgspec.Struct, frozen=True):
    """One `__global__` function.

    Attributes:
        name: as written.
        parameters: in order.
        location: of its name.
        first, last: lines of its text.
        words: names that its body uses.
    """

    name: str
    parameters: tuple[Parameter, ...]
    location: Location
    first: int
    last: int
    words: frozenset[str]


def signatures(source: Source, defines: Mapping[str, str] | None = None) -> tuple[Signature, ...]:
    """The kernels of a text, in order.

    Args:
        source: the text.
        defines: macros, which may stand for types.

    Raises:
        KernelSyntaxError: a kernel is a template, or its text does not end.
        KernelTypeError: a parameter's type cannot be passed from Python.
    """
    text = _BOUNDS.sub(lambda m: " " * len(m[0]), blanked(source.text))
    found = []
    for match in _KERNEL.finditer(text):
        named = _NAME.search(match["head"])
        opening = match.end() - 1
        if named is None:
            continue
        start = match.start("head") + named.start(1)
        where = _location(source, start, start + len(named[1]))
        if match["template"]:
            raise KernelSyntaxError(
                f"{named[1]} is a template, which has no code before its types are known.", where,
                "Make the template a __device__ function, and write a kernel for each type that calls it.", named[1],
            )  # fmt: skip
        if _inside(text, match.start()):
            raise KernelSyntaxError(
                f"{named[1]} is inside of a namespace or a class.",
                where,
                "Write kernels at the top of the text.",
                named[1],
            )
        closing = _closing(text, opening, where)
        after = text[closing + 1 :].lstrip()
        if not after.startswith("{"):
            continue  # a declaration
        body = text.index("{", closing)
        end = _closing(text, body, where)
        parameters = tuple(
            _parameter(source, begin, piece, defines or {}, named[1])
            for begin, piece in _pieces(text, opening + 1, closing)
        )
        words = frozenset(_WORD.findall(text[body:end]))
        first = text.count("\n", 0, match.start() + len(match[0]) - len(match[0].lstrip())) + 1
        found.append(Signature(named[1], parameters, where, first, text.count("\n", 0, end) + 1, words))
    return tuple(found)


def blanked(text: str) -> str:
    """The text with blanks for comments, strings and what stands under `#if 0`, of the same length and lines."""
    text = _BLANKED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0] != '"C"' else m[0], text)
    return _OFF.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def _inside(text: str, at: int) -> bool:
    """Whether a place is within braces other than those of `extern "C" { }`."""
    opened: list[bool] = []
    for brace in re.finditer(r"[{}]", text[:at]):
        if brace[0] == "{":
            opened.append(not text[: brace.start()].rstrip().endswith('"C"'))
        elif opened:
            opened.pop()
    return any(opened)


def _pieces(text: str, start: int, end: int) -> list[tuple[int, str]]:
    """The parameters' texts, with where they begin; an empty list or `void` is none."""
    pieces, depth, begin = [], 0, start
    for at in range(start, end):
        depth += text[at] in "(<["
        depth -= text[at] in ")>]"
        if text[at] == "," and not depth:
            pieces.append((begin, text[begin:at]))
            begin = at + 1
    pieces.append((begin, text[begin:end]))
    return [] if len(pieces) == 1 and pieces[0][1].strip() in ("", "void") else pieces


def _parameter(source: Source, begin: int, piece: str, defines: Mapping[str, str], kernel: str) -> Parameter:
    lead = len(piece) - len(piece.lstrip())
    written = piece.strip()
    where = _location(source, begin + lead, begin + lead + len(written))
    declared = re.fullmatch(r"(?P<type>.*?[\s*&])\s*(?P<name>\w+)\s*(?P<array>\[\s*\d*\s*\])?", written, re.DOTALL)
    if declared is None or "=" in written:
        raise KernelTypeError(
            f"The parameter `{written}` of {kernel} has no name or a form that cannot be passed.", where,
            "Write TYPE NAME or TYPE* NAME.", kernel,
        )  # fmt: skip
    spelled = _WORD.sub(lambda m: defines.get(m[0], m[0]), declared["type"])
    stars = spelled.count("*") + (declared["array"] is not None)
    base = " ".join(_QUALIFIERS.sub(" ", spelled.split("*")[0]).split())
    type = TYPES.get(base)
    if type is None or stars > 1 or "&" in spelled:
        raise KernelTypeError(
            f"The parameter {declared['name']} of {kernel} is `{' '.join(declared['type'].split())}`, which cannot be "
            "passed from Python.", where,
            "Parameters are numbers, CUDA vectors (float3, int2, …) and pointers to them.", kernel,
        )  # fmt: skip
    const = bool(re.search(r"\bconst\b", spelled.split("*")[0]))
    words = " ".join(declared["type"].split()) + ("*" if declared["array"] else "")
    return Parameter(declared["name"], words, type, stars == 1, const, where)


def _closing(text: str, opening: int, where: Location) -> int:
    pairs = {"(": ")", "{": "}"}
    depth = 0
    for at in range(opening, len(text)):
        depth += text[at] == text[opening]
        depth -= text[at] == pairs[text[opening]]
        if not depth:
            return at
    raise KernelSyntaxError(f"A `{text[opening]}` is never closed.", where, "Add what closes it.")


def _location(source: Source, start: int, end: int) -> Location:
    line = source.text.count("\n", 0, start) + 1
    column = start - (source.text.rfind("\n", 0, start) + 1)
    return Location(source, line, column, line, column + end - start)
