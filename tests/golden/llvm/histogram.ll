define i32 @wb_histogram(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %x.at.7 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.8 = load ptr, ptr %x.at.7
  %bins.shape0.at.13 = getelementptr inbounds i8, ptr %params, i64 64
  %bins.shape0.14 = load i64, ptr %bins.shape0.at.13, !range !0
  %bins.at.36 = getelementptr inbounds i8, ptr %params, i64 56
  %bins.data.37 = load ptr, ptr %bins.at.36
  %v43 = getelementptr inbounds i8, ptr %stop, i64 16
  %v46 = getelementptr inbounds i8, ptr %stop, i64 8
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.42 ]
  %left.1 = sub nuw nsw i64 %end, %first
  %few.2 = call i64 @llvm.umin.i64(i64 %left.1, i64 65536)
  %last = add nuw nsw i64 %first, %few.2
  %low.3 = trunc nuw nsw i64 %first to i32
  %high.4 = trunc nuw nsw i64 %last to i32
  br label %threads
threads:
  %tid = phi i32 [ %low.3, %strip ], [ %tid.next, %thread.end ]
  %more.5 = icmp slt i32 %tid, %high.4
  br i1 %more.5, label %thread, label %done
thread:
  ; line 2: i = tid()
  ; line 3: atomic_add(bins, int(x[i] * 10.0) % len(bins), 1)
  %v6 = sext i32 %tid to i64
  %v9 = getelementptr inbounds float, ptr %x.data.8, i64 %v6
  %v10 = load float, ptr %v9
  %v11 = fmul float %v10, 0x4024000000000000
  %v12 = call i32 @llvm.fptosi.sat.i32.f32(float %v11)
  %v15 = trunc i64 %bins.shape0.14 to i32
  %v16 = icmp eq i32 %v15, 0
  %v17 = icmp eq i32 %v15, -1
  %v18 = icmp eq i32 %v12, -2147483648
  %v19 = and i1 %v17, %v18
  %v20 = or i1 %v16, %v19
  %v21 = select i1 %v20, i32 1, i32 %v15
  %v22 = srem i32 %v12, %v21
  %v23 = icmp ne i32 %v22, 0
  %v24 = icmp slt i32 %v22, 0
  %v25 = icmp slt i32 %v21, 0
  %v26 = xor i1 %v24, %v25
  %v27 = and i1 %v23, %v26
  %v28 = add i32 %v22, %v21
  %v29 = select i1 %v27, i32 %v28, i32 %v22
  %v30 = icmp eq i32 %v15, 0
  %v31 = select i1 %v30, i32 %v12, i32 %v29
  %v32 = icmp slt i32 %v31, 0
  %v33 = add i32 %v31, %v15
  %v34 = select i1 %v32, i32 %v33, i32 %v31
  %v35 = sext i32 %v34 to i64
  %v38 = getelementptr inbounds i32, ptr %bins.data.37, i64 %v35
  %v39 = atomicrmw add ptr %v38, i32 1 monotonic
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.40 = icmp slt i64 %last, %end
  br i1 %more.40, label %again, label %finish
again:
  store i64 %last, ptr %v43
  %stop.44 = load volatile i32, ptr %stop
  %calm.45 = icmp eq i32 %stop.44, 0
  br i1 %calm.45, label %go.42, label %ask.41, !prof !1
ask.41:
  %v47 = load ptr, ptr %v46
  %v48 = call i32 %v47(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v49 = icmp eq i32 %v48, 0
  br i1 %v49, label %go.42, label %stopped
go.42:
  br label %strip
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i64 @llvm.umin.i64(i64, i64)
declare i32 @llvm.fptosi.sat.i32.f32(float)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
