"""Checked forms of a kernel, and accesses that a launch is certain to make out of range."""
