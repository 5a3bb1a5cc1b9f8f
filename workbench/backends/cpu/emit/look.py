"""The look at what asks a launch to end: see `strips` for where loops take it."""

from __future__ import annotations

from workbench.backends.cpu.emit.emitter import Emitter

WEIGHTS = '!1 = !{!"branch_weights", i32 1048575, i32 1}'


def look(emitter: Emitter, done: str = "") -> None:
    """Look whether the launch is to end; what is written next is done where it is not.

    Args:
        emitter: its block is open.
        done: the linear index that all threads so far lie below, as i64, for those who watch; empty in inner loops.
    """
    w = emitter.writer
    ask, go = w.block_name("ask"), w.block_name("go")
    if done:
        w.do(f"store i64 {done}, ptr {w.once(('stop', 'done'), 'getelementptr inbounds i8, ptr %stop, i64 16')}")
    word = w.emit("load volatile i32, ptr %stop", "stop")
    calm = w.emit(f"icmp eq i32 {word}, 0", "calm")
    w.do(f"br i1 {calm}, label %{go}, label %{ask}, !prof !1")
    w.open(ask)
    decide = w.emit(f"load ptr, ptr {w.once(('stop', 'ask'), 'getelementptr inbounds i8, ptr %stop, i64 8')}")
    says = w.emit(f"call i32 {decide}(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)")
    w.branch(w.emit(f"icmp eq i32 {says}, 0"), go, "stopped")
    w.open(go)
