"""`wb.profile`: what a GPU would do with a launch, counted on the CPU from the PTX that NVRTC makes."""
