"""LLVM IR text: lines, types, constants, 16-bit floats."""
