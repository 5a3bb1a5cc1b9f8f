"""WebAssembly: an object file of the CPU backend as a module that a browser loads (`design/wasm.md`)."""
