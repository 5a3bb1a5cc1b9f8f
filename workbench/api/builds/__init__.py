"""From a kernel and its arguments to loaded code: keys, the cache, the compiler; and cells of several kernels."""
