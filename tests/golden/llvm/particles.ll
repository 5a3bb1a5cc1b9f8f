define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %p.shape0.at.4 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.5 = load i64, ptr %p.shape0.at.4, !range !0
  %p.at.26 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.27 = load ptr, ptr %p.at.26
  %v63 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.74 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.75 = load ptr, ptr %f.at.74
  %v87 = getelementptr inbounds i8, ptr %stop, i64 16
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
  %left.12 = sub i32 %v6, 0
  %few.13 = call i32 @llvm.umin.i32(i32 %left.12, i32 1024)
  %last.14 = add nsw i32 0, %few.13
  %more.15 = icmp slt i32 0, %v6
  br i1 %more.15, label %strip.7, label %endfor.11
strip.7:
  %j.16 = phi i32 [ 0, %thread ], [ %last.20, %go.60 ]
  %total.17 = phi float [ 0x0000000000000000, %thread ], [ %v53, %go.60 ]
  %total.18 = phi float [ 0x0000000000000000, %thread ], [ %v54, %go.60 ]
  %total.19 = phi float [ 0x0000000000000000, %thread ], [ %v55, %go.60 ]
  %last.20 = phi i32 [ %last.14, %thread ], [ %last.69, %go.60 ]
  br label %body.8
body.8:
  %j.21 = phi i32 [ %j.16, %strip.7 ], [ %j.next.56, %body.8 ]
  %total.22 = phi float [ %total.17, %strip.7 ], [ %v53, %body.8 ]
  %total.23 = phi float [ %total.18, %strip.7 ], [ %v54, %body.8 ]
  %total.24 = phi float [ %total.19, %strip.7 ], [ %v55, %body.8 ]
  ; line 9: total += force(p[i], p[j])
  %v25 = sext i32 %tid to i64
  %v28 = getelementptr inbounds [3 x float], ptr %p.data.27, i64 %v25
  %v29 = getelementptr inbounds float, ptr %v28, i64 1
  %v30 = getelementptr inbounds float, ptr %v28, i64 2
  %v31 = load float, ptr %v28
  %v32 = load float, ptr %v29
  %v33 = load float, ptr %v30
  %v34 = sext i32 %j.21 to i64
  %v35 = getelementptr inbounds [3 x float], ptr %p.data.27, i64 %v34
  %v36 = getelementptr inbounds float, ptr %v35, i64 1
  %v37 = getelementptr inbounds float, ptr %v35, i64 2
  %v38 = load float, ptr %v35
  %v39 = load float, ptr %v36
  %v40 = load float, ptr %v37
  ; line 2: d = b - a
  %v41 = fsub float %v38, %v31
  %v42 = fsub float %v39, %v32
  %v43 = fsub float %v40, %v33
  ; line 3: return d / (length_sq(d) + 0.01)
  %v44 = fmul float %v41, %v41
  %v45 = fmul float %v42, %v42
  %v46 = fmul float %v43, %v43
  %v47 = fadd float %v44, %v45
  %v48 = fadd float %v47, %v46
  %v49 = fadd float %v48, 0x3F847AE140000000
  %v50 = fdiv float %v41, %v49
  %v51 = fdiv float %v42, %v49
  %v52 = fdiv float %v43, %v49
  ; line 9: total += force(p[i], p[j])
  %v53 = fadd float %total.22, %v50
  %v54 = fadd float %total.23, %v51
  %v55 = fadd float %total.24, %v52
  ; line 8: for j in range(len(p)):
  %j.next.56 = add nsw i32 %j.21, 1
  %more.57 = icmp ne i32 %j.next.56, %last.20
  br i1 %more.57, label %body.8, label %stripped.9
stripped.9:
  %over.58 = icmp eq i32 %last.20, %v6
  br i1 %over.58, label %endfor.11, label %again.10, !prof !1
again.10:
  %stop.61 = load volatile i32, ptr %stop
  %calm.62 = icmp eq i32 %stop.61, 0
  br i1 %calm.62, label %go.60, label %ask.59, !prof !1
ask.59:
  %v64 = load ptr, ptr %v63
  %v65 = call i32 %v64(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v66 = icmp eq i32 %v65, 0
  br i1 %v66, label %go.60, label %stopped
go.60:
  %left.67 = sub i32 %v6, %last.20
  %few.68 = call i32 @llvm.umin.i32(i32 %left.67, i32 1024)
  %last.69 = add nsw i32 %last.20, %few.68
  br label %strip.7
endfor.11:
  %v70 = phi float [ 0x0000000000000000, %thread ], [ %v53, %stripped.9 ]
  %v71 = phi float [ 0x0000000000000000, %thread ], [ %v54, %stripped.9 ]
  %v72 = phi float [ 0x0000000000000000, %thread ], [ %v55, %stripped.9 ]
  ; line 10: f[i] = total
  %v73 = sext i32 %tid to i64
  %v76 = getelementptr inbounds [3 x float], ptr %f.data.75, i64 %v73
  %v77 = getelementptr inbounds float, ptr %v76, i64 1
  %v78 = getelementptr inbounds float, ptr %v76, i64 2
  store float %v70, ptr %v76
  store float %v71, ptr %v77
  store float %v72, ptr %v78
  %v81 = and i32 %tid, 31
  %early.82 = icmp ne i32 %v81, 31
  br i1 %early.82, label %on.80, label %due.79, !prof !1
due.79:
  %stop.85 = load volatile i32, ptr %stop
  %calm.86 = icmp eq i32 %stop.85, 0
  br i1 %calm.86, label %go.84, label %ask.83, !prof !1
ask.83:
  %v88 = sext i32 %tid to i64
  store i64 %v88, ptr %v87
  %v89 = load ptr, ptr %v63
  %v90 = call i32 %v89(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v91 = icmp eq i32 %v90, 0
  br i1 %v91, label %go.84, label %stopped
go.84:
  br label %on.80
on.80:
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
