"""A function of the kernel language before it has types: its syntax tree, where it stands, and the names it can see.

What is read of the world around its text is noted, so that launches and processes can read it again. A launch compares
what is *watched*: the values that the code was made with. Another process that finds the lowering in the cache reads
again all that was *found*, and watches the same.

Only two things are ever read: a name in a definition's scope, and an attribute of what a name means. Whatever looks at
more than that (a call of the user's Python in `static(…)`) says so by `mark_incomplete`: then nothing is known of the
kernel without lowering it.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, TypeAlias

import msgspec

from workbench.errors import KernelSyntaxError, KernelTypeError
from workbench.host.uniform import Uniform
from workbench.source import Location, Source, nodes_of

Usable: TypeAlias = Callable[[Any], bool]

GIVEN = "given"
"""In the place of `usable`: what Python gave to a parameter's annotation when it made the function."""
DEFAULT = "default"
"""In the place of `usable`: the value of a parameter's default."""
_READABLE = (
    ast.Call, ast.Subscript, ast.Tuple, ast.List, ast.Constant, ast.BinOp, ast.BitOr, ast.keyword, ast.expr_context,
)  # fmt: skip


class Dependency(msgspec.Struct, frozen=True):
    """A value of the user's namespace that each launch compares, and how to read it again.

    Attributes:
        definition, path: a name of the definition's scope, dotted or not.
        reevaluate: computes a value to compare with `value` by ==, where `path` is no name (the text of a `static(…)`).
        paths: names (`math.pi`) that alone decide what `reevaluate` computes, where they mean numbers; None: not known.
        place: a mapping and a key under which it holds the value, where looking there says the same as `reevaluate`.
        known: names of the kernel that a `static(…)` reads, with their values.
    """

    definition: Any
    path: str
    value: Any
    reevaluate: Callable[[], Any] | None = None
    place: tuple[Mapping[Any, Any], Any] | None = None
    paths: tuple[str, ...] | None = None
    known: Mapping[str, Any] = {}


class Reads:
    """The names that one lowering read.

    Attributes:
        watched: what each launch looks at again, by definition and path.
        entries: in order: where (a definition, or an object for its attribute), how a definition's scope was asked
            (None for an attribute), the name, and what it meant.
        refused: why this does not say all; empty if it does.
    """

    def __init__(self) -> None:
        """Begin with no reads, of which nothing is missing."""
        self.entries: dict[tuple[int, Usable | str | None, str], tuple[Any, Usable | str | None, str, Any]] = {}
        self.refused = ""
        self.watched: dict[tuple[int, str], Dependency] = {}


NOTED: ContextVar[Reads | None] = ContextVar("what the lowering under way has read", default=None)


@contextmanager
def noting() -> Generator[Reads]:
    """Note what is read inside the context."""
    reads = Reads()
    before = NOTED.set(reads)
    try:
        yield reads
    finally:
        NOTED.reset(before)


def note_name(definition: Definition, usable: Usable | str, identifier: str, value: Any) -> None:
    """Note, for the lowering under way, what a name of a definition's scope means; nothing for the library.

    `usable` is how the scope was asked.
    """
    noted = NOTED.get()
    if noted is not None and not definition.library:
        noted.entries.setdefault((id(definition), usable, identifier), (definition, usable, identifier, value))


def given_annotation(definition: Definition, parameter: str) -> Any:
    """Note and return the value of a parameter's annotation, or of the result's, `return`, as Python evaluated it."""
    value = definition.annotations[parameter]
    note_name(definition, GIVEN, parameter, value)
    return value


def note_attribute(base: Any, attr: str, value: Any) -> Any:
    """Note, for the lowering under way, the value of an object's attribute, and return the value."""
    noted = NOTED.get()
    if noted is not None:
        noted.entries.setdefault((id(base), None, attr), (base, None, attr, value))
    return value


def watch(watched: Dependency, key: str = "") -> None:
    """Have each launch look whether a value is what it was; `key` tells values of one path apart."""
    noted = NOTED.get()
    if noted is not None:
        noted.watched.setdefault((id(watched.definition), key or watched.path), watched)


def mark_incomplete(reason: str) -> None:
    """Mark the reads of the current lowering as incomplete, for this reason; an earlier reason stays."""
    noted = NOTED.get()
    if noted is not None:
        noted.refused = noted.refused or reason


