define i32 @wb_recurrence(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %x.shape0.at.4 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.5 = load i64, ptr %x.shape0.at.4, !range !0
  %x.at.22 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.23 = load ptr, ptr %x.at.22
  %decay.at.26 = getelementptr inbounds i8, ptr %params, i64 56
  %decay.27 = load float, ptr %decay.at.26
  %v37 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.43 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.44 = load ptr, ptr %y.at.43
  %v54 = getelementptr inbounds i8, ptr %stop, i64 16
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
  ; line 4: for q in range(len(x)):
  %v6 = trunc i64 %x.shape0.5 to i32
  %more.12 = icmp slt i32 0, %v6
  br i1 %more.12, label %strip.7, label %endfor.11
strip.7:
  %q.13 = phi i32 [ 0, %thread ], [ %last.17, %go.34 ]
  %s.14 = phi float [ 0x0000000000000000, %thread ], [ %s.29, %go.34 ]
  %left.15 = sub i32 %v6, %q.13
  %few.16 = call i32 @llvm.umin.i32(i32 %left.15, i32 8192)
  %last.17 = add nsw i32 %q.13, %few.16
  br label %body.8
body.8:
  %q.18 = phi i32 [ %q.13, %strip.7 ], [ %q.next.30, %body.8 ]
  %s.19 = phi float [ %s.14, %strip.7 ], [ %s.29, %body.8 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v20 = fmul float 0x3FE0000000000000, %s.19
  %v21 = sext i32 %q.18 to i64
  %v24 = getelementptr inbounds float, ptr %x.data.23, i64 %v21
  %v25 = load float, ptr %v24
  %v28 = fmul float %v25, %decay.27
  %s.29 = fadd float %v20, %v28
  ; line 4: for q in range(len(x)):
  %q.next.30 = add nsw i32 %q.18, 1
  %more.31 = icmp ne i32 %q.next.30, %last.17
  br i1 %more.31, label %body.8, label %stripped.9
stripped.9:
  %more.32 = icmp ne i32 %last.17, %v6
  br i1 %more.32, label %again.10, label %endfor.11
again.10:
  %stop.35 = load volatile i32, ptr %stop
  %calm.36 = icmp eq i32 %stop.35, 0
  br i1 %calm.36, label %go.34, label %ask.33, !prof !1
ask.33:
  %v38 = load ptr, ptr %v37
  %v39 = call i32 %v38(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v40 = icmp eq i32 %v39, 0
  br i1 %v40, label %go.34, label %stopped
go.34:
  br label %strip.7
endfor.11:
  %v41 = phi float [ 0x0000000000000000, %thread ], [ %s.29, %stripped.9 ]
  ; line 6: y[i] = s
  %v42 = sext i32 %tid to i64
  %v45 = getelementptr inbounds float, ptr %y.data.44, i64 %v42
  store float %v41, ptr %v45
  %v48 = and i32 %tid, 31
  %now.49 = icmp eq i32 %v48, 31
  br i1 %now.49, label %due.46, label %on.47
due.46:
  %stop.52 = load volatile i32, ptr %stop
  %calm.53 = icmp eq i32 %stop.52, 0
  br i1 %calm.53, label %go.51, label %ask.50, !prof !1
ask.50:
  %v55 = sext i32 %tid to i64
  store i64 %v55, ptr %v54
  %v56 = load ptr, ptr %v37
  %v57 = call i32 %v56(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v58 = icmp eq i32 %v57, 0
  br i1 %v58, label %go.51, label %stopped
go.51:
  br label %on.47
on.47:
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
declare i32 @llvm.umin.i32(i32, i32)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
