define i32 @wb_branches(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.6 = load ptr, ptr %x.at.5
  %y.at.14 = getelementptr inbounds i8, ptr %params, i64 56
  %y.data.15 = load ptr, ptr %y.at.14
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
  ; line 3: if x[i] < 0:
  %v4 = sext i32 %tid to i64
  %v7 = getelementptr inbounds float, ptr %x.data.6, i64 %v4
  %v8 = load float, ptr %v7
  %v9 = fcmp olt float %v8, 0x0000000000000000
  br i1 %v9, label %then.10, label %else.11
then.10:
  ; line 4: y[i] = 0.0
  %v13 = sext i32 %tid to i64
  %v16 = getelementptr inbounds float, ptr %y.data.15, i64 %v13
  store float 0x0000000000000000, ptr %v16
  ; line 3: if x[i] < 0:
  br label %endif.12
else.11:
  ; line 6: r = x[i] / 2 if x[i] > 1 else x[i] * x[i]
  %v17 = sext i32 %tid to i64
  %v18 = getelementptr inbounds float, ptr %x.data.6, i64 %v17
  %v19 = load float, ptr %v18
  %v20 = fcmp ogt float %v19, 0x3FF0000000000000
  br i1 %v20, label %then.21, label %else.22
then.21:
  %v24 = sext i32 %tid to i64
  %v25 = getelementptr inbounds float, ptr %x.data.6, i64 %v24
  %v26 = load float, ptr %v25
  %v27 = fdiv float %v26, 0x4000000000000000
  br label %endif.23
else.22:
  %v28 = sext i32 %tid to i64
  %v29 = getelementptr inbounds float, ptr %x.data.6, i64 %v28
  %v30 = load float, ptr %v29
  %v31 = sext i32 %tid to i64
  %v32 = getelementptr inbounds float, ptr %x.data.6, i64 %v31
  %v33 = load float, ptr %v32
  %v34 = fmul float %v30, %v33
  br label %endif.23
endif.23:
  %r.35 = phi float [ %v27, %then.21 ], [ %v34, %else.22 ]
  ; line 7: y[i] = sqrt(r + 1)
  %v36 = fadd float %r.35, 0x3FF0000000000000
  %v37 = call float @llvm.sqrt.f32(float %v36)
  %v38 = sext i32 %tid to i64
  %v39 = getelementptr inbounds float, ptr %y.data.15, i64 %v38
  store float %v37, ptr %v39
  ; line 3: if x[i] < 0:
  br label %endif.12
endif.12:
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
declare float @llvm.sqrt.f32(float) nounwind willreturn memory(none)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
