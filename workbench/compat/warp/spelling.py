"""Spellings of Warp that differ from the language's: rewritten before a kernel or a func is lowered.

Most are rows of `_TEXT`, from a call of Warp's to statements of the language. Loops over named queries, and parameters
that are numbers of meshes, are not.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from typing import Any

from msgspec.structs import replace

import workbench as wb
from workbench.builtins import FORMS, TABLE
from workbench.frontend.names.rewriting import BEGIN
from workbench.frontend.state.definition import Definition
from workbench.types import SCALARS

_TEXT = """
mul(a, b): a * b
div_approx(a, b): a / b
inverse_approx(a): inverse(a)
transform_set_translation(t, p): t.p = p
transform_set_rotation(t, q): t.q = q
tile_empty(*rest): tile_zeros(*rest, **named)
tile_fft(&t): t = tile_fft(t)
tile_ifft(&t): t = tile_ifft(t)
tile_sort(&k, &v): k, v = tile_sort(k, v)
tile_sort(&k): k = tile_sort(k)
tile_axpy(alpha, src, &dest): dest += src * alpha
tile_diag_add_inplace(&a, *rest): a = tile_diag_add(a, *rest, **named)
tile_cholesky_inplace(&A): A = tile_cholesky(A, **named)
tile_cholesky_solve_inplace(L, &y): y = tile_cholesky_solve(L, y, **named)
tile_lower_solve_inplace(L, &y): y = tile_lower_solve(L, y, **named)
tile_upper_solve_inplace(U, &z): z = tile_upper_solve(U, z, **named)
tile_cholesky_upper(A, *rest): tile_transpose(tile_cholesky(tile_transpose(A), *rest, **named))
tile_cholesky_solve_upper(L, *rest): tile_cholesky_solve(tile_transpose(L), *rest, **named)
tile_stack(&s, capacity, *rest): _count_s = 0; s = tile_zeros(capacity, *rest, **named)
tile_stack_clear(&s): _count_s = 0; _count_s
tile_stack_count(&s): _count_s
tile_stack_push(&s, *rest): s, _count_s, _index = tile_stack_push(s, _count_s, *rest, **named); _index
tile_stack_pop(&s, *rest): _value, _index, _count_s = tile_stack_pop(s, _count_s, *rest); (_value, _index)
tile_query_valid(q): q.at < len(q.nodes)
tile_bvh_query_next|bvh_query_next_tiled(q): q.at, q.within, _item = bvh_query_next(q); FIRST
tile_mesh_query_aabb_next|mesh_query_aabb_next_tiled(q): q.at, q.within, _item = mesh_query_next(q); FIRST
tile_bvh_query_ray|bvh_query_ray_tiled(*rest): bvh_query_ray(*rest, **named)
tile_bvh_query_aabb|bvh_query_aabb_tiled(*rest): bvh_query_aabb(*rest, **named)
tile_mesh_query_aabb|mesh_query_aabb_tiled(*rest): mesh_query_aabb(*rest, **named)
""".replace("FIRST", "where(tile_arange(block_dim()) == 0, _item, -1)")
"""Calls of Warp as the language writes them: the call, a colon, and statements with its arguments.

If the last statement is an expression, it is the call's value, and the others go before the statement with the call;
else they replace a statement that is such a call. `_name` is a local of that call, `_name_s` one of the variable passed
as s. `&` marks arguments that are changed, which are names; `*rest` and `**named` are the call's other arguments.
Forms of the language are read from the call's own module.
"""
_SIGNED, _UNSIGNED = ("m, x, far", ("sign", "face", "u", "v")), ("m, x, far", ("face", "u", "v"))
_RESULTS = {
    "mesh_query_ray": ("m, x, d, far", ("t", "u", "v", "sign", "normal", "face")),
    "mesh_query_point": _SIGNED,
    **{f"mesh_query_point_sign_{how}": _SIGNED for how in ("normal", "parity", "winding_number")},
    **{f"mesh_query_{how}_no_sign": _UNSIGNED for how in ("point", "furthest_point")},
}
"""Queries that may be given names for their results: their arguments, and those results."""
_DROPPED = {"tile_load": "aligned", "tile_store": "aligned"}
_DROPPED |= dict.fromkeys(("tile_cholesky", "tile_cholesky_solve"), "fill_mode")
"""Named arguments that are left out; a factor above the diagonal has a row of its own."""
_GEOMETRY = {"hash_grid": wb.HashGrid, "mesh": wb.Mesh, "bvh": wb.Bvh}
"""The types of the first arguments of functions, by the beginnings of the functions' names."""
_BEGUN = ("hash_grid_query", *BEGIN)
_NO_FUNCS = {*FORMS, *TABLE, *SCALARS} - {"tile_map"}
"""Names of functions that are no funcs of the user's."""


