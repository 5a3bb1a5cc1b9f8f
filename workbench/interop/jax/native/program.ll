; A fused program: many launches, copies and fills as one FFI call.
;
; Its table is int64 words, made by table.py:
;   0 name   1 operands   2 results   3 steps   4 most buffers of a step   5 where the checks start   6 where the steps do
;   a check, one an operand and result: dtype, elements
;   a step begins with its kind and its length in words; a place is a base (operands, then results) and a byte offset:
;     0 launch: thunk, operands, results, attributes; each attribute as a count and its int64; each buffer as place,
;       dtype, rank, dimensions
;     1 repeat: place, place of the source, bytes, how many times, one after the other
;     2 fill: place, bytes, pattern, bytes of the pattern
; A launch is handed to its own thunk in a frame made here, with struct_size 0: so it means what it means alone. Such a
; frame has no future: a launch that XLA's threads share is waited for, and only chunks that run already are left then.

define ptr @workbench_program(ptr %frame, ptr %table) {
  %on = load atomic i32, ptr @wb_ffi_on monotonic, align 4
  %off = icmp eq i32 %on, 0
  br i1 %off, label %plain, label %noted
plain:
  %error = tail call ptr @call_program(ptr %frame, ptr %table)
  ret ptr %error
noted:
  %error.noted = call ptr @call_noted(ptr %frame, ptr %table, i32 %on, ptr @call_program)
  ret ptr %error.noted
}

