"""IR operations as LLVM IR text, and how loops are cut and chains are split in it."""
