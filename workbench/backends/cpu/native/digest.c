// A digest of bytes, by which a change of memory is noticed that nobody has reported (digest.py). Memories that differ in
// one word have different digests, since each step is a bijection of its lane; of other changes 1 in 2^64 is missed.
#include <stdint.h>

// Several streams of words, and requests ahead of them, keep more of the memory's lines on their way than one does.
enum { STREAMS = 4, LANES = 8, LINE = 64, AHEAD = 2048 };

// Vectors rather than loops over lanes, which LLVM left scalar.
typedef uint64_t lanes __attribute__((vector_size(LINE)));
typedef lanes line __attribute__((aligned(1)));  // at any address

// The factor is odd, so the product is a bijection; the shift brings its high bits down. It has 32 bits, for vector units
// that lack products of 64.
#define MIXED(value) ((value) ^ (value) >> 32)
#define FACTOR 0x9E3779B1u
#define START 0x9E3779B97F4A7C15u

static inline uint64_t mixed(uint64_t value) {
    value *= FACTOR;
    return MIXED(value);
}

static inline void take(lanes *state, const char *at) {
    __builtin_prefetch(at + AHEAD);
    lanes value = (*state ^ *(const line *)at) * FACTOR;
    *state = MIXED(value);
}

uint64_t wb_digest(const char *bytes, int64_t count) {
    lanes first = {1, 2, 3, 4, 5, 6, 7, 8};
    lanes a = first * START, b = (first + LANES) * START, c = (first + 2 * LANES) * START, d = (first + 3 * LANES) * START;
    int64_t each = count / (STREAMS * LINE) * LINE;
    for (const char *at = bytes; at < bytes + each; at += LINE) {
        take(&a, at);
        take(&b, at + each);
        take(&c, at + 2 * each);
        take(&d, at + 3 * each);
    }
    lanes states[STREAMS] = {a, b, c, d};
    uint64_t result = (uint64_t)count * START;
    for (int stream = 0; stream < STREAMS; stream++)
        for (int lane = 0; lane < LANES; lane++) result = mixed(result ^ states[stream][lane]);
    for (int64_t at = STREAMS * each; at < count; at++) result = mixed(result ^ (uint8_t)bytes[at]);
    return result;
}
