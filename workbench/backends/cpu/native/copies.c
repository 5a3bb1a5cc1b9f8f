// Copies, fills and sums of arrays as entries (copies.py). An element is `count` scalars side by side; a fill is a copy
// whose source has steps of 0.
#include "workbench/backends/cpu/native/stop.h"

enum { AXES = 4 };

typedef struct Copy {
    char *target;
    const char *source;
    int64_t count;
    int64_t dense;  // whether both lie densely
    int64_t sizes[AXES];
    int64_t target_strides[AXES], source_strides[AXES];  // bytes
    int64_t step;   // of the source's scalars
} Copy;

// Where element n begins, counted in row-major order: its bytes from an array's start.
static inline int64_t place(const Copy *copy, const int64_t *strides, uint64_t n) {
    int64_t bytes = 0;
#pragma clang loop unroll(full)
    for (int axis = AXES - 1; axis >= 0; axis--) {
        bytes += (int64_t)(n % (uint64_t)copy->sizes[axis]) * strides[axis];
        n /= (uint64_t)copy->sizes[axis];
    }
    return bytes;
}

// Scalars may lie at any address.
typedef uint8_t i8 __attribute__((aligned(1)));
typedef uint16_t i16 __attribute__((aligned(1)));
typedef uint32_t i32 __attribute__((aligned(1)));
typedef uint64_t i64 __attribute__((aligned(1)));
typedef float f32 __attribute__((aligned(1)));
typedef double f64 __attribute__((aligned(1)));

typedef void Move(char *to, const char *from, int64_t begin, int64_t end, int64_t step);

// Elements [begin, end), their scalars moved by `move`; in the place where it is called, so that loops are of one type.
__attribute__((always_inline)) static inline int32_t moved(const Copy *restrict copy, int64_t begin, int64_t end,
                                                           Move *move) {
    char *target = copy->target;
    const char *source = copy->source;
    if (copy->dense) {
        move(target, source, begin * copy->count, end * copy->count, copy->step);
        return 0;
    }
    for (int64_t n = begin; n < end; n++)
        move(target + place(copy, copy->target_strides, n), source + place(copy, copy->source_strides, n), 0,
             copy->count, copy->step);
    return 0;
}

#define ENTRY(name, type, assign)                                                                                    \
    static inline void name##_scalars(char *to, const char *from, int64_t begin, int64_t end, int64_t step) {       \
        for (int64_t n = begin; n < end; n++) ((type *)to)[n] assign ((const type *)from)[n * step];                 \
    }                                                                                                                \
    int32_t name(const Copy *restrict copy, int64_t begin, int64_t end, Fault *fault, Stop *stop,                    \
                 int64_t *sums) {                                                                                    \
        (void)fault, (void)stop, (void)sums;                                                                         \
        return moved(copy, begin, end, name##_scalars);                                                              \
    }

ENTRY(wb_copy_i8, i8, =)
ENTRY(wb_copy_i16, i16, =)
ENTRY(wb_copy_i32, i32, =)
ENTRY(wb_copy_i64, i64, =)
ENTRY(wb_add_i8, i8, +=)
ENTRY(wb_add_i16, i16, +=)
ENTRY(wb_add_i32, i32, +=)
ENTRY(wb_add_i64, i64, +=)
ENTRY(wb_add_float, f32, +=)
ENTRY(wb_add_double, f64, +=)
