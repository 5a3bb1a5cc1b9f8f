// A launch on a GPU as the driver takes it: for launches from Python (queue.c) and from XLA (interop/jax/native/cuda.c).
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int32_t Code;  // a CUresult

typedef Code LaunchKernel(uint64_t kernel, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                          uint32_t block_y, uint32_t block_z, uint32_t shared, void *stream, void **params,
                          void **extra);

typedef struct Shape {
    uint32_t grid[3], block[3];
    uint32_t shared;  // bytes of dynamic shared memory of a block
} Shape;

// Write where a kernel's parameters lie: at `places` of a buffer.
static inline void point_to(void **pointers, char *buffer, const int64_t *places, int64_t count) {
    for (int64_t n = 0; n < count; n++) pointers[n] = buffer + places[n];
}

static inline Code queue_launch(LaunchKernel *launch, uint64_t kernel, const Shape *shape, void *stream,
                                void **pointers) {
    const uint32_t *grid = shape->grid, *block = shape->block;
    return launch(kernel, grid[0], grid[1], grid[2], block[0], block[1], block[2], shape->shared, stream, pointers,
                  NULL);
}
