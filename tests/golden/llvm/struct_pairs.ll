define i32 @wb_struct_pairs(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %bodies.pos.at.7 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.8 = load ptr, ptr %bodies.pos.at.7
  %bodies.mass.data.16 = getelementptr inbounds i8, ptr %bodies.pos.data.8, i64 24
  %bodies.id.data.20 = getelementptr inbounds i8, ptr %bodies.pos.data.8, i64 28
  %bodies.pos.shape0.at.23 = getelementptr inbounds i8, ptr %params, i64 40
  %bodies.pos.shape0.24 = load i64, ptr %bodies.pos.shape0.at.23, !range !0
  %v87 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.95 = getelementptr inbounds i8, ptr %params, i64 128
  %f.data.96 = load ptr, ptr %f.at.95
  %v103 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.102 ]
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
  ; line 9: i = tid()
  ; line 10: a = bodies[i]
  %v6 = sext i32 %tid to i64
  %v9 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.8, i64 %v6
  %v10 = getelementptr inbounds float, ptr %v9, i64 1
  %v11 = getelementptr inbounds float, ptr %v9, i64 2
  %a.pos.12 = load float, ptr %v9
  %a.pos.13 = load float, ptr %v10
  %a.pos.14 = load float, ptr %v11
  %v15 = sext i32 %tid to i64
  %v17 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.16, i64 %v15
  %a.mass.18 = load float, ptr %v17
  %v19 = sext i32 %tid to i64
  %v21 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.20, i64 %v19
  %a.id.22 = load i32, ptr %v21
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v25 = trunc i64 %bodies.pos.shape0.24 to i32
  %more.31 = icmp slt i32 0, %v25
  br i1 %more.31, label %strip.26, label %endfor.30
strip.26:
  %j.32 = phi i32 [ 0, %thread ], [ %last.38, %go.84 ]
  %total.33 = phi float [ 0x0000000000000000, %thread ], [ %total.77, %go.84 ]
  %total.34 = phi float [ 0x0000000000000000, %thread ], [ %total.78, %go.84 ]
  %total.35 = phi float [ 0x0000000000000000, %thread ], [ %total.79, %go.84 ]
  %left.36 = sub i32 %v25, %j.32
  %few.37 = call i32 @llvm.umin.i32(i32 %left.36, i32 1024)
  %last.38 = add nsw i32 %j.32, %few.37
  br label %body.27
body.27:
  %j.39 = phi i32 [ %j.32, %strip.26 ], [ %j.next.80, %endif.59 ]
  %total.40 = phi float [ %total.33, %strip.26 ], [ %total.77, %endif.59 ]
  %total.41 = phi float [ %total.34, %strip.26 ], [ %total.78, %endif.59 ]
  %total.42 = phi float [ %total.35, %strip.26 ], [ %total.79, %endif.59 ]
  ; line 13: b = bodies[j]
  %v43 = sext i32 %j.39 to i64
  %v44 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.8, i64 %v43
  %v45 = getelementptr inbounds float, ptr %v44, i64 1
  %v46 = getelementptr inbounds float, ptr %v44, i64 2
  %b.pos.47 = load float, ptr %v44
  %b.pos.48 = load float, ptr %v45
  %b.pos.49 = load float, ptr %v46
  %v50 = sext i32 %j.39 to i64
  %v51 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.16, i64 %v50
  %b.mass.52 = load float, ptr %v51
  %v53 = sext i32 %j.39 to i64
  %v54 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.20, i64 %v53
  %b.id.55 = load i32, ptr %v54
  ; line 14: if b.id != a.id:
  %v56 = icmp ne i32 %b.id.55, %a.id.22
  br i1 %v56, label %then.57, label %else.58
then.57:
  ; line 15: d = b.pos - a.pos
  %v60 = fsub float %b.pos.47, %a.pos.12
  %v61 = fsub float %b.pos.48, %a.pos.13
  %v62 = fsub float %b.pos.49, %a.pos.14
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v63 = fmul float %a.mass.18, %b.mass.52
  %v64 = fmul float %v60, %v60
  %v65 = fmul float %v61, %v61
  %v66 = fmul float %v62, %v62
  %v67 = fadd float %v64, %v65
  %v68 = fadd float %v67, %v66
  %v69 = fadd float %v68, 0x3F847AE140000000
  %v70 = fdiv float %v63, %v69
  %v71 = fmul float %v60, %v70
  %v72 = fmul float %v61, %v70
  %v73 = fmul float %v62, %v70
  %v74 = fadd float %total.40, %v71
  %v75 = fadd float %total.41, %v72
  %v76 = fadd float %total.42, %v73
  ; line 14: if b.id != a.id:
  br label %endif.59
else.58:
  br label %endif.59
endif.59:
  %total.77 = phi float [ %v74, %then.57 ], [ %total.40, %else.58 ]
  %total.78 = phi float [ %v75, %then.57 ], [ %total.41, %else.58 ]
  %total.79 = phi float [ %v76, %then.57 ], [ %total.42, %else.58 ]
  ; line 12: for j in range(len(bodies)):
  %j.next.80 = add nsw i32 %j.39, 1
  %more.81 = icmp ne i32 %j.next.80, %last.38
  br i1 %more.81, label %body.27, label %stripped.28
stripped.28:
  %more.82 = icmp ne i32 %last.38, %v25
  br i1 %more.82, label %again.29, label %endfor.30
again.29:
  %stop.85 = load volatile i32, ptr %stop
  %calm.86 = icmp eq i32 %stop.85, 0
  br i1 %calm.86, label %go.84, label %ask.83, !prof !1
ask.83:
  %v88 = load ptr, ptr %v87
  %v89 = call i32 %v88(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v90 = icmp eq i32 %v89, 0
  br i1 %v90, label %go.84, label %stopped
go.84:
  br label %strip.26
endfor.30:
  %v91 = phi float [ 0x0000000000000000, %thread ], [ %total.77, %stripped.28 ]
  %v92 = phi float [ 0x0000000000000000, %thread ], [ %total.78, %stripped.28 ]
  %v93 = phi float [ 0x0000000000000000, %thread ], [ %total.79, %stripped.28 ]
  ; line 17: f[i] = total
  %v94 = sext i32 %tid to i64
  %v97 = getelementptr inbounds [3 x float], ptr %f.data.96, i64 %v94
  %v98 = getelementptr inbounds float, ptr %v97, i64 1
  %v99 = getelementptr inbounds float, ptr %v97, i64 2
  store float %v91, ptr %v97
  store float %v92, ptr %v98
  store float %v93, ptr %v99
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.100 = icmp slt i64 %last, %end
  br i1 %more.100, label %again, label %finish
again:
  store i64 %last, ptr %v103
  %stop.104 = load volatile i32, ptr %stop
  %calm.105 = icmp eq i32 %stop.104, 0
  br i1 %calm.105, label %go.102, label %ask.101, !prof !1
ask.101:
  %v106 = load ptr, ptr %v87
  %v107 = call i32 %v106(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v108 = icmp eq i32 %v107, 0
  br i1 %v108, label %go.102, label %stopped
go.102:
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
