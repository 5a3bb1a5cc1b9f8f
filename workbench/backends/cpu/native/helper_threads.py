"""Helpers for one call: threads made, the caller at work beside them, all joined; text that two dispatchers share.

What helpers share begins as a `%stop` of their own (`stopping`): the caller alone asks whether to end, and tells them.
"""

from __future__ import annotations

_TEXT = """  br label %spawn
spawn:
  %n = phi i64 [ 0, %start ], [ %n.next, %made ]
  %more = icmp slt i64 %n, WANTED
  br i1 %more, label %make, label %help
make:
  %id = getelementptr inbounds i64, ptr %ids, i64 %n
  %started = call i1 @thread_start(ptr %id, ptr @WORK.helper, ptr %JOB)
  br i1 %started, label %made, label %help
made:
  %n.next = add i64 %n, 1
  br label %spawn
help:
  call void @WORK(ptr %JOB, ptr %stop)
  %status.at = getelementptr inbounds %JOB, ptr %JOB, i64 0, i32 STATUS
  %own = load i32, ptr %status.at
  %ended = icmp eq i32 %own, -1
  br i1 %ended, label %end, label %join
end:
  store volatile i32 1, ptr %JOB
  br label %join
join:
  %m = phi i64 [ 0, %help ], [ 0, %end ], [ %m, %look ], [ %m, %tell ], [ %m.next, %joined ]
  %left = icmp slt i64 %m, %n
  br i1 %left, label %wait, label %done
wait:
  %id.at = getelementptr inbounds i64, ptr %ids, i64 %m
  %id.joined = load i64, ptr %id.at
  %gone = getelementptr inbounds i8, ptr %JOB, i64 24
  %over = call i1 @joined(i64 %id.joined, ptr %gone, i64 %n)
  br i1 %over, label %joined, label %look
joined:
  %m.next = add i64 %m, 1
  br label %join
look:
  %stopped = call i1 @ends(ptr %stop)
  br i1 %stopped, label %tell, label %join
tell:
  store volatile i32 1, ptr %JOB
  %old = atomicrmw or ptr %status.at, i32 -1 monotonic
  br label %join
done:
  %status = load i32, ptr %status.at
  ret i32 %status
}

define internal ptr @WORK.helper(ptr %JOB) #0 {
  call void @WORK(ptr %JOB, ptr %JOB)
  %gone = getelementptr inbounds i8, ptr %JOB, i64 24
  %before = atomicrmw add ptr %gone, i64 1 release
  ret ptr null
}
"""


def crew(work: str, state: str, wanted: str, status: int) -> str:
    """The end of a function that has `wanted` helpers run `work`, runs it too, and gives the status they left.

    Args:
        work: name of the function `work(state, stop)` that each thread runs; it ends where it has left the status -1.
        state: name of the struct type, and of the register with its address, that threads share: first a `%stop`.
        wanted: name of the register with the number of helpers; their ids go to `%ids`.
        status: which field of the struct is the status.
    """
    names = {"WORK": work, "JOB": state, "WANTED": f"%{wanted}", "STATUS": str(status)}
    text = _TEXT
    for mark, name in names.items():
        text = text.replace(mark, name)
    return text
