"""Analyses for passes: ranges and offsets of indices, differences between threads, orders of sums, costs."""
