"""Widgets of kernels: the status card, panes side by side, the cache."""
