"""From typed IR to what runs: `python` interprets it (the meaning), `cpu` compiles it with LLVM, `cuda` with NVRTC.

`ptx` compiles the PTX that NVRTC made for the CPU, for emulated devices; `wasm` is a target of `cpu`, for pages;
`worker` has the processes in which compilers run.
"""
