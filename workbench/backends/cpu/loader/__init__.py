"""Object files into memory: by a loader of our own for what it knows (ELF of two machines), else by LLVM's."""
