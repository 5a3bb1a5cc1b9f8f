"""Declarations of builtins: type rules, meaning, derivatives, and the table of all.

Builtins themselves are declared in `scalars/` and `vectors/`. Names with a syntax of their own are forms: `forms.py`,
`atomics.py`, `tiles.py` and `views.py` declare them, and a `FORMS` table in `frontend/` has their handlers.
"""
