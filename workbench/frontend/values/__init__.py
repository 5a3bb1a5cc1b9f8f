"""Values with parts: structs, matrices, transforms, views of arrays, and atomics on their elements."""
