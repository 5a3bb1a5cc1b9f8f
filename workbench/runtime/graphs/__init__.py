"""Graphs of captured launches: nodes, edges between them, plans that run them, their layout and pictures."""
