"""Graphs: captured from launches, replayed, changed in place."""
