// `cp.async` on the CPU: a copy is done when the thread that began it waits for it, not before, so that a wait or a
// barrier that is missing shows. What a thread never waited for is dropped with its block.
namespace wb_host {
struct Copy { void* to; const void* from; };
struct Copies { Copy* list; unsigned int count, room, block; };
static Copies pending[1024];

static Copies& own_copies() {
    Copies& mine = pending[threadIdx.x];
    if (mine.block != blockIdx.x + 1) mine.count = 0;
    mine.block = blockIdx.x + 1;
    return mine;
}
static void copy_later(void* to, const void* from) {
    Copies& mine = own_copies();
    if (mine.count == mine.room) mine.list = (Copy*)__builtin_realloc(mine.list, (mine.room = 2 * mine.room + 16) * sizeof(Copy));
    mine.list[mine.count++] = {to, from};
}
static void copies_arrive() {
    Copies& mine = own_copies();
    for (unsigned int n = 0; n < mine.count; ++n) memcpy(mine.list[n].to, mine.list[n].from, 16);
    mine.count = 0;
}
}
