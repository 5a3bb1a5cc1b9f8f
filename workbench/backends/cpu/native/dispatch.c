// Launches: on this thread, or in chunks that several threads draw from one counter.
#include "launcher.h"

typedef struct Job {
    Crew crew;
    const Row *rows;  // launches side by side
    int64_t count, next;
    int64_t *sums;  // of one launch, what its chunks left; null if that is nothing
} Job;

// How many chunks threads draw of a launch: one if one thread is to run it.
static inline int64_t chunks_of(const Row *row) {
    return row->threads <= 1 ? row->total > 0 : (row->total - 1) / row->grain + 1;
}

// Where the chunk that begins with this thread leaves its words.
static inline int64_t *words_of(const Row *row, int64_t *sums, int64_t begin) {
    return sums == NULL ? NULL : sums + begin / row->grain * row->sums;
}

// Threads [begin, end) on this thread, with a look between two chunks.
static int32_t run_range(const Row *row, int64_t begin, int64_t end, int64_t *sums, Stop *stop) {
    int32_t status = 0;
    for (;;) {
        bool last = end - begin <= row->grain;
        int64_t to = last ? end : begin + row->grain;
        int32_t code = row->entry(row->params, begin, to, row->fault, stop, words_of(row, sums, begin));
        status |= code;
        if (last || code == STOPPED) return status;
        stop->threads = to;
        if (ends(stop)) return STOPPED;
        begin = to;
    }
}

static void draw_chunks(Crew *crew, Stop *stop) {
    Job *job = (Job *)crew;
    const Row *row = job->rows, *end = row + job->count;
    for (int64_t before = 0;;) {
        int64_t n = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED) - before;
        for (int64_t chunks; row < end && n >= (chunks = chunks_of(row)); row++) {
            n -= chunks;
            before += chunks;
        }
        if (row == end) return;
        int64_t begin = n * row->grain;
        bool last = row->threads <= 1 || row->total - begin < row->grain;
        stop->threads = begin;
        int32_t code = ends(stop) ? STOPPED
                                  : run_range(row, begin, last ? row->total : begin + row->grain, job->sums, stop);
        __atomic_fetch_or(&crew->status, code, __ATOMIC_RELAXED);
        if (code == STOPPED) return;
    }
}

// Launches side by side on so many threads.
static int32_t share(const Row *rows, int64_t count, int64_t threads, int64_t *sums, Stop *stop) {
    Job job = {.crew = {.work = draw_chunks}, .rows = rows, .count = count, .sums = sums};
    return work_together(&job.crew, threads - 1, stop);
}

// A launch whose memory is held. What chunks leave is combined in their order, by whichever threads they were run.
static int32_t run_chunks(const Row *row, Stop *stop) {
    if (row->total <= row->grain) return row->entry(row->params, 0, row->total, row->fault, stop, NULL);
    int64_t count = (row->total - 1) / row->grain + 1;
    int64_t *sums = row->sums == 0 ? NULL : malloc(count * row->sums * sizeof *sums);  // without memory: in no order
    int32_t code = row->threads <= 1
                       ? run_range(row, 0, row->total, sums, stop)
                       : share(row, 1, count < row->threads ? count : row->threads, sums, stop);
    if (sums == NULL) return code;
    if (code != STOPPED) row->entry(row->params, count, 0, row->fault, stop, sums);
    free(sums);
    return code;
}

static int32_t launch(const Row *row, Stop *stop) {
    if (row->mask == 0) return run_chunks(row, stop);
    int64_t held = hold(row->mask, stop);
    if (held < 0) return STOPPED;
    int32_t code = run_chunks(row, stop);
    drop(held);
    return code;
}

// A launch from Python, which is let go meanwhile.
static int32_t launch_freely(const Row *row) {
    void *state = python.PyEval_SaveThread();
    Stop *stop = begin();
    int32_t code = launch(row, stop);
    over(stop, code);
    python.PyEval_RestoreThread(state);
    return code;
}
