// Running: a range of points on this thread, or shared with XLA's threads.
#include "handler.h"

// Let the buffer point at a batch: arrays by address, scalars by value.
static void point(Call *call, char *buffer, int64_t batch) {
    const Kernel *kernel = call->kernel;
    for (int64_t n = 0; n < kernel->param_count; n++) {
        const Param *param = &kernel->params[n];
        const Bound *bound = &bounds_of(call)[n];
        int64_t rest = batch, shift = 0;
        for (int64_t axis = call->axes - 1; axis >= 0; axis--) {
            uint64_t size = call->sizes[axis];
            shift += (int64_t)((uint64_t)rest % size) * bound->strides[axis];
            rest = (int64_t)((uint64_t)rest / size);
        }
        char *address = bound->data + shift;
        if (param->kind == SCALAR)
            __builtin_memcpy(buffer + param->offset, address, param->size);
        else
            *(char **)(buffer + param->offset) = address;
    }
}

static inline int64_t least_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t most_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// Where a strip of a batch leaves its words.
static inline int64_t *words_of(const Call *call, int64_t batch, int64_t strip) {
    return call->sums == NULL ? NULL : call->sums + (batch * call->strips + strip) * call->kernel->sums;
}

// Make room for what strips leave. Without memory they change the result themselves, in no order.
static void make_room(Call *call) {
    const Kernel *kernel = call->kernel;
    call->sums = NULL;
    if (kernel->sums == 0 || call->points <= kernel->strip) return;
    call->strips = (call->points - 1) / kernel->strip + 1;
    call->sums = malloc(call->total / call->points * call->strips * kernel->sums * sizeof *call->sums);
}

// Combine what strips left, in their order.
static void combine(Call *call, char *buffer, Stop *stop) {
    if (call->sums == NULL) return;
    Entry *entry = call->kernel->entry;
    Fault fault;
    for (int64_t batch = 0; batch < call->total / call->points; batch++) {
        point(call, buffer, batch);
        entry(buffer, call->strips, 0, &fault, stop, words_of(call, batch, 0));
    }
}

// Run the points [begin, end) of all batches in a row, a strip at a time; the buffer is this thread's own.
static int32_t run(Call *call, char *buffer, int64_t begin, int64_t end, Stop *stop) {
    const Kernel *kernel = call->kernel;
    Entry *entry = kernel->entry;
    Fault fault;
    for (int64_t at = begin; at < end;) {
        // A launch without batches needs no division.
        int64_t batch = call->axes == 0 ? 0 : (int64_t)((uint64_t)at / (uint64_t)call->points);
        point(call, buffer, batch);
        int64_t before = batch * call->points;
        int64_t from = at - before;
        int64_t to = least_of(least_of(end - before, call->points), from + kernel->strip);
        fault.count = 0;
        int32_t status = entry(buffer, from, to, &fault, stop, words_of(call, batch, from / kernel->strip));
        if (fault.count != 0) note_fault(call, &fault, batch);
        if (status == STOPPED || ends(stop)) return STOPPED;
        at = before + to;
    }
    return 0;
}

// The error of a call whose threads are through: it was ended, or something in it went wrong; null where all is well.
static Error *error_when_over(Api *api, Call *call) {
    bool ended = __atomic_load_n(&call->ended, __ATOMIC_RELAXED) != 0;
    return ended ? cancelled(api, call->kernel) : fault_error(api, call);
}

// Tell XLA that what waits for the future may go on, or has failed; the error is XLA's then.
static void announce(Call *call) {
    Api *api = call->api;
    Error *error = error_when_over(api, call);
    if (error == NULL) {
        FutureSetAvailable arguments = {.struct_size = STRUCT_SIZE(FutureSetAvailable, future), .future = call->future};
        failed(api, ask(api, XLA_FFI_Future_SetAvailable, &arguments));
    } else {
        FutureSetError arguments = {
            .struct_size = STRUCT_SIZE(FutureSetError, error), .future = call->future, .error = error};
        failed(api, ask(api, XLA_FFI_Future_SetError, &arguments));
    }
}

