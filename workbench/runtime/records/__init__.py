"""Records: what ran, kept in order, saved, read back, replayed."""
