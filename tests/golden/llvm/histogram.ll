define i32 @wb_histogram(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %x.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.6 = load ptr, ptr %x.at.5
  %bins.shape0.at.11 = getelementptr inbounds i8, ptr %params, i64 64
  %bins.shape0.12 = load i64, ptr %bins.shape0.at.11, !range !0
  %bins.at.35 = getelementptr inbounds i8, ptr %params, i64 56
  %bins.data.36 = load ptr, ptr %bins.at.35
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
  %v10 = call i32 @wb.int32.float32(float %v9)
  %v13 = trunc i64 %bins.shape0.12 to i32
  %v14 = icmp eq i32 %v13, 0
  %v15 = sitofp i32 %v13 to double
  %v16 = fdiv double 1.0, %v15
  %v17 = select i1 %v14, double 0.0, double %v16
  %v18 = icmp slt i32 %v13, 0
  %v19 = select i1 %v18, double -0.5, double 0.5
  %v20 = fmul double %v19, %v17
  %v21 = fadd double %v20, -0.5
  %v22 = select i1 %v14, double -1.0, double %v21
  %v23 = sitofp i32 %v10 to double
  %v24 = fmul double %v23, %v17
  %v25 = fadd double %v24, %v22
  %v26 = fadd double %v25, 6755399441055744.0
  %v27 = bitcast double %v26 to i64
  %v28 = trunc i64 %v27 to i32
  %v29 = mul i32 %v28, %v13
  %v30 = sub i32 %v10, %v29
  %v31 = icmp slt i32 %v30, 0
  %v32 = add i32 %v30, %v13
  %v33 = select i1 %v31, i32 %v32, i32 %v30
  %v34 = sext i32 %v33 to i64
  %v37 = getelementptr inbounds i32, ptr %bins.data.36, i64 %v34
  %v38 = atomicrmw add ptr %v37, i32 1 monotonic
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !2
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
define internal i32 @wb.int32.float32(float %x) alwaysinline nounwind {
  %above = fcmp ogt float %x, 0xC1E0000000000000
  %least = select i1 %above, float %x, float 0xC1E0000000000000
  %whole = fptosi float %least to i32
  %beyond = fcmp oge float %x, 0x41E0000000000000
  %most = select i1 %beyond, i32 2147483647, i32 %whole
  %nan = fcmp uno float %x, 0.0
  %result = select i1 %nan, i32 0, i32 %most
  ret i32 %result
}
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.vectorize.enable", i1 false}}
