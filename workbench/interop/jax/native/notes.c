// Noting calls for recorders. With none open a call pays one test of `wb_ffi_on`.
//
// A note is memory of its own: a Note, the attributes, the buffers, and where they are kept the operands' bytes.
// Finished notes stand in `wb_ffi_notes`, in the order in which they ended; Python takes them and frees them
// (recording/call_log.py). What finds no room is counted in `wb_ffi_lost`. A large call is over when XLA's last thread
// is; its end here is the caller's.
#include "handler.h"

enum { NOTE_CALLS = 1, KEEP_BYTES = 3, NOTES = 65536, NOTED_DIMS = 13 };

typedef struct NotedBuffer {
    int64_t dtype, rank;
    int64_t place;  // of its bytes from the note's start; 0: they are not kept
    int64_t dims[NOTED_DIMS];
} NotedBuffer;

typedef struct Note {
    const void *description;
    int64_t start, end;  // ns
    Error *error;
    int64_t operands, results, attributes;
    int64_t keeps;   // whether the operands' bytes are here
    Frame *frame;
    Frame *parent;   // of the program that it is a step of
    int64_t words[];  // per attribute: how many int64 it has, then those; then a NotedBuffer per operand and result
} Note;

int32_t wb_ffi_on;  // 0, NOTE_CALLS or KEEP_BYTES
int64_t wb_ffi_head;
int64_t wb_ffi_lost;
int64_t wb_ffi_room;  // bytes that may still be kept
Note *wb_ffi_notes[NOTES];

void wb_ffi_free(Note *note) {
    free(note);
}

static int64_t bytes_in(const Buffer *buffer) {
    return elements(buffer) * DTYPE_BYTES[(uint32_t)buffer->dtype < DTYPE_COUNT ? buffer->dtype : 0];
}

static int64_t whole_words(int64_t bytes) {
    return (bytes + 7) & -8;
}

static int64_t operand_bytes(Frame *frame) {
    int64_t total = 0;
    for (int64_t n = 0; n < frame->args.size; n++) total += whole_words(bytes_in(operand(frame, n)));
    return total;
}

static int64_t attribute_words(Frame *frame) {
    int64_t total = frame->attrs.size;
    for (int64_t n = 0; n < frame->attrs.size; n++) {
        const Array *array = int64_array(frame, n);
        if (array != NULL) total += array->size;
    }
    return total;
}

// Write the attributes; returns where the next word goes.
static int64_t *note_attributes(Frame *frame, int64_t *to) {
    for (int64_t n = 0; n < frame->attrs.size; n++) {
        const Array *array = int64_array(frame, n);
        int64_t count = array != NULL ? array->size : 0;
        *to++ = count;
        if (count != 0) __builtin_memcpy(to, array->data, 8 * count);
        to += count;
    }
    return to;
}

static void note_buffer(NotedBuffer *to, const Buffer *buffer) {
    to->dtype = (uint32_t)buffer->dtype;
    to->rank = buffer->rank;
    to->place = 0;
    __builtin_memcpy(to->dims, buffer->dims, 8 * least_of(buffer->rank, NOTED_DIMS));
}

// A note of a call that begins; null if there is no memory for it.
static Note *new_note(Frame *frame, const void *description, bool keep) {
    int64_t buffers = frame->args.size + frame->rets.size;
    int64_t head = sizeof(Note) + 8 * attribute_words(frame) + buffers * sizeof(NotedBuffer);
    int64_t kept = keep ? operand_bytes(frame) : 0;
    if (keep && __atomic_fetch_sub(&wb_ffi_room, kept, __ATOMIC_RELAXED) < kept) {
        __atomic_fetch_add(&wb_ffi_room, kept, __ATOMIC_RELAXED);
        keep = false;
        kept = 0;
    }
    Note *note = malloc(head + kept);
    if (note == NULL) return NULL;
    note->description = description;
    note->operands = frame->args.size;
    note->results = frame->rets.size;
    note->attributes = frame->attrs.size;
    note->keeps = keep;
    note->frame = frame;
    note->parent = frame->struct_size == 0 ? frame->future : NULL;  // see program.c
    NotedBuffer *to = (NotedBuffer *)note_attributes(frame, note->words);
    int64_t place = head;
    for (int64_t n = 0; n < frame->args.size; n++, to++) {
        const Buffer *buffer = operand(frame, n);
        note_buffer(to, buffer);
        if (!keep) continue;
        to->place = place;
        __builtin_memcpy((char *)note + place, buffer->data, bytes_in(buffer));
        place += whole_words(bytes_in(buffer));
    }
    for (int64_t n = 0; n < frame->rets.size; n++, to++) note_buffer(to, result(frame, n));
    return note;
}

// Call `callee` and note it, if this is a call and no question of XLA's.
__attribute__((noinline)) static Error *call_noted(Frame *frame, const void *description, int32_t noting,
                                                   Error *(*callee)(Frame *, const void *)) {
    if (frame->extension_start != NULL || frame->stage != STAGE_EXECUTE) return callee(frame, description);
    Note *note = new_note(frame, description, noting == KEEP_BYTES);
    if (note == NULL) {
        __atomic_fetch_add(&wb_ffi_lost, 1, __ATOMIC_RELAXED);
        return callee(frame, description);
    }
    int64_t start = now();
    Error *error = callee(frame, description);
    note->end = now();
    note->start = start;
    note->error = error;
    if (__atomic_load_n(&wb_ffi_on, __ATOMIC_RELAXED) == 0) {
        free(note);
        return error;
    }
    uint64_t index = __atomic_fetch_add(&wb_ffi_head, 1, __ATOMIC_ACQ_REL);
    if (index < NOTES) {
        __atomic_store_n(&wb_ffi_notes[index], note, __ATOMIC_RELEASE);
    } else {
        __atomic_fetch_add(&wb_ffi_lost, 1, __ATOMIC_RELAXED);
        free(note);
    }
    return error;
}
