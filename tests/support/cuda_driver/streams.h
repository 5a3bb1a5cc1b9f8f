// Streams, events and captures.
#pragma once
#include "state.h"

inline double clock_ms() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * now.tv_sec + 1e-6 * now.tv_nsec;
}

inline void flush() {
    if (driver.executes) driver.execute.flush();
}

// Refuse what may not be called while a stream is captured: anywhere with mode 0, by this thread with mode 1.
inline void unsafe(const char *doing) {
    for (const auto &capture : driver.captures)
        if (capture->mode == 0 || (capture->mode == 1 && capture->thread == std::this_thread::get_id())) {
            capture->spoiled = true;
            refuse(CAPTURE_UNSUPPORTED, std::string(doing) + " while a stream is captured");
        }
}

// A stream of the current device.
inline Stream &stream_of(const void *handle) {
    if ((uint64_t)handle <= 2) return *driver.legacy[here()];
    Stream *found = driver.as<Stream>(handle);
    expect(found->device == here(), "the stream is of another device than the current context", INVALID_HANDLE);
    return *found;
}

// The same, to have work queued in it.
inline Stream &queue(const void *handle) {
    Stream &stream = stream_of(handle);
    if (!stream.legacy) {
        if (stream.capture != nullptr && stream.capture->spoiled)
            refuse(CAPTURE_INVALIDATED, "the capture was invalidated by an earlier call");
        return stream;
    }
    for (const auto &capture : driver.captures)
        for (Stream *joined : capture->joined)
            if (joined->device == stream.device && (joined->flags & 1) == 0) {
                capture->spoiled = true;
                refuse(CAPTURE_IMPLICIT, "the default stream is used while a stream that waits for it is captured");
            }
    return stream;
}

inline Node *add_node(Graph *graph) {
    Node *node = driver.make<Node>(here());
    node->graph = graph;
    graph->nodes.push_back(node);
    return node;
}

// A node of the graph that the stream is captured into.
inline Node *captured(Stream &stream) {
    stream.seen[&stream]++;
    return add_node(stream.capture->graph);
}

// Do work now, or capture it.
template <class Work> void put(const void *handle, Work work) {
    Stream &stream = queue(handle);
    if (stream.capture == nullptr)
        work();
    else
        captured(stream)->work = work;
}

extern "C" {

Result cuStreamCreateWithPriority(const void **stream, uint32_t flags, int priority) {
    return call(__func__, true, [&] {
        expect((flags & ~1u) == 0, "unknown flags");
        Stream *made = driver.make<Stream>(here());
        made->flags = flags;
        made->priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
        *stream = made;
    });
}

Result cuStreamCreate(const void **stream, uint32_t flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
}

Result cuStreamDestroy_v2(const void *stream) {
    return call(__func__, true, [&] {
        expect(driver.as<Stream>(stream)->capture == nullptr, "a stream is destroyed while it is captured");
        driver.drop<Stream>(stream);
    });
}

}  // extern "C"

inline void waits(const void *handle, const char *doing) {
    Stream &stream = stream_of(handle);
    if (stream.capture != nullptr) {
        stream.capture->spoiled = true;
        refuse(CAPTURE_UNSUPPORTED, std::string(doing) + " a stream that is captured");
    }
    if (stream.legacy) queue(nullptr);
    unsafe(doing);
    flush();
}

