// The interpreter of work (schedule.py): one call runs a whole table of it, branches and loops included.
#include "launcher.h"

enum { LAUNCH, IN_ORDER, SHARED, IF, WHILE };
enum { FAULTED = 1 << 30 };  // a bit of the status where a fault has ended an IN_ORDER; STOPPED has all bits

typedef struct Step {
    int64_t kind;
    void *items;          // of an IF or WHILE Steps, else Rows
    int64_t count;
    int64_t threads;      // that draw from what is SHARED
    volatile int32_t *condition;  // null for an IF that always holds
    struct Step *others;  // what an IF runs where its condition is 0
    int64_t other_count;
    int64_t mask;         // of its launches that have none of their own
} Step;

// Launches one after another; IN_ORDER, the first fault ends them.
static int32_t run_in_turn(const Step *step, Stop *stop) {
    const Row *rows = step->items;
    int32_t status = 0;
    for (int64_t n = 0; n < step->count; n++) {
        stop->rows = n;
        status |= ends(stop) ? STOPPED : launch(&rows[n], stop);
        if (status == STOPPED) return STOPPED;
        if (step->kind == IN_ORDER && rows[n].fault != NULL && rows[n].fault->count != 0) return status | FAULTED;
    }
    return status;
}

static int32_t run_rows(const Step *step, Stop *stop) {
    int64_t held = hold(step->mask, stop);
    if (held < 0) return STOPPED;
    int32_t status = step->kind == SHARED ? share(step->items, step->count, step->threads, NULL, stop)
                                          : run_in_turn(step, stop);
    drop(held);
    return status;
}

static int32_t run_steps(const Step *steps, int64_t count, Stop *stop) {
    int32_t status = 0;
    for (int64_t n = 0; n < count && (status & FAULTED) == 0; n++) {
        const Step *step = &steps[n];
        if (step->kind <= SHARED) {
            status |= run_rows(step, stop);
        } else if (step->kind == IF) {
            bool holds = step->condition == NULL || *step->condition != 0;
            status |= holds ? run_steps(step->items, step->count, stop)
                            : run_steps(step->others, step->other_count, stop);
        } else {
            while ((status & FAULTED) == 0 && *step->condition != 0) {
                status |= run_steps(step->items, step->count, stop);
                if ((status & FAULTED) == 0 && ends(stop)) status = STOPPED;
            }
        }
    }
    return status;
}
