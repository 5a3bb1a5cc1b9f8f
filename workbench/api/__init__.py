"""The functions and classes that users call: kernels, funcs, cells, launches, tapes."""
