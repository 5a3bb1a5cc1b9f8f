"""Functions of the language that are lowered to several operations: random numbers, noise, search."""
