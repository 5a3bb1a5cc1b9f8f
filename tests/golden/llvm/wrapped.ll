define i32 @wb_wrapped(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %x.shape0.at.7 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.8 = load i64, ptr %x.shape0.at.7, !range !0
  %x.at.14 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.15 = load ptr, ptr %x.at.14
  %y.shape0.at.20 = getelementptr inbounds i8, ptr %params, i64 64
  %y.shape0.21 = load i64, ptr %y.shape0.at.20, !range !0
  %y.at.27 = getelementptr inbounds i8, ptr %params, i64 56
  %y.data.28 = load ptr, ptr %y.at.27
  %v33 = getelementptr inbounds i8, ptr %stop, i64 16
  %v36 = getelementptr inbounds i8, ptr %stop, i64 8
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.32 ]
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
  ; line 2: i = tid()
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v6 = sub i32 %tid, 1
  %v9 = trunc i64 %x.shape0.8 to i32
  %v10 = icmp slt i32 %v6, 0
  %v11 = add i32 %v6, %v9
  %v12 = select i1 %v10, i32 %v11, i32 %v6
  %v13 = sext i32 %v12 to i64
  %v16 = getelementptr inbounds float, ptr %x.data.15, i64 %v13
  %v17 = load float, ptr %v16
  %v18 = fmul float %v17, 0x4004000000000000
  %v19 = sub i32 -1, %tid
  %v22 = trunc i64 %y.shape0.21 to i32
  %v23 = icmp slt i32 %v19, 0
  %v24 = add i32 %v19, %v22
  %v25 = select i1 %v23, i32 %v24, i32 %v19
  %v26 = sext i32 %v25 to i64
  %v29 = getelementptr inbounds float, ptr %y.data.28, i64 %v26
  store float %v18, ptr %v29
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.30 = icmp slt i64 %last, %end
  br i1 %more.30, label %again, label %finish
again:
  store i64 %last, ptr %v33
  %stop.34 = load volatile i32, ptr %stop
  %calm.35 = icmp eq i32 %stop.34, 0
  br i1 %calm.35, label %go.32, label %ask.31, !prof !1
ask.31:
  %v37 = load ptr, ptr %v36
  %v38 = call i32 %v37(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v39 = icmp eq i32 %v38, 0
  br i1 %v39, label %go.32, label %stopped
go.32:
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
