// Threads one after the other, for texts in which none waits for another: no stacks, no switches. Nobody meets anybody
// here, so no warp is ever whole.
namespace wb_host {
struct Alone { unsigned int arrived; Word value; };
static Alone alone;
static Alone& meet(unsigned int mask, int, int, const void* value, unsigned int size) {
    alone.arrived = mask;
    memcpy(alone.value.bytes, value, size);
    return alone;
}
template <typename T> static T brought(const Alone& m, unsigned int) {
    T value;
    memcpy((void*)&value, m.value.bytes, sizeof(T));
    return value;
}
static void leave(Alone&) {}
static int barrier(int, int vote) { return vote != 0; }
static unsigned int active(int) { return 1U << lane(); }
static void pause() {}

static void run_blocks(void (*called)(void**), void** p, const Launch& how, unsigned long long random) {
    count = (int)(blockDim.x * blockDim.y * blockDim.z);
    int order[1024];
    for (int k = 0; k < count; ++k) order[k] = k;
    unsigned int wide = blockDim.x, high = blockDim.y;
    for (unsigned int z = 0; z < gridDim.z; ++z)
        for (unsigned int y = 0; y < gridDim.y; ++y)
            for (unsigned int x = 0; x < gridDim.x; ++x) {
                blockIdx = {x, y, z};
                new_shared(how);
                if (random) shuffle(order, count, random);
                for (int k = 0; k < count; ++k) {
                    unsigned int n = (unsigned int)order[k];
                    threadIdx = {n % wide, n / wide % high, n / wide / high};
                    called(p);
                }
            }
}
}
