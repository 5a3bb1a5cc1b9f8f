"""Syntax that the language lacks, each with the sentence that a user gets and what to write instead."""

from __future__ import annotations

import ast

REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("A kernel has no lambda.", "Define a func above the kernel."),
    ast.ListComp: (
        "A comprehension stands behind name =, or in sum(), any(), all(), min(), max() or tuple().",
        "Give it a name.",
    ),
    ast.SetComp: ("A kernel has no comprehension.", "Write a for loop."),
    ast.DictComp: ("A kernel has no comprehension.", "Write a for loop."),
    ast.GeneratorExp: (
        "A generator expression stands in sum(), any(), all(), min(), max() and tuple() alone.",
        "Write a for loop.",
    ),
    ast.List: (
        "A list stands behind name =, in a loop or behind in, or in sum(), any(), all(), min() or max().",
        "Give it a name, or write a tuple, (…).",
    ),
    ast.Set: ("A kernel has no set.", "Use an array parameter."),
    ast.Dict: ("A kernel has no dict.", "Use separate variables or an array parameter."),
    ast.JoinedStr: ("A kernel has no strings.", ""),
    ast.Try: ("A kernel has no try.", "Test for the condition with if."),
    ast.Raise: ("A kernel has no raise.", 'Write assert condition, "message".'),
    ast.With: ("A kernel has no with.", ""),
    ast.AsyncFor: ("A kernel has no async.", ""),
    ast.AsyncWith: ("A kernel has no async.", ""),
    ast.Await: ("A kernel has no await.", ""),
    ast.Yield: ("A kernel has no yield.", "Write results to an array."),
    ast.YieldFrom: ("A kernel has no yield.", "Write results to an array."),
    ast.FunctionDef: ("A function cannot be defined inside a kernel.", "Define it above, as a func."),
    ast.AsyncFunctionDef: ("A kernel has no async.", ""),
    ast.ClassDef: ("A class cannot be defined inside a kernel.", ""),
    ast.Global: ("A kernel cannot change global names.", "Write to an array parameter."),
    ast.Nonlocal: ("A kernel cannot change outer names.", "Write to an array parameter."),
    ast.Delete: ("A kernel has no del.", "Leave the name as it is: it costs nothing."),
    ast.Import: ("A kernel has no import.", "Import above the kernel."),
    ast.ImportFrom: ("A kernel has no import.", "Import above the kernel."),
    ast.Starred: ("A kernel has no starred expression.", "Write the elements out."),
    ast.Slice: ("A slice stands here where one index is expected.", "Index one element: x[i]."),
}
REFUSED_SINCE_311: tuple[tuple[str, str, str], ...] = (
    ("TryStar", "A kernel has no try.", "Test for the condition with if."),
    ("TypeAlias", "A kernel has no type statement.", ""),
)
for _name, _message, _advice in REFUSED_SINCE_311:
    if hasattr(ast, _name):
        REFUSED[getattr(ast, _name)] = (_message, _advice)
