; Does what XLA hands over fit the description? Errors with names, the API version, and one buffer's dtype, rank and sizes.

; An INVALID_ARGUMENT with a formatted message. Pointers come as integers: both are one 8-byte argument in the C ABI.
define private ptr @refuse(ptr %frame, ptr %format, i64 %a, i64 %b, i64 %c, i64 %d) cold noinline {
  %text = alloca [512 x i8]
  %written = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %text, i64 512, ptr %format, i64 %a, i64 %b, i64 %c, i64 %d)
  %api.at = getelementptr %Frame, ptr %frame, i64 0, i32 2
  %api = load ptr, ptr %api.at
  %error = call ptr @error_of(ptr %api, ptr %text, i32 3)
  ret ptr %error
}

; An error with this text and code, which XLA owns.
define private ptr @error_of(ptr %api, ptr %text, i32 %code) cold noinline {
  %with.text = insertvalue %ErrorCreate { i64 28, ptr null, ptr null, i32 0 }, ptr %text, 2
  %filled = insertvalue %ErrorCreate %with.text, i32 %code, 3
  %arguments = alloca %ErrorCreate
  store %ErrorCreate %filled, ptr %arguments
  %create.at = getelementptr %Api, ptr %api, i64 0, i32 4, i64 0
  %create = load ptr, ptr %create.at
  %error = call ptr %create(ptr %arguments)
  ret ptr %error
}

; The same about one parameter: the message starts with the kernel's and the parameter's name.
define private ptr @refuse_param(ptr %frame, ptr %call, ptr %param, ptr %format, i64 %c, i64 %d) cold noinline {
  %kernel = load ptr, ptr %call
  %kernel.name = load i64, ptr %kernel
  %param.name = load i64, ptr %param
  %error = call ptr @refuse(ptr %frame, ptr %format, i64 %kernel.name, i64 %param.name, i64 %c, i64 %d)
  ret ptr %error
}

define private i64 @dtype_name(i64 %code) cold noinline {
  %known = icmp ult i64 %code, 34
  %index = select i1 %known, i64 %code, i64 0
  %at = getelementptr [34 x ptr], ptr @names, i64 0, i64 %index
  %name = load i64, ptr %at
  ret i64 %name
}

; Whether an XLA API call failed; its error is given back.
define private i1 @failed(ptr %api, ptr %error) {
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %no, label %yes
yes:
  %filled = insertvalue %ErrorDestroy { i64 24, ptr null, ptr null }, ptr %error, 2
  %arguments = alloca %ErrorDestroy
  store %ErrorDestroy %filled, ptr %arguments
  %destroy.at = getelementptr %Api, ptr %api, i64 0, i32 4, i64 2
  %destroy = load ptr, ptr %destroy.at
  call void %destroy(ptr %arguments)
  ret i1 true
no:
  ret i1 false
}

; ---- the question XLA asks at registration: which API version is this?

define private i1 @answer_metadata(ptr %frame, i32 %its.traits) {
entry:
  %first.at = getelementptr %Frame, ptr %frame, i64 0, i32 1
  %first = load ptr, ptr %first.at
  br label %next
next:
  %extension = phi ptr [ %first, %entry ], [ %following, %other ]
  %end = icmp eq ptr %extension, null
  br i1 %end, label %none, label %look
look:
  %type.at = getelementptr %Extension, ptr %extension, i64 0, i32 1
  %type = load i32, ptr %type.at
  %asked = icmp eq i32 %type, 1
  br i1 %asked, label %answer, label %other
other:
  %following.at = getelementptr %Extension, ptr %extension, i64 0, i32 2
  %following = load ptr, ptr %following.at
  br label %next
answer:
  %metadata.at = getelementptr %MetadataExtension, ptr %extension, i64 0, i32 1
  %metadata = load ptr, ptr %metadata.at
  %major = getelementptr %Metadata, ptr %metadata, i64 0, i32 1, i32 2
  store i32 0, ptr %major
  %minor = getelementptr %Metadata, ptr %metadata, i64 0, i32 1, i32 3
  store i32 1, ptr %minor
  %traits = getelementptr %Metadata, ptr %metadata, i64 0, i32 2
  store i32 %its.traits, ptr %traits
  ret i1 true
none:
  ret i1 false
}

