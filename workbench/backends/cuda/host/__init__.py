"""CUDA C++ text run on the CPU: g++ compiles it with a header of ours that knows blocks, barriers and warps.

For people without a device (`%%cuda --run host`) and for the tests of generated CUDA text. It shows that a text means
what it should, and finds barriers that not all threads reach; memory ordering and speed it does not show.
"""
