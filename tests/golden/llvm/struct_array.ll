define i32 @wb_struct_array(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %bodies.pos.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.6 = load ptr, ptr %bodies.pos.at.5
  %bodies.vel.data.7 = getelementptr inbounds i8, ptr %bodies.pos.data.6, i64 12
  %dt.at.14 = getelementptr inbounds i8, ptr %params, i64 128
  %dt.15 = load float, ptr %dt.at.14
  %bodies.id.data.27 = getelementptr inbounds i8, ptr %bodies.pos.data.6, i64 28
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
  ; line 9: i = tid()
  ; line 10: bodies[i].pos += bodies[i].vel * dt
  %v4 = sext i32 %tid to i64
  %v8 = getelementptr inbounds [32 x i8], ptr %bodies.vel.data.7, i64 %v4
  %v9 = getelementptr inbounds float, ptr %v8, i64 1
  %v10 = getelementptr inbounds float, ptr %v8, i64 2
  %v11 = load float, ptr %v8
  %v12 = load float, ptr %v9
  %v13 = load float, ptr %v10
  %v16 = fmul float %v11, %dt.15
  %v17 = fmul float %v12, %dt.15
  %v18 = fmul float %v13, %dt.15
  %v19 = sext i32 %tid to i64
  %v20 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.6, i64 %v19
  %v21 = getelementptr inbounds float, ptr %v20, i64 1
  %v22 = getelementptr inbounds float, ptr %v20, i64 2
  %v23 = atomicrmw fadd ptr %v20, float %v16 monotonic
  %v24 = atomicrmw fadd ptr %v21, float %v17 monotonic
  %v25 = atomicrmw fadd ptr %v22, float %v18 monotonic
  ; line 11: bodies[i].id += 1
  %v26 = sext i32 %tid to i64
  %v28 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.27, i64 %v26
  %v29 = atomicrmw add ptr %v28, i32 1 monotonic
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
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.vectorize.enable", i1 false}}
