define i32 @wb_struct_values(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.6 = load ptr, ptr %x.at.5
  %b.vel.at.20 = getelementptr inbounds i8, ptr %params, i64 72
  %b.vel.21 = load float, ptr %b.vel.at.20
  %b.vel.at.22 = getelementptr inbounds i8, ptr %params, i64 76
  %b.vel.23 = load float, ptr %b.vel.at.22
  %b.vel.at.24 = getelementptr inbounds i8, ptr %params, i64 80
  %b.vel.25 = load float, ptr %b.vel.at.24
  %dt.at.30 = getelementptr inbounds i8, ptr %params, i64 104
  %dt.31 = load float, ptr %dt.at.30
  %b.mass.at.39 = getelementptr inbounds i8, ptr %params, i64 88
  %b.mass.40 = load float, ptr %b.mass.at.39
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
  ; line 14: i = tid()
  %v4 = sext i32 %tid to i64
  ; line 16: c.pos = x[i]
  %v7 = getelementptr inbounds [3 x float], ptr %x.data.6, i64 %v4
  %v8 = getelementptr inbounds float, ptr %v7, i64 1
  %v9 = getelementptr inbounds float, ptr %v7, i64 2
  %c.pos.10 = load float, ptr %v7
  %c.pos.11 = load float, ptr %v8
  %c.pos.12 = load float, ptr %v9
  ; line 17: for k in range(4):
  br label %for.13
for.13:
  %k.16 = phi i32 [ 0, %thread ], [ %k.next.38, %body.14 ]
  %c.pos.17 = phi float [ %c.pos.10, %thread ], [ %v35, %body.14 ]
  %c.pos.18 = phi float [ %c.pos.11, %thread ], [ %v36, %body.14 ]
  %c.pos.19 = phi float [ %c.pos.12, %thread ], [ %v37, %body.14 ]
  %c.vel.26 = phi float [ %b.vel.21, %thread ], [ %c.vel.26, %body.14 ]
  %c.vel.27 = phi float [ %b.vel.23, %thread ], [ %c.vel.27, %body.14 ]
  %c.vel.28 = phi float [ %b.vel.25, %thread ], [ %c.vel.28, %body.14 ]
  %more.29 = icmp slt i32 %k.16, 4
  br i1 %more.29, label %body.14, label %endfor.15
body.14:
  ; line 10: b.pos += b.vel * dt
  %v32 = fmul float %c.vel.26, %dt.31
  %v33 = fmul float %c.vel.27, %dt.31
  %v34 = fmul float %c.vel.28, %dt.31
  %v35 = fadd float %c.pos.17, %v32
  %v36 = fadd float %c.pos.18, %v33
  %v37 = fadd float %c.pos.19, %v34
  ; line 17: for k in range(4):
  %k.next.38 = add nsw i32 %k.16, 1
  br label %for.13
endfor.15:
  ; line 19: x[i] = c.pos * b.mass
  %v41 = fmul float %c.pos.17, %b.mass.40
  %v42 = fmul float %c.pos.18, %b.mass.40
  %v43 = fmul float %c.pos.19, %b.mass.40
  %v44 = getelementptr inbounds [3 x float], ptr %x.data.6, i64 %v4
  %v45 = getelementptr inbounds float, ptr %v44, i64 1
  %v46 = getelementptr inbounds float, ptr %v44, i64 2
  store float %v41, ptr %v44
  store float %v42, ptr %v45
  store float %v43, ptr %v46
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
