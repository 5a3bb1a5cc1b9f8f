"""The native scheduler of graphs: one call runs a whole table of work, branches and loops of it included.

A graph on the CPU is a list of steps. A step runs items (a kernel's entry over a range), shared over threads where that
pays, or it branches, or it loops, on an int32 that earlier steps may write; then its items are steps. Helpers are
threads of the step, so nothing outlives the call and no fork can break it. Without them the caller does all. A status
of -1 ends everything: the launch was stopped (`stopping`).
"""

from __future__ import annotations

from workbench.backends.cpu.native.helper_threads import crew

MAX_THREADS = 256
ITEM_WORDS = 6
"""Words of an item: entry, params, begin, end, fault record, threads between two looks."""
STEP_WORDS = 8
"""Words of a step: kind, items, how many, threads, condition, other items, how many, mask of `turns`."""
RUN, IF, WHILE = 0, 1, 2
"""Kinds of steps. `IF` runs its items where the condition is not 0 (or there is none), else the other items."""

_TEXT = """
%item = type { ptr, ptr, i64, i64, ptr, i64 }
%step = type { i64, ptr, i64, i64, ptr, ptr, i64, i64 }
%team = type { %stop, ptr, i64, i64, i32 }            ; for helpers; items, how many, the next one, status

define internal void @team_work(ptr %team, ptr %stop) #0 {
start:
  %items.at = getelementptr inbounds %team, ptr %team, i64 0, i32 1
  %count.at = getelementptr inbounds %team, ptr %team, i64 0, i32 2
  %next.at = getelementptr inbounds %team, ptr %team, i64 0, i32 3
  %status.at = getelementptr inbounds %team, ptr %team, i64 0, i32 4
  %items = load ptr, ptr %items.at
  %count = load i64, ptr %count.at
  br label %take
take:
  %n = atomicrmw add ptr %next.at, i64 1 monotonic
  %more = icmp slt i64 %n, %count
  br i1 %more, label %run, label %done
run:
  %code = call i32 @one(ptr %items, i64 %n, ptr %stop)
  %old = atomicrmw or ptr %status.at, i32 %code monotonic
  %broken = icmp eq i32 %code, -1
  br i1 %broken, label %done, label %take
done:
  ret void
}

define internal i32 @one(ptr %items, i64 %n, ptr %stop) #0 {
start:
  %end.now = call i1 @ends(ptr %stop)
  br i1 %end.now, label %stopped, label %run
stopped:
  ret i32 -1
run:
  %item = getelementptr inbounds %item, ptr %items, i64 %n
  %params.at = getelementptr inbounds %item, ptr %item, i64 0, i32 1
  %begin.at = getelementptr inbounds %item, ptr %item, i64 0, i32 2
  %end.at = getelementptr inbounds %item, ptr %item, i64 0, i32 3
  %fault.at = getelementptr inbounds %item, ptr %item, i64 0, i32 4
  %entry = load ptr, ptr %item
  %params = load ptr, ptr %params.at
  %begin = load i64, ptr %begin.at
  %end = load i64, ptr %end.at
  %fault = load ptr, ptr %fault.at
  %grain.at = getelementptr inbounds %item, ptr %item, i64 0, i32 5
  %grain = load i64, ptr %grain.at
  %code = call i32 @alone(ptr %entry, ptr %params, i64 %begin, i64 %end, i64 %grain, ptr %fault, ptr %stop)
  ret i32 %code
}

define internal i32 @in_turn(ptr %items, i64 %count, ptr %stop) #0 {
start:
  br label %head
head:
  %n = phi i64 [ 0, %start ], [ %n.next, %body ]
  %status = phi i32 [ 0, %start ], [ %status.next, %body ]
  %more = icmp slt i64 %n, %count
  %stopped = icmp eq i32 %status, -1
  %less = xor i1 %stopped, true
  %on = and i1 %more, %less
  br i1 %on, label %body, label %done
body:
  %code = call i32 @one(ptr %items, i64 %n, ptr %stop)
  %status.next = or i32 %status, %code
  %n.next = add i64 %n, 1
  br label %head
done:
  ret i32 %status
}

define i32 @wb_graph(ptr %steps, i64 %count, ptr %stop) #0 {
start:
  br label %head
head:
  %n = phi i64 [ 0, %start ], [ %n.next, %after ]
  %status = phi i32 [ 0, %start ], [ %status.next, %after ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %body, label %done
body:
  %step = getelementptr inbounds %step, ptr %steps, i64 %n
  %items.at = getelementptr inbounds %step, ptr %step, i64 0, i32 1
  %size.at = getelementptr inbounds %step, ptr %step, i64 0, i32 2
  %threads.at = getelementptr inbounds %step, ptr %step, i64 0, i32 3
  %cond.at = getelementptr inbounds %step, ptr %step, i64 0, i32 4
  %other.at = getelementptr inbounds %step, ptr %step, i64 0, i32 5
  %other.size.at = getelementptr inbounds %step, ptr %step, i64 0, i32 6
  %kind = load i64, ptr %step
  %items = load ptr, ptr %items.at
  %size = load i64, ptr %size.at
  %threads = load i64, ptr %threads.at
  %cond = load ptr, ptr %cond.at
  %other = load ptr, ptr %other.at
  %other.size = load i64, ptr %other.size.at
  %mask.at = getelementptr inbounds %step, ptr %step, i64 0, i32 7
  %mask = load i64, ptr %mask.at
  switch i64 %kind, label %run [ i64 1, label %if
                                 i64 2, label %while ]
run:
  %held = call i64 @hold(i64 %mask, ptr %stop)
  %no.turn = icmp slt i64 %held, 0
  br i1 %no.turn, label %stopped, label %go
go:
  %few = icmp slt i64 %threads, 2
  br i1 %few, label %alone, label %together
alone:
  %code.alone = call i32 @in_turn(ptr %items, i64 %size, ptr %stop)
  call void @drop(i64 %held)
  br label %after
together:
  %code.together = call i32 @team(ptr %items, i64 %size, i64 %threads, ptr %stop)
  call void @drop(i64 %held)
  br label %after
if:
  %always = icmp eq ptr %cond, null
  br i1 %always, label %yes, label %ask
ask:
  %value = load i32, ptr %cond
  %holds = icmp ne i32 %value, 0
  br i1 %holds, label %yes, label %no
yes:
  %code.yes = call i32 @wb_graph(ptr %items, i64 %size, ptr %stop)
  br label %after
no:
  %code.no = call i32 @wb_graph(ptr %other, i64 %other.size, ptr %stop)
  br label %after
while:
  %so.far = phi i32 [ 0, %body ], [ %so.far.next, %turn ]
  %now = load volatile i32, ptr %cond
  %on = icmp ne i32 %now, 0
  br i1 %on, label %again, label %after
again:
  %code.again = call i32 @wb_graph(ptr %items, i64 %size, ptr %stop)
  %so.far.next = or i32 %so.far, %code.again
  %broken = icmp eq i32 %code.again, -1
  br i1 %broken, label %stopped, label %look
look:
  %end.now = call i1 @ends(ptr %stop)
  br i1 %end.now, label %stopped, label %turn
turn:
  br label %while
stopped:
  ret i32 -1
after:
  %code = phi i32 [ %code.alone, %alone ], [ %code.together, %together ], [ %code.yes, %yes ], [ %code.no, %no ],
                  [ %so.far, %while ]
  %status.next = or i32 %status, %code
  %n.next = add i64 %n, 1
  %over = icmp eq i32 %code, -1
  br i1 %over, label %ended, label %head
ended:
  ret i32 -1
done:
  ret i32 %status
}
"""

_TEAM = """
define internal i32 @team(ptr %items, i64 %count, i64 %threads, ptr %stop) #0 {
start:
  %team = alloca %team
  %ids = alloca [MAX_THREADS x i64]
  %helpers.all = add i64 %threads, -1
  %many = icmp sgt i64 %helpers.all, MAX_THREADS
  %helpers = select i1 %many, i64 MAX_THREADS, i64 %helpers.all
  %team.0 = insertvalue %team zeroinitializer, %stop { i32 0, ptr @yes, i64 0, i64 0, i64 0 }, 0
  %team.items = insertvalue %team %team.0, ptr %items, 1
  %team.1 = insertvalue %team %team.items, i64 %count, 2
  store %team %team.1, ptr %team
CREW""".replace("CREW", crew("team_work", "team", "helpers", 4)).replace("MAX_THREADS", str(MAX_THREADS))

TEXT = _TEXT + _TEAM
"""The scheduler's LLVM IR: `wb_graph(steps, how many, stop)`."""
