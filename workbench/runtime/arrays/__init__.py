"""Arrays: made, viewed, copied, exchanged with other libraries."""
