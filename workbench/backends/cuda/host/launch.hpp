// A launch: one at a time in a process, all blocks one after the other.
namespace wb_host {
static void run_all(void (*called)(void**), void** p, const Launch& how) {
    memset((void*)&report, 0, sizeof report);
    gridDim = {how.grid[0], how.grid[1], how.grid[2]};
    blockDim = {how.block[0], how.block[1], how.block[2]};
    run_blocks(called, p, how, how.seed);
}

static int launch(void (*called)(void**), void** p, const Launch& how) {
    pthread_mutex_lock(&one_launch);
    run_all(called, p, how);
    int failed = report.text[0] != 0;
    pthread_mutex_unlock(&one_launch);
    return failed;
}

// A parameter from where its bytes lie, which need not be where its type would.
template <typename T> struct held { typedef T type; };
template <typename T> struct held<const T> { typedef T type; };
template <typename T> static T passed(const void* from) {
    typename held<T>::type value;
    memcpy((void*)&value, from, sizeof value);
    return value;
}

// Arrays in copies with room around them: what a kernel writes outside of an array is found there, and nothing of the
// process is overwritten. Arrays that share memory share a copy.
static constexpr long long ROOM = 64 * 1024;
struct Guarded { char *begin, *end, *place, *made; };
struct Given { char* begin; long long size; int parameter; void* moved; };

static void copied(Given* given, int n, Guarded* copies, int& count) {
    int order[64];
    for (int k = 0; k < n; ++k) {
        int at = k;
        for (; at > 0 && given[order[at - 1]].begin > given[k].begin; --at) order[at] = order[at - 1];
        order[at] = k;
    }
    count = 0;
    for (int k = 0; k < n; ++k) {
        Given& g = given[order[k]];
        if (count && g.begin < copies[count - 1].end) {
            if (g.begin + g.size > copies[count - 1].end) copies[count - 1].end = g.begin + g.size;
        } else {
            copies[count++] = {g.begin, g.begin + g.size, nullptr, nullptr};
        }
    }
    for (int c = 0; c < count; ++c) {
        Guarded& copy = copies[c];
        long long size = copy.end - copy.begin, skew = (long long)copy.begin % 256;
        copy.made = (char*)__builtin_malloc(size + 2 * ROOM + 512);
        copy.place = copy.made + (256 - (long long)copy.made % 256) + skew + ROOM;
        memset(copy.place - ROOM, 0xff, ROOM);
        memcpy(copy.place, copy.begin, size);
        memset(copy.place + size, 0xff, ROOM);
        for (int k = 0; k < n; ++k)
            if (given[k].begin >= copy.begin && (given[k].begin < copy.end || copy.begin == copy.end))
                given[k].moved = copy.place + (given[k].begin - copy.begin);
    }
}

static void outside(const Given* given, int n, const Guarded& copy, long long first, long long last) {
    long long size = copy.end - copy.begin;
    const Given* found = nullptr;
    for (int k = 0; k < n; ++k) {
        const Given& g = given[k];
        if (g.begin < copy.begin || g.begin > copy.end) continue;
        if (first < 0 ? g.begin == copy.begin : g.begin + g.size == copy.begin + size) found = &g;
    }
    if (!found || report.text[0]) return;
    trouble(0, "written outside");
    report.parameter = found->parameter + 1;
    report.first = first - (found->begin - copy.begin), report.last = last - (found->begin - copy.begin);
}

static void put_back(const Given* given, int n, Guarded* copies, int count) {
    for (int c = 0; c < count; ++c) {
        Guarded& copy = copies[c];
        long long size = copy.end - copy.begin, first = size + ROOM, last = -ROOM - 1;
        for (long long k = -ROOM; k < size + ROOM; k = k == -1 ? size : k + 1) {
            if ((unsigned char)copy.place[k] == 0xff) continue;
            if (k < first) first = k;
            last = k;
        }
        if (last >= first) outside(given, n, copy, first, last);
        memcpy(copy.begin, copy.place, size);
        __builtin_free(copy.made);
    }
}

// A launch of ours (runtime/launching/geometry.py): the fourth dimension says where grid, block, shared memory, seed, the
// parameters' offsets and the arrays to be guarded (offset, bytes) lie.
static int packed(void (*called)(void**), char* params, int count, long long* fault) {
    const long long* tail = (const long long*)(params + ((const long long*)params)[3]);
    Launch how = {};
    for (int k = 0; k < 3; ++k) how.grid[k] = (unsigned int)tail[k], how.block[k] = (unsigned int)tail[3 + k];
    how.shared = tail[6], how.seed = (unsigned long long)tail[7];
    const long long *offsets = tail + 9, *guards = offsets + count;
    int guarded = (int)tail[8], made = 0, n = 0;
    void* p[64];
    Given given[64];
    Guarded copies[64];
    for (int k = 0; k < count; ++k) p[k] = params + offsets[k];
    for (int g = 0; g < guarded; ++g)
        for (int k = 0; k < count; ++k)
            if (offsets[k] == guards[2 * g]) {
                given[n] = {*(char**)p[k], guards[2 * g + 1], k, nullptr};
                p[k] = &given[n++].moved;
            }
    if (guarded) copied(given, n, copies, made);
    pthread_mutex_lock(&one_launch);
    run_all(called, p, how);
    if (guarded) put_back(given, n, copies, made);
    int failed = report.text[0] != 0;
    pthread_mutex_unlock(&one_launch);
    if (failed && fault) fault[0] = 1, fault[1] = report.line;
    return failed;
}
}
extern "C" const wb_host::Report* wb_host_report() { return &wb_host::report; }
extern "C" void wb_host_print_into(char* room, long long size) {
    wb_host::printed = room, wb_host::printed_room = size, wb_host::printed_size = 0;
}
extern "C" long long wb_host_printed() {
    long long size = wb_host::printed_size;
    wb_host::printed_size = 0;
    return size;
}
