// What a launch looks at to know whether it is to end before its time (stopping.py), and a kernel's entry.
#pragma once

#include "workbench/backends/cpu/native/system.h"

enum { STOPPED = -1 };  // the status of a launch that was ended

typedef struct Stop {
    union {
        volatile int32_t word;  // 0: go on; else `decides` is asked
        struct {
            volatile uint8_t begun, signalled;  // a launch has just begun; a signal has come
        };
    };
    int32_t (*decides)(struct Stop *);  // not 0 to end
    int64_t threads, rows;              // done so far
    int64_t began;                      // when (ns), 0 if that is not known yet
} Stop;

typedef struct Fault {  // what code with checks writes (backends/layout.py); other code leaves the count at 0
    int64_t count, operation, thread, values[4];
} Fault;

// Runs threads [begin, end) of a kernel; STOPPED where it was ended. What threads change together (`emit/combine.py`)
// is left at `sums`; if that is null, memory is changed. With the end 0 it changes memory by what so many chunks left.
typedef int32_t Entry(void *params, int64_t begin, int64_t end, Fault *fault, Stop *stop, int64_t *sums);

// One look: whether to end.
static inline bool ends(Stop *stop) {
    return stop->word != 0 && stop->decides(stop) != 0;
}
