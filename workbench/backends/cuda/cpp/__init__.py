"""Values and statements as CUDA C++ text."""
