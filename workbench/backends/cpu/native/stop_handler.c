// The native side of stopping.py: what launches look at, what decides, the handler that SIGINT comes by.
#include "launcher.h"

enum {
    RING = 8,         // words for calls of JAX, one after the other
    SOON = 50000,     // nanoseconds after its first look in which a launch does not ask who handles SIGINT
    PATIENCE = 300,   // milliseconds that the main thread has to leave XLA by itself; then its kernels end in an error
    CALLS = 16,       // threads on which JAX calls Python that are known at a time
    SIGINT_NUMBER = 2,
};

// Everything here is read while Python writes it, or the other way round.
typedef struct Facts {  // stopping.py writes them
    int64_t main;                   // the main thread
    void (*handler)(int32_t, void *, void *);  // Python's C handler of signals
    int64_t unused;
    PyObject *getsignal, *arguments, *default_handler;
    int64_t jax;                    // whether JAX is here
    volatile int64_t is_default;    // whether the handler of SIGINT is Python's default
    PyObject *is_wanted, *nothing;  // a function that knows whether an interrupt is to arrive, and its arguments
    int64_t called[CALLS];          // threads on which JAX calls Python
} Facts;

static int32_t ask(Stop *stop);
static int32_t ask_jax(Stop *stop);

static int32_t yes(Stop *stop) {  // of helpers, whose word is set when all is decided
    (void)stop;
    return 1;
}

static int32_t no(Stop *stop) {
    (void)stop;
    return 0;
}

Facts wb_facts;
Stop wb_main = {.decides = ask};
static Stop other_threads = {.decides = no};
static Stop ring[RING] = {{.decides = ask_jax}, {.decides = ask_jax}, {.decides = ask_jax}, {.decides = ask_jax},
                          {.decides = ask_jax}, {.decides = ask_jax}, {.decides = ask_jax}, {.decides = ask_jax}};
static int64_t turn;
Stop *volatile wb_jax = ring;    // where calls of JAX look that begin now
static volatile uint8_t asking;  // the main thread runs handlers in the middle of a launch

static bool on_main_thread(void) {
    return this_thread() == wb_facts.main;
}

static bool called_by_jax(void) {
    int64_t here = this_thread();
    for (int64_t n = 0; n < CALLS; n++)
        if (wb_facts.called[n] == here) return true;
    return false;
}

// What the calling thread's next launch looks at.
static Stop *begin(void) {
    if (!on_main_thread()) return called_by_jax() ? wb_jax : &other_threads;
    wb_main.begun = 1;
    wb_main.threads = 0;
    wb_main.began = 0;
    return &wb_main;
}

// A launch is over; what was stopped keeps its words, for the error to read.
static void over(Stop *stop, int32_t code) {
    if (code != STOPPED) stop->began = 0;
}

static int64_t last_asked;
static int32_t returned(void *unused);

static void on_signal(int32_t number, void *info, void *context) {
    wb_main.signalled = 1;
    if (wb_facts.is_default && wb_facts.jax) {
        wb_jax->begun = 1;
        python.Py_AddPendingCall(returned, NULL);
    }
    wb_facts.handler(number, info, context);
}

// Whether Python is to be asked: its handler stood where ours should. A `struct sigaction` begins with its handler on
// every system; the rest goes back as it came. Without one there is nothing to stand before: ten times a second.
bool wb_arm(void) {
    void *action[64];
    __builtin_memset(action, 0, sizeof action);
    if (!has_sigaction()) {
        int64_t time = now();
        if ((uint64_t)(time - last_asked) <= 100000000) return false;
        last_asked = time;
        return true;
    }
    sigaction(SIGINT_NUMBER, NULL, action);
    if (wb_facts.handler == NULL || action[0] != (void *)wb_facts.handler) return false;
    action[0] = on_signal;
    sigaction(SIGINT_NUMBER, action, NULL);
    return true;
}

// The main thread is back in Python: later calls of JAX look at another word.
static int32_t returned(void *unused) {
    (void)unused;
    turn = (turn + 1) % RING;
    ring[turn].word = 0;
    wb_jax = &ring[turn];
    return 0;
}

// Let Python handle signals: not 0 where a handler raises.
static int32_t handle(void) {
    wb_main.signalled = 0;
    asking = 1;
    int32_t held = python.PyGILState_Ensure();
    PyObject *handler = python.PyObject_Call(wb_facts.getsignal, wb_facts.arguments, NULL);
    wb_facts.is_default = handler == wb_facts.default_handler;
    python.Py_DecRef(handler);
    int32_t raised = python.PyErr_CheckSignals();
    python.PyGILState_Release(held);
    asking = 0;
    return raised;
}

// Of the main thread's launches. One that is over soon makes no call of the system.
static int32_t ask(Stop *stop) {
    bool fresh = false;
    if (stop->begun) {
        int64_t time = now();
        if (stop->began == 0) {
            stop->began = time;
        } else if ((uint64_t)(time - stop->began) > SOON) {
            stop->begun = !has_sigaction();
            fresh = wb_arm();
        }
    }
    return fresh || wb_main.signalled ? handle() : 0;
}

// The main thread is between two lines of Python, where an interrupt may arrive.
int32_t wb_arrive(void *unused) {
    (void)unused;
    PyObject *answer = python.PyObject_Call(wb_facts.is_wanted, wb_facts.nothing, NULL);
    if (answer == NULL) return -1;
    int32_t wanted = python.PyObject_IsTrue(answer);
    python.Py_DecRef(answer);
    if (wanted != 1) return 0;
    python.PyErr_SetNone(python.PyExc_KeyboardInterrupt);
    return -1;
}

// Of calls of JAX: their words are set where they are to end.
static int32_t ask_jax(Stop *stop) {
    if (on_main_thread()) {
        if (handle() != 0) {  // XLA raises its error first, and the interrupt comes after it
            int32_t held = python.PyGILState_Ensure();
            python.PyErr_Clear();
            python.PyGILState_Release(held);
            python.Py_AddPendingCall(wb_arrive, NULL);
        }
        return 1;
    }
    // The main thread may come back by itself, with the interrupt.
    for (int32_t n = 0; n < PATIENCE && wb_jax == stop; n++) nap(1000);
    return 1;
}
