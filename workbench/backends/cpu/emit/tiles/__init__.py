"""What is left of tiles when the rest has become loops: products, and tiles turned over or read where they lie."""
