"""Spellings of Warp that differ from the language's: rewritten before a kernel or a func is lowered."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec.structs import replace

import workbench as wb
from workbench.builtins import FORMS, TABLE
from workbench.compat.warp.makers import number_type
from workbench.frontend import Definition
from workbench.frontend.names.written_out import BEGIN
from workbench.types import SCALARS, as_type, is_float
from workbench.weak import Weak

FIELDS = tuple(f.name for f in wb.HashGrid.__wb_struct__.fields)
_QUERY = "hash_grid_query"
_BEGUN = (_QUERY, *BEGIN)
_ASKED = {"hash_grid": wb.HashGrid, "mesh": wb.Mesh, "bvh": wb.Bvh}
"""The types of the first arguments of functions, by the beginnings of the functions' names."""
_SIGNED, _UNSIGNED = (3, ("sign", "face", "u", "v")), (3, ("face", "u", "v"))
_INTO: dict[str, tuple[int, tuple[str, ...]]] = {
    "mesh_query_ray": (4, ("t", "u", "v", "sign", "normal", "face")),
    "mesh_query_point": _SIGNED,
    **{f"mesh_query_point_sign_{how}": _SIGNED for how in ("normal", "parity", "winding_number")},
    "mesh_query_point_no_sign": _UNSIGNED,
    "mesh_query_furthest_point_no_sign": _UNSIGNED,
}
"""Queries that may be given names for their results: after how many arguments, and which results they name."""
_NO_FUNCS = {*FORMS, *TABLE, *SCALARS} - {"tile_map"}
"""Names of functions that are no funcs of the user's."""
_ANSWERS = ("next", "next_tiled")
"""Ends of names whose first argument is a query."""
_IN_PLACE = {
    "tile_fft": (0,), "tile_ifft": (0,), "tile_sort": (0, 1), "tile_cholesky_inplace": (0,), "tile_axpy": (2,),
    "tile_cholesky_solve_inplace": (1,), "tile_lower_solve_inplace": (1,), "tile_upper_solve_inplace": (1,),
    "tile_diag_add_inplace": (0,),
}  # fmt: skip
"""Calls that stand as statements, and the numbers of the arguments that they change."""
_STACK = ("tile_stack", "tile_stack_push", "tile_stack_pop", "tile_stack_count", "tile_stack_clear")
_OPERATORS = {"mul": ast.Mult(), "div_approx": ast.Div()}
_RENAMES = {
    "inverse_approx": "inverse",
    "tile_empty": "tile_zeros",
    "bvh_query_ray_tiled": "bvh_query_ray",
    "tile_bvh_query_ray": "bvh_query_ray",
    **{
        name: f"{tree}_query_aabb"
        for tree in ("bvh", "mesh")
        for name in (f"tile_{tree}_query_aabb", f"{tree}_query_aabb_tiled")
    },
}
_TILED_NEXT = ("tile_bvh_query_next", "bvh_query_next_tiled", "tile_mesh_query_aabb_next", "mesh_query_aabb_next_tiled")
_TILED = (*_TILED_NEXT, "tile_query_valid")
_ALIGNED = ("tile_load", "tile_store")
"""Calls with a hint that has no effect."""
_SET = {"transform_set_translation": "p", "transform_set_rotation": "q"}
"""Statements that change a part of their first argument."""
_OTHERWISE = (
    *_SET, *_ALIGNED,
    *_STACK, *_OPERATORS, *_RENAMES, *_TILED, "hash_grid_query_next", "tile_cholesky", "tile_cholesky_solve", "static",
)  # fmt: skip


_KNOWN: Weak[int, Any] = Weak()


class _Known:
    """A base class of objects that kernels take by the number `id`."""

    def __del__(self) -> None:
        """Do nothing; programs call it."""

    @property
    def id(self) -> int:
        """A number for which `known` returns the object while it lives."""
        _KNOWN.put(id(self), self)
        return id(self)


