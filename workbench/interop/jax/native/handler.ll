; The generic XLA FFI handler: one function that serves every kernel.
;
; XLA calls a kernel's thunk(frame), two instructions, which calls @workbench_ffi(frame, kernel) (notes.ll) with the
; kernel's constant description. The handler checks what XLA hands over against that description, packs the parameter buffer and
; runs the kernel's entry over the launch, batch by batch. A small launch runs on the calling thread; a large one is cut
; into chunks that XLA's own threads draw from one counter, and the frame's future tells XLA when the last is done.
;
; handler.py puts before this text: XLA's structures (abi.py), the names of its element types (@names), and the formats
; of the error messages (@say.*).

; What a description says of one parameter (descriptor.py writes it):
;   0 name   1 kind   2 dtype, XLA's code   3 rank   4 inner axis: components of a vector, 0 for scalars
;   5 operand, 6 result, 7 static value: where it comes from, -1 where it does not
;   8 bytes of an element   9 offset in the parameter buffer   10 bytes of a fill pattern, 0 for none   11 the pattern
;   12 where its view stands among the call's `views`, -1 where it is the whole buffer   13 dimensions of the view
; A view is int64: bytes from the buffer's start, then its shape, then its strides in bytes.
; Kinds: 0 array; 1 scalar or vector, passed by value; 2 accumulator: a rank-0 result seen as an array of one element;
; 3 an array of which only the shape is used.
%Param = type { ptr, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64 }

; And of the kernel:
;   0 name   1 entry   2 parameters   3 operands   4 results   5 static values   6 bytes of the parameter buffer
;   7 the largest launch that stays on one thread; -1 on a GPU   8 the parameter that is result 0   9 the table of parameters
;   10 int64 of all views   11 whether its errors only wait for Python (fault.ll, stop.ll)
%Kernel = type { ptr, ptr, i64, i64, i64, i64, i64, i64, i64, ptr, i64, i64, i64 }

; On a GPU 10 of a call is the stream, and the entry a %Cuda (cuda.ll).
; A parameter in this call: its address, and its stride in bytes along each batch axis (0 where that axis has size 1).
%Bound = type { ptr, [8 x i64] }

; One call, followed in memory by one %Bound a parameter and by the parameter buffer:
;   0 kernel   1 points of one launch   2 points of all batches   3 batch axes   4 their sizes
; and what its threads share:
;   5 chunk   6 next point   7 points done   8 holders of this memory   9 XLA's API   10 the future
;   11 dimensions of the launch   12 the first fault (fault.ll)   13 -1: was ended   14 what it looks at (stop.ll)
%Call = type { ptr, i64, i64, i64, [8 x i64], i64, i64, i64, i64, ptr, ptr, i64, [8 x i64], i64, ptr }

declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)

