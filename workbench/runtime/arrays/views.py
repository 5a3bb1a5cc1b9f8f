"""Views of arrays: reshaped, flattened, transposed, of another element type, one field. All share their memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from operator import attrgetter
from typing import Any, cast

from workbench.errors import LaunchError
from workbench.runtime.active_observers import notify
from workbench.runtime.arrays.shapes import Shape, as_shape, dense
from workbench.runtime.names import Listed
from workbench.structs import Struct, as_element, field_array
from workbench.types import MAX_NDIM, Complex, Scalar, Vector, element, is_complex, is_float


class Viewed(Listed):
    """The base class of `array` with its views: reshaped, transposed, of another element type, of one field.

    A view shares memory, version and gradient with its array, as a slice does; a tape follows it.
    """

    __slots__ = ()
    _internal = (
        "bind changed field_arrays fresh_like host is_dense link_grad memory packed require_grad tag twin undefined "
        "version window"
    )

    def _reshape_in_place(self: Any, shape: Any) -> None:
        """Raise an AttributeError: the setter of `shape`."""
        raise AttributeError(f"the shape of an array stays as it is; x.reshape({shape}) is a view of another shape")

    shape: tuple[int, ...] = property(attrgetter("_shape"), _reshape_in_place)  # type: ignore[assignment]

    def field(self: Any, name: str) -> Any:
        """Return one field of every element, as a strided view: `ps["vel"]`.

        Raises:
            KeyError: this is not an array of structs, or there is no such field.
        """
        leaf = self.dtype.find(name) if isinstance(self.dtype, Struct) else None
        if leaf is None:
            raise KeyError(f"an array of {self.dtype!r} has no field {name}")
        view = object.__new__(self.kin)
        assert isinstance(leaf.type, (Scalar, Vector, Struct))
        view.bind(self.memory, leaf.type, self.shape, self.strides, False, self.address + leaf.offset)
        return view

    def field_arrays(self: Any) -> dict[str, Any]:
        """Return what a kernel receives for an array of structs: an array for each leaf field, by its path.

        Those of floats have the array's gradient, if it has one.
        """
        assert isinstance(self.dtype, Struct)
        if self._fields is None:
            grads: dict[str, Any] = self.grad.field_arrays() if self.grad is not None else {}
            fields = self._fields = dict[str, Any]()
            for leaf in self.dtype.leaves:
                view = object.__new__(self.kin)
                kind = field_array(leaf, self.dtype, self.ndim)
                view.bind(self.memory, kind.dtype, self.shape, self.strides, False, self.address + leaf.offset, kind)
                if leaf.path in grads and is_float(kind):
                    view.requires_grad, view._grad = True, grads[leaf.path]
                fields[leaf.path] = view
        return self._fields

    def reshape(self: Any, *shape: Any) -> Any:
        """Return the elements, row by row, in another shape.

            x.reshape(2, -1)

        Args:
            shape: 1 to 4 sizes, separate or as one tuple; one of them may be -1: what is left.

        Returns:
            A view if the elements lie side by side, else one of a dense copy.

        Raises:
            ValueError: the shape has another number of elements.
        """
        sizes = _inferred(shape[0] if len(shape) == 1 else shape, self)
        source = self.contiguous()
        return source.window(sizes, dense(sizes, self.dtype.size), source.address)

    def contiguous(self: Any) -> Any:
        """Return the array itself if it is dense, else a dense copy."""
        return self if self.is_contiguous else self.fresh_like().copy_(self)

    def flatten(self: Any) -> Any:
        """Return the elements in one dimension, row by row: `reshape(-1)`.

        Returns:
            A view if the elements lie side by side, else one of a dense copy.
        """
        return self.reshape(self.size)

    def transpose(self: Any, *axes: Any) -> Any:
        """Return the dimensions in another order; backwards if none is given.

            image.transpose(2, 0, 1)

        Args:
            axes: the dimensions, each once, separate or as one tuple.

        Returns:
            A view, with strides.

        Raises:
            ValueError: a dimension is missing, or there twice.
        """
        as_one = len(axes) == 1 and isinstance(axes[0], Sequence)
        order = tuple(cast("Sequence[Any]", axes[0]) if as_one else axes)
        order = order or tuple(reversed(range(self.ndim)))
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"transpose() takes each of {tuple(range(self.ndim))} once, not {order}")
        return self.window([self.shape[k] for k in order], [self.strides[k] for k in order], self.address)

    @property
    def real(self: Any) -> Any:
        """The real parts of complex elements, as a strided view; an array of other numbers itself."""
        return self._part(0) if isinstance(self.dtype, Complex) else self

    @property
    def imag(self: Any) -> Any:
        """The imaginary parts of complex elements, as a strided view.

        Raises:
            TypeError: the elements are not complex.
        """
        if not isinstance(self.dtype, Complex):
            raise TypeError(f"an array of {self.dtype!r} has no imaginary parts")
        return self._part(1)

    def _part(self: Any, position: int) -> Any:
        """Return the real (0) or imaginary (1) parts of complex elements as a strided view of the same memory."""
        self.memory.as_parts = True
        scalar, inner = self.dtype.dtype, self.dtype.shape
        shape, strides = (*self.shape, *inner), (*self.strides, *dense(inner, 2 * scalar.size))
        return self.window(shape, strides, self.address + position * scalar.size, dtype=scalar)

    @property
    def T(self) -> Any:
        """The dimensions in the opposite order: of a matrix, its transpose."""
        return self.transpose()

    def view(self: Any, dtype: Any) -> Any:
        """Return the same bytes as elements of another type.

            positions.view(float)      # vec3 of shape (n,) as floats of shape (n, 3)
            floats.view(wb.vec3)       # and back
            x.view(wb.uint32)          # the bits of float32

        Args:
            dtype: a type of the same size, or one of the same scalars: components become the last dimension of the
                array, or the last dimension becomes components. Flat numbers become as many elements as they fill.

        Returns:
            A view.

        Raises:
            TypeError: the sizes or the scalars do not fit.
            NotDifferentiable: floats become other floats while a tape records them.
        """
        kind = as_element(dtype)
        if kind == self.dtype:
            return self.window(self.shape, self.strides, self.address)
        if isinstance(kind, Struct) or isinstance(self.dtype, Struct):
            raise TypeError(f"{self.dtype!r} cannot be seen as {kind!r}; x['field'] is one field of every struct")
        self.memory.as_parts |= is_complex(kind) != is_complex(self.dtype)
        if element(kind) == element(self.dtype):
            shape, strides = _regrouped(self, kind)
        elif kind.size == self.dtype.size:
            shape, strides = self.shape, self.strides
            if is_float(kind):
                notify("converting", self, kind)
            self.memory.as_integers |= is_float(self.dtype) and not is_float(kind)
        else:
            raise TypeError(
                f"{self.dtype!r} has {self.dtype.size} bytes and {kind!r} has {kind.size}: view() needs one size"
            )
        return self.window(shape, strides, self.address, dtype=kind)


def flat_as(of: Any, kind: Scalar | Vector) -> Any:
    """Return the bytes of a dense array, which may be of structs, as elements of another type in one dimension."""
    view = object.__new__(of.kin)
    view.bind(of.memory, kind, (of.nbytes // kind.size,), (kind.size,), False, of.address)
    return view


def _inferred(shape: Shape, of: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of sizes, in which a -1 is replaced by what is left of the elements of `of`.

    Raises:
        ValueError: it does not hold as many elements as `of`.
    """
    sizes = [shape] if isinstance(shape, int) else list(shape)
    if sizes.count(-1) == 1:
        others = prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = of.size // others if others else 0
    inferred = as_shape(sizes)
    if prod(inferred) != of.size:
        counts = f"an array of shape {of.shape} has {of.size} elements; the shape {inferred} has {prod(inferred)}"
        raise ValueError(counts)
    return inferred


