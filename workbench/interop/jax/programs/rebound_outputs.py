"""Why an output was not written: most often because the function gave its name to another array.

`b = wb.array([10])` makes a new array and calls it b; the one that the caller sees stays as it was. That is found in
the text, and the line is named.
"""

from __future__ import annotations

import ast

from workbench.errors import LaunchError
from workbench.interop.jax.programs.trace import Trace


def rebinding(trace: Trace, name: str) -> LaunchError:
    """Return the error for an output that nothing wrote."""
    definition = trace.definition
    for node in ast.walk(definition.node):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            return LaunchError(
                f"{definition.name} binds the name {name} to another array, and its output {name} stays unwritten.",
                definition.locate(node),
                f"Write into it: wb.copy({name}, …), {name}.fill_(…), or a launch.",
                definition.name,
                parameter=name,
            )
    return LaunchError(
        f"Nothing in {definition.name} writes its output {name}.",
        definition.locate(definition.node),
        f'Write into it, or give it a value: init={{"{name}": "zeros"}}.',
        definition.name,
        parameter=name,
    )
