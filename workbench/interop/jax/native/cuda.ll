; The handler of a kernel on a GPU: XLA gives a stream and device buffers, and the same binding as on the CPU is followed by
; launches, one a batch. XLA may run `execute` only while it records a command buffer, and repeat what it queued; so
; nothing there waits, allocates or loads. The code is loaded in `initialize`, which XLA runs before, outside of any.
;
; A kernel with grain -1 is one of a GPU; its entry is this:
;   0 the driver's functions (@driver.*)   1 the cubin   2 the entry's name   3 threads of a block   4 points of a block
;   5 what is loaded: the CUkernel, which serves all devices, and a bit for each device that has it   6 where each parameter
;   lies in the buffer, the dims first
%Cuda = type { ptr, ptr, ptr, i64, i64, ptr, ptr }

; The driver's functions by number (cuda.py has the same list):
;   0 cuLibraryLoadData   1 cuLibraryGetKernel   2 cuLibraryUnload   3 cuKernelGetFunction   4 cuLaunchKernel
;   5 cuMemsetD8Async   6 cuMemsetD16Async   7 cuMemsetD32Async   8 cuMemsetD2D32Async   9 cuMemcpyDtoDAsync
;   10 cuGetErrorName

define ptr @workbench_cuda(ptr %frame, ptr %kernel) {
  %on = load atomic i32, ptr @wb_ffi_on monotonic, align 4
  %off = icmp eq i32 %on, 0
  br i1 %off, label %plain, label %noted
plain:
  %error = tail call ptr @call_kernel(ptr %frame, ptr %kernel)
  ret ptr %error
noted:                                                ; never the operands' bytes: they are on the device
  %error.noted = call ptr @call_noted(ptr %frame, ptr %kernel, i32 1, ptr @call_kernel)
  ret ptr %error.noted
}

; XLA's stage `initialize`: load the code once a process, and make it ready once a device.
define ptr @workbench_cuda_initialize(ptr %frame, ptr %kernel) {
entry:
  %asked = call i1 @answer_metadata(ptr %frame, i32 1)
  br i1 %asked, label %done, label %stages
stages:
  %stage.at = getelementptr %Frame, ptr %frame, i64 0, i32 4
  %stage = load i32, ptr %stage.at
  %initializes = icmp eq i32 %stage, 2
  br i1 %initializes, label %look, label %done
look:
  %cuda.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 1
  %cuda = load ptr, ptr %cuda.at
  %state.at = getelementptr %Cuda, ptr %cuda, i64 0, i32 5
  %state = load ptr, ptr %state.at
  %handle = load atomic i64, ptr %state acquire, align 8
  %loaded = icmp ne i64 %handle, 0
  br i1 %loaded, label %device, label %load
load:
  %error = call ptr @load_kernel(ptr %frame, ptr %kernel, ptr %cuda, ptr %state)
  %good = icmp eq ptr %error, null
  br i1 %good, label %device, label %bad
bad:
  ret ptr %error
device:
  %ordinal = call i64 @device_ordinal(ptr %frame)
  %place = and i64 %ordinal, 63
  %bit = shl i64 1, %place
  %mask.at = getelementptr i64, ptr %state, i64 1
  %mask = load atomic i64, ptr %mask.at monotonic, align 8
  %had = and i64 %mask, %bit
  %ready = icmp ne i64 %had, 0
  br i1 %ready, label %done, label %make.ready
make.ready:                                           ; lazy loading would otherwise load at the first launch
  %kernel.handle = load atomic i64, ptr %state acquire, align 8
  %function = alloca i64
  %ask = call ptr @driver_function(ptr %cuda, i64 3)
  %code = call i32 %ask(ptr %function, i64 %kernel.handle)
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %note, label %refused
note:
  %before = atomicrmw or ptr %mask.at, i64 %bit monotonic
  br label %done
refused:
  %refusal = call ptr @refuse_cuda(ptr %frame, ptr %kernel, ptr %cuda, ptr @say.cuda.load, i32 %code)
  ret ptr %refusal
done:
  ret ptr null
}

