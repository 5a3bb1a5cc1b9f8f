"""Tiles: made, loaded, sliced, mapped, reduced."""
