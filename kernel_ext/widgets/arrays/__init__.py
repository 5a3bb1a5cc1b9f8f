"""Widgets of arrays: values and images, clouds of points, animations."""
