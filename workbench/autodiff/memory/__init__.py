"""Effects of a kernel on its arrays, the boxes that it overwrites, and the gradients that its adjoint may set."""
