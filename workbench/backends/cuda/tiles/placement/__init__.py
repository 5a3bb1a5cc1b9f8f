"""Where the elements of a block's tiles lie, and which tiles share memory."""
