define i32 @wb_struct_pairs(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %bodies.pos.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.6 = load ptr, ptr %bodies.pos.at.5
  %bodies.mass.data.14 = getelementptr inbounds i8, ptr %bodies.pos.data.6, i64 24
  %bodies.id.data.18 = getelementptr inbounds i8, ptr %bodies.pos.data.6, i64 28
  %bodies.pos.shape0.at.21 = getelementptr inbounds i8, ptr %params, i64 40
  %bodies.pos.shape0.22 = load i64, ptr %bodies.pos.shape0.at.21, !range !0
  %v85 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.93 = getelementptr inbounds i8, ptr %params, i64 128
  %f.data.94 = load ptr, ptr %f.at.93
  %v106 = getelementptr inbounds i8, ptr %stop, i64 16
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
  ; line 9: i = tid()
  ; line 10: a = bodies[i]
  %v4 = sext i32 %tid to i64
  %v7 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.6, i64 %v4
  %v8 = getelementptr inbounds float, ptr %v7, i64 1
  %v9 = getelementptr inbounds float, ptr %v7, i64 2
  %a.pos.10 = load float, ptr %v7
  %a.pos.11 = load float, ptr %v8
  %a.pos.12 = load float, ptr %v9
  %v13 = sext i32 %tid to i64
  %v15 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.14, i64 %v13
  %a.mass.16 = load float, ptr %v15
  %v17 = sext i32 %tid to i64
  %v19 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.18, i64 %v17
  %a.id.20 = load i32, ptr %v19
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v23 = trunc i64 %bodies.pos.shape0.22 to i32
  %more.29 = icmp slt i32 0, %v23
  br i1 %more.29, label %strip.24, label %endfor.28
strip.24:
  %j.30 = phi i32 [ 0, %thread ], [ %last.36, %go.82 ]
  %total.31 = phi float [ 0x0000000000000000, %thread ], [ %total.75, %go.82 ]
  %total.32 = phi float [ 0x0000000000000000, %thread ], [ %total.76, %go.82 ]
  %total.33 = phi float [ 0x0000000000000000, %thread ], [ %total.77, %go.82 ]
  %left.34 = sub i32 %v23, %j.30
  %few.35 = call i32 @llvm.umin.i32(i32 %left.34, i32 1024)
  %last.36 = add nsw i32 %j.30, %few.35
  br label %body.25
body.25:
  %j.37 = phi i32 [ %j.30, %strip.24 ], [ %j.next.78, %endif.57 ]
  %total.38 = phi float [ %total.31, %strip.24 ], [ %total.75, %endif.57 ]
  %total.39 = phi float [ %total.32, %strip.24 ], [ %total.76, %endif.57 ]
  %total.40 = phi float [ %total.33, %strip.24 ], [ %total.77, %endif.57 ]
  ; line 13: b = bodies[j]
  %v41 = sext i32 %j.37 to i64
  %v42 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.6, i64 %v41
  %v43 = getelementptr inbounds float, ptr %v42, i64 1
  %v44 = getelementptr inbounds float, ptr %v42, i64 2
  %b.pos.45 = load float, ptr %v42
  %b.pos.46 = load float, ptr %v43
  %b.pos.47 = load float, ptr %v44
  %v48 = sext i32 %j.37 to i64
  %v49 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.14, i64 %v48
  %b.mass.50 = load float, ptr %v49
  %v51 = sext i32 %j.37 to i64
  %v52 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.18, i64 %v51
  %b.id.53 = load i32, ptr %v52
  ; line 14: if b.id != a.id:
  %v54 = icmp ne i32 %b.id.53, %a.id.20
  br i1 %v54, label %then.55, label %else.56
then.55:
  ; line 15: d = b.pos - a.pos
  %v58 = fsub float %b.pos.45, %a.pos.10
  %v59 = fsub float %b.pos.46, %a.pos.11
  %v60 = fsub float %b.pos.47, %a.pos.12
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v61 = fmul float %a.mass.16, %b.mass.50
  %v62 = fmul float %v58, %v58
  %v63 = fmul float %v59, %v59
  %v64 = fmul float %v60, %v60
  %v65 = fadd float %v62, %v63
  %v66 = fadd float %v65, %v64
  %v67 = fadd float %v66, 0x3F847AE140000000
  %v68 = fdiv float %v61, %v67
  %v69 = fmul float %v58, %v68
  %v70 = fmul float %v59, %v68
  %v71 = fmul float %v60, %v68
  %v72 = fadd float %total.38, %v69
  %v73 = fadd float %total.39, %v70
  %v74 = fadd float %total.40, %v71
  ; line 14: if b.id != a.id:
  br label %endif.57
else.56:
  br label %endif.57
endif.57:
  %total.75 = phi float [ %v72, %then.55 ], [ %total.38, %else.56 ]
  %total.76 = phi float [ %v73, %then.55 ], [ %total.39, %else.56 ]
  %total.77 = phi float [ %v74, %then.55 ], [ %total.40, %else.56 ]
  ; line 12: for j in range(len(bodies)):
  %j.next.78 = add nsw i32 %j.37, 1
  %more.79 = icmp ne i32 %j.next.78, %last.36
  br i1 %more.79, label %body.25, label %stripped.26
stripped.26:
  %more.80 = icmp ne i32 %last.36, %v23
  br i1 %more.80, label %again.27, label %endfor.28
again.27:
  %stop.83 = load volatile i32, ptr %stop
  %calm.84 = icmp eq i32 %stop.83, 0
  br i1 %calm.84, label %go.82, label %ask.81, !prof !1
ask.81:
  %v86 = load ptr, ptr %v85
  %v87 = call i32 %v86(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v88 = icmp eq i32 %v87, 0
  br i1 %v88, label %go.82, label %stopped
go.82:
  br label %strip.24
endfor.28:
  %v89 = phi float [ 0x0000000000000000, %thread ], [ %total.75, %stripped.26 ]
  %v90 = phi float [ 0x0000000000000000, %thread ], [ %total.76, %stripped.26 ]
  %v91 = phi float [ 0x0000000000000000, %thread ], [ %total.77, %stripped.26 ]
  ; line 17: f[i] = total
  %v92 = sext i32 %tid to i64
  %v95 = getelementptr inbounds [3 x float], ptr %f.data.94, i64 %v92
  %v96 = getelementptr inbounds float, ptr %v95, i64 1
  %v97 = getelementptr inbounds float, ptr %v95, i64 2
  store float %v89, ptr %v95
  store float %v90, ptr %v96
  store float %v91, ptr %v97
  %v100 = and i32 %tid, 31
  %now.101 = icmp eq i32 %v100, 31
  br i1 %now.101, label %due.98, label %on.99
due.98:
  %stop.104 = load volatile i32, ptr %stop
  %calm.105 = icmp eq i32 %stop.104, 0
  br i1 %calm.105, label %go.103, label %ask.102, !prof !1
ask.102:
  %v107 = sext i32 %tid to i64
  store i64 %v107, ptr %v106
  %v108 = load ptr, ptr %v85
  %v109 = call i32 %v108(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v110 = icmp eq i32 %v109, 0
  br i1 %v110, label %go.103, label %stopped
go.103:
  br label %on.99
on.99:
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
