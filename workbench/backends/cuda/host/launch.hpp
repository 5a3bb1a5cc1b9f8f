// A launch: one at a time in a process, all blocks one after the other.
namespace wb_host {
static int launch(void (*called)(void**), void** p, const Launch& how) {
    pthread_mutex_lock(&one_launch);
    memset((void*)&report, 0, sizeof report);
    gridDim = {how.grid[0], how.grid[1], how.grid[2]};
    blockDim = {how.block[0], how.block[1], how.block[2]};
    run_blocks(called, p, how, how.seed);
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

// A launch of ours (runtime/geometry.py): the fourth dimension says where grid, block, shared memory, seed and the
// parameters' offsets lie.
static int packed(void (*called)(void**), char* params, int count, long long* fault) {
    const long long* tail = (const long long*)(params + ((const long long*)params)[3]);
    Launch how = {};
    for (int k = 0; k < 3; ++k) how.grid[k] = (unsigned int)tail[k], how.block[k] = (unsigned int)tail[3 + k];
    how.shared = tail[6], how.seed = (unsigned long long)tail[7];
    void* p[64];
    for (int k = 0; k < count; ++k) p[k] = params + tail[8 + k];
    int failed = launch(called, p, how);
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
