define i32 @wb_struct_array(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %bodies.pos.at.7 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.8 = load ptr, ptr %bodies.pos.at.7
  %bodies.vel.data.9 = getelementptr inbounds i8, ptr %bodies.pos.data.8, i64 12
  %dt.at.16 = getelementptr inbounds i8, ptr %params, i64 128
  %dt.17 = load float, ptr %dt.at.16
  %bodies.id.data.29 = getelementptr inbounds i8, ptr %bodies.pos.data.8, i64 28
  %v35 = getelementptr inbounds i8, ptr %stop, i64 16
  %v38 = getelementptr inbounds i8, ptr %stop, i64 8
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.34 ]
  %left.1 = sub nuw nsw i64 %end, %first
  %few.2 = call i64 @llvm.umin.i64(i64 %left.1, i64 131072)
  %last = add nuw nsw i64 %first, %few.2
  %low.3 = trunc nuw nsw i64 %first to i32
  %high.4 = trunc nuw nsw i64 %last to i32
  br label %threads
threads:
  %tid = phi i32 [ %low.3, %strip ], [ %tid.next, %thread.end ]
  %more.5 = icmp slt i32 %tid, %high.4
  br i1 %more.5, label %thread, label %done
thread:
  ; line 9: i = tid()
  ; line 10: bodies[i].pos += bodies[i].vel * dt
  %v6 = sext i32 %tid to i64
  %v10 = getelementptr inbounds [32 x i8], ptr %bodies.vel.data.9, i64 %v6
  %v11 = getelementptr inbounds float, ptr %v10, i64 1
  %v12 = getelementptr inbounds float, ptr %v10, i64 2
  %v13 = load float, ptr %v10
  %v14 = load float, ptr %v11
  %v15 = load float, ptr %v12
  %v18 = fmul float %v13, %dt.17
  %v19 = fmul float %v14, %dt.17
  %v20 = fmul float %v15, %dt.17
  %v21 = sext i32 %tid to i64
  %v22 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.8, i64 %v21
  %v23 = getelementptr inbounds float, ptr %v22, i64 1
  %v24 = getelementptr inbounds float, ptr %v22, i64 2
  %v25 = atomicrmw fadd ptr %v22, float %v18 monotonic
  %v26 = atomicrmw fadd ptr %v23, float %v19 monotonic
  %v27 = atomicrmw fadd ptr %v24, float %v20 monotonic
  ; line 11: bodies[i].id += 1
  %v28 = sext i32 %tid to i64
  %v30 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.29, i64 %v28
  %v31 = atomicrmw add ptr %v30, i32 1 monotonic
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.32 = icmp slt i64 %last, %end
  br i1 %more.32, label %again, label %finish
again:
  store i64 %last, ptr %v35
  %stop.36 = load volatile i32, ptr %stop
  %calm.37 = icmp eq i32 %stop.36, 0
  br i1 %calm.37, label %go.34, label %ask.33, !prof !1
ask.33:
  %v39 = load ptr, ptr %v38
  %v40 = call i32 %v39(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v41 = icmp eq i32 %v40, 0
  br i1 %v41, label %go.34, label %stopped
go.34:
  br label %strip
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i64 @llvm.umin.i64(i64, i64)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