def _rows() -> dict[str, list[tuple[list[str], str]]]:
    """Return the parameters and the statements of the rows of `_TEXT` and `_RESULTS`, by name."""
    lines: list[str] = [*_TEXT.strip().splitlines()]
    for name, (own, fields) in _RESULTS.items():
        parts = "; ".join(f"{f} = _found.{f} if _found.result else {f}" for f in fields)
        query = f"_found = {name}({own}, *rest, **named)"
        lines.append(f"{name}({own}, &{', &'.join(fields)}, *rest): {query}; {parts}; _found.result")
    rows: dict[str, list[tuple[list[str], str]]] = {}
    for head, _, text in (line.partition("): ") for line in lines):
        names, _, parameters = head.partition("(")
        for name in names.split("|"):
            rows.setdefault(name, []).append((parameters.split(", "), text))
    return rows


_ROWS = _rows()
_REWRITTEN = {*_ROWS, *_DROPPED, "hash_grid_query_next", "tile_assign"}


def rewritten(definition: Definition) -> Definition:
    """Return a definition in Warp's spelling as the language writes it; the same object if nothing differs.

    A parameter that is passed to a query as a grid, a mesh or a tree gets that type, whatever its annotation says; one
    that is passed to a func gets the type `Any`. A local name of a query stands for the query in the `for` that runs
    over it.
    """
    own = _parameter_types(definition)
    chosen = any(isinstance(n, ast.Expr) and isinstance(n.value, ast.IfExp) for n in definition.nodes)
    named = chosen or any(called_name(call) in _REWRITTEN for call in definition.calls)
    if not own and not named:
        return definition
    node = copy.deepcopy(definition.node)
    _Rewriter(node, definition, {name for name, kind in own.items() if kind is wb.Meshes}).visit(node)
    return replace(definition, node=node, annotations={**definition.annotations, **own}, written=("", 0))


def only_indexed(definition: Definition, name: str) -> bool:
    """Return whether each use of a parameter is `name[…]`, its shape or atomic: none tests whether there is an array.

    Passing it to a func that only indexes it counts too. It is False of a parameter without uses.
    """
    atomic = (n.args[0] for n in definition.calls if n.args and "atomic_" in called_name(n))
    nodes: Any = definition.nodes
    read = (n.value for n in nodes if isinstance(n, ast.Subscript) or getattr(n, "attr", "") == "shape")
    indexed = sum(_is_name(n, name) for n in (*read, *atomic))
    indexed += sum(_passed_on(definition, call, name) for call in definition.calls)
    return 0 < indexed == sum(_is_name(n, name) for n in definition.nodes)


def _passed_on(definition: Definition, call: ast.Call, name: str) -> int:
    """Return how often a call passes a name on to a func that only indexes it."""
    func = definition.read(ast.unparse(call.func)) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
    versions = [d.parameters and d for d in getattr(func, "__wb_definitions__", ()) if d is not definition]
    positions = [k for k, a in enumerate(call.args) if _is_name(a, name)] if versions else []
    return sum(all(only_indexed(d, p.arg) for d in versions for p in d.parameters[k : k + 1]) for k in positions)


def _parameter_types(definition: Definition) -> dict[str, Any]:
    """Return types of parameters by name: of grids, meshes and trees in queries; `Any` of ids passed to funcs."""
    names = {p.arg: ast.unparse(p.annotation or ast.Constant("")) for p in definition.parameters}
    own: dict[str, Any] = {}
    for call in (c for c in definition.calls if c.args):
        query, first = called_name(call).removeprefix("tile_"), call.args[0]
        kind = next((k for head, k in _GEOMETRY.items() if query.startswith(f"{head}_")), None)
        if kind is not None and not query.endswith(("next", "next_tiled")):
            kinds = {_element_of(first, definition): wb.Meshes, getattr(first, "id", ""): kind}
            own |= {name: k for name, k in kinds.items() if name in names}
        elif query not in _NO_FUNCS:
            passed = {getattr(a, "id", "") for a in call.args} & {*names}
            own = {**dict.fromkeys((n for n in passed if names[n].rstrip("]").endswith("uint64")), Any), **own}
    return own


def _element_of(node: ast.expr, definition: Definition) -> str:
    """Return the name of the array of which a node, or what is assigned to that name, is an element; or ""."""
    if isinstance(node, ast.Name):
        values = (n.value for n in definition.nodes if isinstance(n, ast.Assign) and _is_name(n.targets[0], node.id))
        node = next(values, node)
    return getattr(node.value, "id", "") if isinstance(node, ast.Subscript) else ""


