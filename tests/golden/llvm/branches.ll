define i32 @wb_branches(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.6 = load ptr, ptr %x.at.5
  %y.at.13 = getelementptr inbounds i8, ptr %params, i64 56
  %y.data.14 = load ptr, ptr %y.at.13
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
  ; line 3: if x[i] < 0:
  %v7 = getelementptr inbounds float, ptr %x.data.6, i64 %v4
  %v8 = load float, ptr %v7
  %v9 = fcmp olt float %v8, 0x0000000000000000
  br i1 %v9, label %then.10, label %else.11
then.10:
  ; line 4: y[i] = 0.0
  %v15 = getelementptr inbounds float, ptr %y.data.14, i64 %v4
  store float 0x0000000000000000, ptr %v15
  ; line 3: if x[i] < 0:
  br label %endif.12
else.11:
  ; line 6: r = x[i] / 2 if x[i] > 1 else x[i] * x[i]
  %v16 = fcmp ogt float %v8, 0x3FF0000000000000
  br i1 %v16, label %then.17, label %else.18
then.17:
  %v20 = fdiv float %v8, 0x4000000000000000
  br label %endif.19
else.18:
  %v21 = fmul float %v8, %v8
  br label %endif.19
endif.19:
  %r.22 = phi float [ %v20, %then.17 ], [ %v21, %else.18 ]
  ; line 7: y[i] = sqrt(r + 1)
  %v23 = fadd float %r.22, 0x3FF0000000000000
  %v24 = call float @llvm.sqrt.f32(float %v23)
  %v25 = getelementptr inbounds float, ptr %y.data.14, i64 %v4
  store float %v24, ptr %v25
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
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
