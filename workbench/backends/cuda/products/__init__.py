"""Link-time products: multiplications that cuBLASDx writes for one shape, linked into the kernels that need them.

A product takes seconds and gigabytes to build, so each is built alone, when a kernel that is being built uses it, in a
process of its own, and is kept in the cache under what it is and not under who asked (`design/products.md`).
"""
