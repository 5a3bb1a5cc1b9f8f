"""The native launcher of this process: what it is given, and what it reports while it runs."""
