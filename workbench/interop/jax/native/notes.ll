; Noting calls for recorders. With none open a call pays one test of @wb_ffi_on.
;
; A note is memory of its own: 10 words, the attributes, the buffers, and where they are kept the operands' bytes.
;   0 kernel   1 start (ns)   2 end (ns)   3 error   4 operands   5 results   6 attributes   7 whether bytes are kept
;   8 its frame   9 the frame of the program it is a step of, 0 for none
;   an attribute: how many int64 it has, then those
;   a buffer: dtype, rank, where its bytes are (from the note's start; 0: nowhere), 13 words for its dimensions
; Finished notes stand in @wb_ffi_notes, in the order in which they ended; Python takes them and frees them. What finds
; no room is counted in @wb_ffi_lost. A large call is over when XLA's last thread is; its end here is the caller's.

@wb_ffi_on = global i32 0                             ; 0 no; 1 note calls; 3 keep the operands' bytes too
@wb_ffi_head = global i64 0
@wb_ffi_lost = global i64 0
@wb_ffi_room = global i64 0                           ; bytes that may still be kept
@wb_ffi_notes = global [65536 x ptr] zeroinitializer

define ptr @workbench_ffi(ptr %frame, ptr %kernel) {
  %on = load atomic i32, ptr @wb_ffi_on monotonic, align 4
  %off = icmp eq i32 %on, 0
  br i1 %off, label %plain, label %noted
plain:
  %error = tail call ptr @call_kernel(ptr %frame, ptr %kernel)
  ret ptr %error
noted:
  %error.noted = call ptr @call_noted(ptr %frame, ptr %kernel, i32 %on, ptr @call_kernel)
  ret ptr %error.noted
}

define void @wb_ffi_free(ptr %note) {
  call void @free(ptr %note)
  ret void
}

; Bytes of a buffer's elements, rounded up to 8.
define private i64 @bytes_in(ptr %buffer) {
entry:
  %dtype.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 2
  %dtype = load i32, ptr %dtype.at
  %known = icmp ult i32 %dtype, CODE_COUNT
  %code = select i1 %known, i32 %dtype, i32 0
  %size.at = getelementptr [CODE_COUNT x i64], ptr @sizes, i64 0, i32 %code
  %size = load i64, ptr %size.at
  %rank.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 4
  %rank = load i64, ptr %rank.at
  %dims.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 5
  %dims = load ptr, ptr %dims.at
  br label %next
next:
  %n = phi i64 [ 0, %entry ], [ %n.next, %take ]
  %total = phi i64 [ %size, %entry ], [ %total.next, %take ]
  %more = icmp slt i64 %n, %rank
  br i1 %more, label %take, label %done
take:
  %dim = call i64 @field(ptr %dims, i64 %n)
  %total.next = mul i64 %total, %dim
  %n.next = add i64 %n, 1
  br label %next
done:
  %up = add i64 %total, 7
  %even = and i64 %up, -8
  ret i64 %even
}

define private i64 @operand_bytes(ptr %frame, i64 %count) {
entry:
  br label %next
next:
  %n = phi i64 [ 0, %entry ], [ %n.next, %take ]
  %total = phi i64 [ 0, %entry ], [ %total.next, %take ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %take, label %done
take:
  %buffer = call ptr @operand(ptr %frame, i64 %n)
  %bytes = call i64 @bytes_in(ptr %buffer)
  %total.next = add i64 %total, %bytes
  %n.next = add i64 %n, 1
  br label %next
done:
  ret i64 %total
}

; The attribute %n, where it is an array of int64, else null.
define private ptr @attribute(ptr %frame, i64 %n) {
  %kinds.at = getelementptr %Frame, ptr %frame, i64 0, i32 7, i32 3
  %kinds = load ptr, ptr %kinds.at
  %items.at = getelementptr %Frame, ptr %frame, i64 0, i32 7, i32 5
  %items = load ptr, ptr %items.at
  %array = call ptr @int64_array(ptr %kinds, ptr %items, i64 %n)
  ret ptr %array
}

define private i64 @attribute_words(ptr %frame, i64 %count) {
entry:
  br label %next
next:
  %n = phi i64 [ 0, %entry ], [ %n.next, %add ]
  %total = phi i64 [ %count, %entry ], [ %total.next, %add ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %take, label %done
take:
  %array = call ptr @attribute(ptr %frame, i64 %n)
  %none = icmp eq ptr %array, null
  br i1 %none, label %add, label %look
look:
  %size.at = getelementptr %Array, ptr %array, i64 0, i32 1
  %size = load i64, ptr %size.at
  br label %add
add:
  %words = phi i64 [ 0, %take ], [ %size, %look ]
  %total.next = add i64 %total, %words
  %n.next = add i64 %n, 1
  br label %next
done:
  ret i64 %total
}

; Write the attributes from %to on; gives where the next word goes.
define private ptr @note_attributes(ptr %frame, ptr %to, i64 %count) {
entry:
  br label %next
next:
  %n = phi i64 [ 0, %entry ], [ %n.next, %after ]
  %at = phi ptr [ %to, %entry ], [ %at.next, %after ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %take, label %done
take:
  %array = call ptr @attribute(ptr %frame, i64 %n)
  %none = icmp eq ptr %array, null
  %first = getelementptr i64, ptr %at, i64 1
  br i1 %none, label %empty, label %copy
empty:
  store i64 0, ptr %at
  br label %after
copy:
  %size.at = getelementptr %Array, ptr %array, i64 0, i32 1
  %size = load i64, ptr %size.at
  %data.at = getelementptr %Array, ptr %array, i64 0, i32 2
  %data = load ptr, ptr %data.at
  store i64 %size, ptr %at
  %bytes = mul i64 %size, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %first, ptr %data, i64 %bytes, i1 false)
  br label %after
after:
  %words = phi i64 [ 0, %empty ], [ %size, %copy ]
  %at.next = getelementptr i64, ptr %first, i64 %words
  %n.next = add i64 %n, 1
  br label %next
done:
  ret ptr %at
}

; Write a buffer's dtype, rank and dimensions; its bytes, where %keep, at %data, which is %offset from the note's start.
define private i64 @note_buffer(ptr %buffer, ptr %to, ptr %data, i64 %offset, i1 %keep) {
entry:
  %dtype.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 2
  %dtype = load i32, ptr %dtype.at
  %wide = zext i32 %dtype to i64
  store i64 %wide, ptr %to
  %rank.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 4
  %rank = load i64, ptr %rank.at
  %rank.to = getelementptr i64, ptr %to, i64 1
  store i64 %rank, ptr %rank.to
  %dims.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 5
  %dims = load ptr, ptr %dims.at
  %shown = call i64 @llvm.smin.i64(i64 %rank, i64 13)
  %dims.bytes = mul i64 %shown, 8
  %dims.to = getelementptr i64, ptr %to, i64 3
  call void @llvm.memcpy.p0.p0.i64(ptr %dims.to, ptr %dims, i64 %dims.bytes, i1 false)
  %place.to = getelementptr i64, ptr %to, i64 2
  br i1 %keep, label %copy, label %bare
bare:
  store i64 0, ptr %place.to
  ret i64 0
copy:
  store i64 %offset, ptr %place.to
  %bytes = call i64 @bytes_in(ptr %buffer)
  %exact = call i64 @exact_bytes(ptr %buffer, i64 %bytes)
  %from.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 3
  %from = load ptr, ptr %from.at
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %from, i64 %exact, i1 false)
  ret i64 %bytes
}

; The bytes without the rounding: the last word may reach beyond the buffer.
define private i64 @exact_bytes(ptr %buffer, i64 %rounded) {
entry:
  %dtype.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 2
  %dtype = load i32, ptr %dtype.at
  %rank.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 4
  %rank = load i64, ptr %rank.at
  %dims.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 5
  %dims = load ptr, ptr %dims.at
  %size.at = getelementptr [CODE_COUNT x i64], ptr @sizes, i64 0, i32 %dtype
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
  %empty = icmp eq i64 %rounded, 0
  br i1 %empty, label %none, label %some
none:
  ret i64 0
some:
  %size = load i64, ptr %size.at
  %bytes = mul i64 %total, %size
  ret i64 %bytes
}

define private ptr @call_noted(ptr %frame, ptr %kernel, i32 %on, ptr %callee) noinline {
entry:
  %extension.at = getelementptr %Frame, ptr %frame, i64 0, i32 1
  %extension = load ptr, ptr %extension.at
  %stage.at = getelementptr %Frame, ptr %frame, i64 0, i32 4
  %stage = load i32, ptr %stage.at
  %bare = icmp eq ptr %extension, null
  %executes = icmp eq i32 %stage, 3
  %wanted = and i1 %bare, %executes
  br i1 %wanted, label %measure, label %plain
plain:
  %error.plain = call ptr %callee(ptr %frame, ptr %kernel)
  ret ptr %error.plain
measure:
  %args.at = getelementptr %Frame, ptr %frame, i64 0, i32 5, i32 2
  %args = load i64, ptr %args.at
  %rets.at = getelementptr %Frame, ptr %frame, i64 0, i32 6, i32 2
  %rets = load i64, ptr %rets.at
  %attrs.at = getelementptr %Frame, ptr %frame, i64 0, i32 7, i32 2
  %attrs = load i64, ptr %attrs.at
  %attr.words = call i64 @attribute_words(ptr %frame, i64 %attrs)
  %buffers = add i64 %args, %rets
  %buffer.words = mul i64 %buffers, 16
  %words.less = add i64 %attr.words, %buffer.words
  %words = add i64 %words.less, 10
  %head.bytes = mul i64 %words, 8
  %keeps = icmp eq i32 %on, 3
  br i1 %keeps, label %room, label %allocate
room:
  %data.bytes = call i64 @operand_bytes(ptr %frame, i64 %args)
  %left = atomicrmw sub ptr @wb_ffi_room, i64 %data.bytes monotonic
  %fits = icmp sge i64 %left, %data.bytes
  br i1 %fits, label %allocate, label %give.back
give.back:
  %again = atomicrmw add ptr @wb_ffi_room, i64 %data.bytes monotonic
  br label %allocate
allocate:
  %kept = phi i64 [ 0, %measure ], [ %data.bytes, %room ], [ 0, %give.back ]
  %keep = phi i1 [ false, %measure ], [ true, %room ], [ false, %give.back ]
  %all = add i64 %head.bytes, %kept
  %note = call ptr @malloc(i64 %all)
  %failed = icmp eq ptr %note, null
  br i1 %failed, label %lost, label %fill
lost:
  %lost.before = atomicrmw add ptr @wb_ffi_lost, i64 1 monotonic
  %error.lost = call ptr %callee(ptr %frame, ptr %kernel)
  ret ptr %error.lost
fill:
  store ptr %kernel, ptr %note
  %args.to = getelementptr i64, ptr %note, i64 4
  store i64 %args, ptr %args.to
  %rets.to = getelementptr i64, ptr %note, i64 5
  store i64 %rets, ptr %rets.to
  %attrs.to = getelementptr i64, ptr %note, i64 6
  store i64 %attrs, ptr %attrs.to
  %keep.wide = zext i1 %keep to i64
  %keep.to = getelementptr i64, ptr %note, i64 7
  store i64 %keep.wide, ptr %keep.to
  %frame.to = getelementptr i64, ptr %note, i64 8
  store ptr %frame, ptr %frame.to
  %size = load i64, ptr %frame
  %is.step = icmp eq i64 %size, 0
  %parent.at = getelementptr %Frame, ptr %frame, i64 0, i32 8
  %parent.given = load ptr, ptr %parent.at
  %parent = select i1 %is.step, ptr %parent.given, ptr null
  %parent.to = getelementptr i64, ptr %note, i64 9
  store ptr %parent, ptr %parent.to
  %attrs.start = getelementptr i64, ptr %note, i64 10
  %buffers.start = call ptr @note_attributes(ptr %frame, ptr %attrs.start, i64 %attrs)
  br label %next
next:
  %n = phi i64 [ 0, %fill ], [ %n.next, %buffer.done ]
  %offset = phi i64 [ %head.bytes, %fill ], [ %offset.next, %buffer.done ]
  %more = icmp slt i64 %n, %buffers
  br i1 %more, label %buffer, label %run
buffer:
  %is.operand = icmp slt i64 %n, %args
  br i1 %is.operand, label %take.operand, label %take.result
take.operand:
  %given = call ptr @operand(ptr %frame, i64 %n)
  br label %write
take.result:
  %number = sub i64 %n, %args
  %made = call ptr @result(ptr %frame, i64 %number)
  br label %write
write:
  %which = phi ptr [ %given, %take.operand ], [ %made, %take.result ]
  %keep.this = phi i1 [ %keep, %take.operand ], [ false, %take.result ]
  %shift = mul i64 %n, 16
  %to = getelementptr i64, ptr %buffers.start, i64 %shift
  %data = getelementptr i8, ptr %note, i64 %offset
  %took = call i64 @note_buffer(ptr %which, ptr %to, ptr %data, i64 %offset, i1 %keep.this)
  br label %buffer.done
buffer.done:
  %offset.next = add i64 %offset, %took
  %n.next = add i64 %n, 1
  br label %next
run:
  %start = call i64 @now()
  %error = call ptr %callee(ptr %frame, ptr %kernel)
  %end = call i64 @now()
  %start.to = getelementptr i64, ptr %note, i64 1
  store i64 %start, ptr %start.to
  %end.to = getelementptr i64, ptr %note, i64 2
  store i64 %end, ptr %end.to
  %error.to = getelementptr i64, ptr %note, i64 3
  store ptr %error, ptr %error.to
  %still = load atomic i32, ptr @wb_ffi_on monotonic, align 4
  %over = icmp eq i32 %still, 0
  br i1 %over, label %drop, label %place
place:
  %index = atomicrmw add ptr @wb_ffi_head, i64 1 acq_rel
  %full = icmp uge i64 %index, 65536
  br i1 %full, label %overflow, label %put
put:
  %slot = getelementptr [65536 x ptr], ptr @wb_ffi_notes, i64 0, i64 %index
  store atomic ptr %note, ptr %slot release, align 8
  ret ptr %error
overflow:
  %lost.more = atomicrmw add ptr @wb_ffi_lost, i64 1 monotonic
  br label %drop
drop:
  call void @free(ptr %note)
  ret ptr %error
}
