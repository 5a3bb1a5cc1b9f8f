"""Pickles of kernels and funcs: by name as of functions, or by value where another process cannot import them."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import sys
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Any

from workbench.frontend.names.python_names import meaning
from workbench.frontend.state.definition import Definition, Scope
from workbench.source import Source, nodes_of, parsed

LANGUAGE: dict[str, Any] = {}
"""Names of the language; the package fills it in, which stands above."""


def reduced(pickled: Any, definition: Definition, options: Mapping[str, Any]) -> str | tuple[Any, ...]:
    """Return what `__reduce__` of a kernel or func returns.

    A function that an importable module has under its name is pickled as that name. One of a notebook, a script or a
    factory is pickled with its text and the values of the names that it reads.
    """
    named = getattr(sys.modules.get(definition.module), definition.name, None) is pickled
    if named and definition.module != "__main__":
        return definition.name
    modules: dict[str, str] = {}
    words: dict[str, str] = {}
    values: dict[str, Any] = {}
    for name in _names(definition):
        scope = definition.scope
        value = scope.lookup(name)
        word = next((word for word, meant in LANGUAGE.items() if meant is value), None)
        if name not in scope.known() or (name in scope.language and name not in scope.user) or value is pickled:
            continue
        if isinstance(value, ModuleType):
            modules[name] = value.__name__
        elif word is not None:
            words[name] = word
        elif value is not getattr(builtins, name, scope):
            values[name] = value
    source = definition.source
    text = source.text, source.name, source.filename, source.line_offset
    made_from = (*text, definition.node.lineno, definition.written, bool(definition.scope.language))
    where = definition.module, definition.name, named
    return restored, (
        type(pickled),
        where,
        made_from,
        modules,
        words,
        values,
        dict(definition.annotations),
        dict(options),
        dict(definition.defaults),
    )


def restored(
    kind: Any, where: tuple[str, str, bool], made_from: tuple[Any, ...], modules: Mapping[str, str],
    words: Mapping[str, str], values: Mapping[str, Any], annotations: Mapping[str, Any], options: Mapping[str, Any],
    defaults: Mapping[str, Any] = MappingProxyType({}),
) -> Any:  # fmt: skip
    """Return the kernel or func of a pickle.

    It is the one that this process has under its name, if its text and defaults are the same; else a new one.

    Args:
        kind: `Kernel` or `Func`.
        where: its module, its name, and whether the module has it under that name.
        made_from: the source, its `def`'s line, its written text, and whether names of the language need no import.
        modules: what its names of modules mean, as import paths.
        words: what its names mean in the language.
        values: what its other names mean.
        annotations, defaults: of its parameters.
        options: attributes to set on a new one.
    """
    module, name, named = where
    *text, line, written, has_language = made_from
    source = Source(*text)
    known = getattr(sys.modules.get(module), name, None) if named else None
    if known is not None and type(known) is kind:
        twin: Definition = known.definition
        if twin.source == source and meaning(tuple(twin.defaults.items())) == meaning(tuple(defaults.items())):
            return known
    user = {"__name__": module, **values, **{n: LANGUAGE[word] for n, word in words.items()}}
    user |= {n: importlib.import_module(path) for n, path in modules.items()}
    node = next(n for n in nodes_of(parsed(source.text)) if isinstance(n, ast.FunctionDef) and n.lineno == line)
    scope = Scope(user=user, language=LANGUAGE if has_language else {})
    restored_value = kind(Definition(name, node, source, scope, annotations, dict(defaults), written=written))
    for option, value in options.items():
        setattr(restored_value, option, value)
    return restored_value


def _names(definition: Definition) -> list[str]:
    """Return the names that a definition may read from outside, including those in annotations that are strings."""
    node = definition.node
    parts = nodes_of(*definition.parameters, *([node.returns] if node.returns else []), *node.body)
    names = {n.id for n in parts if isinstance(n, ast.Name)}
    for annotation in (a.annotation for a in definition.parameters):
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            names.update(re.findall(r"\w+", annotation.value))
    return sorted(names - definition.locals - {a.arg for a in definition.parameters})