define private ptr @call_kernel(ptr %frame, ptr %kernel) {
entry:
  %grain = call i64 @field(ptr %kernel, i64 7)
  %on.gpu = icmp eq i64 %grain, -1
  %traits = zext i1 %on.gpu to i32
  %asked = call i1 @answer_metadata(ptr %frame, i32 %traits)
  br i1 %asked, label %done, label %stages
stages:
  %stage.at = getelementptr %Frame, ptr %frame, i64 0, i32 4
  %stage = load i32, ptr %stage.at
  %executes = icmp eq i32 %stage, 3
  br i1 %executes, label %counts, label %done

counts:
  %kernel.name = load i64, ptr %kernel
  %args.at = getelementptr %Frame, ptr %frame, i64 0, i32 5, i32 2
  %args = load i64, ptr %args.at
  %rets.at = getelementptr %Frame, ptr %frame, i64 0, i32 6, i32 2
  %rets = load i64, ptr %rets.at
  %args.wanted = call i64 @field(ptr %kernel, i64 3)
  %rets.wanted = call i64 @field(ptr %kernel, i64 4)
  %args.same = icmp eq i64 %args, %args.wanted
  %rets.same = icmp eq i64 %rets, %rets.wanted
  %counted = and i1 %args.same, %rets.same
  br i1 %counted, label %attributes, label %bad.counts
bad.counts:
  %given.both = call ptr @refuse(ptr %frame, ptr @say.counts, i64 %kernel.name, i64 %args.wanted, i64 %rets.wanted, i64 0)
  ret ptr %given.both

attributes:                                           ; sorted by name: dims, then values, views, within, where there are any
  %attrs.at = getelementptr %Frame, ptr %frame, i64 0, i32 7, i32 2
  %attrs = load i64, ptr %attrs.at
  %values.wanted = call i64 @field(ptr %kernel, i64 5)
  %views.wanted = call i64 @field(ptr %kernel, i64 10)
  %has.values = icmp sgt i64 %values.wanted, 0
  %has.views = icmp sgt i64 %views.wanted, 0
  %one.values = zext i1 %has.values to i64
  %one.views = zext i1 %has.views to i64
  %views.index = add i64 %one.values, 1
  %attrs.wanted = add i64 %views.index, %one.views
  %attrs.more = sub i64 %attrs, %attrs.wanted
  %attrs.same = icmp ule i64 %attrs.more, 1
  %has.within = icmp eq i64 %attrs.more, 1
  br i1 %attrs.same, label %dims, label %bad.attributes
dims:
  %kinds.at = getelementptr %Frame, ptr %frame, i64 0, i32 7, i32 3
  %kinds = load ptr, ptr %kinds.at
  %items.at = getelementptr %Frame, ptr %frame, i64 0, i32 7, i32 5
  %items = load ptr, ptr %items.at
  %dims.array = call ptr @int64_array(ptr %kinds, ptr %items, i64 0)
  %dims.bad = icmp eq ptr %dims.array, null
  br i1 %dims.bad, label %bad.attributes, label %dims.count
dims.count:
  %ndim.at = getelementptr %Array, ptr %dims.array, i64 0, i32 1
  %ndim = load i64, ptr %ndim.at
  %ndim.less = sub i64 %ndim, 1
  %ndim.good = icmp ult i64 %ndim.less, 4
  br i1 %ndim.good, label %values, label %bad.attributes
values:
  %static.values = call ptr @int64_data(ptr %kinds, ptr %items, i64 1, i64 %values.wanted)
  %views = call ptr @int64_data(ptr %kinds, ptr %items, i64 %views.index, i64 %views.wanted)
  %values.none = icmp eq ptr %static.values, null
  %views.none = icmp eq ptr %views, null
  %values.bad = and i1 %has.values, %values.none
  %views.bad = and i1 %has.views, %views.none
  %either.bad = or i1 %values.bad, %views.bad
  br i1 %either.bad, label %bad.attributes, label %memory
bad.attributes:
  %attrs.error = call ptr @refuse(ptr %frame, ptr @say.attributes, i64 %kernel.name, i64 %values.wanted, i64 %views.wanted, i64 0)
  ret ptr %attrs.error

memory:
  %count = call i64 @field(ptr %kernel, i64 2)
  %buffer.bytes = call i64 @field(ptr %kernel, i64 6)
  %bounds.bytes = mul i64 %count, 72
  %behind.bytes = add i64 %bounds.bytes, %buffer.bytes
  %bytes = add i64 %behind.bytes, 232
  %call = alloca i8, i64 %bytes, align 16
  store ptr %kernel, ptr %call
  %ndim.to = getelementptr %Call, ptr %call, i64 0, i32 11
  store i64 %ndim, ptr %ndim.to
  %fault.to = getelementptr %Call, ptr %call, i64 0, i32 12
  store i64 0, ptr %fault.to
  br i1 %on.gpu, label %stream, label %sizes
stream:
  %stream.error = call ptr @take_stream(ptr %frame, ptr %call)
  %streamed = icmp eq ptr %stream.error, null
  br i1 %streamed, label %sizes, label %no.stream
no.stream:
  ret ptr %stream.error
sizes:
  %buffer = call ptr @buffer_of(ptr %call)
  %dims.data.at = getelementptr %Array, ptr %dims.array, i64 0, i32 2
  %dims.data = load ptr, ptr %dims.data.at
  store <4 x i64> <i64 1, i64 1, i64 1, i64 1>, ptr %buffer, align 8
  br label %dim
dim:
  %d = phi i64 [ 0, %sizes ], [ %d.next, %dim.put ]
  %points = phi i64 [ 1, %sizes ], [ %points.next, %dim.put ]
  %d.more = icmp slt i64 %d, %ndim
  br i1 %d.more, label %dim.take, label %within
dim.take:
  %size.given = call i64 @field(ptr %dims.data, i64 %d)
  %size.known = icmp sge i64 %size.given, 0
  br i1 %size.known, label %dim.put, label %dim.find
dim.find:
  %size.found = call i64 @array_size(ptr %frame, ptr %kernel, i64 %size.given)
  br label %dim.put
dim.put:
  %size = phi i64 [ %size.given, %dim.take ], [ %size.found, %dim.find ]
  %size.at = getelementptr i64, ptr %buffer, i64 %d
  store i64 %size, ptr %size.at
  %points.next = mul i64 %points, %size
  %d.next = add i64 %d, 1
  br label %dim

within:
  %some.points = icmp ne i64 %points, 0
  %compares = and i1 %has.within, %some.points
  br i1 %compares, label %compare, label %axes
compare:
  %within.error = call ptr @within(ptr %frame, ptr %kernel, ptr %kinds, ptr %items, i64 %attrs.wanted)
  %is.within = icmp eq ptr %within.error, null
  br i1 %is.within, label %axes, label %bad.within
bad.within:
  ret ptr %within.error

axes:                                                 ; result 0 says how many batch axes there are and how long
  %table.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 9
  %table = load ptr, ptr %table.at
  %lead.index = call i64 @field(ptr %kernel, i64 8)
  %lead = getelementptr %Param, ptr %table, i64 %lead.index
  %lead.own = call i64 @own_rank(ptr %lead)
  %lead.buffer = call ptr @result(ptr %frame, i64 0)
  %lead.rank.at = getelementptr %Buffer, ptr %lead.buffer, i64 0, i32 4
  %lead.rank = load i64, ptr %lead.rank.at
  %excess = sub i64 %lead.rank, %lead.own
  %batch.axes = call i64 @llvm.smax.i64(i64 %excess, i64 0)
  %few = icmp sle i64 %batch.axes, 8
  br i1 %few, label %batch, label %bad.axes
bad.axes:
  %axes.error = call ptr @refuse(ptr %frame, ptr @say.axes, i64 %kernel.name, i64 %batch.axes, i64 8, i64 0)
  ret ptr %axes.error
batch:
  %points.at = getelementptr %Call, ptr %call, i64 0, i32 1
  store i64 %points, ptr %points.at
  %axes.at = getelementptr %Call, ptr %call, i64 0, i32 3
  store i64 %batch.axes, ptr %axes.at
  %lead.dims.at = getelementptr %Buffer, ptr %lead.buffer, i64 0, i32 5
  %lead.dims = load ptr, ptr %lead.dims.at
  br label %batch.axis
batch.axis:
  %b = phi i64 [ 0, %batch ], [ %b.next, %batch.take ]
  %total = phi i64 [ %points, %batch ], [ %total.next, %batch.take ]
  %b.more = icmp slt i64 %b, %batch.axes
  br i1 %b.more, label %batch.take, label %bind
batch.take:
  %b.size = call i64 @field(ptr %lead.dims, i64 %b)
  %b.at = getelementptr %Call, ptr %call, i64 0, i32 4, i64 %b
  store i64 %b.size, ptr %b.at
  %total.next = mul i64 %total, %b.size
  %b.next = add i64 %b, 1
  br label %batch.axis

bind:
  %total.at = getelementptr %Call, ptr %call, i64 0, i32 2
  store i64 %total, ptr %total.at
  br label %param
param:
  %p = phi i64 [ 0, %bind ], [ %p.next, %param.good ]
  %p.more = icmp slt i64 %p, %count
  br i1 %p.more, label %param.bind, label %launch
param.bind:
  %error = call ptr @bind(ptr %frame, ptr %call, ptr %static.values, ptr %views, i64 %p)
  %good = icmp eq ptr %error, null
  br i1 %good, label %param.good, label %bad.param
param.good:
  %p.next = add i64 %p, 1
  br label %param
bad.param:
  ret ptr %error

launch:
  br i1 %on.gpu, label %queue, label %local
queue:
  %queued = call ptr @launch_cuda(ptr %frame, ptr %call, ptr %buffer)
  ret ptr %queued
local:
  %stop = call ptr @stop()
  %end.now = call i1 @ends(ptr %stop)
  br i1 %end.now, label %stopped, label %size.up
size.up:
  %large = icmp sgt i64 %total, %grain
  br i1 %large, label %threads, label %here
threads:
  %shared.error = alloca ptr
  %shared = call i1 @share(ptr %frame, ptr %call, i64 %bytes, i64 %grain, ptr %stop, ptr %shared.error)
  br i1 %shared, label %over, label %here
over:
  %waited.error = load ptr, ptr %shared.error
  ret ptr %waited.error
here:
  %status = call i32 @run(ptr %call, ptr %buffer, i64 0, i64 %total, ptr %stop)
  %ran = icmp eq i32 %status, 0
  br i1 %ran, label %all.done, label %stopped
all.done:
  %api.at = getelementptr %Frame, ptr %frame, i64 0, i32 2
  %api = load ptr, ptr %api.at
  %run.error = call ptr @fault_error(ptr %api, ptr %call)
  ret ptr %run.error
stopped:
  %stopped.error = call ptr @workbench_stopped(ptr %frame, ptr %kernel)
  ret ptr %stopped.error
done:
  ret ptr null
}

