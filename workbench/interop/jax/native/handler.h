// The generic XLA FFI handler: one function that serves every kernel. These are its structures; handler.c begins it.
//
// XLA calls a kernel's thunk(frame), which calls workbench_ffi(frame, kernel) with the kernel's constant description.
// The handler checks what XLA hands over against that description, packs the parameter buffer and runs the kernel's
// entry over the launch, batch by batch. A small launch runs on the calling thread; a large one is cut into chunks that
// XLA's own threads draw from one counter, and the frame's future tells XLA when the last is done.
#pragma once

#include "workbench/backends/cpu/native/stop.h"
#include "workbench/interop/jax/native/xla_ffi.h"

enum { MAX_BATCH_AXES = 8, MAX_DIMS = 4, ON_GPU = -1 };

enum {
    WAITING = 1,   // Python raises them later: on one device of several a call must not fail
    RECORDED = 2,  // the last result has a `Fault` for each batch, as int32
};

typedef struct Error Error;  // XLA's, and opaque

typedef enum Kind {
    ARRAY,
    SCALAR,       // a scalar or vector, passed by value
    ACCUMULATOR,  // a result of rank 0 that the kernel sees as an array of one element
    SHAPE,        // an array of which only the shape is used
} Kind;

typedef struct Param {  // what a description says of one parameter; descriptor.py writes it
    const char *name;
    int64_t kind;
    int64_t dtype;                   // XLA's code
    int64_t rank;
    int64_t inner;                   // components of a vector, 0 for scalars
    int64_t operand, result, value;  // its number among the call's operands, results, static values; -1 for none
    int64_t size;                    // bytes of an element
    int64_t offset;                  // in the parameter buffer
    int64_t fill_width;              // bytes of the pattern that a result is filled with, 0 for none
    int64_t fill_pattern;
    int64_t view;                    // index of its view in the attribute `views`, -1 if it is the whole buffer
    int64_t view_rank;
} Param;

typedef struct Kernel {
    const char *name;
    const void *entry;               // an Entry; on a GPU a Cuda
    int64_t param_count;
    int64_t operands, results;
    int64_t values;                  // static ones
    int64_t buffer_bytes;
    int64_t grain;                   // the largest launch, in points, that stays on one thread; ON_GPU
    int64_t lead;                    // the parameter that is result 0
    const Param *params;
    int64_t view_words;              // int64 of all views
    int64_t late;                    // what becomes of errors: WAITING, RECORDED, or 0 where they fail the call
    int64_t strip;                   // points between two looks at whether to stop
    int64_t sums;                    // words that a strip leaves for the end
} Kernel;

typedef struct Bound {  // a parameter in this call
    char *data;
    int64_t strides[MAX_BATCH_AXES];  // in bytes along each batch axis; 0 where that axis has size 1
} Bound;

typedef struct Call {  // followed in memory by one Bound per parameter and by the parameter buffer
    const Kernel *kernel;
    int64_t points;                 // of one launch
    int64_t total;                  // points of all batches
    int64_t axes;                   // batch axes, and their sizes
    int64_t sizes[MAX_BATCH_AXES];
    int64_t chunk, next, done;      // shared by threads: points drawn at a time, the next one, how many are done
    int64_t holders;                // of this memory
    Api *api;
    void *future;                   // on a GPU the stream
    int64_t ndim;                   // dimensions of the launch
    Fault fault;                    // the first one, with the count of all
    int64_t fault_batch;
    Fault *records;                 // where each batch has its own; null if there are none
    int64_t ended;                  // STOPPED if it was
    Stop *stop;
    int64_t strips;                 // of one launch
    int64_t *sums;                  // what strips left, in their order; null if they leave nothing
} Call;

static inline Bound *bounds_of(Call *call) {
    return (Bound *)(call + 1);
}

static inline char *buffer_of(Call *call) {
    return (char *)(bounds_of(call) + call->kernel->param_count);
}

static Error *fill_cuda(Call *call, Frame *frame, void *data, int64_t bytes, int64_t pattern, int64_t width);
static Error *copy_cuda(Call *call, Frame *frame, void *to, const void *from, int64_t bytes);
