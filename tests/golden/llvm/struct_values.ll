define i32 @wb_struct_values(ptr %params, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %x.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.6 = load ptr, ptr %x.at.5
  %b.vel.at.21 = getelementptr inbounds i8, ptr %params, i64 72
  %b.vel.22 = load float, ptr %b.vel.at.21
  %b.vel.at.23 = getelementptr inbounds i8, ptr %params, i64 76
  %b.vel.24 = load float, ptr %b.vel.at.23
  %b.vel.at.25 = getelementptr inbounds i8, ptr %params, i64 80
  %b.vel.26 = load float, ptr %b.vel.at.25
  %dt.at.31 = getelementptr inbounds i8, ptr %params, i64 104
  %dt.32 = load float, ptr %dt.at.31
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
  br i1 %more.3, label %thread, label %done
thread:
  ; line 14: i = tid()
  ; line 16: c.pos = x[i]
  %v4 = sext i32 %tid to i64
  %v7 = getelementptr inbounds [3 x float], ptr %x.data.6, i64 %v4
  %v8 = getelementptr inbounds float, ptr %v7, i64 1
  %v9 = getelementptr inbounds float, ptr %v7, i64 2
  %c.pos.10 = load float, ptr %v7
  %c.pos.11 = load float, ptr %v8
  %c.pos.12 = load float, ptr %v9
  ; line 17: for k in range(4):
  br label %for.13
for.13:
  %k.16 = phi i32 [ 0, %thread ], [ %k.next.17, %body.14 ]
  %c.pos.18 = phi float [ %c.pos.10, %thread ], [ %v36, %body.14 ]
  %c.pos.19 = phi float [ %c.pos.11, %thread ], [ %v37, %body.14 ]
  %c.pos.20 = phi float [ %c.pos.12, %thread ], [ %v38, %body.14 ]
  %c.vel.27 = phi float [ %b.vel.22, %thread ], [ %c.vel.27, %body.14 ]
  %c.vel.28 = phi float [ %b.vel.24, %thread ], [ %c.vel.28, %body.14 ]
  %c.vel.29 = phi float [ %b.vel.26, %thread ], [ %c.vel.29, %body.14 ]
  %more.30 = icmp slt i32 %k.16, 4
  br i1 %more.30, label %body.14, label %endfor.15
body.14:
  ; line 10: b.pos += b.vel * dt
  %v33 = fmul float %c.vel.27, %dt.32
  %v34 = fmul float %c.vel.28, %dt.32
  %v35 = fmul float %c.vel.29, %dt.32
  %v36 = fadd float %c.pos.18, %v33
  %v37 = fadd float %c.pos.19, %v34
  %v38 = fadd float %c.pos.20, %v35
  ; line 17: for k in range(4):
  %k.next.17 = add nsw i32 %k.16, 1
  br label %for.13
endfor.15:
  ; line 19: x[i] = c.pos * b.mass
  %v41 = fmul float %c.pos.18, %b.mass.40
  %v42 = fmul float %c.pos.19, %b.mass.40
  %v43 = fmul float %c.pos.20, %b.mass.40
  %v44 = sext i32 %tid to i64
  %v45 = getelementptr inbounds [3 x float], ptr %x.data.6, i64 %v44
  %v46 = getelementptr inbounds float, ptr %v45, i64 1
  %v47 = getelementptr inbounds float, ptr %v45, i64 2
  store float %v41, ptr %v45
  store float %v42, ptr %v46
  store float %v43, ptr %v47
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  br label %exit
exit:
  ret i32 0
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
