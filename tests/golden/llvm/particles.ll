define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %p.shape0.at.4 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.5 = load i64, ptr %p.shape0.at.4, !range !0
  %p.at.25 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.26 = load ptr, ptr %p.at.25
  %v62 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.70 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.71 = load ptr, ptr %f.at.70
  %v83 = getelementptr inbounds i8, ptr %stop, i64 16
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
  ; line 6: i = tid()
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v6 = trunc i64 %p.shape0.5 to i32
  %more.12 = icmp slt i32 0, %v6
  br i1 %more.12, label %strip.7, label %endfor.11
strip.7:
  %j.13 = phi i32 [ 0, %thread ], [ %last.19, %go.59 ]
  %total.14 = phi float [ 0x0000000000000000, %thread ], [ %v52, %go.59 ]
  %total.15 = phi float [ 0x0000000000000000, %thread ], [ %v53, %go.59 ]
  %total.16 = phi float [ 0x0000000000000000, %thread ], [ %v54, %go.59 ]
  %left.17 = sub i32 %v6, %j.13
  %few.18 = call i32 @llvm.umin.i32(i32 %left.17, i32 1024)
  %last.19 = add nsw i32 %j.13, %few.18
  br label %body.8
body.8:
  %j.20 = phi i32 [ %j.13, %strip.7 ], [ %j.next.55, %body.8 ]
  %total.21 = phi float [ %total.14, %strip.7 ], [ %v52, %body.8 ]
  %total.22 = phi float [ %total.15, %strip.7 ], [ %v53, %body.8 ]
  %total.23 = phi float [ %total.16, %strip.7 ], [ %v54, %body.8 ]
  ; line 9: total += force(p[i], p[j])
  %v24 = sext i32 %tid to i64
  %v27 = getelementptr inbounds [3 x float], ptr %p.data.26, i64 %v24
  %v28 = getelementptr inbounds float, ptr %v27, i64 1
  %v29 = getelementptr inbounds float, ptr %v27, i64 2
  %v30 = load float, ptr %v27
  %v31 = load float, ptr %v28
  %v32 = load float, ptr %v29
  %v33 = sext i32 %j.20 to i64
  %v34 = getelementptr inbounds [3 x float], ptr %p.data.26, i64 %v33
  %v35 = getelementptr inbounds float, ptr %v34, i64 1
  %v36 = getelementptr inbounds float, ptr %v34, i64 2
  %v37 = load float, ptr %v34
  %v38 = load float, ptr %v35
  %v39 = load float, ptr %v36
  ; line 2: d = b - a
  %v40 = fsub float %v37, %v30
  %v41 = fsub float %v38, %v31
  %v42 = fsub float %v39, %v32
  ; line 3: return d / (length_sq(d) + 0.01)
  %v43 = fmul float %v40, %v40
  %v44 = fmul float %v41, %v41
  %v45 = fmul float %v42, %v42
  %v46 = fadd float %v43, %v44
  %v47 = fadd float %v46, %v45
  %v48 = fadd float %v47, 0x3F847AE140000000
  %v49 = fdiv float %v40, %v48
  %v50 = fdiv float %v41, %v48
  %v51 = fdiv float %v42, %v48
  ; line 9: total += force(p[i], p[j])
  %v52 = fadd float %total.21, %v49
  %v53 = fadd float %total.22, %v50
  %v54 = fadd float %total.23, %v51
  ; line 8: for j in range(len(p)):
  %j.next.55 = add nsw i32 %j.20, 1
  %more.56 = icmp ne i32 %j.next.55, %last.19
  br i1 %more.56, label %body.8, label %stripped.9
stripped.9:
  %more.57 = icmp ne i32 %last.19, %v6
  br i1 %more.57, label %again.10, label %endfor.11
again.10:
  %stop.60 = load volatile i32, ptr %stop
  %calm.61 = icmp eq i32 %stop.60, 0
  br i1 %calm.61, label %go.59, label %ask.58, !prof !1
ask.58:
  %v63 = load ptr, ptr %v62
  %v64 = call i32 %v63(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v65 = icmp eq i32 %v64, 0
  br i1 %v65, label %go.59, label %stopped
go.59:
  br label %strip.7
endfor.11:
  %v66 = phi float [ 0x0000000000000000, %thread ], [ %v52, %stripped.9 ]
  %v67 = phi float [ 0x0000000000000000, %thread ], [ %v53, %stripped.9 ]
  %v68 = phi float [ 0x0000000000000000, %thread ], [ %v54, %stripped.9 ]
  ; line 10: f[i] = total
  %v69 = sext i32 %tid to i64
  %v72 = getelementptr inbounds [3 x float], ptr %f.data.71, i64 %v69
  %v73 = getelementptr inbounds float, ptr %v72, i64 1
  %v74 = getelementptr inbounds float, ptr %v72, i64 2
  store float %v66, ptr %v72
  store float %v67, ptr %v73
  store float %v68, ptr %v74
  %v77 = and i32 %tid, 31
  %now.78 = icmp eq i32 %v77, 31
  br i1 %now.78, label %due.75, label %on.76
due.75:
  %stop.81 = load volatile i32, ptr %stop
  %calm.82 = icmp eq i32 %stop.81, 0
  br i1 %calm.82, label %go.80, label %ask.79, !prof !1
ask.79:
  %v84 = sext i32 %tid to i64
  store i64 %v84, ptr %v83
  %v85 = load ptr, ptr %v62
  %v86 = call i32 %v85(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v87 = icmp eq i32 %v86, 0
  br i1 %v87, label %go.80, label %stopped
go.80:
  br label %on.76
on.76:
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
