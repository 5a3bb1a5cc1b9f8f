"""Forms: names with a syntax of their own, lowered by the handler in a `FORMS` table of `frontend/`."""

from __future__ import annotations

from typing import Any

from workbench.builtins.declaration.declare import Form, form

tid = form(
    "tid()",
    "The thread's index: one int32, or a tuple of 2 to 4 where it is unpacked: `i, j = tid()`. A kernel asks for as "
    "many as its launch has dimensions.",
)
atomic_add = form(
    "atomic_add(array, i, …, value)",
    "Add the value to an element, safely against other threads; gives the element's old value.",
)
atomic_sub = form("atomic_sub(array, i, …, value)", "atomic_add of the negative value.")
identity = form(
    "identity(n, dtype=float)", "The n × n matrix with 1 on the diagonal and 0 elsewhere; n is 1 to 11, written out."
)
matrix_from_rows = form("matrix_from_rows(v0, v1, …)", "The matrix with these vectors as rows.")
matrix_from_cols = form("matrix_from_cols(v0, v1, …)", "The matrix with these vectors as columns.")
static = form(
    "static(expression)",
    "What Python makes of the expression while the kernel is compiled, with the names around the kernel: a number, a "
    "vector, a tuple to loop over, a func, a type. On the host: its argument.",
)
print_ = form(
    "print(a, b, …, sep=' ', end='\\n')", "Print as Python does, after the launch and in the order of its threads."
)
printf = form("printf(format, a, b, …)", "Print by a format with %d %i %u %x %o %c %f %e %g.")
expect_eq = form(
    "expect_eq(a, b)",
    "An assert that two numbers, vectors or matrices are equal. A kernel that calls it runs with checks, unless its "
    "launch says checks=False.",
)
expect_neq = form("expect_neq(a, b)", "An assert that two numbers, vectors or matrices differ.")
expect_near = form(
    "expect_near(a, b, tolerance=1e-6)",
    "An assert that two numbers are so near each other; of vectors and matrices each component.",
)
adjoint: Any = form(
    "adjoint[x]",
    "In the body of a `@func_grad`: what is added to it becomes part of the adjoint of the input x; of an array, its "
    "adjoint array.",
)
transform_identity = form("transform_identity(dtype=float)", "The transform that moves nothing.")
quat_identity = form("quat_identity(dtype=float)", "The quaternion (0, 0, 0, 1), which rotates nothing.")

# What functions written in the kernel language may ask of the front end, beyond the language.
vector = Form("_vector", "vector(x, y, …)", "The vector of these numbers, of their type.")
quaternion = Form("_quaternion", "quaternion(x, y, z, w)", "The quaternion of these numbers, of their type.")
natural = Form("_natural", "natural(i)", "The integer i, which is known not to be negative.")
low_word = Form("_low_word", "low_word(n)", "An integer's low 32 bits.")
has_components = Form("_has_components", "has_components(v, n)", "Whether v is a vector of n, known at compile time.")
is_double = Form("_is_double", "is_double(v)", "Whether the floats of v have 64 bits, known at compile time.")
epsilon = Form("_epsilon", "epsilon(x)", "The distance from 1 to the next number of x's type.")
factors = Form("_factors", "factors(n)", "The p and q with p·q = n that are nearest, known at compile time.")
stack = Form("_stack", "stack(n, v)", "A thread's own memory for n values of v's type, whose content is undefined.")
pushed = Form("_pushed", "pushed(stack, i, v)", "Writes v to place i of such memory; the next place.")
popped = Form("_popped", "popped(stack, i)", "What stands at place i of such memory.")
slope = Form("_slope_of", "grad(f)", "The derivative of a function of the language, by its floats.")
