; An interrupt: what runs here looks at %stop as every launch does (backends/cpu/native/stopping.py), and the call ends in an
; error. XLA passes it on to whoever waits for the results. One device of several must not fail (fault.ll): there the call
; ends without an error, and Python raises one later (late.py).

@wb_ffi_stop = global ptr null                        ; where the address stands of what to look at; set when this is loaded

define private ptr @stop() alwaysinline {
  %at = load ptr, ptr @wb_ffi_stop
  %stop = load volatile ptr, ptr %at
  ret ptr %stop
}

; One look: whether to end.
define private i1 @ends(ptr %stop) {
entry:
  %word = load volatile i32, ptr %stop
  %calm = icmp eq i32 %word, 0
  br i1 %calm, label %no, label %decide
decide:
  %ask.at = getelementptr i8, ptr %stop, i64 8
  %ask = load ptr, ptr %ask.at
  %code = call i32 %ask(ptr %stop)
  %end = icmp ne i32 %code, 0
  ret i1 %end
no:
  ret i1 false
}

; The error of a kernel that was ended: CANCELLED; null where it waits for Python.
define private ptr @cancelled(ptr %api, ptr %kernel) cold noinline {
entry:
  %late = call i64 @field(ptr %kernel, i64 11)
  %waits = icmp ne i64 %late, 0
  br i1 %waits, label %later, label %now
later:
  %explain = load atomic ptr, ptr @wb_ffi_explain acquire, align 8
  %mute = icmp eq ptr %explain, null
  br i1 %mute, label %told, label %tell
tell:
  call void %explain(ptr %kernel, ptr null, ptr null, i64 0, i64 0, ptr null, i64 1, ptr null, i64 0)
  br label %told
told:
  ret ptr null
now:
  %name = load i64, ptr %kernel
  %text = alloca [512 x i8]
  %written = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %text, i64 512, ptr @say.stopped, i64 %name)
  %error = call ptr @error_of(ptr %api, ptr %text, i32 1)
  ret ptr %error
}

define ptr @workbench_stopped(ptr %frame, ptr %kernel) cold noinline {
  %api.at = getelementptr %Frame, ptr %frame, i64 0, i32 2
  %api = load ptr, ptr %api.at
  %error = call ptr @cancelled(ptr %api, ptr %kernel)
  ret ptr %error
}