; Load the cubin; where two threads do, one keeps its own.
define private ptr @load_kernel(ptr %frame, ptr %kernel, ptr %cuda, ptr %state) noinline {
entry:
  %library = alloca i64
  %handle = alloca i64
  %image.at = getelementptr %Cuda, ptr %cuda, i64 0, i32 1
  %image = load ptr, ptr %image.at
  %load = call ptr @driver_function(ptr %cuda, i64 0)
  %code = call i32 %load(ptr %library, ptr %image, ptr null, ptr null, i32 0, ptr null, ptr null, i32 0)
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %find, label %bad
find:
  %name.at = getelementptr %Cuda, ptr %cuda, i64 0, i32 2
  %name = load ptr, ptr %name.at
  %library.loaded = load i64, ptr %library
  %get = call ptr @driver_function(ptr %cuda, i64 1)
  %code.get = call i32 %get(ptr %handle, i64 %library.loaded, ptr %name)
  %got = icmp eq i32 %code.get, 0
  br i1 %got, label %keep, label %bad
keep:
  %handle.found = load i64, ptr %handle
  %put = cmpxchg ptr %state, i64 0, i64 %handle.found acq_rel acquire
  %ours = extractvalue { i64, i1 } %put, 1
  br i1 %ours, label %done, label %drop
drop:
  %unload = call ptr @driver_function(ptr %cuda, i64 2)
  %ignored = call i32 %unload(i64 %library.loaded)
  br label %done
bad:
  %status = phi i32 [ %code, %entry ], [ %code.get, %find ]
  %refusal = call ptr @refuse_cuda(ptr %frame, ptr %kernel, ptr %cuda, ptr @say.cuda.load, i32 %status)
  ret ptr %refusal
done:
  ret ptr null
}

define private ptr @driver_function(ptr %cuda, i64 %number) alwaysinline {
  %table = load ptr, ptr %cuda
  %at = getelementptr ptr, ptr %table, i64 %number
  %function = load ptr, ptr %at
  ret ptr %function
}

; INVALID_ARGUMENT with the kernel's name and the driver's name of its error.
define private ptr @refuse_cuda(ptr %frame, ptr %kernel, ptr %cuda, ptr %format, i32 %code) cold noinline {
  %name = alloca i64
  store i64 ptrtoint (ptr @say.cuda.unknown to i64), ptr %name
  %ask = call ptr @driver_function(ptr %cuda, i64 10)
  %ignored = call i32 %ask(i32 %code, ptr %name)
  %label = load i64, ptr %name
  %kernel.name = load i64, ptr %kernel
  %wide = sext i32 %code to i64
  %error = call ptr @refuse(ptr %frame, ptr %format, i64 %kernel.name, i64 %label, i64 %wide, i64 0)
  ret ptr %error
}

; The number of the frame's device; 0 where XLA is too old to say it.
define private i64 @device_ordinal(ptr %frame) {
entry:
  %api.at = getelementptr %Frame, ptr %frame, i64 0, i32 2
  %api = load ptr, ptr %api.at
  %size = load i64, ptr %api
  %has = icmp ugt i64 %size, 184
  br i1 %has, label %ask, label %unknown
ask:
  %arguments = alloca %DeviceOrdinalGet
  %ctx.at = getelementptr %Frame, ptr %frame, i64 0, i32 3
  %ctx = load ptr, ptr %ctx.at
  %filled = insertvalue %DeviceOrdinalGet { i64 28, ptr null, ptr null, i32 0 }, ptr %ctx, 2
  store %DeviceOrdinalGet %filled, ptr %arguments
  %get.at = getelementptr %Api, ptr %api, i64 0, i32 4, i64 17
  %get = load ptr, ptr %get.at
  %error = call ptr %get(ptr %arguments)
  %bad = call i1 @failed(ptr %api, ptr %error)
  br i1 %bad, label %unknown, label %told
told:
  %ordinal.at = getelementptr %DeviceOrdinalGet, ptr %arguments, i64 0, i32 3
  %ordinal = load i32, ptr %ordinal.at
  %wide = zext i32 %ordinal to i64
  ret i64 %wide
unknown:
  ret i64 0
}

