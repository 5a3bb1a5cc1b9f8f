// One module of all that the launcher is; `.ci/generate_native.py` makes its LLVM IR.
#include "launcher.h"

#include "stop_handler.c"
#include "memory_locks.c"
#include "helper_threads.c"
#include "dispatch.c"
#include "schedule.c"
#include "fastcall.c"
#include "queue.c"
