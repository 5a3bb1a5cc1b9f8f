"""The steps of `tests/gpu/first_run.py`, and what runs each in a process of its own."""
