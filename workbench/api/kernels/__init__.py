"""Kernels, funcs and structs as users write them: their source, their definitions, their editions."""
