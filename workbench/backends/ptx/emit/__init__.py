"""A PTX kernel as LLVM IR text: one warp, its registers vectors of 32 lanes."""
