"""IR to smaller or simpler IR: each pass is one function from a `Function` to a `Function` of the same meaning."""
