; Running: a range of points on this thread, or shared with XLA's threads.

; Let the buffer point at batch %batch: arrays by address, scalars by value.
define private void @point(ptr %call, ptr %buffer, i64 %batch) {
entry:
  %kernel = load ptr, ptr %call
  %count = call i64 @field(ptr %kernel, i64 2)
  %table.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 9
  %table = load ptr, ptr %table.at
  %axes.at = getelementptr %Call, ptr %call, i64 0, i32 3
  %axes = load i64, ptr %axes.at
  br label %params
params:
  %index = phi i64 [ 0, %entry ], [ %index.next, %param.done ]
  %more = icmp slt i64 %index, %count
  br i1 %more, label %param.start, label %done
param.start:
  %param = getelementptr %Param, ptr %table, i64 %index
  %bound = call ptr @bound(ptr %call, i64 %index)
  %data = load ptr, ptr %bound
  br label %axis
axis:
  %left = phi i64 [ %axes, %param.start ], [ %at, %axis.step ]
  %rest = phi i64 [ %batch, %param.start ], [ %rest.next, %axis.step ]
  %shift = phi i64 [ 0, %param.start ], [ %shift.next, %axis.step ]
  %axis.more = icmp sgt i64 %left, 0
  br i1 %axis.more, label %axis.step, label %place
axis.step:
  %at = sub i64 %left, 1
  %size.at = getelementptr %Call, ptr %call, i64 0, i32 4, i64 %at
  %size = load i64, ptr %size.at
  %position = urem i64 %rest, %size
  %rest.next = udiv i64 %rest, %size
  %step.at = getelementptr %Bound, ptr %bound, i64 0, i32 1, i64 %at
  %step = load i64, ptr %step.at
  %moved = mul i64 %position, %step
  %shift.next = add i64 %shift, %moved
  br label %axis
place:
  %address = getelementptr i8, ptr %data, i64 %shift
  %offset = call i64 @field(ptr %param, i64 9)
  %slot = getelementptr i8, ptr %buffer, i64 %offset
  %kind = call i64 @field(ptr %param, i64 1)
  %scalar = icmp eq i64 %kind, 1
  br i1 %scalar, label %copy, label %refer
copy:
  %bytes = call i64 @field(ptr %param, i64 8)
  call void @llvm.memcpy.p0.p0.i64(ptr %slot, ptr %address, i64 %bytes, i1 false)
  br label %param.done
refer:
  store ptr %address, ptr %slot
  br label %param.done
param.done:
  %index.next = add i64 %index, 1
  br label %params
done:
  ret void
}

; Run the points [%start, %until.point) of all batches in a row, a strip at a time; %buffer is this thread's own. -1 where it was ended.
define private i32 @run(ptr %call, ptr %buffer, i64 %start, i64 %until.point, ptr %stop) {
entry:
  %kernel = load ptr, ptr %call
  %entry.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 1
  %kernel.entry = load ptr, ptr %entry.at
  %points = call i64 @field(ptr %call, i64 1)
  %axes = call i64 @field(ptr %call, i64 3)
  %strip = call i64 @field(ptr %kernel, i64 12)
  %record = alloca [7 x i64]                            ; of code with checks (fault.ll)
  br label %next
next:
  %point = phi i64 [ %start, %entry ], [ %point.next, %look ]
  %more = icmp slt i64 %point, %until.point
  br i1 %more, label %step, label %done
step:                                                 ; a launch without batches needs no division
  %alone = icmp eq i64 %axes, 0
  br i1 %alone, label %launch, label %divide
divide:
  %quotient = udiv i64 %point, %points
  br label %launch
launch:
  %batch = phi i64 [ 0, %step ], [ %quotient, %divide ]
  call void @point(ptr %call, ptr %buffer, i64 %batch)
  %before = mul i64 %batch, %points
  %begin = sub i64 %point, %before
  %until = sub i64 %until.point, %before
  %far = add i64 %begin, %strip
  %least = call i64 @llvm.smin.i64(i64 %until, i64 %points)
  %end = call i64 @llvm.smin.i64(i64 %least, i64 %far)
  store i64 0, ptr %record
  %status = call i32 %kernel.entry(ptr %buffer, i64 %begin, i64 %end, ptr %record, ptr %stop)
  %faults = load i64, ptr %record
  %fine = icmp eq i64 %faults, 0
  br i1 %fine, label %ran, label %fault
fault:
  call void @note_fault(ptr %call, ptr %record, i64 %batch)
  br label %ran
ran:
  %point.next = add i64 %before, %end
  %broken = icmp eq i32 %status, -1
  br i1 %broken, label %ended, label %look
look:
  %end.now = call i1 @ends(ptr %stop)
  br i1 %end.now, label %ended, label %next
ended:
  ret i32 -1
done:
  ret i32 0
}

