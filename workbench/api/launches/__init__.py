"""Launching: over threads, over blocks of tiles, kept for later, with the adjoint, or as `map`."""