def _regrouped(of: Any, kind: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape and strides of a view in which components become dimensions, or dimensions components.

    Raises:
        TypeError: the last dimensions are not those of the type `kind`, side by side.
    """
    inner, own = (t.parts_shape if isinstance(t, Vector) else () for t in (kind, of.dtype))
    size, inner_size = element(kind).size, prod(inner)
    if of.ndim == 1 and not own and inner and of.size % inner_size == 0 and of.is_contiguous:
        return (of.size // inner_size,), (kind.size,)
    shape, strides = (*of.shape, *own), (*of.strides, *dense(own, size))
    outer = len(shape) - len(inner)
    if not 1 <= outer <= MAX_NDIM or shape[outer:] != inner or strides[outer:] != dense(inner, size):
        wanted = "×".join(str(n) for n in inner) or "1"
        raise TypeError(
            f"{of.dtype!r} of shape {of.shape} cannot be seen as {kind!r}: the last dimensions must be {wanted}, side "
            "by side"
        )
    return shape[:outer], strides[:outer]


def part(of: Any, start: int, count: int, what: str) -> Any:
    """Return a view of `count` elements from element `start` on, counted row by row.

    The array is dense or has one dimension; `what` names it in messages.

    Raises:
        LaunchError: it is neither, or has not so many elements.
    """
    if not of.is_contiguous and of.ndim > 1:
        raise LaunchError(
            f"The {what} of a copy by offset and count is not dense.", advice="Copy slices: target[2:] = source[:n]."
        )
    if start < 0 or count < 0 or start + count > of.size:
        raise LaunchError(
            f"A copy of {count} elements from element {start} on exceeds the {what}, which has {of.size}."
        )
    return (of if of.ndim == 1 else of.reshape(of.size))[start : start + count]
