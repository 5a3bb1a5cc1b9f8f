// The interpreter of work (schedule.py): one call runs a whole table of it, branches and loops included.
#include "launcher.h"

typedef struct Item {
    Entry *entry;
    void *params;
    int64_t begin, end;
    Fault *fault;
    int64_t grain;  // threads between two looks
    int64_t sums;   // as in a Row; then `begin` is 0
} Item;

enum { RUN, IF, WHILE, LAUNCH, IN_ORDER };
enum { FAULTED = 1 << 30 };  // a bit of the status where a fault has ended an IN_ORDER; STOPPED has all bits

typedef struct Step {
    int64_t kind;
    void *items;          // of a RUN Items, of a LAUNCH or an IN_ORDER Rows, else Steps
    int64_t count;
    int64_t threads;
    volatile int32_t *condition;  // null for an IF that always holds
    struct Step *others;  // what an IF runs where its condition is 0
    int64_t other_count;
    int64_t mask;
} Step;

typedef struct Team {
    Crew crew;
    const Item *items;
    int64_t count, next;
} Team;

static int32_t run_item(const Item *item, Stop *stop) {
    if (ends(stop)) return STOPPED;
    Row row = {.entry = item->entry, .params = item->params, .total = item->end, .grain = item->grain,
               .fault = item->fault, .sums = item->sums};
    return row.sums != 0 ? run_chunks(&row, stop) : run_range(&row, item->begin, item->end, NULL, stop);
}

static void draw_items(Crew *crew, Stop *stop) {
    Team *team = (Team *)crew;
    for (;;) {
        int64_t n = __atomic_fetch_add(&team->next, 1, __ATOMIC_RELAXED);
        if (n >= team->count) return;
        int32_t code = run_item(&team->items[n], stop);
        __atomic_fetch_or(&crew->status, code, __ATOMIC_RELAXED);
        if (code == STOPPED) return;
    }
}

static int32_t run_items(const Step *step, Stop *stop) {
    int64_t held = hold(step->mask, stop);
    if (held < 0) return STOPPED;
    int32_t status = 0;
    if (step->threads < 2) {
        for (int64_t n = 0; n < step->count && status != STOPPED; n++)
            status |= run_item((const Item *)step->items + n, stop);
    } else {
        Team team = {.crew = {.work = draw_items}, .items = step->items, .count = step->count};
        status = work_together(&team.crew, step->threads - 1, stop);
    }
    drop(held);
    return status;
}

// Launches one after another; IN_ORDER, the first fault ends them.
static int32_t run_rows(const Step *step, Stop *stop) {
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

static int32_t run_steps(const Step *steps, int64_t count, Stop *stop) {
    int32_t status = 0;
    for (int64_t n = 0; n < count && (status & FAULTED) == 0; n++) {
        const Step *step = &steps[n];
        if (step->kind == RUN) {
            status |= run_items(step, stop);
        } else if (step->kind == LAUNCH || step->kind == IN_ORDER) {
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