; Put the frame's stream into the call; XLA's error where it has none.
define private ptr @take_stream(ptr %frame, ptr %call) {
  %api.at = getelementptr %Frame, ptr %frame, i64 0, i32 2
  %api = load ptr, ptr %api.at
  %arguments = alloca %StreamGet
  %ctx.at = getelementptr %Frame, ptr %frame, i64 0, i32 3
  %ctx = load ptr, ptr %ctx.at
  %filled = insertvalue %StreamGet { i64 32, ptr null, ptr null, ptr null }, ptr %ctx, 2
  store %StreamGet %filled, ptr %arguments
  %get.at = getelementptr %Api, ptr %api, i64 0, i32 4, i64 4
  %get = load ptr, ptr %get.at
  %error = call ptr %get(ptr %arguments)
  %stream.at = getelementptr %StreamGet, ptr %arguments, i64 0, i32 3
  %stream = load ptr, ptr %stream.at
  %stream.to = getelementptr %Call, ptr %call, i64 0, i32 10
  store ptr %stream, ptr %stream.to
  ret ptr %error
}

; Queue one launch a batch.
define private ptr @launch_cuda(ptr %frame, ptr %call, ptr %buffer) {
entry:
  %kernel = load ptr, ptr %call
  %cuda.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 1
  %cuda = load ptr, ptr %cuda.at
  %state.at = getelementptr %Cuda, ptr %cuda, i64 0, i32 5
  %state = load ptr, ptr %state.at
  %handle = load atomic i64, ptr %state acquire, align 8
  %absent = icmp eq i64 %handle, 0
  br i1 %absent, label %not.loaded, label %prepare
not.loaded:
  %kernel.name = load i64, ptr %kernel
  %early = call ptr @refuse(ptr %frame, ptr @say.cuda.early, i64 %kernel.name, i64 0, i64 0, i64 0)
  ret ptr %early
prepare:
  %count.params = call i64 @field(ptr %kernel, i64 2)
  %count = add i64 %count.params, 1
  %pointers = alloca ptr, i64 %count
  %places.at = getelementptr %Cuda, ptr %cuda, i64 0, i32 6
  %places = load ptr, ptr %places.at
  br label %pointer
pointer:
  %p = phi i64 [ 0, %prepare ], [ %p.next, %point.at ]
  %p.more = icmp slt i64 %p, %count
  br i1 %p.more, label %point.at, label %sizes
point.at:
  %offset = call i64 @field(ptr %places, i64 %p)
  %address = getelementptr i8, ptr %buffer, i64 %offset
  %to = getelementptr ptr, ptr %pointers, i64 %p
  store ptr %address, ptr %to
  %p.next = add i64 %p, 1
  br label %pointer
sizes:
  %points = call i64 @field(ptr %call, i64 1)
  %total = call i64 @field(ptr %call, i64 2)
  %block = call i64 @field(ptr %cuda, i64 3)
  %each = call i64 @field(ptr %cuda, i64 4)
  %up = add i64 %points, %each
  %up.less = sub i64 %up, 1
  %grid = udiv i64 %up.less, %each
  %fits = icmp ult i64 %grid, 2147483648
  br i1 %fits, label %some, label %too.many
too.many:
  %wide.name = load i64, ptr %kernel
  %large = call ptr @refuse(ptr %frame, ptr @say.cuda.grid, i64 %wide.name, i64 %grid, i64 2147483647, i64 0)
  ret ptr %large
some:
  %grid.32 = trunc i64 %grid to i32
  %block.32 = trunc i64 %block to i32
  %stream.at = getelementptr %Call, ptr %call, i64 0, i32 10
  %stream = load ptr, ptr %stream.at
  %launch = call ptr @driver_function(ptr %cuda, i64 4)
  br label %batch
batch:
  %at = phi i64 [ 0, %some ], [ %at.next, %next ]
  %number = phi i64 [ 0, %some ], [ %number.next, %next ]
  %more = icmp slt i64 %at, %total
  br i1 %more, label %queue, label %done
queue:
  call void @point(ptr %call, ptr %buffer, i64 %number)
  %code = call i32 %launch(i64 %handle, i32 %grid.32, i32 1, i32 1, i32 %block.32, i32 1, i32 1, i32 0, ptr %stream, ptr %pointers, ptr null)
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %next, label %refused
next:
  %at.next = add i64 %at, %points
  %number.next = add i64 %number, 1
  br label %batch
refused:
  %refusal = call ptr @refuse_cuda(ptr %frame, ptr %kernel, ptr %cuda, ptr @say.cuda.launch, i32 %code)
  ret ptr %refusal
done:
  ret ptr null
}

