; Faults of code with checks: gathered from the threads, and said as XLA's error.
;
; Code with checks writes a record (backends/layout.py); each stretch of points has one of its own, so that the batch is
; known. The call keeps the first and counts all: count, number, thread, four values, batch. Code without checks writes
; none, and pays a store and a compare per stretch.
; The text is Python's, which knows lines and names: @wb_ffi_explain, set by faults.py, writes it. It is called on the
; thread that ends the call, and takes the GIL there. Without Python (at exit) the numbers alone are said.
; One device of several must not fail: the others would wait in their next collective, and XLA then ends the process.
; There the text stays with Python, which raises it later (late.py).

; (kernel, buffer, record, dimensions, batch axes, their sizes, whether it waits, text, bytes); no record: it was stopped
@wb_ffi_explain = global ptr null

; Add a stretch's record to the call's; who finds 0 there is the first.
define private void @note_fault(ptr %call, ptr %own, i64 %batch) cold noinline {
entry:
  %count = load i64, ptr %own
  %record = getelementptr %Call, ptr %call, i64 0, i32 12
  %before = atomicrmw add ptr %record, i64 %count acq_rel
  %first = icmp eq i64 %before, 0
  br i1 %first, label %keep, label %done
keep:
  %from = getelementptr i64, ptr %own, i64 1
  %to = getelementptr i64, ptr %record, i64 1
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 48, i1 false)
  %batch.at = getelementptr i64, ptr %record, i64 7
  store i64 %batch, ptr %batch.at
  br label %done
done:
  ret void
}

; The error of a call that is over; null where nothing went wrong.
define private ptr @fault_error(ptr %api, ptr %call) {
entry:
  %record = getelementptr %Call, ptr %call, i64 0, i32 12
  %count = load i64, ptr %record
  %fine = icmp eq i64 %count, 0
  br i1 %fine, label %none, label %some
none:
  ret ptr null
some:
  %error = call ptr @explained(ptr %api, ptr %call, ptr %record, i64 %count)
  ret ptr %error
}

define private ptr @explained(ptr %api, ptr %call, ptr %record, i64 %count) cold noinline {
entry:
  %text = alloca [4096 x i8]
  store i8 0, ptr %text
  %kernel = load ptr, ptr %call
  %late = call i64 @field(ptr %kernel, i64 11)
  %explain = load atomic ptr, ptr @wb_ffi_explain acquire, align 8
  %mute = icmp eq ptr %explain, null
  br i1 %mute, label %plain, label %ask
ask:
  %buffer = call ptr @buffer_of(ptr %call)
  %ndim.at = getelementptr %Call, ptr %call, i64 0, i32 11
  %ndim = load i64, ptr %ndim.at
  %axes = call i64 @field(ptr %call, i64 3)
  %sizes = getelementptr %Call, ptr %call, i64 0, i32 4
  call void %explain(ptr %kernel, ptr %buffer, ptr %record, i64 %ndim, i64 %axes, ptr %sizes, i64 %late, ptr %text, i64 4096)
  %first = load i8, ptr %text
  %empty = icmp eq i8 %first, 0
  br i1 %empty, label %plain, label %say
plain:
  %name = call i64 @field(ptr %kernel, i64 0)
  %number = call i64 @field(ptr %record, i64 1)
  %thread = call i64 @field(ptr %record, i64 2)
  %value = call i64 @field(ptr %record, i64 3)
  %written = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %text, i64 4096, ptr @say.fault, i64 %name, i64 %number, i64 %thread, i64 %value, i64 %count)
  br label %say
say:
  %waits = icmp ne i64 %late, 0
  br i1 %waits, label %later, label %now
later:
  ret ptr null
now:
  %error = call ptr @error_of(ptr %api, ptr %text, i32 11)
  ret ptr %error
}
