define i32 @wb_struct_values(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %x.at.7 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.8 = load ptr, ptr %x.at.7
  %b.vel.at.22 = getelementptr inbounds i8, ptr %params, i64 72
  %b.vel.23 = load float, ptr %b.vel.at.22
  %b.vel.at.24 = getelementptr inbounds i8, ptr %params, i64 76
  %b.vel.25 = load float, ptr %b.vel.at.24
  %b.vel.at.26 = getelementptr inbounds i8, ptr %params, i64 80
  %b.vel.27 = load float, ptr %b.vel.at.26
  %dt.at.32 = getelementptr inbounds i8, ptr %params, i64 104
  %dt.33 = load float, ptr %dt.at.32
  %b.mass.at.41 = getelementptr inbounds i8, ptr %params, i64 88
  %b.mass.42 = load float, ptr %b.mass.at.41
  %v53 = getelementptr inbounds i8, ptr %stop, i64 16
  %v56 = getelementptr inbounds i8, ptr %stop, i64 8
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.52 ]
  %left.1 = sub nuw nsw i64 %end, %first
  %few.2 = call i64 @llvm.umin.i64(i64 %left.1, i64 32768)
  %last = add nuw nsw i64 %first, %few.2
  %low.3 = trunc nuw nsw i64 %first to i32
  %high.4 = trunc nuw nsw i64 %last to i32
  br label %threads
threads:
  %tid = phi i32 [ %low.3, %strip ], [ %tid.next, %thread.end ]
  %more.5 = icmp slt i32 %tid, %high.4
  br i1 %more.5, label %thread, label %done
thread:
  ; line 14: i = tid()
  ; line 16: c.pos = x[i]
  %v6 = sext i32 %tid to i64
  %v9 = getelementptr inbounds [3 x float], ptr %x.data.8, i64 %v6
  %v10 = getelementptr inbounds float, ptr %v9, i64 1
  %v11 = getelementptr inbounds float, ptr %v9, i64 2
  %c.pos.12 = load float, ptr %v9
  %c.pos.13 = load float, ptr %v10
  %c.pos.14 = load float, ptr %v11
  ; line 17: for k in range(4):
  br label %for.15
for.15:
  %k.18 = phi i32 [ 0, %thread ], [ %k.next.40, %body.16 ]
  %c.pos.19 = phi float [ %c.pos.12, %thread ], [ %v37, %body.16 ]
  %c.pos.20 = phi float [ %c.pos.13, %thread ], [ %v38, %body.16 ]
  %c.pos.21 = phi float [ %c.pos.14, %thread ], [ %v39, %body.16 ]
  %c.vel.28 = phi float [ %b.vel.23, %thread ], [ %c.vel.28, %body.16 ]
  %c.vel.29 = phi float [ %b.vel.25, %thread ], [ %c.vel.29, %body.16 ]
  %c.vel.30 = phi float [ %b.vel.27, %thread ], [ %c.vel.30, %body.16 ]
  %more.31 = icmp slt i32 %k.18, 4
  br i1 %more.31, label %body.16, label %endfor.17
body.16:
  ; line 10: b.pos += b.vel * dt
  %v34 = fmul float %c.vel.28, %dt.33
  %v35 = fmul float %c.vel.29, %dt.33
  %v36 = fmul float %c.vel.30, %dt.33
  %v37 = fadd float %c.pos.19, %v34
  %v38 = fadd float %c.pos.20, %v35
  %v39 = fadd float %c.pos.21, %v36
  ; line 17: for k in range(4):
  %k.next.40 = add nsw i32 %k.18, 1
  br label %for.15
endfor.17:
  ; line 19: x[i] = c.pos * b.mass
  %v43 = fmul float %c.pos.19, %b.mass.42
  %v44 = fmul float %c.pos.20, %b.mass.42
  %v45 = fmul float %c.pos.21, %b.mass.42
  %v46 = sext i32 %tid to i64
  %v47 = getelementptr inbounds [3 x float], ptr %x.data.8, i64 %v46
  %v48 = getelementptr inbounds float, ptr %v47, i64 1
  %v49 = getelementptr inbounds float, ptr %v47, i64 2
  store float %v43, ptr %v47
  store float %v44, ptr %v48
  store float %v45, ptr %v49
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.50 = icmp slt i64 %last, %end
  br i1 %more.50, label %again, label %finish
again:
  store i64 %last, ptr %v53
  %stop.54 = load volatile i32, ptr %stop
  %calm.55 = icmp eq i32 %stop.54, 0
  br i1 %calm.55, label %go.52, label %ask.51, !prof !1
ask.51:
  %v57 = load ptr, ptr %v56
  %v58 = call i32 %v57(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v59 = icmp eq i32 %v58, 0
  br i1 %v59, label %go.52, label %stopped
go.52:
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
