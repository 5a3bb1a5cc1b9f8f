"""Reasons for a number: explained gradients, the first NaN, one thread step by step."""