extern "C" {

Result cuStreamQuery(const void *stream) {
    return call(__func__, true, [&] { waits(stream, "asking about"); });
}

Result cuStreamSynchronize(const void *stream) {
    return call(__func__, true, [&] { waits(stream, "waiting for"); });
}

Result cuStreamGetPriority(const void *stream, int *priority) {
    return call(__func__, true, [&] { *priority = stream_of(stream).priority; });
}

Result cuStreamGetFlags(const void *stream, uint32_t *flags) {
    return call(__func__, true, [&] { *flags = stream_of(stream).flags; });
}

// A stream that was made has a context whatever is current; the others are those of the current one.
Result cuStreamGetCtx(const void *stream, const void **context) {
    return call(__func__, (uint64_t)stream <= 2, [&] {
        int device = (uint64_t)stream <= 2 ? here() : driver.as<Stream>(stream)->device;
        *context = driver.contexts[device];
    });
}

Result cuStreamGetDevice(const void *stream, int *device) {
    return call(__func__, true, [&] {
        *device = (uint64_t)stream <= 2 ? here() : driver.as<Stream>(stream)->device;
    });
}

Result cuStreamGetId(const void *stream, uint64_t *id) {
    return call(__func__, true, [&] { *id = (uint64_t)&stream_of(stream); });
}

Result cuStreamWaitEvent(const void *stream, const void *event, uint32_t flags) {
    return call(__func__, true, [&] {
        Event *found = driver.as<Event>(event);
        expect(flags == 0, "unknown flags");
        Stream &waiting = queue(stream);
        if (found->capture == nullptr) {
            expect(waiting.capture == nullptr || !found->recorded,
                   "a captured stream waits for what is not captured", CAPTURE_UNSUPPORTED);
            return;
        }
        expect(!waiting.legacy, "the default stream joins a capture", CAPTURE_IMPLICIT);
        expect(waiting.capture == nullptr || waiting.capture == found->capture, "two captures would be merged",
               CAPTURE_UNSUPPORTED);
        waiting.capture = found->capture;
        found->capture->joined.insert(&waiting);
        for (const auto &one : found->seen)
            if (waiting.seen[one.first] < one.second) waiting.seen[one.first] = one.second;
    });
}

Result cuStreamIsCapturing(const void *stream, int *status) {
    return call(__func__, true, [&] {
        Stream &found = stream_of(stream);
        if (found.legacy) queue(stream);
        *status = found.capture == nullptr ? 0 : found.capture->spoiled ? 2 : 1;
    });
}

Result cuStreamBeginCapture_v2(const void *stream, int mode) {
    return call(__func__, true, [&] {
        Stream &found = stream_of(stream);
        expect(!found.legacy, "the default stream cannot be captured", CAPTURE_UNSUPPORTED);
        expect(found.capture == nullptr, "the stream is captured already");
        expect(mode >= 0 && mode <= 2, "unknown mode");
        auto made = std::make_shared<Capture>();
        made->origin = &found;
        made->mode = mode;
        made->thread = std::this_thread::get_id();
        made->graph = driver.make<Graph>(here());
        made->joined = {&found};
        found.capture = made;
        driver.captures.insert(made);
    });
}

}  // extern "C"

void drop_graph(Graph *graph);

extern "C" {

Result cuStreamEndCapture(const void *stream, const void **graph) {
    return call(__func__, true, [&] {
        Stream &found = stream_of(stream);
        *graph = nullptr;
        expect(found.capture != nullptr, "the stream is not captured");
        auto capture = found.capture;
        expect(capture->origin == &found, "the capture did not begin in this stream", CAPTURE_UNMATCHED);
        expect(capture->mode == 2 || capture->thread == std::this_thread::get_id(), "another thread began the capture",
               CAPTURE_WRONG_THREAD);
        bool joined = true;
        for (Stream *other : capture->joined) joined &= found.seen[other] == other->seen[other];
        for (Stream *other : capture->joined) {
            other->capture = nullptr;
            other->seen.clear();
        }
        driver.captures.erase(capture);
        if (capture->spoiled || !joined) {
            drop_graph(capture->graph);
            expect(!capture->spoiled, "the capture was invalidated by an earlier call", CAPTURE_INVALIDATED);
            refuse(CAPTURE_UNJOINED, "work of another stream was captured that the first one did not wait for");
        }
        *graph = capture->graph;
    });
}

Result cuEventCreate(const void **event, uint32_t flags) {
    return call(__func__, true, [&] {
        expect((flags & ~7u) == 0, "unknown flags");
        Event *made = driver.make<Event>(here());
        made->flags = flags;
        *event = made;
    });
}

Result cuEventDestroy_v2(const void *event) {
    return call(__func__, true, [&] { driver.drop<Event>(event); });
}

Result cuEventRecord(const void *event, const void *stream) {
    return call(__func__, true, [&] {
        Event *found = driver.as<Event>(event);
        expect(found->device == here(), "the event is of another device than the current context", INVALID_HANDLE);
        Stream &place = queue(stream);
        found->capture = place.capture;
        found->seen = place.seen;
        found->recorded = true;
        found->moment = clock_ms();
    });
}

}  // extern "C"

inline void over(const void *event) {
    Event *found = driver.as<Event>(event);
    expect(found->capture == nullptr || driver.captures.count(found->capture) == 0, "the event is captured",
           CAPTURE_UNSUPPORTED);
    unsafe("asking about an event");
    flush();
}

inline float elapsed(const void *from, const void *to) {
    Event *first = driver.as<Event>(from), *last = driver.as<Event>(to);
    expect(((first->flags | last->flags) & 2) == 0, "an event without timing", INVALID_HANDLE);
    expect(first->recorded && last->recorded, "an event that was never recorded", INVALID_HANDLE);
    return (float)(last->moment - first->moment);
}

extern "C" {

Result cuEventQuery(const void *event) {
    return call(__func__, true, [&] { over(event); });
}

Result cuEventSynchronize(const void *event) {
    return call(__func__, true, [&] { over(event); });
}

Result cuEventElapsedTime(float *ms, const void *from, const void *to) {
    return call(__func__, true, [&] { *ms = elapsed(from, to); });
}

Result cuEventElapsedTime_v2(float *ms, const void *from, const void *to) {
    return call(__func__, true, [&] { *ms = elapsed(from, to); });
}

}  // extern "C"
