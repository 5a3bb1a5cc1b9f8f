"""A look: the check whether a launch is to end. `emit/loops` says where loops make it."""

from __future__ import annotations

from workbench.backends.cpu.emit.effects.reports import thread_index
from workbench.backends.cpu.emit.emitter import Emitter


def look_seldom(emitter: Emitter, kind: str, count: str, turns: int, thread: bool = False) -> None:
    """Emit a check, made once in `turns` iterations, whether the launch is to end.

    As a rule the first iteration does not check, so short launches never do.

    Args:
        emitter: its block is open.
        kind: LLVM type of the count.
        count: the register that counts iterations by one.
        turns: the number of iterations, a power of two; with 1 each one checks.
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
    """Emit a check whether the launch is to end; code that is emitted next runs only where it goes on.

    Args:
        emitter: its block is open.
        thread: it stands at a thread's end, whose linear index is stored first, so that an error can name it.
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
