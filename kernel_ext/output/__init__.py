"""Views put into the notebook, a script or a page."""
