; Binding one parameter to its buffer: address, batch strides, shape and strides in the parameter buffer, initial value.

; Write a pattern of 1, 2, 4 or 8 bytes over %bytes bytes.
define private void @fill(ptr %data, i64 %bytes, i64 %pattern, i64 %width) {
entry:
  %zero = icmp eq i64 %pattern, 0
  br i1 %zero, label %clear, label %choose
clear:
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  ret void
choose:
  %count = udiv i64 %bytes, %width
  switch i64 %width, label %by8 [
    i64 1, label %by1
    i64 2, label %by2
    i64 4, label %by4
  ]
by1:
  %byte = trunc i64 %pattern to i8
  call void @llvm.memset.p0.i64(ptr %data, i8 %byte, i64 %bytes, i1 false)
  ret void
by2:
  %i2 = phi i64 [ 0, %choose ], [ %n2, %w2 ]
  %m2 = icmp ult i64 %i2, %count
  br i1 %m2, label %w2, label %done
w2:
  %v2 = trunc i64 %pattern to i16
  %a2 = getelementptr i16, ptr %data, i64 %i2
  store i16 %v2, ptr %a2
  %n2 = add i64 %i2, 1
  br label %by2
by4:
  %i4 = phi i64 [ 0, %choose ], [ %n4, %w4 ]
  %m4 = icmp ult i64 %i4, %count
  br i1 %m4, label %w4, label %done
w4:
  %v4 = trunc i64 %pattern to i32
  %a4 = getelementptr i32, ptr %data, i64 %i4
  store i32 %v4, ptr %a4
  %n4 = add i64 %i4, 1
  br label %by4
by8:
  %i8 = phi i64 [ 0, %choose ], [ %n8, %w8 ]
  %m8 = icmp ult i64 %i8, %count
  br i1 %m8, label %w8, label %done
w8:
  %a8 = getelementptr i64, ptr %data, i64 %i8
  store i64 %pattern, ptr %a8
  %n8 = add i64 %i8, 1
  br label %by8
done:
  ret void
}

define private ptr @bound(ptr %call, i64 %index) alwaysinline {
  %table = getelementptr %Call, ptr %call, i64 1
  %bound = getelementptr %Bound, ptr %table, i64 %index
  ret ptr %bound
}

; The parameter buffer behind the bounds.
define private ptr @buffer_of(ptr %call) alwaysinline {
  %kernel = load ptr, ptr %call
  %count = call i64 @field(ptr %kernel, i64 2)
  %buffer = call ptr @bound(ptr %call, i64 %count)
  ret ptr %buffer
}

