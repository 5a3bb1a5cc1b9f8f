"""Helpers for one call: threads made, the caller at work beside them, all joined; text that two dispatchers share."""

from __future__ import annotations

_TEXT = """  br label %spawn
spawn:
  %n = phi i64 [ 0, %start ], [ %n.next, %made ]
  %more = icmp slt i64 %n, WANTED
  br i1 %more, label %make, label %help
make:
  %id = getelementptr inbounds i64, ptr %ids, i64 %n
  %started = call i1 @thread_start(ptr %id, ptr @WORK, ptr %JOB)
  br i1 %started, label %made, label %help
made:
  %n.next = add i64 %n, 1
  br label %spawn
help:
  %self = call ptr @WORK(ptr %JOB)
  br label %join
join:
  %m = phi i64 [ 0, %help ], [ %m.next, %wait ]
  %left = icmp slt i64 %m, %n
  br i1 %left, label %wait, label %done
wait:
  %id.at = getelementptr inbounds i64, ptr %ids, i64 %m
  %id.joined = load i64, ptr %id.at
  call void @thread_join(i64 %id.joined)
  %m.next = add i64 %m, 1
  br label %join
done:
  %status.at = getelementptr inbounds %JOB, ptr %JOB, i64 0, i32 STATUS
  %status = load i32, ptr %status.at
  ret i32 %status
}
"""


def crew(work: str, state: str, wanted: str, status: int) -> str:
    """The end of a function that has `wanted` helpers run `work`, runs it too, and gives the status they left.

    Args:
        work: name of the function that each thread runs.
        state: name of the struct type, and of the register with its address, that each thread is given.
        wanted: name of the register with the number of helpers; their ids go to `%ids`.
        status: which field of the struct is the status.
    """
    names = {"WORK": work, "JOB": state, "WANTED": f"%{wanted}", "STATUS": str(status)}
    text = _TEXT
    for mark, name in names.items():
        text = text.replace(mark, name)
    return text
