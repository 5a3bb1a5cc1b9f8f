"""Halos: what a device needs of its neighbours' parts of an array, and how what it added to them goes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbench.interop.jax.values.library import library


class Edge(NamedTuple):
    """Represents a halo along one axis of an array.

    Attributes:
        axis: of the array.
        before, after: elements before and after a part.
        names: the mesh axes that divide it.
        count: the number of parts.
        wrap: of a ring that is padded, its size without the padding; else 0.
    """

    axis: int
    before: int
    after: int
    names: tuple[str, ...]
    count: int
    wrap: int = 0

    def pieces(self, size: int) -> Iterator[tuple[int, int, int]]:
        """Yield the elements that come from each neighbour, where parts have `size` elements.

        Yields:
            by how many parts the neighbour is ahead, the first element that it sends and the one behind the last.
        """
        for hop in range(-(-self.before // size), 0, -1):
            yield -hop, size - min(size, self.before - (hop - 1) * size), size
        for hop in range(1, -(-self.after // size) + 1):
            yield hop, 0, min(size, self.after - (hop - 1) * size)

    def shift(self, value: Any, hop: int) -> Any:
        """Return the value of the part that is `hop` ahead; the last part is followed by the first."""
        pairs = [((n + hop) % self.count, n) for n in range(self.count)]
        return library().jax.lax.ppermute(value, self.names, pairs) if hop % self.count else value


def resized(value: Any, shape: Sequence[int]) -> Any:
    """Truncate a value, or pad it with zeros, at the end of each axis to this shape."""
    lax, jnp = library().jax.lax, library().jnp
    for axis, size in enumerate(shape):
        if value.shape[axis] > size:
            value = lax.slice_in_dim(value, 0, size, axis=axis)
        elif value.shape[axis] < size:
            after = [(0, size - n if k == axis else 0, 0) for k, n in enumerate(value.shape)]
            value = lax.pad(value, jnp.zeros((), value.dtype), after)
    return value


def attached(part: Any, edges: Sequence[Edge]) -> Any:
    """Return a part with its halos; the second axis sends what the first has attached, so corners take two steps."""
    lax = library().jax.lax
    for edge in edges:
        if edge.wrap:  # the padding begins with the beginning of the ring, and ends with its end
            total = part.shape[edge.axis] * edge.count
            part = _copied(part, edge, 0, edge.wrap, edge.after)
            part = _copied(part, edge, edge.wrap - edge.before, total - edge.before, edge.before)
        pieces = {0: part}
        for hop, first, end in edge.pieces(part.shape[edge.axis]):
            pieces[hop] = edge.shift(lax.slice_in_dim(part, first, end, axis=edge.axis), hop)
        part = lax.concatenate([pieces[hop] for hop in sorted(pieces)], edge.axis)
    return part


def _copied(part: Any, edge: Edge, source: int, target: int, count: int) -> Any:
    """Copy `count` elements of the whole from one position along an axis to another; return the changed part."""
    lax, axis, size = library().jax.lax, edge.axis, part.shape[edge.axis]
    while count:
        (giver, first), (taker, start) = divmod(source, size), divmod(target, size)
        some = min(count, size - first, size - start)
        piece = lax.slice_in_dim(part, first, first + some, axis=axis)
        piece = lax.ppermute(piece, edge.names, [(giver, taker)]) if giver != taker else piece
        filled = lax.dynamic_update_slice_in_dim(part, piece, start, axis)
        part = library().jnp.where(lax.axis_index(edge.names) == taker, filled, part)
        source, target, count = source + some, target + some, count - some
    return part


def sent_back(whole: Any, edges: Sequence[Edge], added: bool) -> Any:
    """Return a part without its halos; if `added`, add each halo to the part that it belongs to."""
    jax, shape, first = library().jax, list(whole.shape), [0] * whole.ndim
    for edge in edges:
        shape[edge.axis] -= edge.before + edge.after
        first[edge.axis] = edge.before
    if not (added and edges):
        return jax.lax.slice(whole, first, [a + n for a, n in zip(first, shape, strict=True)]) if edges else whole
    part = jax.ShapeDtypeStruct(tuple(shape), whole.dtype)
    return jax.linear_transpose(lambda x: attached(x, edges), part)(whole)[0]
