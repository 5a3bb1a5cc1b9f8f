"""Analyses for passes: ranges of indices, sizes, costs."""