def known(value: Any) -> Any:
    """Return the grid, mesh or tree with the id `value`, or `Meshes` for an array of ids; other values themselves."""
    if isinstance(value, wb.array) and value.dtype == SCALARS["uint64"] and 0 < value.size:
        meshes = [_KNOWN.get(n) for n in value.numpy().ravel().tolist()]
        return value if not all(isinstance(m, wb.Mesh) for m in meshes) else wb.Meshes(meshes)
    geometry = _KNOWN.get(int(value)) if isinstance(value, (int, np.integer)) else None
    return value if geometry is None else geometry


class HashGrid(_Known, wb.HashGrid):
    """Represents a `workbench.HashGrid`, whose `id` is what kernels are given."""

    def __init__(
        self, dim_x: int = 64, dim_y: int = 64, dim_z: int = 64, device: Any = None, dtype: Any = None
    ) -> None:
        """Make an empty grid of points with components of `dtype`, by default float32.

        Raises:
            TypeError: the dtype is no type of floats.
        """
        super().__init__(dim_x, dim_y, dim_z, device)
        kind = as_type(dtype or "float32")
        if not is_float(kind):
            raise TypeError(f"HashGrid() takes float16, float32 or float64 as dtype, not {kind!r}")
        self.__dict__["dtype"] = number_type(kind)

    def build(self, points: wb.array, radius: float | None = None, groups: wb.array | None = None) -> None:
        """Build the grid as `workbench.HashGrid.build` does, of points in any shape.

        Raises:
            TypeError: their components are of another type than the grid's.
        """
        if points.dtype.dtype != self.__dict__["dtype"]:
            raise TypeError(f"this HashGrid takes points of {self.__dict__['dtype']!r}; these are {points.dtype!r}")
        super().build(points.flatten(), radius, None if groups is None else groups.flatten())

    def reserve(self, num_points: int, with_groups: bool = False) -> None:
        """Make room for at least `num_points` points, and with `with_groups` for their groups."""
        if with_groups and self.groups.size < num_points:
            self.groups = wb.empty(num_points, wb.int32, self.device)
        if self.points.size < num_points:
            self.points = wb.empty(num_points, wb.int32, self.device)  # a fill would be captured


class _Tree(_Known):
    def __init__(
        self, *arrays: Any, constructor: Any = None, bvh_constructor: Any = None, bvh_leaf_size: int | None = None,
        groups: Any = None, **options: Any,
    ) -> None:  # fmt: skip
        """Build the tree or mesh of these arrays; a constructor has no effect.

        Raises:
            NotImplementedError: there are groups of faces.
        """
        if groups is not None and isinstance(self, wb.Mesh):
            raise NotImplementedError("groups= of a Mesh is not in Workbench: make a mesh of each group.")
        options |= {} if groups is None else {"groups": groups}
        super().__init__(*arrays, **options, **({} if bvh_leaf_size is None else {"leaf_size": bvh_leaf_size}))


class Bvh(_Tree, wb.Bvh):
    """Represents a `workbench.Bvh`, whose `id` is what kernels are given."""

    def rebuild(self, constructor: Any = None) -> None:
        """Build the tree again; the constructor has no effect."""
        super().rebuild()


class Mesh(_Tree, wb.Mesh):
    """Represents a `workbench.Mesh`, whose `id` is what kernels are given."""

    support_winding_number = property(lambda m: m.__dict__["_winds"])


def rewritten(definition: Definition) -> Definition:
    """Return a definition in Warp's spelling as the language writes it; the same object if nothing differs.

    A parameter that is passed to a query as a grid, a mesh or a tree gets that type, whatever its annotation says; one
    that is passed to a func gets the type `Any`. A local name of a query stands for the query in the `for` that runs
    over it. A tile that is transformed or sorted in place is assigned the result.
    """
    own = _asked(definition)
    chosen = any(isinstance(n, ast.Expr) and isinstance(n.value, ast.IfExp) for n in definition.nodes)
    written = not chosen and not any(_calls(definition.node, (*_IN_PLACE, *_OTHERWISE)))
    if not own and written and not _read_after(definition.node):
        return definition
    node = copy.deepcopy(definition.node)
    _Rewriter(node, definition, {name for name, kind in own.items() if kind is wb.Meshes}).visit(node)
    return replace(definition, node=node, annotations={**definition.annotations, **own}, written=("", 0))