; A call of a kernel that was redefined after its program was compiled: the sentence at %text as the error of the stages that
; run it (on a GPU also of `initialize`, since a command buffer repeats what it queued without `execute`); null for other
; questions, which are the kernel's own.
define ptr @workbench_outdated_call(ptr %frame, ptr %text) {
entry:
  %first.at = getelementptr %Frame, ptr %frame, i64 0, i32 1
  %first = load ptr, ptr %first.at
  br label %next
next:
  %extension = phi ptr [ %first, %entry ], [ %following, %other ]
  %end = icmp eq ptr %extension, null
  br i1 %end, label %stages, label %look
look:                                                 ; XLA asks for the API's version at registration
  %type.at = getelementptr %Extension, ptr %extension, i64 0, i32 1
  %type = load i32, ptr %type.at
  %asked = icmp eq i32 %type, 1
  %following.at = getelementptr %Extension, ptr %extension, i64 0, i32 2
  %following = load ptr, ptr %following.at
  br i1 %asked, label %no, label %other
other:
  br label %next
stages:
  %stage.at = getelementptr %Frame, ptr %frame, i64 0, i32 4
  %stage = load i32, ptr %stage.at
  %runs = icmp sge i32 %stage, 2
  br i1 %runs, label %refused, label %no
refused:
  %said = ptrtoint ptr %text to i64
  %error = call ptr @refuse(ptr %frame, ptr @say.outdated, i64 %said, i64 0, i64 0, i64 0)
  ret ptr %error
no:
  ret ptr null
}

