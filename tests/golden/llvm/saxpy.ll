define i32 @wb_saxpy(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %x.at.7 = getelementptr inbounds i8, ptr %params, i64 40
  %x.data.8 = load ptr, ptr %x.at.7
  %a.at.11 = getelementptr inbounds i8, ptr %params, i64 32
  %a.12 = load float, ptr %a.at.11
  %y.at.15 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.16 = load ptr, ptr %y.at.15
  %v22 = getelementptr inbounds i8, ptr %stop, i64 16
  %v25 = getelementptr inbounds i8, ptr %stop, i64 8
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.21 ]
  %left.1 = sub nuw nsw i64 %end, %first
  %few.2 = call i64 @llvm.umin.i64(i64 %left.1, i64 524288)
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
  ; line 3: y[i] += a * x[i]
  %v6 = sext i32 %tid to i64
  %v9 = getelementptr inbounds float, ptr %x.data.8, i64 %v6
  %v10 = load float, ptr %v9
  %v13 = fmul float %a.12, %v10
  %v14 = sext i32 %tid to i64
  %v17 = getelementptr inbounds float, ptr %y.data.16, i64 %v14
  %v18 = atomicrmw fadd ptr %v17, float %v13 monotonic
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.19 = icmp slt i64 %last, %end
  br i1 %more.19, label %again, label %finish
again:
  store i64 %last, ptr %v22
  %stop.23 = load volatile i32, ptr %stop
  %calm.24 = icmp eq i32 %stop.23, 0
  br i1 %calm.24, label %go.21, label %ask.20, !prof !1
ask.20:
  %v26 = load ptr, ptr %v25
  %v27 = call i32 %v26(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v28 = icmp eq i32 %v27, 0
  br i1 %v28, label %go.21, label %stopped
go.21:
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
