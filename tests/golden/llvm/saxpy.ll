define i32 @wb_saxpy(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.at.5 = getelementptr inbounds i8, ptr %params, i64 40
  %x.data.6 = load ptr, ptr %x.at.5
  %a.at.9 = getelementptr inbounds i8, ptr %params, i64 32
  %a.10 = load float, ptr %a.at.9
  %y.at.12 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.13 = load ptr, ptr %y.at.12
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
  %v4 = sext i32 %tid to i64
  ; line 3: y[i] += a * x[i]
  %v7 = getelementptr inbounds float, ptr %x.data.6, i64 %v4
  %v8 = load float, ptr %v7
  %v11 = fmul float %a.10, %v8
  %v14 = getelementptr inbounds float, ptr %y.data.13, i64 %v4
  %v15 = atomicrmw fadd ptr %v14, float %v11 monotonic
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
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
