"""Ways of checking: numeric derivatives, meanings, comparisons, what a test left behind."""
