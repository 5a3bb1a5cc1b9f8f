"""What `workloads.py` runs, by subject; `kernels` is text for Workbench and for Warp."""
