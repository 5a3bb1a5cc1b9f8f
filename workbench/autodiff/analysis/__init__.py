"""The values that need cotangents, and the paths along which a derivative depends on an input."""