; What one thread does: draw chunks until none is left, then leave.
define private void @work(ptr %call) {
  call void @draw(ptr %call)
  call void @leave(ptr %call)
  ret void
}

; Draw chunks until none is left; of a call that was ended they are counted and not run. Who ends the last one tells XLA,
; where it waits for a future.
define private void @draw(ptr %call) {
entry:
  %kernel = load ptr, ptr %call
  %bytes = call i64 @field(ptr %kernel, i64 6)
  %buffer = alloca i8, i64 %bytes, align 16
  %template = call ptr @buffer_of(ptr %call)
  call void @llvm.memcpy.p0.p0.i64(ptr %buffer, ptr %template, i64 %bytes, i1 false)
  %total = call i64 @field(ptr %call, i64 2)
  %chunk.at = getelementptr %Call, ptr %call, i64 0, i32 5
  %chunk = load i64, ptr %chunk.at
  %next.at = getelementptr %Call, ptr %call, i64 0, i32 6
  %done.at = getelementptr %Call, ptr %call, i64 0, i32 7
  %future.at = getelementptr %Call, ptr %call, i64 0, i32 10
  %future = load ptr, ptr %future.at
  %waited = icmp eq ptr %future, null
  %ended.at = getelementptr %Call, ptr %call, i64 0, i32 13
  %look.at.at = getelementptr %Call, ptr %call, i64 0, i32 14
  %look.at = load ptr, ptr %look.at.at
  br label %next
next:
  %start = atomicrmw add ptr %next.at, i64 %chunk monotonic
  %left = icmp slt i64 %start, %total
  br i1 %left, label %do, label %out
do:
  %far = add i64 %start, %chunk
  %stop = call i64 @llvm.smin.i64(i64 %far, i64 %total)
  %ended = load atomic i64, ptr %ended.at monotonic, align 8
  %on = icmp eq i64 %ended, 0
  br i1 %on, label %run, label %count
run:
  %status = call i32 @run(ptr %call, ptr %buffer, i64 %start, i64 %stop, ptr %look.at)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %count, label %end
end:
  store atomic i64 -1, ptr %ended.at monotonic, align 8
  br label %count
count:
  %amount = sub i64 %stop, %start
  %before = atomicrmw add ptr %done.at, i64 %amount acq_rel
  %after = add i64 %before, %amount
  %last = icmp eq i64 %after, %total
  br i1 %last, label %over, label %next
over:
  br i1 %waited, label %out, label %announce
announce:
  %api.at = getelementptr %Call, ptr %call, i64 0, i32 9
  %api = load ptr, ptr %api.at
  %problem = call ptr @error_when_over(ptr %api, ptr %call)
  %good = icmp eq ptr %problem, null
  br i1 %good, label %available, label %broken
broken:
  call void @fail(ptr %api, ptr %future, ptr %problem)
  br label %out
available:
  %filled = insertvalue %FutureSetAvailable { i64 24, ptr null, ptr null }, ptr %future, 2
  %arguments = alloca %FutureSetAvailable
  store %FutureSetAvailable %filled, ptr %arguments
  %set.at = getelementptr %Api, ptr %api, i64 0, i32 4, i64 14
  %set = load ptr, ptr %set.at
  %error = call ptr %set(ptr %arguments)
  %ignored = call i1 @failed(ptr %api, ptr %error)
  br label %out
out:
  ret void
}

