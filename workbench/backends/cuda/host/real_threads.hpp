// One thread of the system for each thread of a block, so that a race detector sees what runs at once. A barrier that
// not all reach ends the process: nothing can be taken back.
namespace wb_host {

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, warp_gates[32];
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER, warp_opened[32];
static int waiting, votes, live_threads, round_number, answer;
static void (*body)(void**);
static void** arguments;

static void fatal(int line) {
    trouble(line, "__syncthreads() is not reached by all threads of the block");
    fprintf(stderr, "line %d: %s\n", report.line, report.text);
    __builtin__Exit(3);
}

static int barrier(int line, int vote) {
    pthread_mutex_lock(&gate);
    if (live_threads < count) fatal(line);
    votes += vote != 0;
    int mine = round_number;
    if (++waiting == count) {
        waiting = 0, answer = votes, votes = 0, ++round_number;
        pthread_cond_broadcast(&opened);
    }
    while (mine == round_number) pthread_cond_wait(&opened, &gate);
    int result = answer;
    pthread_mutex_unlock(&gate);
    return result;
}

static void settle(Warp& w, Meeting& m) {
    if (!complete(m, w)) return;
    m.open = false;
    m.left = m.arrived;
    pthread_cond_broadcast(&warp_opened[&w - warps]);
}

static Meeting& meet(unsigned int mask, int kind, int line, const void* value, unsigned int size) {
    Warp& w = warp();
    pthread_mutex_t* mutex = &warp_gates[&w - warps];
    pthread_mutex_lock(mutex);
    Meeting& m = meeting_of(w, mask, kind, line);
    m.arrived |= 1U << lane();
    if (size) memcpy(m.values[lane()].bytes, value, size);
    settle(w, m);
    while (m.open) pthread_cond_wait(&warp_opened[&w - warps], mutex);
    pthread_mutex_unlock(mutex);
    return m;
}
static void leave(Meeting& m) {
    pthread_mutex_t* mutex = &warp_gates[self->number / 32];
    pthread_mutex_lock(mutex);
    m.left &= ~(1U << lane());
    pthread_mutex_unlock(mutex);
}
static unsigned int active(int) { return 1U << lane(); }
static void pause() {}

static void* run_thread(void* given) {
    self = (Thread*)given;
    threadIdx = self->index;
    body(arguments);
    Warp& w = warp();
    pthread_mutex_t* mutex = &warp_gates[&w - warps];
    pthread_mutex_lock(mutex);
    w.gone |= 1U << lane();
    for (Meeting& m : w.meetings) settle(w, m);
    pthread_mutex_unlock(mutex);
    pthread_mutex_lock(&gate);
    --live_threads;
    if (waiting) fatal(0);
    pthread_mutex_unlock(&gate);
    return nullptr;
}

static void run_blocks(void (*called)(void**), void** p, const Launch& how, unsigned long long random) {
    body = called;
    arguments = p;
    count = (int)(blockDim.x * blockDim.y * blockDim.z);
    static Thread every[1024];
    static Warp all[32];
    static pthread_t ids[1024];
    threads = every;
    warps = all;
    for (int k = 0; k < 32; ++k) {
        pthread_mutex_init(&warp_gates[k], nullptr);
        pthread_cond_init(&warp_opened[k], nullptr);
    }
    int order[1024];
    for (int k = 0; k < count; ++k) order[k] = k;
    for (unsigned int n = 0; n < gridDim.x * gridDim.y * gridDim.z; ++n) {
        blockIdx = {n % gridDim.x, n / gridDim.x % gridDim.y, n / gridDim.x / gridDim.y};
        new_shared(how);
        memset((void*)warps, 0, sizeof all);
        for (int k = 0; k < count; ++k) {
            index_of(threads[k], k);
            warps[k / 32].live |= 1U << k % 32;
        }
        live_threads = count;
        if (random) shuffle(order, count, random);
        for (int k = 0; k < count; ++k)
            if (pthread_create(&ids[k], nullptr, run_thread, &threads[order[k]])) __builtin_abort();
        for (int k = 0; k < count; ++k) pthread_join(ids[k], nullptr);
    }
}
}
