"""The native scheduler of graphs: one call runs a whole table of work, branches and loops of it included.

A graph on the CPU is a list of steps. A step runs items (a kernel's entry over a range), shared over threads where that
pays, or it branches, or it loops, on an int32 that earlier steps may write; then its items are steps. Helpers are
threads of the step, so nothing outlives the call and no fork can break it. Without them the caller does all. A status
of -1 ends everything: a signal has come.
"""

from __future__ import annotations

from workbench.backends.cpu.crew import crew

MAX_THREADS = 256
ITEM_WORDS = 5
"""Words of an item: entry, params, begin, end, fault record."""
STEP_WORDS = 8
"""Words of a step: kind, items, how many, threads, condition, other items, how many, mask of `turns`."""
RUN, IF, WHILE = 0, 1, 2
"""Kinds of steps. `IF` runs its items where the condition is not 0 (or there is none), else the other items."""

_TEXT = """
%item = type { ptr, ptr, i64, i64, ptr }
%step = type { i64, ptr, i64, i64, ptr, ptr, i64, i64 }
%team = type { ptr, i64, i64, i32 }

define internal ptr @team_work(ptr %team) #0 {
start:
  %items = load ptr, ptr %team
  %count.at = getelementptr inbounds %team, ptr %team, i64 0, i32 1
  %next.at = getelementptr inbounds %team, ptr %team, i64 0, i32 2
  %status.at = getelementptr inbounds %team, ptr %team, i64 0, i32 3
  %count = load i64, ptr %count.at
  br label %take
take:
  %n = atomicrmw add ptr %next.at, i64 1 monotonic
  %more = icmp slt i64 %n, %count
  br i1 %more, label %run, label %done
run:
  %code = call i32 @one(ptr %items, i64 %n)
  %old = atomicrmw or ptr %status.at, i32 %code monotonic
  br label %take
done:
  ret ptr null
}

define internal i32 @one(ptr %items, i64 %n) #0 {
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
  %code = call i32 %entry(ptr %params, i64 %begin, i64 %end, ptr %fault)
  ret i32 %code
}

define internal i32 @in_turn(ptr %items, i64 %count) #0 {
start:
  br label %head
head:
  %n = phi i64 [ 0, %start ], [ %n.next, %body ]
  %status = phi i32 [ 0, %start ], [ %status.next, %body ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %body, label %done
body:
  %code = call i32 @one(ptr %items, i64 %n)
  %status.next = or i32 %status, %code
  %n.next = add i64 %n, 1
  br label %head
done:
  ret i32 %status
}

define i32 @wb_graph(ptr %steps, i64 %count, ptr %held) #0 {
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
  call void @hold(i64 %mask)
  %few = icmp slt i64 %threads, 2
  br i1 %few, label %alone, label %together
alone:
  %code.alone = call i32 @in_turn(ptr %items, i64 %size)
  call void @drop(i64 %mask)
  br label %after
together:
  %code.together = call i32 @team(ptr %items, i64 %size, i64 %threads)
  call void @drop(i64 %mask)
  br label %after
if:
  %always = icmp eq ptr %cond, null
  br i1 %always, label %yes, label %ask
ask:
  %value = load i32, ptr %cond
  %holds = icmp ne i32 %value, 0
  br i1 %holds, label %yes, label %no
yes:
  %code.yes = call i32 @wb_graph(ptr %items, i64 %size, ptr %held)
  br label %after
no:
  %code.no = call i32 @wb_graph(ptr %other, i64 %other.size, ptr %held)
  br label %after
while:
  %so.far = phi i32 [ 0, %body ], [ %so.far.next, %turn ]
  %now = load volatile i32, ptr %cond
  %on = icmp ne i32 %now, 0
  br i1 %on, label %again, label %after
again:
  %code.again = call i32 @wb_graph(ptr %items, i64 %size, ptr %held)
  %so.far.next = or i32 %so.far, %code.again
  %broken = icmp eq i32 %code.again, -1
  br i1 %broken, label %stopped, label %look
look:
  %go.on = call i1 @ask(ptr %held)
  br i1 %go.on, label %turn, label %stopped
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
define internal i32 @team(ptr %items, i64 %count, i64 %threads) #0 {
start:
  %team = alloca %team
  %ids = alloca [MAX_THREADS x i64]
  %helpers.all = add i64 %threads, -1
  %many = icmp sgt i64 %helpers.all, MAX_THREADS
  %helpers = select i1 %many, i64 MAX_THREADS, i64 %helpers.all
  %team.0 = insertvalue %team zeroinitializer, ptr %items, 0
  %team.1 = insertvalue %team %team.0, i64 %count, 1
  store %team %team.1, ptr %team
CREW""".replace("CREW", crew("team_work", "team", "helpers", 3)).replace("MAX_THREADS", str(MAX_THREADS))

TEXT = _TEXT + _TEAM
"""The scheduler's LLVM IR: `wb_graph(steps, how many, what holds the Python thread)`, beside `fastcall`'s."""
