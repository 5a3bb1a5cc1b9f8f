// The native scheduler of graphs (schedule.py): one call runs a whole table of work, branches and loops of it included.
#include "launcher.h"

typedef struct Item {
    Entry *entry;
    void *params;
    int64_t begin, end;
    Fault *fault;
    int64_t grain;  // threads between two looks
    int64_t sums;   // as in a Row; then `begin` is 0
} Item;

enum { RUN, IF, WHILE, LAUNCH };

typedef struct Step {
    int64_t kind;
    void *items;          // of a RUN Items, of a LAUNCH a Row, else Steps
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

static int32_t run_steps(const Step *steps, int64_t count, Stop *stop) {
    int32_t status = 0;
    for (int64_t n = 0; n < count && status != STOPPED; n++) {
        const Step *step = &steps[n];
        if (step->kind == RUN) {
            status |= run_items(step, stop);
        } else if (step->kind == LAUNCH) {
            status |= ends(stop) ? STOPPED : launch(step->items, stop);
        } else if (step->kind == IF) {
            bool holds = step->condition == NULL || *step->condition != 0;
            status |= holds ? run_steps(step->items, step->count, stop)
                            : run_steps(step->others, step->other_count, stop);
        } else {
            while (status != STOPPED && *step->condition != 0) {
                status |= run_steps(step->items, step->count, stop);
                if (status != STOPPED && ends(stop)) status = STOPPED;
            }
        }
    }
    return status;
}
