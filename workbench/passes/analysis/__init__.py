"""What passes ask: ranges of indices, sizes, costs."""
