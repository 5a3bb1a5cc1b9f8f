// One stack a thread of the block, switched by hand: a thread runs until it waits or ends. Which ready thread is next is
// shuffled by the launch's seed, so that what depends on an order shows.
#if defined(__x86_64__)
asm(R"(
.text
wb_host_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");
#define WB_HOST_SAVED 6
#elif defined(__aarch64__)
asm(R"(
.text
wb_host_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
)");
#else
#error "threads of a block are switched on x86-64 and AArch64 only"
#endif
extern "C" __attribute__((visibility("hidden"))) void wb_host_switch(void** from, void* to);

#include <sys/mman.h>

namespace wb_host {

static void* scheduler;
static void (*body)(void**);
static void** arguments;
static int ready;

static void yield() { wb_host_switch(&self->at, scheduler); }
static void wake(Thread& t) {
    t.state = READY;
    ++ready;
}

static void settle(Warp& w, Meeting& m) {
    if (!complete(m, w)) return;
    m.open = false;
    m.left = m.arrived;
    int first = (int)(&w - warps) * 32;
    for (int n = 0; n < 32; ++n)
        if ((m.arrived >> n & 1) && threads[first + n].meeting == &m && threads[first + n].state == WARP) wake(threads[first + n]);
}

static Meeting& meet(unsigned int mask, int kind, int line, const void* value, unsigned int size) {
    Warp& w = warp();
    unsigned int bit = 1U << lane();
    if (!(mask & bit)) {
        trouble(line, "%s is called by lane %u, which its mask %#x does not name", WORDS[kind], lane(), mask);
        self->state = DONE;
        yield();
    }
    Meeting& m = meeting_of(w, mask, kind, line);
    m.arrived |= bit;
    if (size) memcpy(m.values[lane()].bytes, value, size);
    self->meeting = &m;
    self->line = line;
    settle(w, m);
    if (m.open) {
        self->state = WARP;
        yield();
    }
    return m;
}
static void leave(Meeting& m) { m.left &= ~(1U << lane()); }

// The barrier of the block; gives the number of threads whose `vote` was true.
static int barrier(int line, int vote) {
    self->state = BARRIER;
    self->line = line;
    self->vote = vote;
    yield();
    return (int)self->answer;
}

static unsigned int active(int line) {
    self->state = ASKING;
    self->line = line;
    yield();
    return self->answer;
}

static void pause() {
    static unsigned int calls;
    if (++calls % 16 == 0 && self) {
        wake(*self);
        yield();
    }
}

static void run_thread() {
    body(arguments);
    self->state = DONE;
    Warp& w = warp();
    w.gone |= 1U << lane();
    for (Meeting& m : w.meetings) settle(w, m);
    yield();
    __builtin_unreachable();
}

static constexpr long STACK = 256 * 1024, GUARD = 4096;

static void new_stacks(int wanted) {
    static int made;
    if (made < wanted) {
        threads = (Thread*)__builtin_realloc((void*)threads, sizeof(Thread) * wanted);
        for (; made < wanted; ++made) {
            char* stack = (char*)mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (stack == MAP_FAILED) __builtin_abort();
            mprotect(stack, GUARD, PROT_NONE);
            threads[made].stack = stack;
        }
    }
}

static void start(Thread& t) {
    void** top = (void**)((char*)t.stack + STACK);
#if defined(__x86_64__)
    *(top -= 2) = (void*)run_thread;  // as after a call: 8 more than a multiple of 16
    top -= WB_HOST_SAVED;
#else
    top -= 20;
    top[11] = (void*)run_thread;
#endif
    t.at = top;
}

// All live threads wait and none can go on by itself: they are all at one barrier, or the text is wrong.
static bool release() {
    bool asked = false;
    for (int k = 0; k < count; ++k) {
        Thread& t = threads[k];
        if (t.state != ASKING) continue;
        unsigned int together = 0;
        int first = k / 32 * 32;
        for (int n = first; n < first + 32 && n < count; ++n)
            if (threads[n].state == ASKING && threads[n].line == t.line) together |= 1U << n % 32;
        t.answer = together;
        asked = true;
    }
    if (asked) {
        for (int k = 0; k < count; ++k)
            if (threads[k].state == ASKING) wake(threads[k]);
        return true;
    }
    const Thread *waiting = nullptr, *ended = nullptr;
    int votes = 0;
    for (int k = 0; k < count; ++k) {
        const Thread& t = threads[k];
        if (t.state == DONE) ended = &t;
        if (t.state == WARP) {
            const Meeting& m = *t.meeting;
            unsigned int missing = m.mask & ~m.arrived & ~warps[k / 32].gone;
            const Thread& other = threads[k / 32 * 32 + __builtin_ctz(missing)];
            threadIdx = t.index;
            trouble(m.line, "%s of the lanes %#x waits for lane %d, which waits at line %d", WORDS[m.kind], m.mask,
                    other.number % 32, other.line);
            return false;
        }
        if (t.state != BARRIER) continue;
        if (waiting && waiting->line != t.line) {
            threadIdx = t.index;
            trouble(t.line, "__syncthreads() is not reached by all threads of the block: some wait here, others at line %d",
                    waiting->line);
            return false;
        }
        waiting = &t;
        votes += t.vote != 0;
    }
    if (!waiting) return false;
    if (ended) {
        threadIdx = ended->index;
        trouble(waiting->line, "__syncthreads() is not reached by all threads of the block: thread (%u, %u, %u) has ended",
                ended->index.x, ended->index.y, ended->index.z);
        return false;
    }
    for (int k = 0; k < count; ++k) {
        threads[k].answer = (unsigned int)votes;
        wake(threads[k]);
    }
    return true;
}

static void run_block(unsigned long long& random) {
    static int order[1024];
    for (int k = 0; k < count; ++k) {
        index_of(threads[k], k);
        start(threads[k]);
        order[k] = k;
    }
    memset((void*)warps, 0, sizeof(Warp) * ((count + 31) / 32));
    for (int k = 0; k < count; ++k) warps[k / 32].live |= 1U << k % 32;
    ready = count;
    do {
        while (ready > 0 && !report.text[0]) {
            if (random) shuffle(order, count, random);
            for (int k = 0; k < count; ++k) {
                Thread& t = threads[order[k]];
                if (t.state != READY) continue;
                --ready;
                self = &t;
                threadIdx = t.index;
                wb_host_switch(&scheduler, t.at);
                if (report.text[0]) break;
            }
        }
    } while (!report.text[0] && release());
    self = nullptr;
}

static void run_blocks(void (*called)(void**), void** p, const Launch& how, unsigned long long random) {
    body = called;
    arguments = p;
    count = (int)(blockDim.x * blockDim.y * blockDim.z);
    new_stacks(count);
    static Warp all[32];
    warps = all;
    for (unsigned int z = 0; z < gridDim.z; ++z)
        for (unsigned int y = 0; y < gridDim.y; ++y)
            for (unsigned int x = 0; x < gridDim.x && !report.text[0]; ++x) {
                blockIdx = {x, y, z};
                new_shared(how);
                run_block(random);
            }
}
}
