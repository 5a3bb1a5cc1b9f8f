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
