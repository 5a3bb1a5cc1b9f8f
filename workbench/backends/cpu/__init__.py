"""The CPU backend: LLVM IR text, compiled by llvmlite."""