class _Template(ast.NodeTransformer):
    """Puts the arguments of a call, and the names of its own locals, into the statements of a row.

    Attributes:
        module: the syntax node of the module that the call names; None if it names none.
        at: the call's location, as a part of the names of locals.
        values: the arguments of the row's parameters, by name.
        rest, named: the call's other arguments.
        fits: whether the call has all arguments of the row, and variables for those that it changes.
    """

    def __init__(self, call: ast.Call, parameters: list[str]) -> None:
        """Match a call to a row's parameters: `&` marks one that is changed, `*rest` stands for more of them."""
        named = {k.arg: k.value for k in call.keywords}
        fixed = [p.lstrip("&") for p in parameters if p != "*rest"]
        self.module = getattr(call.func, "value", None)
        self.at = f"{call.lineno}.{call.col_offset}"
        self.values: dict[str, Any] = {p: named[p] for p in fixed if p in named}
        self.values |= dict(zip(fixed, call.args, strict=False))
        self.rest = call.args[len(fixed) :]
        self.named = [k for k in call.keywords if k.arg not in fixed]
        changed = [self.values.get(p[1:]) for p in parameters if p.startswith("&")]
        complete = len(self.values) == len(fixed) and ("*rest" in parameters or not self.rest)
        self.fits = complete and all(isinstance(v, ast.Name) for v in changed)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return what replaces a name: a parameter's argument, or for `_name` a local name of this call alone."""
        value: Any = self.values.get(node.id)
        if value is not None:
            return ast.Name(value.id, node.ctx) if isinstance(value, ast.Name) else copy.deepcopy(value)
        if node.id.startswith("_"):
            name, _, variable = node.id[1:].partition("_")
            node.id = f"{name}.{self.values[variable].id if variable else self.at}"
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Rewrite a call in place; a form or builtin is read from the module that the user's call names, if any."""
        name = called_name(node)
        self.generic_visit(node)
        if self.module is not None and name in {*FORMS, *TABLE}:
            node.func = ast.Attribute(self.module, name, ast.Load())
        return node

    def visit_Starred(self, node: ast.Starred) -> list[ast.expr]:
        """Return the call's remaining positional arguments, in place of `*rest`."""
        return self.rest

    def visit_keyword(self, node: ast.keyword) -> list[ast.keyword]:
        """Return the call's remaining named arguments in place of any keyword; a template's is `**named`."""
        return self.named


