"""Programs of pages that compute: what a record runs, as WebAssembly modules, a schedule and the arrays."""
