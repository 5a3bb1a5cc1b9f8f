// A fused program: many launches, copies and fills as one FFI call. Its words are made by table.py.
//
// A launch is handed to its own thunk in a frame made here, with struct_size 0: so it means what it means alone. Such a
// frame has no future (its parent stands there): a launch that XLA's threads share is waited for, and only chunks that
// run already are left then.
#include "handler.h"

typedef struct Program {
    const char *name;
    int64_t operands, results, steps;
    int64_t most_buffers;            // of a step
    int64_t checks, first;           // words from the start to the checks and to the first step
} Program;

typedef struct BufferCheck {         // one per operand and result
    int64_t dtype, elements;
} BufferCheck;

typedef struct Place {               // bytes of an operand or a result
    int64_t base;                    // its number: operands, then results
    int64_t offset;
} Place;

enum { LAUNCH, REPEAT, FILL, MOST_ATTRIBUTES = 3 };

typedef struct Step {
    int64_t kind, words;             // its length, both of these included
    union {
        struct {
            Error *(*thunk)(Frame *);
            int64_t operands, results, attributes;
            int64_t rest[];          // each attribute as a count and its int64; then a StepBuffer per buffer
        } launch;
        struct {
            Place to, from;
            int64_t bytes, times;    // one after the other
        } repeat;
        struct {
            Place to;
            int64_t bytes, pattern, width;
        } fill;
    };
} Step;

typedef struct StepBuffer {
    Place place;
    int64_t dtype, rank, dims[];
} StepBuffer;

static char *address(char **bases, const Place *place) {
    return bases[place->base] + place->offset;
}

// Memory for the launches of a program, one after another.
typedef struct Inner {
    Frame frame;
    Buffer *buffers;
    Buffer **pointers;
    Array arrays[MOST_ATTRIBUTES];
    Array *array_pointers[MOST_ATTRIBUTES];
    int32_t kinds[MOST_ATTRIBUTES];
} Inner;

static Error *launch_step(Inner *inner, char **bases, Step *step) {
    Frame *frame = &inner->frame;
    frame->args.size = step->launch.operands;
    frame->rets.size = step->launch.results;
    frame->rets.rets = inner->pointers + step->launch.operands;
    frame->attrs.size = step->launch.attributes;
    int64_t *at = step->launch.rest;
    for (int64_t n = 0; n < step->launch.attributes; n++) {
        inner->arrays[n] = (Array){.dtype = DTYPE_INT64, .size = at[0], .data = at + 1};
        at += 1 + at[0];
    }
    for (int64_t n = 0; n < step->launch.operands + step->launch.results; n++) {
        StepBuffer *buffer = (StepBuffer *)at;
        inner->buffers[n] = (Buffer){
            .struct_size = STRUCT_SIZE(Buffer, dims), .dtype = (int32_t)buffer->dtype,
            .data = address(bases, &buffer->place), .rank = buffer->rank, .dims = buffer->dims};
        at = buffer->dims + buffer->rank;
    }
    return step->launch.thunk(frame);
}

static Error *run_steps(Frame *frame, const Program *program, char **bases) {
    Inner inner = {
        .buffers = __builtin_alloca_with_align(program->most_buffers * sizeof(Buffer), 128),
        .pointers = __builtin_alloca_with_align(program->most_buffers * sizeof(Buffer *), 64)};
    for (int64_t n = 0; n < program->most_buffers; n++) inner.pointers[n] = &inner.buffers[n];
    for (int64_t n = 0; n < MOST_ATTRIBUTES; n++) {
        inner.array_pointers[n] = &inner.arrays[n];
        inner.kinds[n] = ATTR_ARRAY;
    }
    inner.frame.api = frame->api;
    inner.frame.ctx = frame->ctx;
    inner.frame.stage = STAGE_EXECUTE;
    inner.frame.args.args = inner.pointers;
    inner.frame.attrs.types = inner.kinds;
    inner.frame.attrs.attrs = inner.array_pointers;
    inner.frame.future = frame;
    int64_t *at = (int64_t *)program + program->first;
    for (int64_t n = 0; n < program->steps; n++) {
        Step *step = (Step *)at;
        if (step->kind == REPEAT) {
            char *to = address(bases, &step->repeat.to), *from = address(bases, &step->repeat.from);
            for (int64_t k = 0; k < step->repeat.times; k++)
                __builtin_memcpy(to + k * step->repeat.bytes, from, step->repeat.bytes);
        } else if (step->kind == FILL) {
            fill(address(bases, &step->fill.to), step->fill.bytes, step->fill.pattern, step->fill.width);
        } else {
            Error *error = launch_step(&inner, bases, step);
            if (error != NULL) return error;
        }
        at += step->words;
    }
    return NULL;
}

static Error *call_program(Frame *frame, const void *words) {
    const Program *program = words;
    if (answer_metadata(frame, 0) || frame->stage != STAGE_EXECUTE) return NULL;
    if (frame->args.size != program->operands || frame->rets.size != program->results)
        return REFUSE(frame, "kernel '%s' takes %lld operands and %lld results under XLA; "
                      "the call has other numbers of them",
                      (int64_t)program->name, program->operands, program->results);
    int64_t count = frame->args.size + frame->rets.size;
    char **bases = __builtin_alloca_with_align(count * sizeof(char *), 64);
    const BufferCheck *checks = (const BufferCheck *)((const int64_t *)words + program->checks);
    for (int64_t n = 0; n < count; n++) {
        Buffer *buffer = n < frame->args.size ? operand(frame, n) : result(frame, n - frame->args.size);
        if (buffer->dtype != checks[n].dtype || elements(buffer) != checks[n].elements)
            return REFUSE(frame, "program '%s': buffer %lld, operands first, holds %lld elements of %s; "
                          "was given another",
                          (int64_t)program->name, n, checks[n].elements, (int64_t)dtype_name(checks[n].dtype));
        bases[n] = buffer->data;
    }
    return run_steps(frame, program, bases);
}
