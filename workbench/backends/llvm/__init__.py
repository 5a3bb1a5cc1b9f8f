"""LLVM IR text: a writer with typed values, and functions whose bodies are Python."""
