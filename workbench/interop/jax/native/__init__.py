"""The native side of XLA's calls: descriptions, thunks, the handler, and the targets registered for them."""
