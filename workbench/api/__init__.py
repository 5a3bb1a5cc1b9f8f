"""What users call: kernels, funcs, cells, launches, tapes."""
