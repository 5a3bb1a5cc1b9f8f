define i32 @wb_struct_pairs(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %bodies.pos.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.6 = load ptr, ptr %bodies.pos.at.5
  %bodies.mass.data.14 = getelementptr inbounds i8, ptr %bodies.pos.data.6, i64 24
  %bodies.id.data.18 = getelementptr inbounds i8, ptr %bodies.pos.data.6, i64 28
  %bodies.pos.shape0.at.21 = getelementptr inbounds i8, ptr %params, i64 40
  %bodies.pos.shape0.22 = load i64, ptr %bodies.pos.shape0.at.21, !range !0
  %v86 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.97 = getelementptr inbounds i8, ptr %params, i64 128
  %f.data.98 = load ptr, ptr %f.at.97
  %v110 = getelementptr inbounds i8, ptr %stop, i64 16
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
  %left.29 = sub i32 %v23, 0
  %few.30 = call i32 @llvm.umin.i32(i32 %left.29, i32 1024)
  %last.31 = add nsw i32 0, %few.30
  %more.32 = icmp slt i32 0, %v23
  br i1 %more.32, label %strip.24, label %endfor.28
strip.24:
  %j.33 = phi i32 [ 0, %thread ], [ %last.37, %go.83 ]
  %total.34 = phi float [ 0x0000000000000000, %thread ], [ %total.76, %go.83 ]
  %total.35 = phi float [ 0x0000000000000000, %thread ], [ %total.77, %go.83 ]
  %total.36 = phi float [ 0x0000000000000000, %thread ], [ %total.78, %go.83 ]
  %last.37 = phi i32 [ %last.31, %thread ], [ %last.92, %go.83 ]
  br label %body.25
body.25:
  %j.38 = phi i32 [ %j.33, %strip.24 ], [ %j.next.79, %endif.58 ]
  %total.39 = phi float [ %total.34, %strip.24 ], [ %total.76, %endif.58 ]
  %total.40 = phi float [ %total.35, %strip.24 ], [ %total.77, %endif.58 ]
  %total.41 = phi float [ %total.36, %strip.24 ], [ %total.78, %endif.58 ]
  ; line 13: b = bodies[j]
  %v42 = sext i32 %j.38 to i64
  %v43 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.6, i64 %v42
  %v44 = getelementptr inbounds float, ptr %v43, i64 1
  %v45 = getelementptr inbounds float, ptr %v43, i64 2
  %b.pos.46 = load float, ptr %v43
  %b.pos.47 = load float, ptr %v44
  %b.pos.48 = load float, ptr %v45
  %v49 = sext i32 %j.38 to i64
  %v50 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.14, i64 %v49
  %b.mass.51 = load float, ptr %v50
  %v52 = sext i32 %j.38 to i64
  %v53 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.18, i64 %v52
  %b.id.54 = load i32, ptr %v53
  ; line 14: if b.id != a.id:
  %v55 = icmp ne i32 %b.id.54, %a.id.20
  br i1 %v55, label %then.56, label %else.57
then.56:
  ; line 15: d = b.pos - a.pos
  %v59 = fsub float %b.pos.46, %a.pos.10
  %v60 = fsub float %b.pos.47, %a.pos.11
  %v61 = fsub float %b.pos.48, %a.pos.12
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v62 = fmul float %a.mass.16, %b.mass.51
  %v63 = fmul float %v59, %v59
  %v64 = fmul float %v60, %v60
  %v65 = fmul float %v61, %v61
  %v66 = fadd float %v63, %v64
  %v67 = fadd float %v66, %v65
  %v68 = fadd float %v67, 0x3F847AE140000000
  %v69 = fdiv float %v62, %v68
  %v70 = fmul float %v59, %v69
  %v71 = fmul float %v60, %v69
  %v72 = fmul float %v61, %v69
  %v73 = fadd float %total.39, %v70
  %v74 = fadd float %total.40, %v71
  %v75 = fadd float %total.41, %v72
  ; line 14: if b.id != a.id:
  br label %endif.58
else.57:
  br label %endif.58
endif.58:
  %total.76 = phi float [ %v73, %then.56 ], [ %total.39, %else.57 ]
  %total.77 = phi float [ %v74, %then.56 ], [ %total.40, %else.57 ]
  %total.78 = phi float [ %v75, %then.56 ], [ %total.41, %else.57 ]
  ; line 12: for j in range(len(bodies)):
  %j.next.79 = add nsw i32 %j.38, 1
  %more.80 = icmp ne i32 %j.next.79, %last.37
  br i1 %more.80, label %body.25, label %stripped.26
stripped.26:
  %over.81 = icmp eq i32 %last.37, %v23
  br i1 %over.81, label %endfor.28, label %again.27, !prof !1
again.27:
  %stop.84 = load volatile i32, ptr %stop
  %calm.85 = icmp eq i32 %stop.84, 0
  br i1 %calm.85, label %go.83, label %ask.82, !prof !1
ask.82:
  %v87 = load ptr, ptr %v86
  %v88 = call i32 %v87(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v89 = icmp eq i32 %v88, 0
  br i1 %v89, label %go.83, label %stopped
go.83:
  %left.90 = sub i32 %v23, %last.37
  %few.91 = call i32 @llvm.umin.i32(i32 %left.90, i32 1024)
  %last.92 = add nsw i32 %last.37, %few.91
  br label %strip.24
endfor.28:
  %v93 = phi float [ 0x0000000000000000, %thread ], [ %total.76, %stripped.26 ]
  %v94 = phi float [ 0x0000000000000000, %thread ], [ %total.77, %stripped.26 ]
  %v95 = phi float [ 0x0000000000000000, %thread ], [ %total.78, %stripped.26 ]
  ; line 17: f[i] = total
  %v96 = sext i32 %tid to i64
  %v99 = getelementptr inbounds [3 x float], ptr %f.data.98, i64 %v96
  %v100 = getelementptr inbounds float, ptr %v99, i64 1
  %v101 = getelementptr inbounds float, ptr %v99, i64 2
  store float %v93, ptr %v99
  store float %v94, ptr %v100
  store float %v95, ptr %v101
  %v104 = and i32 %tid, 31
  %early.105 = icmp ne i32 %v104, 31
  br i1 %early.105, label %on.103, label %due.102, !prof !1
due.102:
  %stop.108 = load volatile i32, ptr %stop
  %calm.109 = icmp eq i32 %stop.108, 0
  br i1 %calm.109, label %go.107, label %ask.106, !prof !1
ask.106:
  %v111 = sext i32 %tid to i64
  store i64 %v111, ptr %v110
  %v112 = load ptr, ptr %v86
  %v113 = call i32 %v112(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v114 = icmp eq i32 %v113, 0
  br i1 %v114, label %go.107, label %stopped
go.107:
  br label %on.103
on.103:
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
