"""The notebook session: cells, their kernels, recordings, errors, status."""
