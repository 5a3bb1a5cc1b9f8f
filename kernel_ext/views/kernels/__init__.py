"""The status card, panes of a kernel and the cache: views made, and written as text and static HTML."""
