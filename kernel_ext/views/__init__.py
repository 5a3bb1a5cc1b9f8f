"""Views: what is shown, as plain values, and their static fallbacks."""
