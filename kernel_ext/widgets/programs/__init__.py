"""Widgets of programs: timelines, graphs, gradients, profiles, steps of a thread, sliders."""