; Queue a fill of device memory with a pattern of 1, 2, 4 or 8 bytes.
define private ptr @fill_cuda(ptr %frame, ptr %call, ptr %data, i64 %bytes, i64 %pattern, i64 %width) {
entry:
  %kernel = load ptr, ptr %call
  %cuda.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 1
  %cuda = load ptr, ptr %cuda.at
  %stream.at = getelementptr %Call, ptr %call, i64 0, i32 10
  %stream = load ptr, ptr %stream.at
  %count = udiv i64 %bytes, %width
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %done, label %choose
choose:
  %low = trunc i64 %pattern to i32
  switch i64 %width, label %by8 [
    i64 1, label %by1
    i64 2, label %by2
    i64 4, label %by4
  ]
by1:
  %f1 = call ptr @driver_function(ptr %cuda, i64 5)
  %v1 = trunc i64 %pattern to i8
  %c1 = call i32 %f1(ptr %data, i8 zeroext %v1, i64 %count, ptr %stream)
  br label %told
by2:
  %f2 = call ptr @driver_function(ptr %cuda, i64 6)
  %v2 = trunc i64 %pattern to i16
  %c2 = call i32 %f2(ptr %data, i16 zeroext %v2, i64 %count, ptr %stream)
  br label %told
by4:
  %f4 = call ptr @driver_function(ptr %cuda, i64 7)
  %c4 = call i32 %f4(ptr %data, i32 %low, i64 %count, ptr %stream)
  br label %told
by8:                                                  ; the low words of all, then the high ones: rows of one word, 8 bytes apart
  %f8 = call ptr @driver_function(ptr %cuda, i64 8)
  %c8 = call i32 %f8(ptr %data, i64 8, i32 %low, i64 1, i64 %count, ptr %stream)
  %c8.good = icmp eq i32 %c8, 0
  br i1 %c8.good, label %high, label %told
high:
  %behind = getelementptr i8, ptr %data, i64 4
  %upper = lshr i64 %pattern, 32
  %upper.32 = trunc i64 %upper to i32
  %c8.high = call i32 %f8(ptr %behind, i64 8, i32 %upper.32, i64 1, i64 %count, ptr %stream)
  br label %told
told:
  %code = phi i32 [ %c1, %by1 ], [ %c2, %by2 ], [ %c4, %by4 ], [ %c8, %by8 ], [ %c8.high, %high ]
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %done, label %refused
refused:
  %refusal = call ptr @refuse_cuda(ptr %frame, ptr %kernel, ptr %cuda, ptr @say.cuda.launch, i32 %code)
  ret ptr %refusal
done:
  ret ptr null
}

; Queue a copy of device memory.
define private ptr @copy_cuda(ptr %frame, ptr %call, ptr %to, ptr %from, i64 %bytes) {
entry:
  %kernel = load ptr, ptr %call
  %cuda.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 1
  %cuda = load ptr, ptr %cuda.at
  %stream.at = getelementptr %Call, ptr %call, i64 0, i32 10
  %stream = load ptr, ptr %stream.at
  %empty = icmp eq i64 %bytes, 0
  br i1 %empty, label %done, label %queue
queue:
  %copy = call ptr @driver_function(ptr %cuda, i64 9)
  %code = call i32 %copy(ptr %to, ptr %from, i64 %bytes, ptr %stream)
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %done, label %refused
refused:
  %refusal = call ptr @refuse_cuda(ptr %frame, ptr %kernel, ptr %cuda, ptr @say.cuda.launch, i32 %code)
  ret ptr %refusal
done:
  ret ptr null
}
