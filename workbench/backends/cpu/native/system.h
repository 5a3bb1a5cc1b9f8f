// What native code asks of the operating system. `systems.py` defines these for each platform in LLVM IR, and the
// generated IR of the files that include this leaves them out. Only fixed-width types: `long` and `size_t` differ.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t now(void);          // nanoseconds, the clock of time.perf_counter
void give_way(void);        // lets another thread have this core
void nap(int32_t microseconds);
int64_t this_thread(void);

// Lets this thread compute with subnormal numbers; the mode that it had, for `floats_as`.
int64_t plain_floats(void);
void floats_as(int64_t mode);

bool thread_start(int64_t *id, void *(*work)(void *state), void *state);

// Waits a while for a helper; whether it has ended. `gone` counts those that have left their work, of `all`.
bool joined(int64_t id, int64_t *gone, int64_t all);

bool has_sigaction(void);   // whether the system has handlers of signals; without, `sigaction` does nothing
int32_t sigaction(int32_t signal, const void *action, void *before);

int32_t snprintf(char *to, int64_t size, const char *format, ...);
void *malloc(int64_t bytes);
void free(void *memory);
