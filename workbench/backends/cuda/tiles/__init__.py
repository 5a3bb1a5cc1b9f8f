"""Tile kernels as CUDA text: what a block of threads does together, lowered to what each thread does."""