; ---- checking and binding one parameter

define private i64 @field(ptr %struct, i64 %index) alwaysinline {
  %at = getelementptr i64, ptr %struct, i64 %index
  %value = load i64, ptr %at
  ret i64 %value
}

; The buffer numbered %index of the frame's args (field 5) or rets (field 6); null where the index is negative.
define private ptr @operand(ptr %frame, i64 %index) alwaysinline {
  %none = icmp slt i64 %index, 0
  br i1 %none, label %absent, label %present
absent:
  ret ptr null
present:
  %items.at = getelementptr %Frame, ptr %frame, i64 0, i32 5, i32 4
  %items = load ptr, ptr %items.at
  %at = getelementptr ptr, ptr %items, i64 %index
  %buffer = load ptr, ptr %at
  ret ptr %buffer
}

define private ptr @result(ptr %frame, i64 %index) alwaysinline {
  %none = icmp slt i64 %index, 0
  br i1 %none, label %absent, label %present
absent:
  ret ptr null
present:
  %items.at = getelementptr %Frame, ptr %frame, i64 0, i32 6, i32 4
  %items = load ptr, ptr %items.at
  %at = getelementptr ptr, ptr %items, i64 %index
  %buffer = load ptr, ptr %at
  ret ptr %buffer
}

; Dimensions of a parameter's buffer besides batches: its rank and the components' axis of a vector.
define private i64 @own_rank(ptr %param) alwaysinline {
  %rank = call i64 @field(ptr %param, i64 3)
  %inner = call i64 @field(ptr %param, i64 4)
  %vector = icmp ne i64 %inner, 0
  %extra = zext i1 %vector to i64
  %own = add i64 %rank, %extra
  ret i64 %own
}

; Null where %buffer fits the description; a %whole one must have every batch, others may have size 1 there.
define private ptr @check(ptr %frame, ptr %call, ptr %param, ptr %buffer, i1 %whole) {
entry:
  %dtype.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 2
  %dtype.32 = load i32, ptr %dtype.at
  %dtype = zext i32 %dtype.32 to i64
  %wanted = call i64 @field(ptr %param, i64 2)
  %same = icmp eq i64 %dtype, %wanted
  br i1 %same, label %ranks, label %bad.dtype
bad.dtype:
  %wanted.name = call i64 @dtype_name(i64 %wanted)
  %given.name = call i64 @dtype_name(i64 %dtype)
  %dtype.error = call ptr @refuse_param(ptr %frame, ptr %call, ptr %param, ptr @say.dtype, i64 %wanted.name, i64 %given.name)
  ret ptr %dtype.error

ranks:
  %rank.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 4
  %rank = load i64, ptr %rank.at
  %axes.at = getelementptr %Call, ptr %call, i64 0, i32 3
  %axes = load i64, ptr %axes.at
  %own = call i64 @own_rank(ptr %param)
  %given = sub i64 %rank, %axes
  %fits = icmp eq i64 %given, %own
  br i1 %fits, label %inside, label %bad.rank
bad.rank:
  %rank.error = call ptr @refuse_param(ptr %frame, ptr %call, ptr %param, ptr @say.rank, i64 %own, i64 %given)
  ret ptr %rank.error

inside:
  %dims.at = getelementptr %Buffer, ptr %buffer, i64 0, i32 5
  %dims = load ptr, ptr %dims.at
  %inner = call i64 @field(ptr %param, i64 4)
  %scalar = icmp eq i64 %inner, 0
  br i1 %scalar, label %batches, label %components
components:
  %last = sub i64 %rank, 1
  %found = call i64 @field(ptr %dims, i64 %last)
  %dense = icmp eq i64 %found, %inner
  br i1 %dense, label %batches, label %bad.inner
bad.inner:
  %inner.error = call ptr @refuse_param(ptr %frame, ptr %call, ptr %param, ptr @say.inner, i64 %inner, i64 %found)
  ret ptr %inner.error

batches:
  br label %batch
batch:
  %axis = phi i64 [ 0, %batches ], [ %axis.next, %batch.good ]
  %more = icmp slt i64 %axis, %axes
  br i1 %more, label %batch.look, label %good
batch.look:
  %size = call i64 @field(ptr %dims, i64 %axis)
  %full.at = getelementptr %Call, ptr %call, i64 0, i32 4, i64 %axis
  %full = load i64, ptr %full.at
  %equal = icmp eq i64 %size, %full
  %one = icmp eq i64 %size, 1
  %partial = xor i1 %whole, true
  %spread = and i1 %one, %partial
  %allowed = or i1 %equal, %spread
  br i1 %allowed, label %batch.good, label %bad.batch
batch.good:
  %axis.next = add i64 %axis, 1
  br label %batch
bad.batch:
  %batch.error = call ptr @refuse_param(ptr %frame, ptr %call, ptr %param, ptr @say.batch, i64 %full, i64 %size)
  ret ptr %batch.error
good:
  ret ptr null
}

