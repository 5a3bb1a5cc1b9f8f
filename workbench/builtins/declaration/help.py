"""Help for a word of the language: signature, meaning, types, an example, whether it has a gradient.

All of it comes from the declaration: the types are those that its rule accepts, the example is computed.
"""

from __future__ import annotations

import msgspec

from workbench.builtins.declaration.declare import Builtin, Form
from workbench.errors import WorkbenchError
from workbench.host.narrow import is_numpy_scalar
from workbench.types import MATRICES, QUATERNIONS, VECTORS, float32, int32
from workbench.types import bool as bool_

_TRIED = (float32, int32, bool_, VECTORS["vec3"], MATRICES["mat33"], QUATERNIONS["quat"])


class WordHelp(msgspec.Struct, frozen=True):
    """The help for one word.

    Attributes:
        signature: as it is called: `clamp(x, low, high)`.
        doc: what it means.
        types: calls with types and what they return; empty for names that the front end handles by itself.
        example: a call with numbers and its result; empty if there is none.
        gradient: "yes", or "no" and why.
    """

    signature: str
    doc: str
    types: tuple[str, ...]
    example: str
    gradient: str

    def rows(self) -> list[tuple[str, str]]:
        """Return the texts that are not empty, each with its heading."""
        rows = [("Signature", self.signature), ("Meaning", self.doc), ("Types", "\n".join(self.types))]
        rows += [("Example", self.example), ("Differentiable", self.gradient)]
        return [(head, text) for head, text in rows if text]


def help_of(word: Builtin | Form) -> WordHelp:
    """Return the help from the declaration of a word."""
    if isinstance(word, Form):
        return WordHelp(word.signature, word.doc, (), "", "")
    reason = "yes" if word.gradient is not None else f"no: {word.differentiable.removeprefix('no: ')}"
    if word.gradient is None and not word.differentiable:
        reason = "as the operations that it consists of"
    signature = f"{word.name}({', '.join(word.params)})"
    return WordHelp(signature, word.doc, _types(word), _example(word), reason)


def _types(word: Builtin) -> tuple[str, ...]:
    """Return calls of a word with types and their results, for each type in `_TRIED` that its rule takes as it is."""
    calls: list[str] = []
    for tried in _TRIED:
        try:
            operands, result = word.rule(word.name, [tried] * len(word.params))
        except (WorkbenchError, TypeError, ValueError, AttributeError):
            continue
        if all(operand is tried or operand == tried for operand in operands):
            calls.append(f"{word.name}({', '.join(map(repr, operands))}) -> {result!r}")
    return tuple(calls)


def _example(word: Builtin) -> str:
    """Return a call with numbers of the domain, and its result; empty for words of vectors or without a domain."""
    if not (word.elementwise and word.domain):
        return ""
    values = [round(low + 0.75 * (high - low), 3) for low, high in word.domain]
    try:
        result = word(*values)
    except (TypeError, ValueError):
        return ""
    if not isinstance(result, (int, float)) and not is_numpy_scalar(result):
        return ""
    return f"{word.name}({', '.join(map(str, values))}) = {float(result):.6g}"


def is_word(value: object) -> bool:
    """Return whether the value is a function of the language, such as `wb.clamp`.

    Returns:
        True for builtins and for names that the front end or the library's own functions handle.
    """
    return isinstance(value, Builtin | Form)


def word_help(word: Builtin | Form) -> list[tuple[str, str]]:
    """Return the help for a function of the language: signature, meaning, types, an example, whether it has a gradient.

    Returns:
        Headings and texts, without those that are empty.
    """
    return help_of(word).rows()
