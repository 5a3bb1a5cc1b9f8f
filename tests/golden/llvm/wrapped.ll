define i32 @wb_wrapped(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %x.shape0.at.5 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.6 = load i64, ptr %x.shape0.at.5, !range !0
  %x.at.12 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.13 = load ptr, ptr %x.at.12
  %y.shape0.at.18 = getelementptr inbounds i8, ptr %params, i64 64
  %y.shape0.19 = load i64, ptr %y.shape0.at.18, !range !0
  %y.at.25 = getelementptr inbounds i8, ptr %params, i64 56
  %y.data.26 = load ptr, ptr %y.at.25
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
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v4 = sub i32 %tid, 1
  %v7 = trunc i64 %x.shape0.6 to i32
  %v8 = icmp slt i32 %v4, 0
  %v9 = add i32 %v4, %v7
  %v10 = select i1 %v8, i32 %v9, i32 %v4
  %v11 = sext i32 %v10 to i64
  %v14 = getelementptr inbounds float, ptr %x.data.13, i64 %v11
  %v15 = load float, ptr %v14
  %v16 = fmul float %v15, 0x4004000000000000
  %v17 = sub i32 -1, %tid
  %v20 = trunc i64 %y.shape0.19 to i32
  %v21 = icmp slt i32 %v17, 0
  %v22 = add i32 %v17, %v20
  %v23 = select i1 %v21, i32 %v22, i32 %v17
  %v24 = sext i32 %v23 to i64
  %v27 = getelementptr inbounds float, ptr %y.data.26, i64 %v24
  store float %v16, ptr %v27
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
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