; Conditions on sizes that were not known when JAX traced, in the attribute %index, in words:
;   0 parameter   1 axis   2 whether indices count from the end   3 a constant   4 terms; a term is a size, written as in
;   `dims`, and how many times it counts
; Each says that constant and terms add up to an index of the parameter's array. A sum beyond int32 says nothing.
define private ptr @within(ptr %frame, ptr %kernel, ptr %kinds, ptr %items, i64 %index) noinline {
entry:
  %array = call ptr @int64_array(ptr %kinds, ptr %items, i64 %index)
  %none = icmp eq ptr %array, null
  br i1 %none, label %good, label %start
start:
  %count.at = getelementptr %Array, ptr %array, i64 0, i32 1
  %count = load i64, ptr %count.at
  %words.at = getelementptr %Array, ptr %array, i64 0, i32 2
  %words = load ptr, ptr %words.at
  br label %next
next:
  %at = phi i64 [ 0, %start ], [ %behind, %inside ]
  %more = icmp slt i64 %at, %count
  br i1 %more, label %look, label %good
look:
  %word = getelementptr i64, ptr %words, i64 %at
  %param = call i64 @field(ptr %word, i64 0)
  %axis = call i64 @field(ptr %word, i64 1)
  %wraps = call i64 @field(ptr %word, i64 2)
  %constant = call i64 @field(ptr %word, i64 3)
  %terms = call i64 @field(ptr %word, i64 4)
  %four = mul i64 %param, 4
  %place = add i64 %four, %axis
  %code = xor i64 %place, -1
  %size = call i64 @array_size(ptr %frame, ptr %kernel, i64 %code)
  br label %term
term:
  %t = phi i64 [ 0, %look ], [ %t.next, %term.add ]
  %sum = phi i64 [ %constant, %look ], [ %sum.next, %term.add ]
  %two = mul i64 %t, 2
  %t.at = add i64 %two, 5
  %t.more = icmp slt i64 %t, %terms
  br i1 %t.more, label %term.add, label %compare
term.add:
  %t.code = call i64 @field(ptr %word, i64 %t.at)
  %t.factor.at = add i64 %t.at, 1
  %t.factor = call i64 @field(ptr %word, i64 %t.factor.at)
  %t.size = call i64 @array_size(ptr %frame, ptr %kernel, i64 %t.code)
  %t.product = mul i64 %t.size, %t.factor
  %sum.next = add i64 %sum, %t.product
  %t.next = add i64 %t, 1
  br label %term
compare:
  %behind = add i64 %at, %t.at
  %counts = icmp ne i64 %wraps, 0
  %negative = sub i64 0, %size
  %least = select i1 %counts, i64 %negative, i64 0
  %above = icmp sge i64 %sum, %least
  %below = icmp slt i64 %sum, %size
  %fits = and i1 %above, %below
  %short = trunc i64 %sum to i32
  %long = sext i32 %short to i64
  %wrapped = icmp ne i64 %long, %sum
  %fine = or i1 %fits, %wrapped
  br i1 %fine, label %inside, label %outside
inside:
  br label %next
outside:
  %table.at = getelementptr %Kernel, ptr %kernel, i64 0, i32 9
  %table = load ptr, ptr %table.at
  %owner = getelementptr %Param, ptr %table, i64 %param
  %kernel.name = load i64, ptr %kernel
  %param.name = load i64, ptr %owner
  %error = call ptr @refuse(ptr %frame, ptr @say.within, i64 %kernel.name, i64 %param.name, i64 %size, i64 %sum)
  ret ptr %error
good:
  ret ptr null
}