def only_indexed(definition: Definition, name: str) -> bool:
    """Return whether each use of a parameter is `name[…]`, its shape or atomic: none tests whether there is an array.

    Passing it to a func that only indexes it counts too. It is False of a parameter without uses.
    """
    atomic = (n.args[0] for n in definition.nodes if isinstance(n, ast.Call) and n.args and "atomic_" in _name(n))
    read = (n.value for n in definition.nodes if isinstance(n, ast.Subscript) or getattr(n, "attr", "") == "shape")
    arrays = (*read, *atomic)
    indexed = sum(getattr(n, "id", "") == name for n in arrays)
    indexed += sum(_passed_on(definition, call, name) for call in definition.calls)
    return 0 < indexed == sum(isinstance(n, ast.Name) and n.id == name for n in definition.nodes)


def _passed_on(definition: Definition, call: ast.Call, name: str) -> int:
    """Return how often a call passes a name on to a func that only indexes it."""
    func = definition.read(ast.unparse(call.func)) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
    versions = [d for d in getattr(func, "__wb_definitions__", ()) if d is not definition]
    positions = [k for k, a in enumerate(call.args) if _is_name(a, name)] if versions else []
    taken = [
        k for k in positions if all(k < len(d.parameters) and only_indexed(d, d.parameters[k].arg) for d in versions)
    ]
    return len(taken)


def _written_out(node: ast.For, definition: Definition) -> ast.expr:
    """Return a loop's iterable; a tuple of its numbers if its body has a `static` of the loop's variable."""
    static = [part for call in _calls(ast.Module(node.body, []), ("static",)) for part in ast.walk(call)]
    used = isinstance(node.target, ast.Name) and any(getattr(n, "id", "") == node.target.id for n in static)
    if not used or not _is_call(node.iter, ("range",)):
        return node.iter
    bounds = [_number(a, definition) for a in node.iter.args]  # type: ignore[attr-defined]
    if None in bounds:
        return node.iter
    return _placed(ast.Tuple([ast.Constant(n) for n in range(*bounds)], ast.Load()), node.iter)


