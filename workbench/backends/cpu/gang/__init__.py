"""The gang emitter: threads side by side as LLVM vectors under a mask (`design/gang.md`)."""