// Draw chunks until none is left; of a call that was ended they are counted and not run. Who ends the last one tells
// XLA, where it waits for a future.
static void draw(Call *call) {
    int64_t bytes = call->kernel->buffer_bytes, total = call->total, chunk = call->chunk;
    char *buffer = __builtin_alloca_with_align(bytes, 128);
    __builtin_memcpy(buffer, buffer_of(call), bytes);
    bool waited_for = call->future != NULL;
    for (;;) {
        int64_t begin = __atomic_fetch_add(&call->next, chunk, __ATOMIC_RELAXED);
        if (begin >= total) return;
        int64_t end = least_of(begin + chunk, total);
        if (__atomic_load_n(&call->ended, __ATOMIC_RELAXED) == 0 && run(call, buffer, begin, end, call->stop) != 0)
            __atomic_store_n(&call->ended, STOPPED, __ATOMIC_RELAXED);
        int64_t done = __atomic_add_fetch(&call->done, end - begin, __ATOMIC_ACQ_REL);
        if (done == total) {
            if (!waited_for) return;
            if (__atomic_load_n(&call->ended, __ATOMIC_RELAXED) == 0) combine(call, buffer, call->stop);
            announce(call);
            return;
        }
    }
}

// Who leaves last frees the call's memory.
static void leave(Call *call) {
    if (__atomic_fetch_sub(&call->holders, 1, __ATOMIC_ACQ_REL) != 1) return;
    free(call->sums);
    free(call);
}

// What one of XLA's threads does.
static void work(void *call) {
    int64_t mode = plain_floats();
    draw(call);
    floats_as(mode);
    leave(call);
}

// Wait for the chunks that other threads are running just now; all are drawn already.
static void await(Call *call) {
    for (int64_t tries = 0; __atomic_load_n(&call->done, __ATOMIC_ACQUIRE) != call->total; tries++)
        if (tries >= 1000) give_way();
}

// XLA's threads for this call; 1 where it has no pool.
static int64_t pool_threads(Frame *frame) {
    int64_t count = 1;
    PoolNumThreads arguments = {
        .struct_size = STRUCT_SIZE(PoolNumThreads, num_threads), .ctx = frame->ctx, .num_threads = &count};
    return failed(frame->api, ask(frame->api, XLA_FFI_ThreadPool_NumThreads, &arguments)) ? 1 : count;
}

// A new future for the frame; null where XLA gives none.
static void *new_future(Api *api) {
    FutureCreate arguments = {.struct_size = STRUCT_SIZE(FutureCreate, future)};
    return failed(api, ask(api, XLA_FFI_Future_Create, &arguments)) ? NULL : arguments.future;
}

// Share the call among threads; false where that cannot be, and nothing has run. A call without a future (a step of a
// program, program.c) is waited for, and its error is left in `error`.
static bool share(Frame *frame, Call *call, int64_t bytes, Stop *stop, Error **error) {
    *error = NULL;
    Api *api = frame->api;
    int64_t threads = pool_threads(frame);
    if (threads <= 1) return false;
    // Four chunks per thread, none below a quarter of the grain.
    int64_t chunk = most_of(call->total / (4 * threads), call->kernel->grain / 4) + 1;
    if (call->kernel->sums != 0) {  // whole strips, which begin anew with each batch
        int64_t unit = call->axes == 0 ? call->kernel->strip : call->points;
        chunk = ((chunk - 1) / unit + 1) * unit;
    }
    int64_t holders = least_of(threads, call->total / chunk + 1);
    bool step = frame->struct_size == 0;
    Call *job = malloc(bytes);
    if (job == NULL) return false;
    void *future = NULL;
    if (!step) {
        future = new_future(api);
        if (future == NULL) {
            free(job);
            return false;
        }
        frame->future = future;
    }
    __builtin_memcpy(job, call, bytes);
    job->chunk = chunk;
    job->next = job->done = job->ended = 0;
    job->holders = holders;
    job->stop = stop;
    job->api = api;
    job->future = future;
    for (int64_t n = 1; n < holders; n++) {  // the calling thread is one of the holders
        PoolSchedule arguments = {
            .struct_size = STRUCT_SIZE(PoolSchedule, data), .ctx = frame->ctx, .task = work, .data = job};
        if (failed(api, ask(api, XLA_FFI_ThreadPool_Schedule, &arguments)))
            __atomic_fetch_sub(&job->holders, 1, __ATOMIC_ACQ_REL);
    }
    draw(job);
    if (step) {
        await(job);
        if (__atomic_load_n(&job->ended, __ATOMIC_RELAXED) == 0) combine(job, buffer_of(job), stop);
        *error = error_when_over(api, job);
    }
    leave(job);
    return true;
}
