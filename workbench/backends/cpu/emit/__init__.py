"""IR operations of single threads as LLVM IR text, and the entry with its loops over threads."""
