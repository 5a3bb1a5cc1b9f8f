define i32 @wb_branches(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %x.at.7 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.8 = load ptr, ptr %x.at.7
  %y.at.16 = getelementptr inbounds i8, ptr %params, i64 56
  %y.data.17 = load ptr, ptr %y.at.16
  %v45 = getelementptr inbounds i8, ptr %stop, i64 16
  %v48 = getelementptr inbounds i8, ptr %stop, i64 8
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.44 ]
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
  ; line 3: if x[i] < 0:
  %v6 = sext i32 %tid to i64
  %v9 = getelementptr inbounds float, ptr %x.data.8, i64 %v6
  %v10 = load float, ptr %v9
  %v11 = fcmp olt float %v10, 0x0000000000000000
  br i1 %v11, label %then.12, label %else.13
then.12:
  ; line 4: y[i] = 0.0
  %v15 = sext i32 %tid to i64
  %v18 = getelementptr inbounds float, ptr %y.data.17, i64 %v15
  store float 0x0000000000000000, ptr %v18
  ; line 3: if x[i] < 0:
  br label %endif.14
else.13:
  ; line 6: r = x[i] / 2 if x[i] > 1 else x[i] * x[i]
  %v19 = sext i32 %tid to i64
  %v20 = getelementptr inbounds float, ptr %x.data.8, i64 %v19
  %v21 = load float, ptr %v20
  %v22 = fcmp ogt float %v21, 0x3FF0000000000000
  br i1 %v22, label %then.23, label %else.24
then.23:
  %v26 = sext i32 %tid to i64
  %v27 = getelementptr inbounds float, ptr %x.data.8, i64 %v26
  %v28 = load float, ptr %v27
  %v29 = fdiv float %v28, 0x4000000000000000
  br label %endif.25
else.24:
  %v30 = sext i32 %tid to i64
  %v31 = getelementptr inbounds float, ptr %x.data.8, i64 %v30
  %v32 = load float, ptr %v31
  %v33 = sext i32 %tid to i64
  %v34 = getelementptr inbounds float, ptr %x.data.8, i64 %v33
  %v35 = load float, ptr %v34
  %v36 = fmul float %v32, %v35
  br label %endif.25
endif.25:
  %r.37 = phi float [ %v29, %then.23 ], [ %v36, %else.24 ]
  ; line 7: y[i] = sqrt(r + 1)
  %v38 = fadd float %r.37, 0x3FF0000000000000
  %v39 = call float @llvm.sqrt.f32(float %v38)
  %v40 = sext i32 %tid to i64
  %v41 = getelementptr inbounds float, ptr %y.data.17, i64 %v40
  store float %v39, ptr %v41
  ; line 3: if x[i] < 0:
  br label %endif.14
endif.14:
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.42 = icmp slt i64 %last, %end
  br i1 %more.42, label %again, label %finish
again:
  store i64 %last, ptr %v45
  %stop.46 = load volatile i32, ptr %stop
  %calm.47 = icmp eq i32 %stop.46, 0
  br i1 %calm.47, label %go.44, label %ask.43, !prof !1
ask.43:
  %v49 = load ptr, ptr %v48
  %v50 = call i32 %v49(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v51 = icmp eq i32 %v50, 0
  br i1 %v51, label %go.44, label %stopped
go.44:
  br label %strip
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i64 @llvm.umin.i64(i64, i64)
declare float @llvm.sqrt.f32(float) nounwind willreturn memory(none)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
