"""The rest of tiles once loops are written out: products, and tiles transposed or read in memory."""
