"""What XLA calls: descriptions, thunks, the handler, and the targets registered for them."""
