"""The placement of a block's tiles: layouts over threads, and the shared memory that several may use."""
