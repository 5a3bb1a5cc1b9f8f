"""Expressions and calls."""