def note_expression(definition: Definition, node: ast.AST, usable: Usable, known: Collection[str] = ()) -> None:
    """Note what an expression of Python reads that is about to be evaluated; names in `known` are not the scope's."""
    if NOTED.get() is not None and not definition.library and not _is_readable(definition, node, usable, known):
        mark_incomplete(f"what {ast.unparse(node)} reads is not known")


def _is_readable(definition: Definition, node: ast.AST, usable: Usable, known: Collection[str]) -> bool:
    """Return whether all that evaluating a Python expression reads can be noted, and note it.

    Args:
        definition: the definition whose scope it is evaluated in.
        node: the expression.
        usable: whether a value counts as the meaning of a name.
        known: names that are not the scope's.
    """
    path = dotted(node)
    if path is None:
        if isinstance(node, ast.Call) and not _is_ours(definition, node.func, usable):
            return False
        parts = ast.iter_child_nodes(node)
        return isinstance(node, _READABLE) and all(_is_readable(definition, part, usable, known) for part in parts)
    if path.partition(".")[0] in known:
        return "." not in path
    definition.read(path, usable)
    return True


def _is_ours(definition: Definition, function: ast.expr, usable: Usable) -> bool:
    """Return whether a function of Workbench's own is called, whose arguments show all that is read."""
    path = dotted(function)
    value = definition.read(path, usable) if path is not None else None
    return (getattr(value, "__module__", None) or "").partition(".")[0] == "workbench"


def dotted(node: ast.AST) -> str | None:
    """Return the text of a name, or of attributes of one; None of anything else."""
    attrs: list[str] = []
    while isinstance(node, ast.Attribute):
        attrs.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(attrs)]) if isinstance(node, ast.Name) else None


MISSING = object()


def anything(value: Any) -> bool:
    """Return True: a name may mean any value."""
    return True


class Unbound(dict[str, Any]):
    """Names that a cell defines and no namespace holds yet: then the namespace says what a name means, as in Python.

    So a def sees those beside it, whatever an earlier run of the cell left under their names, and once they are bound
    also what other cells bind later. A name is bound when the namespace holds something else than before.
    """

    def __init__(self) -> None:
        """Create an empty mapping; `define` adds names."""
        super().__init__()
        self._before: dict[str, Callable[[], Any]] = {}

    def define(self, name: str, value: Any, namespace: Mapping[str, Any]) -> None:
        """Add a name that the cell will bind in `namespace`."""
        self._before.setdefault(name, _faint(namespace.get(name, MISSING)))
        self[name] = value

    def seen_from(self, namespace: Mapping[str, Any]) -> Unbound:
        """Drop the names whose value in `namespace` is not the one noted before, and return itself.

        A name that had no value then is dropped once it has one; a name that keeps its old value stays.
        """
        if self:
            bound = [n for n, before in self._before.items() if namespace.get(n, MISSING) is not before()]
            for name in bound:
                self._before.pop(name, None)
                self.pop(name, None)
        return self

    def clear(self) -> None:
        """Forget all names: they are bound now."""
        self._before.clear()
        super().clear()


