"""The look at what asks a launch to end: see `strips` for where loops take it."""

from __future__ import annotations

from workbench.backends.cpu.emit.effects.reports import thread_index
from workbench.backends.cpu.emit.emitter import Emitter

WEIGHTS = '!1 = !{!"branch_weights", i32 1048575, i32 1}'


def look_seldom(emitter: Emitter, kind: str, count: str, turns: int, thread: bool = False) -> None:
    """Look once in so many turns, a power of two: as a rule not in the first one, so that short launches never do.

    Args:
        emitter: its block is open.
        kind: type of the count.
        count: the register with what counts turns, by one.
        turns: how many.
        thread: as for `look`.
    """
    if turns == 1:
        return look(emitter, thread)
    w = emitter.writer
    due, on = w.block_name("due"), w.block_name("on")
    bits = w.emit(f"and {kind} {count}, {turns - 1}")
    early = w.emit(f"icmp ne {kind} {bits}, {turns - 1}", "early")
    weights = ", !prof !1" if emitter.strips.few else ""  # among many loops they triple LLVM's time
    w.do(f"br i1 {early}, label %{on}, label %{due}{weights}")
    w.open(due)
    look(emitter, thread)
    w.jump(on)
    w.open(on)


def look(emitter: Emitter, thread: bool = False) -> None:
    """Look whether the launch is to end; what is written next is done where it is not.

    Args:
        emitter: its block is open.
        thread: a thread is done: an error says which.
    """
    w = emitter.writer
    ask, go = w.block_name("ask"), w.block_name("go")
    word = w.emit("load volatile i32, ptr %stop", "stop")
    calm = w.emit(f"icmp eq i32 {word}, 0", "calm")
    w.do(f"br i1 {calm}, label %{go}, label %{ask}, !prof !1")
    w.open(ask)
    if thread:
        address = w.once(("stop", "done"), "getelementptr inbounds i8, ptr %stop, i64 16")
        w.do(f"store i64 {thread_index(emitter)}, ptr {address}")
    decide = w.emit(f"load ptr, ptr {w.once(('stop', 'ask'), 'getelementptr inbounds i8, ptr %stop, i64 8')}")
    says = w.emit(f"call i32 {decide}(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)")
    w.branch(w.emit(f"icmp eq i32 {says}, 0"), go, "stopped")
    w.open(go)