define private ptr @call_program(ptr %frame, ptr %table) {
entry:
  %asked = call i1 @answer_metadata(ptr %frame, i32 0)
  br i1 %asked, label %done, label %stages
stages:
  %stage.at = getelementptr %Frame, ptr %frame, i64 0, i32 4
  %stage = load i32, ptr %stage.at
  %executes = icmp eq i32 %stage, 3
  br i1 %executes, label %counts, label %done
counts:
  %name = load i64, ptr %table
  %args.wanted = call i64 @field(ptr %table, i64 1)
  %rets.wanted = call i64 @field(ptr %table, i64 2)
  %args.at = getelementptr %Frame, ptr %frame, i64 0, i32 5, i32 2
  %args = load i64, ptr %args.at
  %rets.at = getelementptr %Frame, ptr %frame, i64 0, i32 6, i32 2
  %rets = load i64, ptr %rets.at
  %args.same = icmp eq i64 %args, %args.wanted
  %rets.same = icmp eq i64 %rets, %rets.wanted
  %counted = and i1 %args.same, %rets.same
  br i1 %counted, label %memory, label %bad.counts
bad.counts:
  %counts.error = call ptr @refuse(ptr %frame, ptr @say.counts, i64 %name, i64 %args.wanted, i64 %rets.wanted, i64 0)
  ret ptr %counts.error

memory:
  %bases.count = add i64 %args, %rets
  %bases = alloca ptr, i64 %bases.count
  %checks.at = call i64 @field(ptr %table, i64 5)
  %checks = getelementptr i64, ptr %table, i64 %checks.at
  br label %base
base:
  %n = phi i64 [ 0, %memory ], [ %n.next, %base.good ]
  %n.more = icmp slt i64 %n, %bases.count
  br i1 %n.more, label %base.take, label %prepare
base.take:
  %is.arg = icmp slt i64 %n, %args
  %arg.index = select i1 %is.arg, i64 %n, i64 -1
  %ret.index = sub i64 %n, %args
  %arg.buffer = call ptr @operand(ptr %frame, i64 %arg.index)
  %ret.buffer = call ptr @result(ptr %frame, i64 %ret.index)
  %buffer = select i1 %is.arg, ptr %arg.buffer, ptr %ret.buffer
  %check = mul i64 %n, 2
  %dtype.wanted = call i64 @field(ptr %checks, i64 %check)
  %check.size = add i64 %check, 1
  %size.wanted = call i64 @field(ptr %checks, i64 %check.size)
  %dtype.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 2
  %dtype.32 = load i32, ptr %dtype.at
  %dtype = zext i32 %dtype.32 to i64
  %dtype.same = icmp eq i64 %dtype, %dtype.wanted
  %size = call i64 @elements(ptr %buffer)
  %size.same = icmp eq i64 %size, %size.wanted
  %base.fits = and i1 %dtype.same, %size.same
  br i1 %base.fits, label %base.good, label %bad.base
base.good:
  %data.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 3
  %data = load ptr, ptr %data.at
  %base.at = getelementptr ptr, ptr %bases, i64 %n
  store ptr %data, ptr %base.at
  %n.next = add i64 %n, 1
  br label %base
bad.base:
  %dtype.name = call i64 @dtype_name(i64 %dtype.wanted)
  %base.error = call ptr @refuse(ptr %frame, ptr @say.buffer, i64 %name, i64 %n, i64 %size.wanted, i64 %dtype.name)
  ret ptr %base.error

prepare:                                              ; one frame serves all launches
  %most = call i64 @field(ptr %table, i64 4)
  %buffers = alloca %Buffer, i64 %most, align 16
  %pointers = alloca ptr, i64 %most
  %arrays = alloca [3 x %Array]
  %array.pointers = alloca [3 x ptr]
  %kinds = alloca [3 x i32]
  store [3 x i32] [i32 1, i32 1, i32 1], ptr %kinds
  %inner = alloca %Frame, align 16
  call void @llvm.memset.p0.i64(ptr %inner, i8 0, i64 ptrtoint (ptr getelementptr (%Frame, ptr null, i64 1) to i64), i1 false)
  %api.at = getelementptr %Frame, ptr %frame, i64 0, i32 2
  %api = load ptr, ptr %api.at
  %api.to = getelementptr %Frame, ptr %inner, i64 0, i32 2
  store ptr %api, ptr %api.to
  %ctx.at = getelementptr %Frame, ptr %frame, i64 0, i32 3
  %ctx = load ptr, ptr %ctx.at
  %ctx.to = getelementptr %Frame, ptr %inner, i64 0, i32 3
  store ptr %ctx, ptr %ctx.to
  %stage.to = getelementptr %Frame, ptr %inner, i64 0, i32 4
  store i32 3, ptr %stage.to
  %kinds.to = getelementptr %Frame, ptr %inner, i64 0, i32 7, i32 3
  store ptr %kinds, ptr %kinds.to
  %attrs.to = getelementptr %Frame, ptr %inner, i64 0, i32 7, i32 5
  store ptr %array.pointers, ptr %attrs.to
  %args.to = getelementptr %Frame, ptr %inner, i64 0, i32 5, i32 4
  store ptr %pointers, ptr %args.to
  %parent.to = getelementptr %Frame, ptr %inner, i64 0, i32 8
  store ptr %frame, ptr %parent.to
  %count = call i64 @field(ptr %table, i64 3)
  %first = call i64 @field(ptr %table, i64 6)
  %first.at = getelementptr i64, ptr %table, i64 %first
  br label %step

step:
  %s = phi i64 [ 0, %prepare ], [ %s.next, %step.done ]
  %at = phi ptr [ %first.at, %prepare ], [ %at.next, %step.done ]
  %s.more = icmp slt i64 %s, %count
  br i1 %s.more, label %step.take, label %done
step.take:
  %kind = load i64, ptr %at
  switch i64 %kind, label %launch [
    i64 1, label %repeat
    i64 2, label %fill
  ]
repeat:
  %r.to = call ptr @place(ptr %bases, ptr %at, i64 2)
  %r.from = call ptr @place(ptr %bases, ptr %at, i64 4)
  %r.bytes = call i64 @field(ptr %at, i64 6)
  %r.times = call i64 @field(ptr %at, i64 7)
  br label %again
again:
  %r = phi i64 [ 0, %repeat ], [ %r.next, %copy ]
  %r.more = icmp slt i64 %r, %r.times
  br i1 %r.more, label %copy, label %step.done
copy:
  %r.start = mul i64 %r, %r.bytes
  %r.at = getelementptr i8, ptr %r.to, i64 %r.start
  call void @llvm.memcpy.p0.p0.i64(ptr %r.at, ptr %r.from, i64 %r.bytes, i1 false)
  %r.next = add i64 %r, 1
  br label %again
fill:
  %fill.to = call ptr @place(ptr %bases, ptr %at, i64 2)
  %fill.bytes = call i64 @field(ptr %at, i64 4)
  %fill.pattern = call i64 @field(ptr %at, i64 5)
  %fill.width = call i64 @field(ptr %at, i64 6)
  call void @fill(ptr %fill.to, i64 %fill.bytes, i64 %fill.pattern, i64 %fill.width)
  br label %step.done

launch:
  %thunk.word = call i64 @field(ptr %at, i64 2)
  %thunk = inttoptr i64 %thunk.word to ptr
  %in = call i64 @field(ptr %at, i64 3)
  %out = call i64 @field(ptr %at, i64 4)
  %attrs = call i64 @field(ptr %at, i64 5)
  %in.to = getelementptr %Frame, ptr %inner, i64 0, i32 5, i32 2
  store i64 %in, ptr %in.to
  %out.to = getelementptr %Frame, ptr %inner, i64 0, i32 6, i32 2
  store i64 %out, ptr %out.to
  %attrs.count.to = getelementptr %Frame, ptr %inner, i64 0, i32 7, i32 2
  store i64 %attrs, ptr %attrs.count.to
  %rets.pointers = getelementptr ptr, ptr %pointers, i64 %in
  %rets.to = getelementptr %Frame, ptr %inner, i64 0, i32 6, i32 4
  store ptr %rets.pointers, ptr %rets.to
  %attr.first = getelementptr i64, ptr %at, i64 6
  br label %attr
attr:
  %a = phi i64 [ 0, %launch ], [ %a.next, %attr.put ]
  %a.at = phi ptr [ %attr.first, %launch ], [ %a.following, %attr.put ]
  %a.more = icmp slt i64 %a, %attrs
  br i1 %a.more, label %attr.put, label %buffers.start
attr.put:
  %a.count = load i64, ptr %a.at
  %a.data = getelementptr i64, ptr %a.at, i64 1
  %a.array = getelementptr %Array, ptr %arrays, i64 %a
  %a.sized = insertvalue %Array { i32 5, i64 0, ptr null }, i64 %a.count, 1
  %a.filled = insertvalue %Array %a.sized, ptr %a.data, 2
  store %Array %a.filled, ptr %a.array
  %a.pointer = getelementptr ptr, ptr %array.pointers, i64 %a
  store ptr %a.array, ptr %a.pointer
  %a.following = getelementptr i64, ptr %a.data, i64 %a.count
  %a.next = add i64 %a, 1
  br label %attr
buffers.start:
  %all = add i64 %in, %out
  br label %bind
bind:
  %b = phi i64 [ 0, %buffers.start ], [ %b.next, %bind.put ]
  %b.at = phi ptr [ %a.at, %buffers.start ], [ %b.following, %bind.put ]
  %b.more = icmp slt i64 %b, %all
  br i1 %b.more, label %bind.put, label %call
bind.put:
  %b.data = call ptr @place(ptr %bases, ptr %b.at, i64 0)
  %b.dtype = call i64 @field(ptr %b.at, i64 2)
  %b.dtype.32 = trunc i64 %b.dtype to i32
  %b.rank = call i64 @field(ptr %b.at, i64 3)
  %b.dims = getelementptr i64, ptr %b.at, i64 4
  %b.with.dtype = insertvalue %Buffer { i64 48, ptr null, i32 0, ptr null, i64 0, ptr null }, i32 %b.dtype.32, 2
  %b.with.data = insertvalue %Buffer %b.with.dtype, ptr %b.data, 3
  %b.with.rank = insertvalue %Buffer %b.with.data, i64 %b.rank, 4
  %b.filled = insertvalue %Buffer %b.with.rank, ptr %b.dims, 5
  %b.buffer = getelementptr %Buffer, ptr %buffers, i64 %b
  store %Buffer %b.filled, ptr %b.buffer
  %b.pointer = getelementptr ptr, ptr %pointers, i64 %b
  store ptr %b.buffer, ptr %b.pointer
  %b.following = getelementptr i64, ptr %b.dims, i64 %b.rank
  %b.next = add i64 %b, 1
  br label %bind
call:
  %error = call ptr %thunk(ptr %inner)
  %good = icmp eq ptr %error, null
  br i1 %good, label %step.done, label %failed
failed:
  ret ptr %error
step.done:
  %length = call i64 @field(ptr %at, i64 1)
  %at.next = getelementptr i64, ptr %at, i64 %length
  %s.next = add i64 %s, 1
  br label %step
done:
  ret ptr null
}

; The address of the place that stands at word %index of a step.
define private ptr @place(ptr %bases, ptr %step, i64 %index) alwaysinline {
  %base = call i64 @field(ptr %step, i64 %index)
  %base.at = getelementptr ptr, ptr %bases, i64 %base
  %start = load ptr, ptr %base.at
  %offset.index = add i64 %index, 1
  %offset = call i64 @field(ptr %step, i64 %offset.index)
  %address = getelementptr i8, ptr %start, i64 %offset
  ret ptr %address
}

; Elements of a buffer.
define private i64 @elements(ptr %buffer) alwaysinline {
entry:
  %rank.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 4
  %rank = load i64, ptr %rank.at
  %dims.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 5
  %dims = load ptr, ptr %dims.at
  br label %next
next:
  %n = phi i64 [ 0, %entry ], [ %n.next, %take ]
  %total = phi i64 [ 1, %entry ], [ %total.next, %take ]
  %more = icmp slt i64 %n, %rank
  br i1 %more, label %take, label %done
take:
  %dim = call i64 @field(ptr %dims, i64 %n)
  %total.next = mul i64 %total, %dim
  %n.next = add i64 %n, 1
  br label %next
done:
  ret i64 %total
}
