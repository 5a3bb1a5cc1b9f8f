"""Completion and help for names of the kernel language, in `%%kernel` and `%%cuda` cells and for `?` and Shift-Tab.

All of it comes from the library's tables. Names that the notebook defines are left to IPython.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from html import escape
from typing import Any

import workbench as wb
from kernel_ext.session.cells import is_kernel
from workbench import inspect

_KERNEL_CELL, _CUDA_CELL = re.compile(r"\s*%%kernel\b"), re.compile(r"\s*%%cuda\b")
_ANNOTATION = re.compile(r"(?:[(,]\s*\w+\s*:|->)\s*(?:array(?:\dd)?\s*[\[(]\s*(?:dtype\s*=\s*)?)?\w*$")
_TYPED = r"[(,]\s*{}\s*:\s*([A-Za-z_][\w.]*)"
_ARRAY = ("dtype", "ndim", "shape")
_CUDA = {
    "threadIdx": "The thread's place in its block: threadIdx.x, .y, .z.",
    "blockIdx": "The block's place in the grid: blockIdx.x, .y, .z.",
    "blockDim": "Threads of a block: blockDim.x, .y, .z.",
    "gridDim": "Blocks of the grid: gridDim.x, .y, .z.",
    "warpSize": "Threads of a warp: 32.",
    "__global__": "Before a function: a kernel, launched from Python.",
    "__device__": "Before a function: called by kernels.",
    "__shared__": "Before a variable: one for all threads of a block.",
    "__restrict__": "After a pointer: nothing else points to what it points to.",
    "__syncthreads": "__syncthreads(): wait until all threads of the block are here.",
    "__syncwarp": "__syncwarp(mask): wait until the lanes of the mask are here.",
    "__shfl_sync": "__shfl_sync(mask, value, lane): the value of another lane.",
    "__shfl_down_sync": "__shfl_down_sync(mask, value, delta): the value of the lane that is delta further on.",
    "__shfl_up_sync": "__shfl_up_sync(mask, value, delta): the value of the lane that is delta before.",
    "__shfl_xor_sync": "__shfl_xor_sync(mask, value, bits): the value of the lane whose number differs by these bits.",
    "__ballot_sync": "__ballot_sync(mask, condition): a bit for each lane in which the condition holds.",
    "__any_sync": "__any_sync(mask, condition): whether it holds in a lane.",
    "__all_sync": "__all_sync(mask, condition): whether it holds in all lanes.",
    "__ldg": "__ldg(pointer): load through the read-only cache.",
    "__launch_bounds__": "__launch_bounds__(threads): the most threads of a block.",
    **{name: f"{name}(address, value): an atomic update; returns the old value."
       for name in ("atomicAdd", "atomicSub", "atomicMin", "atomicMax", "atomicExch", "atomicAnd", "atomicOr",
                    "atomicXor")},
    "atomicCAS": "atomicCAS(address, compare, value): stores value if the old one equals compare; returns the old one.",
    **{name: f"{name}: a vector of {name[-1]} {name[:-1]}s with .x, .y …"
       for name in ("float2", "float3", "float4", "int2", "int3", "int4", "double2")},
    **{name: f"{name}(x): {name[:-1]} of a float."
       for name in ("sqrtf", "rsqrtf", "sinf", "cosf", "tanf", "expf", "logf", "fabsf", "floorf")},
    **{name: f"{name}(x, y): {name[:-1]} of two floats." for name in ("powf", "fmaxf", "fminf")},
}  # fmt: skip


def complete_word(cell_source: str, before: str, token: str, namespace: Mapping[str, Any]) -> list[str] | None:
    """List what may replace `token`, the last word of a cell of kernels; None in other cells, and for other words.

    Args:
        cell_source: the whole cell, the magic's line first.
        before: the text of the cell before the cursor.
        token: the word before the cursor, with dots.
        namespace: the user's names.
    """
    if "\n" not in before:
        return None
    if _CUDA_CELL.match(cell_source):
        return [name for name in _CUDA if name.startswith(token)] if token and "." not in token else None
    if not _KERNEL_CELL.match(cell_source):
        return None
    base, dot, start = token.rpartition(".")
    if dot:
        return [f"{base}.{name}" for name in _attributes(cell_source, base, namespace) if name.startswith(start)]
    words = _types() if _ANNOTATION.search(before) else list(wb.LANGUAGE)
    return sorted(name for name in words if name.startswith(token)) if token else None


def kind_of_word(name: str) -> str:
    """Return "property", "class" or "function" for a completion, as a front end shows it next to the name."""
    if "." in name:
        return "property"
    return "class" if name in _types() else "function"


def _types() -> list[str]:
    """Return the words of the language that may annotate a parameter."""
    others = ("func", "kernel", "struct")
    return [n for n, v in wb.LANGUAGE.items() if not inspect.is_word(v) and not n.startswith(others)]


def _attributes(cell_source: str, base: str, namespace: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the attributes of the parameter `base`, by its annotation in a cell's text; none if that does not say."""
    annotations = re.findall(_TYPED.format(re.escape(base)), cell_source)
    if not annotations:
        return ()
    kind = annotations[-1]
    if kind.startswith(("array", "indexedarray")):
        return _ARRAY
    if match := re.fullmatch(r"vec([234])\w*", kind):
        return tuple("xyzw"[: int(match[1])])
    if kind.startswith("mat"):
        return ("T",)
    struct = getattr(namespace.get(kind), "__wb_struct__", None)
    return tuple(field.name for field in struct.fields) if struct is not None else ()