def _number(node: ast.expr, definition: Definition) -> int | None:
    """Return the integer that a node is: a constant, or a `static` of names outside; None if it is not known yet."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) else None
    if not _is_call(node, ("static",)):
        return None
    inner = node.args[0]  # type: ignore[attr-defined]
    names = {n.id for n in ast.walk(inner) if isinstance(n, ast.Name)}
    try:
        value = eval(compile(ast.Expression(inner), "<static>", "eval"), {n: definition.read(n) for n in names})
    except Exception:  # the language's `static` says what is wrong
        return None
    return value if isinstance(value, int) else None


def _read_after(node: ast.FunctionDef) -> list[ast.For]:
    """Return the `range` loops whose variable is set only by the loop but read outside it: Warp presets it to 0."""
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    loops: list[ast.For] = []
    for loop in (n for n in ast.walk(node) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)):
        inside = {id(n) for n in ast.walk(loop)}
        outside = [n for n in names if n.id == loop.target.id and id(n) not in inside]  # type: ignore[union-attr]
        if outside and all(isinstance(n.ctx, ast.Load) for n in outside) and _is_call(loop.iter, ("range",)):
            loops.append(loop)
    return loops


def _asked(definition: Definition) -> dict[str, Any]:
    """Return types of parameters by name: of grids, meshes and trees in queries; `Any` of ids passed to funcs."""
    names = {p.arg: ast.unparse(p.annotation or ast.Constant("")) for p in definition.parameters}
    own: dict[str, Any] = {}
    for call in (n for n in definition.nodes if isinstance(n, ast.Call)):
        query = _name(call).removeprefix("tile_")
        kinds = [k for head, k in _ASKED.items() if query.startswith(f"{head}_") and not query.endswith(_ANSWERS)]
        for position, argument in enumerate(call.args):
            if (
                isinstance(argument, ast.Attribute)
                and getattr(argument.value, "id", "") in names
                and kinds
                and not position
            ):
                own[argument.value.id] = Any  # type: ignore[attr-defined]  # a struct with a number of a mesh
            if kinds and not position and _element_of(argument, definition) in names:
                own[_element_of(argument, definition)] = wb.Meshes
            if not isinstance(argument, ast.Name) or argument.id not in names:
                continue
            if kinds and position == 0:
                own[argument.id] = kinds[0]
            elif not kinds and names[argument.id].rstrip("]").endswith("uint64") and query not in _NO_FUNCS:
                own.setdefault(argument.id, Any)
    return own


def _element_of(node: ast.expr, definition: Definition) -> str:
    """Return the name of the array of which a node, or what is assigned to that name, is an element; or ""."""
    if isinstance(node, ast.Name):
        values = (n.value for n in definition.nodes if isinstance(n, ast.Assign) and _is_name(n.targets[0], node.id))
        node = next(values, node)
    return getattr(node.value, "id", "") if isinstance(node, ast.Subscript) else ""


class _Rewriter(ast.NodeTransformer):
    def __init__(self, node: ast.FunctionDef, definition: Definition, meshes: set[str]) -> None:
        self.definition, self.turns, self.meshes = definition, set[str](), meshes
        self.before: list[ast.stmt] = []
        self.read_after = _read_after(node)
        assigned = (n for n in ast.walk(node) if isinstance(n, ast.Assign) and _is_call(n.value, _BEGUN))
        self.locals = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        self.locals |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.queries = {n.targets[0].id: n.value for n in assigned if isinstance(n.targets[0], ast.Name)}

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node; return it, None to drop it, or a list of statements that replaces it.

        Assignments for calls that write to names go before the statement with the call.
        """
        if not isinstance(node, (ast.Expr, ast.Assign, ast.If)):
            return super().visit(node)
        outer, self.before = self.before, []
        result: Any = node
        if isinstance(node, ast.If):
            node.test = super().visit(node.test)
        else:
            result = super().visit(node)
            dropped = isinstance(result, ast.Expr) and isinstance(result.value, (ast.Attribute, ast.Name, ast.Tuple))
            result = None if dropped else result
        mine, self.before = self.before, []
        for name in ("body", "orelse") if isinstance(node, ast.If) else ():
            block = ast.Module(getattr(node, name), [])
            self.generic_visit(block)
            setattr(node, name, block.body)
        self.before = outer
        return [*mine, *([result] if result is not None else [])] if mine else result

    def _into(self, node: ast.Call) -> ast.expr:
        """Rewrite a query that writes its results to names; return the expression for whether there is a result.

        A call without such names is returned as it is.
        """
        count, fields = _INTO[_name(node)]
        names = [n for n in node.args[count : count + len(fields)] if isinstance(n, ast.Name)]
        if len(names) != len(fields):
            return node
        result_name = f"found.{node.lineno}.{node.col_offset}"
        query = ast.Call(node.func, [*node.args[:count], *node.args[count + len(fields) :]], node.keywords)
        part = {f: ast.Attribute(_load(result_name), f, ast.Load()) for f in ("result", *fields)}
        self._assign([result_name], query, node)
        for name, field in zip(names, fields, strict=True):
            self._assign([name.id], ast.IfExp(part["result"], part[field], _load(name.id)), node)
        return _placed(part["result"], node)

    def _stack(self, node: ast.Call) -> ast.expr:
        """Rewrite a call that uses a stack; return the expression for its value.

        A stack is a tile and a count of elements in use.
        """

        stack = node.args[0]
        if not isinstance(stack, ast.Name):
            return node
        count, at = f"count.{stack.id}", f"{node.lineno}.{node.col_offset}"
        value, index = f"value.{at}", f"index.{at}"
        call = ast.Call(node.func, [stack, _load(count), *node.args[1:]], node.keywords)
        match _name(node):
            case "tile_stack_clear":
                self._assign([count], ast.Constant(0), node)
            case "tile_stack_push":
                self._assign([stack.id, count, index], call, node)
                return _placed(_load(index), node)
            case "tile_stack_pop":
                self._assign([value, index, count], call, node)
                return _placed(ast.Tuple([_load(value), _load(index)], ast.Load()), node)
        return _placed(_load(count), node)

    def _assign(self, names: list[str], value: ast.expr, node: ast.AST) -> None:
        """Add an assignment to names before the statement that is visited."""
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        self.before.append(_placed(ast.Assign([target], value), node))

    def visit_Assign(self, node: ast.Assign) -> Any:
        if _is_call(node.value, ("tile_stack",)) and isinstance(node.targets[0], ast.Name):
            call = _renamed(node.value, "tile_zeros")  # type: ignore[arg-type]
            for k in call.keywords:
                k.arg = "shape" if k.arg == "capacity" else k.arg
            self._assign([f"count.{node.targets[0].id}"], ast.Constant(0), node)
            node.value = _placed(call, node)
            return node
        dropped = node.value in self.queries.values() and _is_call(node.value, (_QUERY,))
        return None if dropped else self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        if isinstance(node.iter, ast.Name) and node.iter.id in self.queries:
            node.iter = copy.deepcopy(self.queries[node.iter.id])
        node.iter = _written_out(node, self.definition)
        if isinstance(node.iter, ast.Tuple) and isinstance(node.target, ast.Name):
            self.turns.add(node.target.id)
        zero = ast.Assign([copy.deepcopy(node.target)], ast.Constant(0))
        first = [_placed(zero, node)] if node in self.read_after else []
        loop = self.generic_visit(node)
        return [*first, loop] if first else loop

    def visit_While(self, node: ast.While) -> Any:
        """Rewrite `while hash_grid_query_next(query, j)` as a `for` over the query.

        The call may also be the condition with which the first line of another `while` breaks.
        """
        test, body = node.test, node.body
        first = body[0]
        leaves = isinstance(first, ast.If) and isinstance(first.body[0], ast.Break) and not first.orelse
        if leaves and isinstance(first.test, ast.UnaryOp) and isinstance(first.test.op, ast.Not):  # type: ignore[union-attr]
            until = _placed(ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], []), node)
            test, body = first.test.operand, [until, *body[1:]]  # type: ignore[union-attr]
        if not _is_call(test, ("hash_grid_query_next",)):
            return self.generic_visit(node)
        query, item = test.args  # type: ignore[attr-defined]
        loop = ast.For(ast.Name(item.id, ast.Store()), query, body or [ast.Pass()], node.orelse)
        return self.visit_For(_placed(loop, node))

    def visit_Expr(self, node: ast.Expr) -> Any:
        call = node.value
        if isinstance(call, ast.IfExp):
            sides = [[self.visit(_placed(ast.Expr(side), node))] for side in (call.body, call.orelse)]
            return _placed(ast.If(call.test, *sides), node)
        if isinstance(call, ast.Call) and _name(call) in _SET and len(call.args) == 2:
            part = ast.Attribute(call.args[0], _SET[_name(call)], ast.Store())
            return self.generic_visit(_placed(ast.Assign([part], call.args[1]), node))
        if not isinstance(call, ast.Call) or not _is_call(call, tuple(_IN_PLACE)):
            return self.generic_visit(node)
        changed = [a for k, a in enumerate(call.args) if k in _IN_PLACE[_name(call)]]
        if not changed or not all(isinstance(a, ast.Name) for a in changed):
            return node  # refused where it is lowered: the result is not used
        names = [ast.Name(a.id, ast.Store()) for a in changed if isinstance(a, ast.Name)]
        if _name(call) == "tile_axpy":
            scaled = ast.BinOp(call.args[1], ast.Mult(), call.args[0])
            return _placed(ast.AugAssign(names[0], ast.Add(), scaled), node)
        target = names[0] if len(names) == 1 else ast.Tuple(list(names), ast.Store())
        value = self.visit_Call(_renamed(call, _name(call).removesuffix("_inplace")))
        return _placed(ast.Assign([target], value), node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """Rewrite an element of an array of ids of meshes as `mesh_at`, and the length of the array as `mesh_count`."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Attribute) and getattr(node.value.value, "id", "") in self.meshes:
            return _placed(_expression(f"mesh_count({node.value.value.id})"), node)  # type: ignore[attr-defined]
        if getattr(node.value, "id", "") in self.meshes:
            return _placed(ast.Call(_load("mesh_at"), [node.value, node.slice], []), node)
        return node

    def _next_of_block(self, node: ast.Call) -> ast.expr:
        """Rewrite a step of a block's query: return the expression for a tile with the next item.

        The first thread of the block has the item, the others have -1.
        """
        query, at = ast.unparse(node.args[0]), f"item_{node.lineno}_{node.col_offset}"
        kind = "mesh" if "mesh" in _name(node) else "bvh"
        step = ast.parse(f"{query}.at, {query}.within, {at} = {kind}_query_next({query})").body[0]
        for part in ast.walk(step):
            ast.copy_location(part, node)
        self.before.append(step)
        return _placed(_expression(f"where(tile_arange(block_dim()) == 0, {at}, -1)"), node)

    def visit_Call(self, node: ast.Call) -> Any:
        """Rewrite a call to the language's spelling.

        A factor above the diagonal (`fill_mode="upper"`) becomes the transpose of that below.
        """
        self.generic_visit(node)
        if _name(node) in _INTO:
            return self._into(node)
        if _is_call(node, _STACK[1:]):
            return self._stack(node)
        if _is_call(node, _TILED_NEXT):
            return self._next_of_block(node)
        if _is_call(node, ("tile_query_valid",)):
            query = ast.unparse(node.args[0])
            return _placed(_expression(f"{query}.at < len({query}.nodes)"), node)
        if _name(node) in _OPERATORS and len(node.args) == 2:
            return _placed(ast.BinOp(node.args[0], _OPERATORS[_name(node)], node.args[1]), node)
        if _is_call(node, ("static",)):  # of a local: the size of a tile, the number of a turn
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            return node.args[0] if names & (self.locals - self.turns) and len(node.args) == 1 else node
        node.keywords = [k for k in node.keywords if k.arg != "aligned" or not _is_call(node, _ALIGNED)]
        if _name(node) in _RENAMES:
            return _renamed(node, _RENAMES[_name(node)])
        if not _is_call(node, _OTHERWISE):
            return node
        modes = [k.value for k in node.keywords if k.arg == "fill_mode"]
        node.keywords = [k for k in node.keywords if k.arg != "fill_mode"]
        if not any(isinstance(m, ast.Constant) and m.value == "upper" for m in modes):
            return node
        node.args[0] = _placed(_renamed(ast.Call(node.func, [node.args[0]], []), "tile_transpose"), node)
        if _name(node) == "tile_cholesky_solve":
            return node
        return _placed(_renamed(ast.Call(node.func, [node], []), "tile_transpose"), node)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _placed(node_at: Any, node: ast.AST) -> Any:
    return ast.fix_missing_locations(ast.copy_location(node_at, node))


def _renamed(call: ast.Call, name: str) -> ast.Call:
    """Return the call with the function's name replaced, of the same module."""
    func = copy.deepcopy(call.func)
    if isinstance(func, ast.Attribute):
        func.attr = name
    elif isinstance(func, ast.Name):
        func.id = name
    return ast.Call(func, call.args, call.keywords)


def _calls(node: ast.AST, names: tuple[str, ...]) -> Iterator[ast.Call]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Call) and _is_call(n, names))


def _is_call(node: ast.expr, names: tuple[str, ...]) -> bool:
    """Return whether a node is a call `name(…)` or `wp.name(…)` with one of these names."""
    return isinstance(node, ast.Call) and _name(node) in names


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
