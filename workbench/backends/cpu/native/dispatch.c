// A launch: on this thread, or in chunks that several threads draw from one counter.
#include "launcher.h"

typedef struct Job {
    Crew crew;
    const Row *row;
    int64_t next;
    int64_t *sums;  // what the chunks left; null if that is nothing
} Job;

// Where the chunk that begins with this thread leaves its words.
static inline int64_t *words_of(const Row *row, int64_t *sums, int64_t begin) {
    return sums == NULL ? NULL : sums + begin / row->grain * row->sums;
}

static void draw_chunks(Crew *crew, Stop *stop) {
    Job *job = (Job *)crew;
    const Row *row = job->row;
    for (;;) {
        int64_t begin = __atomic_fetch_add(&job->next, row->grain, __ATOMIC_RELAXED);
        if (begin >= row->total) return;
        stop->threads = begin;
        if (ends(stop)) {
            __atomic_fetch_or(&crew->status, STOPPED, __ATOMIC_RELAXED);
            return;
        }
        int64_t end = row->total - begin < row->grain ? row->total : begin + row->grain;
        int32_t code = row->entry(row->params, begin, end, row->fault, stop, words_of(row, job->sums, begin));
        __atomic_fetch_or(&crew->status, code, __ATOMIC_RELAXED);
        if (code == STOPPED) return;
    }
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

static int32_t share(const Row *row, int64_t *sums, Stop *stop) {
    Job job = {.crew = {.work = draw_chunks}, .row = row, .sums = sums};
    int64_t chunks = (row->total - 1) / row->grain, helpers = row->threads - 1;  // the caller takes a chunk, too
    return work_together(&job.crew, chunks < helpers ? chunks : helpers, stop);
}

// A launch whose memory is held. What chunks leave is combined in their order, by whichever threads they were run.
static int32_t run_chunks(const Row *row, Stop *stop) {
    bool one = row->total <= row->grain;
    int64_t chunks = row->sums == 0 || one ? 0 : (row->total - 1) / row->grain + 1;
    int64_t *sums = chunks == 0 ? NULL : malloc(chunks * row->sums * sizeof *sums);  // without memory: in no order
    int32_t code = row->threads <= 1 || one ? run_range(row, 0, row->total, sums, stop) : share(row, sums, stop);
    if (sums == NULL) return code;
    if (code != STOPPED) row->entry(row->params, chunks, 0, row->fault, stop, sums);
    free(sums);
    return code;
}

static int32_t launch(const Row *row, Stop *stop) {
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
