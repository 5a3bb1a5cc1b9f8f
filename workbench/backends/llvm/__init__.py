"""LLVM IR text for the lanes of vectors: a writer, typed values, loops over lanes, memory under a mask."""