def word(name: str) -> Any:
    """Return what the language binds a name to; None if it has no such word."""
    return wb.LANGUAGE.get(name)


def about(value: Any) -> list[tuple[str, str]] | None:
    """Return the texts that `?` shows of a word, a kernel or a func, as pairs of heading and text; else None."""
    if inspect.is_word(value):
        return inspect.word_help(value)
    if is_kernel(value):
        launch = f"wb.launch({value.name}, dim, [{', '.join(value.parameters)}])"
        return [("Kernel", repr(value)[1:-1]), ("Launch", launch), ("Source", inspect.source(value))]
    if isinstance(value, wb.Func):
        texts = [ast.get_source_segment(d.source.text, d.node) or "" for d in value.__wb_definitions__]
        return [("Func", f"{value.name}: call it inside a kernel"), ("Source", "\n\n".join(texts))]
    return None


class Help:
    """Provides texts for `?` and Shift-Tab in one shell; `remove` undoes `install`."""

    def __init__(self, shell: Any) -> None:
        """Attach to a shell."""
        self._inspector = shell.inspector
        self._shell = shell
        self._before: dict[str, Any] | None = None

    def install(self) -> None:
        """Show texts of Workbench's for its own values, and find words of the language without `wb.`.

        Nothing is changed before IPython 8.12.
        """
        if not hasattr(self._inspector, "mime_hooks"):  # before IPython 8.12
            return
        self._before = dict(self._inspector.mime_hooks)
        hooks = {"text/plain": _plain, "text/html": _html}
        self._inspector.mime_hooks = {**self._before, **hooks}
        find = self._shell._object_find

        def find_word(name: str, *rest: Any, **named: Any) -> Any:
            seen = find(name, *rest, **named)
            if seen.found or word(name) is None:
                return seen
            return find(f"{_HIDDEN}.{name}", [("language", {_HIDDEN: wb})])

        self._shell._object_find = find_word

    def remove(self) -> None:
        """Undo `install`: IPython shows its own help again, and no longer finds words of the language without `wb.`."""
        if self._before is not None:
            self._inspector.mime_hooks = self._before
            del self._shell._object_find
            self._before = None


_HIDDEN = "wb"


def _plain(data: Any, info: Any = None) -> list[tuple[str, str]] | None:
    """Return the texts that `?` shows of a value, or None; before IPython 8.22 `data` is the value itself."""
    return about(data.obj if info is None else data)


def _html(data: Any, info: Any = None) -> list[tuple[str, str]] | None:
    """Return what `?` shows of a value as pairs of title and HTML; None if it is no word, kernel or func."""
    rows = _plain(data, info)
    return None if rows is None else [(head, f"<pre>{escape(text)}</pre>") for head, text in rows]
