"""Pages that compute: a record as modules of WebAssembly, a schedule and the arrays at their start."""
