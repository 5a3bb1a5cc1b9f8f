"""PTX text executed on the CPU: parsed, verified, and compiled to LLVM IR in which a warp is 32 lanes under a mask."""
