"""Artifacts as files: what a file holds, who may write it, and whose files are trusted."""
