"""Stands before the package of this name: `jsonschema` would read its grammar, a second, whenever it is imported.

Each process of Jupyter that the tests start imports `jsonschema`. Without the package it does not check IRIs, which
nothing here has.
"""

raise ImportError("left out by the tests")