; The error of a call whose threads are through: it was ended, or something in it went wrong; null where all is well.
define private ptr @error_when_over(ptr %api, ptr %call) {
entry:
  %ended.at = getelementptr %Call, ptr %call, i64 0, i32 13
  %ended = load atomic i64, ptr %ended.at monotonic, align 8
  %whole = icmp eq i64 %ended, 0
  br i1 %whole, label %ran, label %stopped
ran:
  %fault = call ptr @fault_error(ptr %api, ptr %call)
  ret ptr %fault
stopped:
  %kernel = load ptr, ptr %call
  %error = call ptr @cancelled(ptr %api, ptr %kernel)
  ret ptr %error
}

; Tell XLA that what waits for the future has failed; the error is XLA's then.
define private void @fail(ptr %api, ptr %future, ptr %error) cold noinline {
  %with.future = insertvalue %FutureSetError { i64 32, ptr null, ptr null, ptr null }, ptr %future, 2
  %filled = insertvalue %FutureSetError %with.future, ptr %error, 3
  %arguments = alloca %FutureSetError
  store %FutureSetError %filled, ptr %arguments
  %set.at = getelementptr %Api, ptr %api, i64 0, i32 4, i64 15
  %set = load ptr, ptr %set.at
  %refused = call ptr %set(ptr %arguments)
  %ignored = call i1 @failed(ptr %api, ptr %refused)
  ret void
}

; Who leaves last frees the call's memory.
define private void @leave(ptr %call) {
entry:
  %holders.at = getelementptr %Call, ptr %call, i64 0, i32 8
  %holders = atomicrmw sub ptr %holders.at, i64 1 acq_rel
  %alone = icmp eq i64 %holders, 1
  br i1 %alone, label %release, label %out
release:
  call void @free(ptr %call)
  br label %out
out:
  ret void
}

; Wait for the chunks that other threads are running just now; all are drawn already.
define private void @wait(ptr %call) {
entry:
  %total = call i64 @field(ptr %call, i64 2)
  %done.at = getelementptr %Call, ptr %call, i64 0, i32 7
  br label %look
look:
  %tries = phi i64 [ 0, %entry ], [ %tries.next, %again ], [ %tries, %yield ]
  %done = load atomic i64, ptr %done.at acquire, align 8
  %over = icmp eq i64 %done, %total
  br i1 %over, label %out, label %more
more:
  %patient = icmp slt i64 %tries, 1000
  br i1 %patient, label %again, label %yield
again:
  %tries.next = add i64 %tries, 1
  br label %look
yield:
  call void @give_way()
  br label %look
out:
  ret void
}

; XLA's threads for this call; 1 where it has no pool.
define private i64 @threads(ptr %frame, ptr %api) {
  %ctx.at = getelementptr %Frame, ptr %frame, i64 0, i32 3
  %ctx = load ptr, ptr %ctx.at
  %count = alloca i64
  store i64 1, ptr %count
  %with.ctx = insertvalue %PoolNumThreads { i64 32, ptr null, ptr null, ptr null }, ptr %ctx, 2
  %filled = insertvalue %PoolNumThreads %with.ctx, ptr %count, 3
  %arguments = alloca %PoolNumThreads
  store %PoolNumThreads %filled, ptr %arguments
  %ask.at = getelementptr %Api, ptr %api, i64 0, i32 4, i64 12
  %ask = load ptr, ptr %ask.at
  %error = call ptr %ask(ptr %arguments)
  %bad = call i1 @failed(ptr %api, ptr %error)
  %found = load i64, ptr %count
  %threads = select i1 %bad, i64 1, i64 %found
  ret i64 %threads
}

; A new future for the frame; null where XLA gives none.
define private ptr @future(ptr %api) {
  %arguments = alloca %FutureCreate
  store %FutureCreate { i64 24, ptr null, ptr null }, ptr %arguments
  %create.at = getelementptr %Api, ptr %api, i64 0, i32 4, i64 13
  %create = load ptr, ptr %create.at
  %error = call ptr %create(ptr %arguments)
  %bad = call i1 @failed(ptr %api, ptr %error)
  %future.at = getelementptr %FutureCreate, ptr %arguments, i64 0, i32 2
  %made = load ptr, ptr %future.at
  %future = select i1 %bad, ptr null, ptr %made
  ret ptr %future
}