class _Rewriter(ast.NodeTransformer):
    """Rewrites a kernel's syntax tree from Warp's spelling to the language's, by the rows of `_TEXT` and `_RESULTS`.

    Attributes:
        definition: the kernel or func.
        meshes: names of arrays of ids of meshes.
        before: statements to go before the current one.
        queries: the calls that begin queries, by the local names they are assigned to.
        views: parts of tiles by local names, both as `_views` returns them.
    """

    def __init__(self, node: ast.FunctionDef, definition: Definition, meshes: set[str]) -> None:
        """Find the calls that begin queries in `node`, a copy of the definition's tree, which is then rewritten."""
        self.definition, self.meshes = definition, meshes
        self.before: list[ast.stmt] = []
        begun = (n for n in ast.walk(node) if isinstance(n, ast.Assign) and _is_call(n.value, *_BEGUN))
        self.queries = {n.targets[0].id: n.value for n in begun if isinstance(n.targets[0], ast.Name)}
        self.views = _views(node)

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node and return it; for a statement return a list of those that replace it.

        Statements that a call becomes go before the statement with the call.
        """
        if not isinstance(node, ast.stmt):
            return super().visit(node)
        outer, self.before = self.before, []
        result = super().visit(node)
        mine, self.before = self.before, outer
        return [*mine, *(result if isinstance(result, list) else [result])]

    def _expanded(self, call: ast.Call, name: str) -> list[ast.stmt]:
        """Return the statements of a row for a call; none if no row fits, or the call is one of a user's func."""
        if isinstance(call.func, ast.Name) and hasattr(self.definition.read(name), "__wb_definitions__"):
            return []
        for parameters, text in _ROWS.get(name, ()):
            template = _Template(call, parameters)
            if template.fits:
                tree = ast.parse(text)
                for part in ast.walk(tree):
                    ast.copy_location(part, call)
                return ast.fix_missing_locations(template.visit(tree)).body
        return []

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Rewrite `s = tile_stack(…)` by its row, and drop the assignment of a `hash_grid_query` to a name."""
        if _is_call(node.value, "tile_stack") and isinstance(node.targets[0], ast.Name):
            call: Any = node.value
            call.args.insert(0, node.targets[0])
            return self._expanded(call, "tile_stack")
        dropped = node.value in self.queries.values() and _is_call(node.value, "hash_grid_query")
        return [] if dropped else self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        """Rewrite a `for` over the name of a query as one over the query's call."""
        if isinstance(node.iter, ast.Name) and node.iter.id in self.queries:
            node.iter = copy.deepcopy(self.queries[node.iter.id])
        return self.generic_visit(node)

    def visit_While(self, node: ast.While) -> Any:
        """Rewrite `while hash_grid_query_next(query, j)` as a `for` over the query.

        The call may also be the condition with which the first line of another `while` breaks.
        """
        test, body = node.test, node.body
        first = body[0]
        leaves = isinstance(first, ast.If) and isinstance(first.body[0], ast.Break) and not first.orelse
        if leaves and isinstance(first.test, ast.UnaryOp) and isinstance(first.test.op, ast.Not):  # type: ignore[union-attr]
            until = _located(ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], []), node)
            test, body = first.test.operand, [until, *body[1:]]  # type: ignore[union-attr]
        if not _is_call(test, "hash_grid_query_next"):
            return self.generic_visit(node)
        query, item = test.args  # type: ignore[attr-defined]
        loop = ast.For(ast.Name(item.id, ast.Store()), query, body or [ast.Pass()], node.orelse)
        return self.visit_For(_located(loop, node))

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Rewrite a statement that is a call by its row, and `f() if c else g()` as an `if` statement.

        It is dropped if nothing but a name, an attribute or a tuple is left of it.
        """
        call: Any = node.value
        if isinstance(call, ast.IfExp):
            sides = [[_located(ast.Expr(side), node)] for side in (call.body, call.orelse)]
            return self.generic_visit(_located(ast.If(call.test, *sides), node))
        if _is_call(call, "tile_assign") and getattr(call.args[0], "id", "") in self.views and len(call.args) == 2:
            view = copy.deepcopy(self.views[call.args[0].id])  # a part of a tile, which is changed through its name
            view.ctx = ast.Store()
            return self.generic_visit(_located(ast.Assign([view], call.args[1]), node))
        body = self._expanded(call, called_name(call)) if isinstance(call, ast.Call) else []
        if body and not isinstance(body[-1], ast.Expr):
            return [new for statement in body for new in self.visit(statement)]
        self.generic_visit(node)
        return [] if isinstance(node.value, (ast.Attribute, ast.Name, ast.Tuple)) else node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Rewrite an element of an array of ids of meshes as `mesh_at`, and the length of the array as `mesh_count`."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Attribute) and getattr(node.value.value, "id", "") in self.meshes:
            return _located(ast.Call(_load("mesh_count"), [node.value.value], []), node)
        if getattr(node.value, "id", "") in self.meshes:
            return _located(ast.Call(_load("mesh_at"), [node.value, node.slice], []), node)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        """Return what replaces a call in Warp's spelling; the statements that must run first are added to `before`.

        Arguments without a meaning in the language are dropped. A call without a row is returned.
        """
        self.generic_visit(node)
        name = called_name(node)
        hint = [k.value for k in node.keywords if k.arg == _DROPPED.get(name, "")]
        node.keywords = [k for k in node.keywords if k.value not in hint]
        is_upper = any(isinstance(h, ast.Constant) and h.value == "upper" for h in hint)
        body = self._expanded(node, f"{name}_upper" if is_upper else name)
        if not body or not isinstance(body[-1], ast.Expr):
            return node
        self.before += body[:-1]
        return body[-1].value


def _views(node: ast.AST) -> dict[str, ast.Subscript]:
    """Return the elements and slices that names are assigned to, where all names in them are assigned only once."""
    stored = Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    stored.update(n.arg for n in ast.walk(node) if isinstance(n, ast.arg))
    pairs = ((n.targets[0], n.value) for n in ast.walk(node) if isinstance(n, ast.Assign))
    return {
        target.id: view for target, view in pairs
        if isinstance(target, ast.Name) and isinstance(view, ast.Subscript)
        and all(stored[n.id] < 2 for part in (target, view) for n in ast.walk(part) if isinstance(n, ast.Name))
    }  # fmt: skip


def _is_name(node: ast.AST, name: str) -> bool:
    """Return whether a node is this name."""
    return isinstance(node, ast.Name) and node.id == name


def _load(name: str) -> ast.Name:
    """Return a syntax node that reads a name."""
    return ast.Name(name, ast.Load())


def _located(new: Any, node: ast.AST) -> Any:
    """Set the locations in a new syntax tree to that of `node`, in place, and return the tree."""
    return ast.fix_missing_locations(ast.copy_location(new, node))


def _is_call(node: ast.AST, *names: str) -> bool:
    """Return whether a node is a call `name(…)` or `wp.name(…)` with one of these names."""
    return isinstance(node, ast.Call) and called_name(node) in names


def called_name(call: ast.Call) -> str:
    """Return the name of the function that is called, without its module; "" if it has none."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
