define i32 @wb_recurrence(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %x.shape0.at.6 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.7 = load i64, ptr %x.shape0.at.6, !range !0
  %x.at.24 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.25 = load ptr, ptr %x.at.24
  %decay.at.28 = getelementptr inbounds i8, ptr %params, i64 56
  %decay.29 = load float, ptr %decay.at.28
  %v39 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.45 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.46 = load ptr, ptr %y.at.45
  %v51 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.50 ]
  %left.1 = sub nuw nsw i64 %end, %first
  %few.2 = call i64 @llvm.umin.i64(i64 %left.1, i64 64)
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
  ; line 4: for q in range(len(x)):
  %v8 = trunc i64 %x.shape0.7 to i32
  %more.14 = icmp slt i32 0, %v8
  br i1 %more.14, label %strip.9, label %endfor.13
strip.9:
  %q.15 = phi i32 [ 0, %thread ], [ %last.19, %go.36 ]
  %s.16 = phi float [ 0x0000000000000000, %thread ], [ %s.31, %go.36 ]
  %left.17 = sub i32 %v8, %q.15
  %few.18 = call i32 @llvm.umin.i32(i32 %left.17, i32 8192)
  %last.19 = add nsw i32 %q.15, %few.18
  br label %body.10
body.10:
  %q.20 = phi i32 [ %q.15, %strip.9 ], [ %q.next.32, %body.10 ]
  %s.21 = phi float [ %s.16, %strip.9 ], [ %s.31, %body.10 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v22 = fmul float 0x3FE0000000000000, %s.21
  %v23 = sext i32 %q.20 to i64
  %v26 = getelementptr inbounds float, ptr %x.data.25, i64 %v23
  %v27 = load float, ptr %v26
  %v30 = fmul float %v27, %decay.29
  %s.31 = fadd float %v22, %v30
  ; line 4: for q in range(len(x)):
  %q.next.32 = add nsw i32 %q.20, 1
  %more.33 = icmp ne i32 %q.next.32, %last.19
  br i1 %more.33, label %body.10, label %stripped.11
stripped.11:
  %more.34 = icmp ne i32 %last.19, %v8
  br i1 %more.34, label %again.12, label %endfor.13
again.12:
  %stop.37 = load volatile i32, ptr %stop
  %calm.38 = icmp eq i32 %stop.37, 0
  br i1 %calm.38, label %go.36, label %ask.35, !prof !1
ask.35:
  %v40 = load ptr, ptr %v39
  %v41 = call i32 %v40(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v42 = icmp eq i32 %v41, 0
  br i1 %v42, label %go.36, label %stopped
go.36:
  br label %strip.9
endfor.13:
  %v43 = phi float [ 0x0000000000000000, %thread ], [ %s.31, %stripped.11 ]
  ; line 6: y[i] = s
  %v44 = sext i32 %tid to i64
  %v47 = getelementptr inbounds float, ptr %y.data.46, i64 %v44
  store float %v43, ptr %v47
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.48 = icmp slt i64 %last, %end
  br i1 %more.48, label %again, label %finish
again:
  store i64 %last, ptr %v51
  %stop.52 = load volatile i32, ptr %stop
  %calm.53 = icmp eq i32 %stop.52, 0
  br i1 %calm.53, label %go.50, label %ask.49, !prof !1
ask.49:
  %v54 = load ptr, ptr %v39
  %v55 = call i32 %v54(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v56 = icmp eq i32 %v55, 0
  br i1 %v56, label %go.50, label %stopped
go.50:
  br label %strip
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i64 @llvm.umin.i64(i64, i64)
declare i32 @llvm.umin.i32(i32, i32)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
