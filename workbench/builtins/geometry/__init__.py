"""Trees of boxes and meshes of triangles: queries, written in the kernel language."""
