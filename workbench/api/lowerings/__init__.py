"""What lowering a kernel came to, kept in the cache with all that it read."""
