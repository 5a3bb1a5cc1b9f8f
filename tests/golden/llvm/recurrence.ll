define i32 @wb_recurrence(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.shape0.at.4 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.5 = load i64, ptr %x.shape0.at.4, !range !0
  %x.at.23 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.24 = load ptr, ptr %x.at.23
  %decay.at.27 = getelementptr inbounds i8, ptr %params, i64 56
  %decay.28 = load float, ptr %decay.at.27
  %v38 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.47 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.48 = load ptr, ptr %y.at.47
  %v58 = getelementptr inbounds i8, ptr %stop, i64 16
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
  %left.12 = sub i32 %v6, 0
  %few.13 = call i32 @llvm.umin.i32(i32 %left.12, i32 8192)
  %last.14 = add nsw i32 0, %few.13
  %more.15 = icmp slt i32 0, %v6
  br i1 %more.15, label %strip.7, label %endfor.11
strip.7:
  %q.16 = phi i32 [ 0, %thread ], [ %last.18, %go.35 ]
  %s.17 = phi float [ 0x0000000000000000, %thread ], [ %s.30, %go.35 ]
  %last.18 = phi i32 [ %last.14, %thread ], [ %last.44, %go.35 ]
  br label %body.8
body.8:
  %q.19 = phi i32 [ %q.16, %strip.7 ], [ %q.next.31, %body.8 ]
  %s.20 = phi float [ %s.17, %strip.7 ], [ %s.30, %body.8 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v21 = fmul float 0x3FE0000000000000, %s.20
  %v22 = sext i32 %q.19 to i64
  %v25 = getelementptr inbounds float, ptr %x.data.24, i64 %v22
  %v26 = load float, ptr %v25
  %v29 = fmul float %v26, %decay.28
  %s.30 = fadd float %v21, %v29
  ; line 4: for q in range(len(x)):
  %q.next.31 = add nsw i32 %q.19, 1
  %more.32 = icmp ne i32 %q.next.31, %last.18
  br i1 %more.32, label %body.8, label %stripped.9
stripped.9:
  %over.33 = icmp eq i32 %last.18, %v6
  br i1 %over.33, label %endfor.11, label %again.10, !prof !1
again.10:
  %stop.36 = load volatile i32, ptr %stop
  %calm.37 = icmp eq i32 %stop.36, 0
  br i1 %calm.37, label %go.35, label %ask.34, !prof !1
ask.34:
  %v39 = load ptr, ptr %v38
  %v40 = call i32 %v39(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v41 = icmp eq i32 %v40, 0
  br i1 %v41, label %go.35, label %stopped
go.35:
  %left.42 = sub i32 %v6, %last.18
  %few.43 = call i32 @llvm.umin.i32(i32 %left.42, i32 8192)
  %last.44 = add nsw i32 %last.18, %few.43
  br label %strip.7
endfor.11:
  %v45 = phi float [ 0x0000000000000000, %thread ], [ %s.30, %stripped.9 ]
  ; line 6: y[i] = s
  %v46 = sext i32 %tid to i64
  %v49 = getelementptr inbounds float, ptr %y.data.48, i64 %v46
  store float %v45, ptr %v49
  %v52 = and i32 %tid, 31
  %early.53 = icmp ne i32 %v52, 31
  br i1 %early.53, label %on.51, label %due.50, !prof !1
due.50:
  %stop.56 = load volatile i32, ptr %stop
  %calm.57 = icmp eq i32 %stop.56, 0
  br i1 %calm.57, label %go.55, label %ask.54, !prof !1
ask.54:
  %v59 = sext i32 %tid to i64
  store i64 %v59, ptr %v58
  %v60 = load ptr, ptr %v38
  %v61 = call i32 %v60(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v62 = icmp eq i32 %v61, 0
  br i1 %v62, label %go.55, label %stopped
go.55:
  br label %on.51
on.51:
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