; Share the call among threads; false where that cannot be, and nothing has run. A call without a future is waited for,
; and its error stands at %error.to.
define private i1 @share(ptr %frame, ptr %call, i64 %bytes, i64 %grain, ptr %stop, ptr %error.to) {
entry:
  store ptr null, ptr %error.to
  %api.at = getelementptr %Frame, ptr %frame, i64 0, i32 2
  %api = load ptr, ptr %api.at
  %threads = call i64 @threads(ptr %frame, ptr %api)
  %several = icmp sgt i64 %threads, 1
  br i1 %several, label %plan, label %alone
alone:
  ret i1 false
plan:                                                 ; four chunks a thread, none below a quarter of the grain
  %total = call i64 @field(ptr %call, i64 2)
  %parts = mul i64 %threads, 4
  %even = udiv i64 %total, %parts
  %even.up = add i64 %even, 1
  %least = udiv i64 %grain, 4
  %least.up = add i64 %least, 1
  %chunk = call i64 @llvm.smax.i64(i64 %even.up, i64 %least.up)
  %chunks.low = udiv i64 %total, %chunk
  %chunks = add i64 %chunks.low, 1
  %holders = call i64 @llvm.smin.i64(i64 %threads, i64 %chunks)
  %struct.size = load i64, ptr %frame
  %step = icmp eq i64 %struct.size, 0
  br i1 %step, label %allocate, label %ask
ask:
  %future.given = call ptr @future(ptr %api)
  %no.future = icmp eq ptr %future.given, null
  br i1 %no.future, label %alone, label %promise
promise:
  %frame.future = getelementptr %Frame, ptr %frame, i64 0, i32 8
  store ptr %future.given, ptr %frame.future
  br label %allocate
allocate:
  %future = phi ptr [ null, %plan ], [ %future.given, %promise ]
  %job = call ptr @malloc(i64 %bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %job, ptr %call, i64 %bytes, i1 false)
  %chunk.at = getelementptr %Call, ptr %job, i64 0, i32 5
  store i64 %chunk, ptr %chunk.at
  %next.at = getelementptr %Call, ptr %job, i64 0, i32 6
  store i64 0, ptr %next.at
  %done.at = getelementptr %Call, ptr %job, i64 0, i32 7
  store i64 0, ptr %done.at
  %holders.at = getelementptr %Call, ptr %job, i64 0, i32 8
  store i64 %holders, ptr %holders.at
  %ended.at = getelementptr %Call, ptr %job, i64 0, i32 13
  store i64 0, ptr %ended.at
  %stop.at = getelementptr %Call, ptr %job, i64 0, i32 14
  store ptr %stop, ptr %stop.at
  %job.api.at = getelementptr %Call, ptr %job, i64 0, i32 9
  store ptr %api, ptr %job.api.at
  %job.future.at = getelementptr %Call, ptr %job, i64 0, i32 10
  store ptr %future, ptr %job.future.at
  %ctx.at = getelementptr %Frame, ptr %frame, i64 0, i32 3
  %ctx = load ptr, ptr %ctx.at
  %with.ctx = insertvalue %PoolSchedule { i64 40, ptr null, ptr null, ptr @work, ptr null }, ptr %ctx, 2
  %filled = insertvalue %PoolSchedule %with.ctx, ptr %job, 4
  %arguments = alloca %PoolSchedule
  %schedule.at = getelementptr %Api, ptr %api, i64 0, i32 4, i64 11
  %schedule = load ptr, ptr %schedule.at
  br label %helpers
helpers:                                              ; the calling thread is one of the holders
  %number = phi i64 [ 1, %allocate ], [ %number.next, %helper.done ]
  %more = icmp slt i64 %number, %holders
  br i1 %more, label %helper, label %join
helper:
  store %PoolSchedule %filled, ptr %arguments
  %error = call ptr %schedule(ptr %arguments)
  %bad = call i1 @failed(ptr %api, ptr %error)
  br i1 %bad, label %one.less, label %helper.done
one.less:
  %before = atomicrmw sub ptr %holders.at, i64 1 acq_rel
  br label %helper.done
helper.done:
  %number.next = add i64 %number, 1
  br label %helpers
join:
  call void @draw(ptr %job)
  br i1 %step, label %await, label %part
await:
  call void @wait(ptr %job)
  %problem = call ptr @error_when_over(ptr %api, ptr %job)
  store ptr %problem, ptr %error.to
  br label %part
part:
  call void @leave(ptr %job)
  ret i1 true
}
