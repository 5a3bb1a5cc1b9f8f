"""Adjoints in gather form: each thread sums what belongs to its own element, in place of adding to its neighbours'."""
