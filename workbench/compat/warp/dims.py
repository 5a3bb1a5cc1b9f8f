"""Dimensions of launches as Warp counts them: missing ones are 1, and `tid()` may give fewer indices than there are."""

from __future__ import annotations

import ast
import copy
import math
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

import workbench as wb
from workbench.api.builds.arguments import as_sizes
from workbench.compat.warp.settings import config
from workbench.compat.warp.spelling import called_name
from workbench.frontend.state.definition import Definition


def _is_tid(node: ast.AST) -> bool:
    """Return whether a node is a call of `tid` without arguments."""
    return isinstance(node, ast.Call) and not node.args and called_name(node) == "tid"


@lru_cache(1024)
def rank_of(definition: Definition) -> int:
    """Return how many indices a kernel takes from `tid()`; 0 if it does not call it."""
    targets = (n.targets[0] for n in definition.nodes if isinstance(n, ast.Assign) and _is_tid(n.value))
    counts = [len(t.elts) for t in targets if isinstance(t, ast.Tuple)]
    return max([*counts, *(1 for n in definition.calls if _is_tid(n))], default=0)


class _Fixed(ast.NodeTransformer):
    """Gives `tid()` as many indices as `rank` says, and replaces `block_dim()` by `size`; neither if it is 0."""

    def __init__(self, rank: int = 0, size: int = 0) -> None:
        """Give `tid()` `rank` indices, and replace `block_dim()` by `size`; 0 leaves that as it is."""
        self.rank, self.size = rank, size

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Extend the names of `i, j = tid()` to `rank` names, in place, and return the statement."""
        if self.rank and _is_tid(node.value):
            target = node.targets[0]
            names = [*target.elts] if isinstance(target, ast.Tuple) else [target]
            more = [ast.Name(f"index.{k}", ast.Store()) for k in range(len(names), self.rank)]
            node.targets = [ast.Tuple([*names, *more], ast.Store())]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Return the constant `size` for `block_dim()`; any other call, and all if `size` is 0, as it is."""
        self.generic_visit(node)
        is_size = self.size and called_name(node) == "block_dim"
        return ast.copy_location(ast.Constant(self.size), node) if is_size else node

    def of(self, definition: Definition) -> Definition:
        """Return a definition with a copy of its syntax tree that this transformer has rewritten."""
        node = ast.fix_missing_locations(self.visit(copy.deepcopy(definition.node)))
        return replace(definition, node=node, written=("", 0))


def with_rank(definition: Definition, rank: int) -> Definition:
    """Return the definition with a `tid()` that gives `rank` indices, of which the kernel uses the first."""
    return _Fixed(rank=rank).of(definition)


def with_block(definition: Definition, size: int) -> Definition:
    """Return the definition with `block_dim()` replaced by the number `size`: its launch needs no whole blocks."""
    return _Fixed(size=size).of(definition)


def uses_blocks(definition: Definition) -> bool:
    """Return whether a kernel, or a func that it calls, calls `block_dim()` or uses tiles."""
    return "block_dim" in called(definition) or needs_whole_blocks(definition)


def needs_whole_blocks(definition: Definition) -> bool:
    """Return whether a kernel, or a func that it calls, uses tiles, or only a func calls `block_dim()`."""
    tiles = any(name.startswith(("tile", "untile")) for name in called(definition))
    return tiles or ("block_dim" in called(definition) and "block_dim" not in map(called_name, definition.calls))


@lru_cache(1024)
def called(definition: Definition) -> frozenset[str]:
    """Return the names of all functions that a definition, and the funcs that it calls, call."""
    funcs = [definition.read(c.func.id) for c in definition.calls if isinstance(c.func, ast.Name)]
    inner = [d for f in funcs for d in getattr(f, "__wb_definitions__", ()) if d is not definition]
    return frozenset[str]().union({called_name(c) for c in definition.calls}, *map(called, inner))


def block_dim(requested: int | None, device: Any) -> int:
    """Return the number of threads of a block, where a launch requests `requested` (None or 0: none).

    On a GPU that is 256 by default; on a CPU it is 1, unless `config.enable_cpu_blocks` lets a program choose.

    Raises:
        LaunchError: there are more than 1024.
    """
    if requested is not None and requested > 1024:
        raise wb.LaunchError(f"block_dim is at most 1024 on CPU and GPU, not {requested}.", parameter="block_dim")
    size = max(requested or 0, 0)
    if wb.get_device(device).is_cuda:
        return size or 256
    return (size if config.enable_cpu_blocks else 0) or 1


def bounds_of(kernel: wb.Kernel, dim: Any) -> SimpleNamespace:
    """Return the bounds of a launch: `shape`, a size for each index of `tid()`, `coord_mult`, `size` and `dims`.

    `coord_mult` is how many threads share the same indices, `size` the number of all threads, `dims` the sizes as
    given.

    Raises:
        LaunchError: a size is negative, or there are more than four.
    """
    sizes = as_sizes(dim, kernel.name)
    rank = rank_of(kernel.definition)
    shape = (*sizes, *(1,) * (rank - len(sizes)))[: rank or None]
    size = math.prod(sizes)
    return SimpleNamespace(shape=shape, coord_mult=size // (math.prod(shape) or 1), size=size, dims=sizes)


def fitted(kernel: Any, dim: Any, per_block: int = 0) -> tuple[Any, Any]:
    """Return the kernel and the dimensions, made to fit each other: as many sizes as `tid()` gives indices.

    Missing sizes are 1; if there are too many, the kernel is one whose `tid()` gives more indices.

    Args:
        kernel: what is launched.
        dim: its dimensions as written.
        per_block: 1 where `dim` counts blocks, of which the thread is one index more.
    """
    rank = rank_of(kernel.definition)
    sizes = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    if not rank or len(sizes) in (rank, rank - per_block):
        return kernel, dim
    if len(sizes) < rank:
        return kernel, (*sizes, *(1,) * (rank - per_block - len(sizes)))
    return kernel.variant(with_rank, len(sizes)), sizes
