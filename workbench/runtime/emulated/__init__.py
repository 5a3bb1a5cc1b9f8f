"""A CUDA driver without a GPU: memory, streams, graphs; the CPU runs kernels' PTX (`design/emulated.md`)."""
