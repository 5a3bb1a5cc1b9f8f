// Who may change which memory now (dispatch.py): all bits of a mask are taken in one atomic step.
#include "launcher.h"

int64_t wb_busy;

// Returns what to drop; -1 where the launch ends before it begins.
static int64_t hold(int64_t mask, Stop *stop) {
    if (mask == 0) return 0;
    for (int64_t tries = 0;; tries++) {
        int64_t old = __atomic_load_n(&wb_busy, __ATOMIC_RELAXED);
        if ((old & mask) == 0) {
            if (__atomic_compare_exchange_n(&wb_busy, &old, old | mask, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                return mask;
            continue;
        }
        if (asking && on_main_thread()) return 0;  // in a signal's handler: the launch that it came in waits for us
        if (ends(stop)) return -1;
        if (tries < 200)
            give_way();
        else
            nap(50);
    }
}

static void drop(int64_t mask) {
    if (mask != 0) __atomic_fetch_and(&wb_busy, ~mask, __ATOMIC_RELEASE);
}
