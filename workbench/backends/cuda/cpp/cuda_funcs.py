"""Functions with CUDA text that a user wrote, and errors in it at the line of the cell where it stands."""

from __future__ import annotations

import textwrap

from msgspec.structs import replace

from workbench.backends.cuda.cpp.c_names import c_type
from workbench.backends.cuda.cpp.emitter import Emitter
from workbench.errors import BuildError
from workbench.ir.ops import CUDA, CUDA_PLACE, INPUTS, NAME, OUTPUTS
from workbench.ir.values import Function, Op, walk
from workbench.types import ArrayType


def emit_native(e: Emitter, op: Op) -> list[str]:
    """Emit a call of a func with the user's CUDA C++; results that it declares are passed by reference."""
    for value in (*op.operands, *op.results):
        e.expressions.require_type(value.type)
        if isinstance(value.type, ArrayType):
            e.expressions.keys.add(("array",))
    args = [e.name(v) if isinstance(v.type, ArrayType) else e.expressions.argument(v) for v in op.operands]
    name = _function(op, e.natives)
    if op.attrs[OUTPUTS]:
        rows = [f"{e.declare(v)} = {{}};" for v in op.results]
        return [*rows, f"{name}({', '.join([*args, *map(e.name, op.results)])});"]
    call = f"{name}({', '.join(args)});"
    return [f"{e.declare(op.result)} = {call}" if any(v in e.inlining.uses for v in op.results) else call]


def _function(op: Op, known: dict[str, str]) -> str:
    """Return the C++ name of a `native` operation's function; adds its definition to `known` unless it is there."""
    result = c_type(op.result.type) if op.results and not op.attrs[OUTPUTS] else "void"
    params = [f"{c_type(v.type)} {n}" for v, n in zip(op.operands, op.attrs[INPUTS], strict=True)]
    params += [f"{c_type(v.type)}& {n}" for v, n in zip(op.results, op.attrs[OUTPUTS], strict=False)]
    rest = f"({', '.join(params)}) {{\n{_body(op)}\n}}\n"
    base = f"wb_native_{op.attrs[NAME]}"
    for number in range(len(known) + 1):
        name = f"{base}_{number + 1}" if number else base
        text = f"static __device__ {result} {name}{rest}"
        if known.setdefault(name, text) == text:
            return name
    raise AssertionError("more names than texts")


def _body(op: Op) -> str:
    """Return the user's CUDA C++ without the indentation that all its lines share."""
    return textwrap.dedent(op.attrs[CUDA].strip("\n")).rstrip()


def placed(error: BuildError, row: int, text: str, function: Function) -> BuildError:
    """Return the error at the user's line, if row `row` is in a func's CUDA text; else the error itself."""
    for op in walk(function.body):
        if op.name != "custom" or not op.attrs.get(CUDA):
            continue
        body = _body(op)
        first = text[: text.find(body)].count("\n") + 1
        if body in text and first <= row <= first + body.count("\n"):
            text_start = op.attrs[CUDA_PLACE]
            blank = len(op.attrs[CUDA]) - len(op.attrs[CUDA].lstrip("\n"))
            line = text_start.line + blank + row - first
            shown = text_start.source.line(line)
            column = len(shown) - len(shown.lstrip())
            location = replace(text_start, line=line, column=column, end_line=line, end_column=len(shown))
            message = error.message.replace(f" at line {row}", f" of {op.attrs[NAME]}", 1)
            return BuildError(message, location, function=function.name, log=error.log, text=text)
    return error