def _faint(value: Any) -> Callable[[], Any]:
    """Return a getter for `value` that holds it weakly where possible; once collected, it returns None."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


class Scope(msgspec.Struct, frozen=True):
    """The namespaces in which a name that is no local is looked up, first hit first.

    Attributes:
        defined: what the text around it defines and the user's namespace does not hold yet.
        own: constants given with the cell.
        closure: reads the enclosing functions' variables as they are now.
        user: the user's namespace (a module's or a notebook's globals), live.
        language: names that need no import in a `%%kernel` cell.
    """

    defined: Unbound = msgspec.field(default_factory=lambda: Unbound())
    own: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    closure: Callable[[], Mapping[str, Any]] = dict
    user: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    language: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])

    def lookup(self, name: str, usable: Usable = anything) -> Any:
        """Return the value of `name` now, or MISSING.

        A name of the user wins over one of the language only where `usable` says that a kernel can use its value.
        """
        if name in self.defined and name in self.defined.seen_from(self.user):
            return self.defined[name]
        if name in self.own:
            return self.own[name]
        if self.closure is not dict and name in (held := self.closure()):
            return held[name]
        if name in self.user and (name not in self.language or usable(self.user[name])):
            return self.user[name]
        if name in self.language:
            return self.language[name]
        return getattr(builtins, name, MISSING)

    def known(self) -> set[str]:
        """Return every name that can be seen, for "did you mean"."""
        return {*self.defined, *self.own, *self.closure(), *self.user, *self.language}


_TARGETS = (ast.Name, ast.Attribute, ast.Subscript)


class Definition(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A `def` with all that its names may mean.

    Attributes:
        name: as written.
        node: its syntax tree; line numbers are those of `source`.
        source: the whole cell or file.
        scope: the names it sees.
        annotations: values that Python gave to annotations when it made the function; `return` is the result's. Only of
            functions made by functions, whose annotations may use names that nothing keeps.
        defaults: values of defaults that are no literals, as they were when Python, or the cell, made it.
        library: whether it is a part of Workbench: operations, errors and steps belong to the user's call of it.
        written: the text that alone made `node` what it is, and the line of it where `node` begins; empty if the tree
            was changed since it was parsed, or if that is not known.
        uniforms: by the names of the last parameters, the uniforms that these stand for; no def has them written.
    """

    name: str
    node: ast.FunctionDef
    source: Source
    scope: Scope
    annotations: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    defaults: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    library: bool = False
    written: tuple[str, int] = ("", 0)
    uniforms: Mapping[str, Uniform] = msgspec.field(default_factory=dict[str, Uniform])

    def with_uniforms(self, uniforms: Mapping[str, Uniform]) -> Definition:
        """Return a copy with a further parameter for each of these uniforms, under their names."""
        arguments = self.node.args
        more = [ast.arg(name, ast.Constant(None)) for name in uniforms]
        fields: dict[str, Any] = dict(ast.iter_fields(arguments))
        fields["args"] = [*arguments.args, *more]
        fields["defaults"] = [*arguments.defaults, *[ast.Constant(0) for _ in more]]
        own: dict[str, Any] = {**dict(ast.iter_fields(self.node)), "args": ast.arguments(**fields)}
        node = ast.FunctionDef(**own)
        types = {name: uniform.type for name, uniform in uniforms.items()}
        return msgspec.structs.replace(
            self, node=ast.copy_location(node, self.node), annotations={**self.annotations, **types}, uniforms=uniforms
        )

    @property
    def module(self) -> str:
        """The name of the module that it stands in."""
        return str(self.scope.user.get("__name__", "__main__"))

    def read(self, path: str, usable: Usable = anything) -> Any:
        """Return the present meaning of a dotted name, or MISSING.

        Lowering reads names by this method alone, so that each read is noted.

        Args:
            path: the name.
            usable: says of the user's value of a name that the language has, too, whether it is taken.
        """
        root, *attrs = path.split(".")
        value = self.scope.lookup(root, usable)
        note_name(self, usable, root, value)
        for attr in attrs:
            value = note_attribute(value, attr, getattr(value, attr, MISSING))
        return value

    def locate(self, node: ast.AST) -> Location:
        """Return the location of a node of this definition; of one without positions the line of the def."""
        span: tuple[int, int, int | None, int | None]
        try:
            span = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        except AttributeError:
            span = getattr(node, "lineno", self.node.lineno), getattr(node, "col_offset", 0), None, None
        location = self._locations.get(span)
        if location is None:
            line, column, end_line, end = span[0], span[1], span[2] or span[0], span[3] or 0
            if not self.source.is_ascii:
                column, end = self._characters(line, column), self._characters(end_line, end)
            location = self._locations[span] = Location(self.source, line, column, end_line, end)
        return location

    def type_error(self, message: str, advice: str = "", node: ast.AST | None = None) -> KernelTypeError:
        """Return a KernelTypeError located at a node of this definition; by default at its `def`."""
        return KernelTypeError(message, self.locate(node or self.node), advice, self.name)

    def syntax_error(self, message: str, advice: str = "", node: ast.AST | None = None) -> KernelSyntaxError:
        """Return a KernelSyntaxError located at a node of this definition; by default at its `def`."""
        return KernelSyntaxError(message, self.locate(node or self.node), advice, self.name)

    @cached_property
    def _locations(self) -> dict[tuple[int, int, int | None, int | None], Location]:
        """The locations that `locate` has computed, by the span of the node: line, column, end line and end column."""
        return {}

    def _characters(self, line: int, column: int) -> int:
        """Return a column in characters, as people and carets count them; the parser counts bytes of UTF-8."""
        text = self.source.line(line)
        return len(text.encode()[:column].decode(errors="ignore"))

    @cached_property
    def content(self) -> str:
        """A digest of what is written, comments and layout aside."""
        return hashlib.sha256(ast.dump(self.node).encode()).hexdigest()

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of its tree, as written."""
        return tuple(nodes_of(self.node))

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        """All calls in its tree."""
        return tuple(n for n in self.nodes if isinstance(n, ast.Call))

    @cached_property
    def named(self) -> tuple[ast.NamedExpr, ...]:
        """All `name := value` in its tree."""
        return tuple(n for n in self.nodes if isinstance(n, ast.NamedExpr))

    @cached_property
    def expects(self) -> bool:
        """Return whether it calls `expect_eq` or the like, which test even where checks are off."""
        names = (getattr(n.func, "attr", getattr(n.func, "id", "")) for n in self.calls)
        return any(name.startswith("expect_") for name in names)

    @cached_property
    def locals(self) -> frozenset[str]:
        """Names that it assigns, wholly or in a part; they are its own everywhere in it, as in Python."""
        own = {id(n) for c in self.nodes if isinstance(c, ast.comprehension) for n in nodes_of(c.target)}
        targets = [n for n in self.nodes if isinstance(n, _TARGETS) and isinstance(n.ctx, ast.Store)]
        roots = [root(n) for n in targets if id(n) not in own]
        matched = [n.name for n in self.nodes if isinstance(n, ast.MatchAs) and n.name]
        return frozenset([*[n.id if isinstance(n, ast.Name) else "" for n in roots], *matched])

    @cached_property
    def reads(self) -> Counter[str]:
        """The number of times that it reads each name."""
        return _reads(self.nodes)

    @cached_property
    def read_by_static(self) -> frozenset[str]:
        """Names that a `static(…)` in it reads."""
        return read_by_static(self.calls)

    @property
    def parameters(self) -> list[ast.arg]:
        """The parameters, in order."""
        arguments = self.node.args
        return [*arguments.posonlyargs, *arguments.args]

    @property
    def default_nodes(self) -> dict[str, ast.expr]:
        """The defaults as written, by parameter."""
        return default_nodes(self.node)

    def default(self, name: str) -> Any:
        """Return the value of a parameter's default; MISSING if nothing says what it was."""
        if name in self.defaults:
            return self.defaults[name]
        try:
            return ast.literal_eval(self.default_nodes[name])
        except ValueError:
            return MISSING


