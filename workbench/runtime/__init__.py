"""The runtime: devices, arrays, loaded kernels, launches, their records, and replay."""
