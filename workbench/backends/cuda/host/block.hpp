// The threads of a block on the CPU: fibers that meet at barriers and in warps, or real threads (WB_HOST_THREADS) for
// a race detector, or one after the other (WB_HOST_ALONE). Nothing here needs a C++ header: it is parsed in 10 ms.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include <string.h>

struct uint3 { unsigned int x, y, z; };
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

#ifdef WB_HOST_THREADS
#define WB_HOST_OWN thread_local
#else
#define WB_HOST_OWN
#endif
static WB_HOST_OWN uint3 threadIdx;
static uint3 blockIdx;
static dim3 blockDim, gridDim;
static constexpr int warpSize = 32;

namespace wb_host {

struct Launch { unsigned int grid[3], block[3]; long long shared; unsigned long long seed; };

// What went wrong: the first trouble of a launch, with its line.
struct Report {
    int line;
    unsigned int thread[3], block[3];
    char text[400];
    int parameter;  // from 1, where an array is written outside, and from which byte to which
    long long first, last;
};
static Report report;
static char* printed;
static long long printed_size, printed_room;
static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;

enum State { READY, BARRIER, WARP, ASKING, DONE };
static const char* const WORDS[] = {"__syncwarp", "a shuffle", "a vote", "__match", "__reduce"};

union Word { unsigned char bytes[16]; long long align; };
struct Meeting { unsigned int mask, arrived, left; int kind, line; bool open; Word values[32]; };
struct Thread {
    void *at, *stack;
    uint3 index;
    State state;
    int line, number, vote;
    unsigned int answer;
    Meeting* meeting;
};
struct Warp { unsigned int live, gone; Meeting meetings[32]; };

static WB_HOST_OWN Thread* self;
static Thread* threads;
static Warp* warps;
static int count;

static inline unsigned int lane() { return self ? (unsigned int)self->number % 32 : threadIdx.x % 32; }
static inline Warp& warp() { return warps[self->number / 32]; }

static void trouble(int line, const char* format, ...) {
    if (report.text[0]) return;
    va_list args;
    va_start(args, format);
    vsnprintf(report.text, sizeof report.text, format, args);
    va_end(args);
    report.line = line;
    uint3 b = blockIdx, t = threadIdx;
    unsigned int places[] = {b.x, b.y, b.z, t.x, t.y, t.z};
    memcpy(report.block, places, 12);
    memcpy(report.thread, places + 3, 12);
}

static int print(const char* format, ...) {
    va_list args;
    va_start(args, format);
    int size;
    if (!printed_room) size = vprintf(format, args);
    else {
        long long room = printed_room - printed_size;
        size = vsnprintf(printed + printed_size, room > 0 ? room : 0, format, args);
        printed_size = size < room ? printed_size + size : printed_room;
    }
    va_end(args);
    return size;
}

// Shared memory: static arrays lie in a section of their own, dynamic ones all begin at one place. Before each block both
// are filled with bytes 0xff (NaN, -1), so that what is read before it is written shows.
extern "C" {
__attribute__((visibility("hidden"), aligned(128))) char wb_host_dynamic[WB_HOST_DYNAMIC] asm("wb_host_dynamic");
extern char wb_begin[] asm("__start_wb_shared") __attribute__((weak, visibility("hidden")));
extern char wb_end[] asm("__stop_wb_shared") __attribute__((weak, visibility("hidden")));
}
static void new_shared(const Launch& how) {
    memset(wb_host_dynamic, 0xff, how.shared);
    if (wb_begin) memset(wb_begin, 0xff, wb_end - wb_begin);
}

static inline unsigned long long next_random(unsigned long long& state) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void shuffle(int* order, int n, unsigned long long& state) {
    for (int k = n - 1; k > 0; --k) {
        int other = (int)(next_random(state) % (unsigned long long)(k + 1));
        int kept = order[k];
        order[k] = order[other];
        order[other] = kept;
    }
}

static void index_of(Thread& t, int number) {
    unsigned int x = blockDim.x, y = blockDim.y, n = (unsigned int)number;
    t.number = number;
    t.index = {n % x, n / x % y, n / x / y};
    t.state = READY;
    t.meeting = nullptr;
}

static bool complete(const Meeting& m, const Warp& w) { return m.open && ((m.arrived | ~w.live | w.gone) & m.mask) == m.mask; }

static Meeting& meeting_of(Warp& w, unsigned int mask, int kind, int line) {
    for (Meeting& m : w.meetings)
        if (m.open && m.mask == mask && m.kind == kind) return m;
    for (Meeting& m : w.meetings)
        if (!m.open && !m.left) {
            m.mask = mask, m.arrived = 0, m.kind = kind, m.line = line, m.open = true;
            memset(m.values, 0xff, sizeof m.values);
            return m;
        }
    __builtin_unreachable();  // 32 lanes are in 32 meetings at most
}

// What a lane brought; bytes 0xff where it is not in the meeting.
template <typename T> static T brought(const Meeting& m, unsigned int from) {
    T value;
    memcpy((void*)&value, m.values[from & 31].bytes, sizeof(T));
    return value;
}
}