; The attribute numbered %index, where it is an array of int64; else null.
define private ptr @int64_array(ptr %kinds, ptr %items, i64 %index) {
entry:
  %kind.at = getelementptr i32, ptr %kinds, i64 %index
  %kind = load i32, ptr %kind.at
  %is.array = icmp eq i32 %kind, 1
  br i1 %is.array, label %look, label %no
look:
  %at = getelementptr ptr, ptr %items, i64 %index
  %array = load ptr, ptr %at
  %dtype = load i32, ptr %array
  %is.int64 = icmp eq i32 %dtype, 5
  br i1 %is.int64, label %yes, label %no
yes:
  ret ptr %array
no:
  ret ptr null
}

; The numbers of the attribute %index where it is an array of %wanted int64; else null, as where none are wanted.
define private ptr @int64_data(ptr %kinds, ptr %items, i64 %index, i64 %wanted) {
entry:
  %any = icmp sgt i64 %wanted, 0
  br i1 %any, label %look, label %no
look:
  %array = call ptr @int64_array(ptr %kinds, ptr %items, i64 %index)
  %bad = icmp eq ptr %array, null
  br i1 %bad, label %no, label %count
count:
  %size.at = getelementptr %Array, ptr %array, i64 0, i32 1
  %size = load i64, ptr %size.at
  %same = icmp eq i64 %size, %wanted
  br i1 %same, label %yes, label %no
yes:
  %data.at = getelementptr %Array, ptr %array, i64 0, i32 2
  %data = load ptr, ptr %data.at
  ret ptr %data
no:
  ret ptr null
}

; A size of the launch that is -1 - (4 * parameter + axis): that of the parameter's array in this call.
define private i64 @array_size(ptr %frame, ptr %kernel, i64 %code) noinline {
  %place = xor i64 %code, -1
  %index = lshr i64 %place, 2
  %axis = and i64 %place, 3
  %table.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 9
  %table = load ptr, ptr %table.at
  %param = getelementptr %Param, ptr %table, i64 %index
  %operand = call i64 @field(ptr %param, i64 5)
  %result = call i64 @field(ptr %param, i64 6)
  %in = call ptr @operand(ptr %frame, i64 %operand)
  %out = call ptr @result(ptr %frame, i64 %result)
  %has.out = icmp ne ptr %out, null
  %buffer = select i1 %has.out, ptr %out, ptr %in
  %rank.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 4
  %rank = load i64, ptr %rank.at
  %own = call i64 @own_rank(ptr %param)
  %batches = sub i64 %rank, %own
  %at = add i64 %batches, %axis
  %dims.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 5
  %dims = load ptr, ptr %dims.at
  %size = call i64 @field(ptr %dims, i64 %at)
  ret i64 %size
}
