"""Derivatives of programs: transforms, forward mode, and checks of gradients."""
