"""The reverse sweep."""
