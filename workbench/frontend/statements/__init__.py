"""Statements, loops, early returns, and the entry to lowering."""
