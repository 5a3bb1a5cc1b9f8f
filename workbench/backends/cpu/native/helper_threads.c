// Helpers for one call: threads made, the caller at work beside them, all joined.
#include "launcher.h"

typedef struct Crew {       // what the threads of a call share begins with this
    Stop stop;              // the helpers': the caller alone asks whether to end, and tells them
    void (*work)(struct Crew *crew, Stop *stop);  // what each thread runs; it ends where it has left the status STOPPED
    int64_t gone;           // helpers that have left their work
    int32_t status;
} Crew;

static void *helper(void *state) {
    Crew *crew = state;
    crew->work(crew, &crew->stop);
    __atomic_fetch_add(&crew->gone, 1, __ATOMIC_RELEASE);
    return NULL;
}

// Run the crew's work with so many helpers; returns the status that they left.
static int32_t work_together(Crew *crew, int64_t helpers, Stop *stop) {
    int64_t ids[MAX_THREADS], started = 0;
    if (helpers > MAX_THREADS) helpers = MAX_THREADS;
    crew->stop.decides = yes;
    while (started < helpers && thread_start(&ids[started], helper, crew)) started++;
    crew->work(crew, stop);
    if (__atomic_load_n(&crew->status, __ATOMIC_RELAXED) == STOPPED) crew->stop.word = 1;
    for (int64_t n = 0; n < started;) {
        if (joined(ids[n], &crew->gone, started)) {
            n++;
        } else if (ends(stop)) {
            crew->stop.word = 1;
            __atomic_fetch_or(&crew->status, STOPPED, __ATOMIC_RELAXED);
        }
    }
    return crew->status;
}
