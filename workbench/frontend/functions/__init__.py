"""Calls of the user's funcs: inlined, repeated, overloaded as operators, with gradients of their own."""