; Check one parameter, note its address and batch strides, and write its shape and strides into the buffer.
define private ptr @bind(ptr %frame, ptr %call, ptr %values, ptr %views, i64 %index) {
entry:
  %kernel = load ptr, ptr %call
  %table.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 9
  %table = load ptr, ptr %table.at
  %param = getelementptr %Param, ptr %table, i64 %index
  %bound = call ptr @bound(ptr %call, i64 %index)
  %value = call i64 @field(ptr %param, i64 7)
  %static = icmp sge i64 %value, 0
  br i1 %static, label %take.value, label %take.buffer
take.value:
  %value.at = getelementptr i64, ptr %values, i64 %value
  call void @llvm.memset.p0.i64(ptr %bound, i8 0, i64 72, i1 false)
  store ptr %value.at, ptr %bound
  ret ptr null

take.buffer:
  %operand = call i64 @field(ptr %param, i64 5)
  %result = call i64 @field(ptr %param, i64 6)
  %in = call ptr @operand(ptr %frame, i64 %operand)
  %out = call ptr @result(ptr %frame, i64 %result)
  %has.in = icmp ne ptr %in, null
  %has.out = icmp ne ptr %out, null
  br i1 %has.in, label %check.in, label %next.out
check.in:
  %in.error = call ptr @check(ptr %frame, ptr %call, ptr %param, ptr %in, i1 %has.out)
  %in.bad = icmp ne ptr %in.error, null
  br i1 %in.bad, label %fail.in, label %next.out
fail.in:
  ret ptr %in.error
next.out:
  br i1 %has.out, label %check.out, label %shape
check.out:
  %out.error = call ptr @check(ptr %frame, ptr %call, ptr %param, ptr %out, i1 true)
  %out.bad = icmp ne ptr %out.error, null
  br i1 %out.bad, label %fail.out, label %both
fail.out:
  ret ptr %out.error
both:
  br i1 %has.in, label %carry, label %shape
carry:
  %carry.error = call ptr @carry_over(ptr %frame, ptr %call, ptr %param, ptr %in, ptr %out)
  %carry.bad = icmp ne ptr %carry.error, null
  br i1 %carry.bad, label %fail.carry, label %shape
fail.carry:
  ret ptr %carry.error

shape:
  %source = select i1 %has.out, ptr %out, ptr %in
  %dims.at = getelementptr %Buffer, ptr %source, i64 0, i32 5
  %dims = load ptr, ptr %dims.at
  %axes.at = getelementptr %Call, ptr %call, i64 0, i32 3
  %axes = load i64, ptr %axes.at
  %kind = call i64 @field(ptr %param, i64 1)
  %rank = call i64 @field(ptr %param, i64 3)
  %size = call i64 @field(ptr %param, i64 8)
  %offset = call i64 @field(ptr %param, i64 9)
  %buffer = call ptr @buffer_of(ptr %call)
  %slot = getelementptr i8, ptr %buffer, i64 %offset
  %slot.shape = getelementptr i8, ptr %slot, i64 8
  %accumulates = icmp eq i64 %kind, 2
  br i1 %accumulates, label %one.element, label %own.axes
one.element:
  store i64 1, ptr %slot.shape
  %stride.slot = getelementptr i64, ptr %slot.shape, i64 1
  store i64 %size, ptr %stride.slot
  br label %own.axes

own.axes:                                             ; from the last to the first
  %view = call i64 @field(ptr %param, i64 12)
  %viewed = icmp sge i64 %view, 0
  %view.bytes = getelementptr i64, ptr %views, i64 %view
  br label %own
own:
  %left = phi i64 [ %rank, %own.axes ], [ %axis, %own.next ]
  %stride = phi i64 [ %size, %own.axes ], [ %stride.next, %own.next ]
  %own.more = icmp sgt i64 %left, 0
  br i1 %own.more, label %own.step, label %own.view
own.step:
  %axis = sub i64 %left, 1
  %dim.index = add i64 %axes, %axis
  %dim = call i64 @field(ptr %dims, i64 %dim.index)
  br i1 %viewed, label %own.next, label %own.write
own.write:
  %shape.at = getelementptr i64, ptr %slot.shape, i64 %axis
  store i64 %dim, ptr %shape.at
  %stride.index = add i64 %rank, %axis
  %stride.at = getelementptr i64, ptr %slot.shape, i64 %stride.index
  store i64 %stride, ptr %stride.at
  br label %own.next
own.next:
  %stride.next = mul i64 %stride, %dim
  br label %own
own.view:                                             ; shape and strides as the view says, and where it starts
  br i1 %viewed, label %view.take, label %batch
view.take:
  %view.ndim = call i64 @field(ptr %param, i64 13)
  %view.count = mul i64 %view.ndim, 16
  %view.shape = getelementptr i64, ptr %view.bytes, i64 1
  call void @llvm.memcpy.p0.p0.i64(ptr %slot.shape, ptr %view.shape, i64 %view.count, i1 false)
  %view.start = load i64, ptr %view.bytes
  br label %batch

batch:
  %start = phi i64 [ 0, %own.view ], [ %view.start, %view.take ]
  br label %batch.axis
batch.axis:
  %b.left = phi i64 [ %axes, %batch ], [ %b.axis, %batch.write ]
  %b.stride = phi i64 [ %stride, %batch ], [ %b.stride.next, %batch.write ]
  %b.more = icmp sgt i64 %b.left, 0
  br i1 %b.more, label %batch.write, label %finish
batch.write:
  %b.axis = sub i64 %b.left, 1
  %b.dim = call i64 @field(ptr %dims, i64 %b.axis)
  %b.one = icmp eq i64 %b.dim, 1
  %b.step = select i1 %b.one, i64 0, i64 %b.stride
  %b.at = getelementptr %Bound, ptr %bound, i64 0, i32 1, i64 %b.axis
  store i64 %b.step, ptr %b.at
  %b.stride.next = mul i64 %b.stride, %b.dim
  br label %batch.axis

finish:                                               ; %b.stride is now the size of the whole buffer
  %data.at = getelementptr %Buffer, ptr %source, i64 0, i32 3
  %data = load ptr, ptr %data.at
  %unread = icmp eq i64 %kind, 3
  %begin = getelementptr i8, ptr %data, i64 %start
  %address = select i1 %unread, ptr null, ptr %begin
  store ptr %address, ptr %bound
  %width = call i64 @field(ptr %param, i64 10)
  %filled = icmp sgt i64 %width, 0
  br i1 %filled, label %initialise, label %done
initialise:
  %pattern = call i64 @field(ptr %param, i64 11)
  %grain = call i64 @field(ptr %kernel, i64 7)
  %on.gpu = icmp eq i64 %grain, -1
  br i1 %on.gpu, label %queue, label %fill.here
queue:
  %queued = call ptr @fill_cuda(ptr %frame, ptr %call, ptr %data, i64 %b.stride, i64 %pattern, i64 %width)
  ret ptr %queued
fill.here:
  call void @fill(ptr %data, i64 %b.stride, i64 %pattern, i64 %width)
  br label %done
done:
  ret ptr null
}
