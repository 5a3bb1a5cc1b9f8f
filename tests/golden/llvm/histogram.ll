define i32 @wb_histogram(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.6 = load ptr, ptr %x.at.5
  %bins.shape0.at.11 = getelementptr inbounds i8, ptr %params, i64 64
  %bins.shape0.12 = load i64, ptr %bins.shape0.at.11, !range !0
  %bins.at.34 = getelementptr inbounds i8, ptr %params, i64 56
  %bins.data.35 = load ptr, ptr %bins.at.34
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br label %threads
threads:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %thread.end ]
  %more.3 = icmp slt i32 %tid, %high.2
  br i1 %more.3, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 3: atomic_add(bins, int(x[i] * 10.0) % len(bins), 1)
  %v4 = sext i32 %tid to i64
  %v7 = getelementptr inbounds float, ptr %x.data.6, i64 %v4
  %v8 = load float, ptr %v7
  %v9 = fmul float %v8, 0x4024000000000000
  %v10 = call i32 @llvm.fptosi.sat.i32.f32(float %v9)
  %v13 = trunc i64 %bins.shape0.12 to i32
  %v14 = icmp eq i32 %v13, 0
  %v15 = icmp eq i32 %v13, -1
  %v16 = icmp eq i32 %v10, -2147483648
  %v17 = and i1 %v15, %v16
  %v18 = or i1 %v14, %v17
  %v19 = select i1 %v18, i32 1, i32 %v13
  %v20 = srem i32 %v10, %v19
  %v21 = icmp ne i32 %v20, 0
  %v22 = icmp slt i32 %v20, 0
  %v23 = icmp slt i32 %v19, 0
  %v24 = xor i1 %v22, %v23
  %v25 = and i1 %v21, %v24
  %v26 = add i32 %v20, %v19
  %v27 = select i1 %v25, i32 %v26, i32 %v20
  %v28 = icmp eq i32 %v13, 0
  %v29 = select i1 %v28, i32 %v10, i32 %v27
  %v30 = icmp slt i32 %v29, 0
  %v31 = add i32 %v29, %v13
  %v32 = select i1 %v30, i32 %v31, i32 %v29
  %v33 = sext i32 %v32 to i64
  %v36 = getelementptr inbounds i32, ptr %bins.data.35, i64 %v33
  %v37 = atomicrmw add ptr %v36, i32 1 monotonic
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i32 @llvm.fptosi.sat.i32.f32(float)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