; An in-out parameter: equal shapes; where XLA did not give both the same memory the operand is copied over.
define private ptr @carry_over(ptr %frame, ptr %call, ptr %param, ptr %in, ptr %out) {
entry:
  %rank.at = getelementptr %Buffer, ptr %out, i64 0, i32 4
  %rank = load i64, ptr %rank.at
  %in.dims.at = getelementptr %Buffer, ptr %in, i64 0, i32 5
  %in.dims = load ptr, ptr %in.dims.at
  %out.dims.at = getelementptr %Buffer, ptr %out, i64 0, i32 5
  %out.dims = load ptr, ptr %out.dims.at
  %element = call i64 @field(ptr %param, i64 8)
  %inner = call i64 @field(ptr %param, i64 4)
  %inner.one = call i64 @llvm.umax.i64(i64 %inner, i64 1)
  %component = udiv i64 %element, %inner.one
  br label %axis
axis:
  %index = phi i64 [ 0, %entry ], [ %index.next, %equal ]
  %bytes = phi i64 [ %component, %entry ], [ %bytes.next, %equal ]
  %more = icmp slt i64 %index, %rank
  br i1 %more, label %compare, label %pointers
compare:
  %in.size = call i64 @field(ptr %in.dims, i64 %index)
  %out.size = call i64 @field(ptr %out.dims, i64 %index)
  %same = icmp eq i64 %in.size, %out.size
  br i1 %same, label %equal, label %different
equal:
  %index.next = add i64 %index, 1
  %bytes.next = mul i64 %bytes, %out.size
  br label %axis
different:
  %error = call ptr @refuse_param(ptr %frame, ptr %call, ptr %param, ptr @say.alias, i64 %in.size, i64 %out.size)
  ret ptr %error
pointers:
  %in.data.at = getelementptr %Buffer, ptr %in, i64 0, i32 3
  %in.data = load ptr, ptr %in.data.at
  %out.data.at = getelementptr %Buffer, ptr %out, i64 0, i32 3
  %out.data = load ptr, ptr %out.data.at
  %aliased = icmp eq ptr %in.data, %out.data
  br i1 %aliased, label %done, label %copy
copy:
  %kernel = load ptr, ptr %call
  %grain = call i64 @field(ptr %kernel, i64 7)
  %on.gpu = icmp eq i64 %grain, -1
  br i1 %on.gpu, label %queue, label %copy.here
queue:
  %queued = call ptr @copy_cuda(ptr %frame, ptr %call, ptr %out.data, ptr %in.data, i64 %bytes)
  ret ptr %queued
copy.here:
  call void @llvm.memcpy.p0.p0.i64(ptr %out.data, ptr %in.data, i64 %bytes, i1 false)
  br label %done
done:
  ret ptr null
}