def default_nodes(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return the defaults of a def as written, by parameter."""
    nodes, parameters = node.args.defaults, [*node.args.posonlyargs, *node.args.args]
    return {p.arg: n for p, n in zip(parameters[len(parameters) - len(nodes) :], nodes, strict=True)}


def is_literal(node: ast.expr) -> bool:
    """Return whether a default is a literal, whose value is the same whenever it is evaluated."""
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def reads(node: ast.AST) -> Counter[str]:
    """Count the reads of each name in a node and all nodes inside it; the target of `x += y` is read, too."""
    return _reads(nodes_of(node))


def _reads(nodes: Iterable[ast.AST]) -> Counter[str]:
    """Count the reads of each name among these nodes, not inside them; the target of `x += y` is read, too."""
    counts: Counter[str] = Counter()
    for inner in nodes:
        name = inner.target if isinstance(inner, ast.AugAssign) else inner
        if isinstance(name, ast.Name) and (name is not inner or not isinstance(name.ctx, ast.Store)):
            counts[name.id] += 1
    return counts


def read_by_static(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that calls of `static` among these nodes read; calls inside of the nodes do not count."""
    calls = (n for n in nodes if isinstance(n, ast.Call))
    static = [n for n in calls if getattr(n.func, "attr", getattr(n.func, "id", "")) == "static"]
    return frozenset(reads(ast.Tuple([a for n in static for a in n.args], ast.Load()))) if static else frozenset()


def root(node: ast.expr) -> ast.expr:
    """Return the expression that `v`, `v.x` and `v.x[0]` begin with."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node
