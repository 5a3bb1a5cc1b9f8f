define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %p.shape0.at.6 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.7 = load i64, ptr %p.shape0.at.6, !range !0
  %p.at.27 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.28 = load ptr, ptr %p.at.27
  %v64 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.72 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.73 = load ptr, ptr %f.at.72
  %v80 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.79 ]
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
  ; line 6: i = tid()
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v8 = trunc i64 %p.shape0.7 to i32
  %more.14 = icmp slt i32 0, %v8
  br i1 %more.14, label %strip.9, label %endfor.13
strip.9:
  %j.15 = phi i32 [ 0, %thread ], [ %last.21, %go.61 ]
  %total.16 = phi float [ 0x0000000000000000, %thread ], [ %v54, %go.61 ]
  %total.17 = phi float [ 0x0000000000000000, %thread ], [ %v55, %go.61 ]
  %total.18 = phi float [ 0x0000000000000000, %thread ], [ %v56, %go.61 ]
  %left.19 = sub i32 %v8, %j.15
  %few.20 = call i32 @llvm.umin.i32(i32 %left.19, i32 1024)
  %last.21 = add nsw i32 %j.15, %few.20
  br label %body.10
body.10:
  %j.22 = phi i32 [ %j.15, %strip.9 ], [ %j.next.57, %body.10 ]
  %total.23 = phi float [ %total.16, %strip.9 ], [ %v54, %body.10 ]
  %total.24 = phi float [ %total.17, %strip.9 ], [ %v55, %body.10 ]
  %total.25 = phi float [ %total.18, %strip.9 ], [ %v56, %body.10 ]
  ; line 9: total += force(p[i], p[j])
  %v26 = sext i32 %tid to i64
  %v29 = getelementptr inbounds [3 x float], ptr %p.data.28, i64 %v26
  %v30 = getelementptr inbounds float, ptr %v29, i64 1
  %v31 = getelementptr inbounds float, ptr %v29, i64 2
  %v32 = load float, ptr %v29
  %v33 = load float, ptr %v30
  %v34 = load float, ptr %v31
  %v35 = sext i32 %j.22 to i64
  %v36 = getelementptr inbounds [3 x float], ptr %p.data.28, i64 %v35
  %v37 = getelementptr inbounds float, ptr %v36, i64 1
  %v38 = getelementptr inbounds float, ptr %v36, i64 2
  %v39 = load float, ptr %v36
  %v40 = load float, ptr %v37
  %v41 = load float, ptr %v38
  ; line 2: d = b - a
  %v42 = fsub float %v39, %v32
  %v43 = fsub float %v40, %v33
  %v44 = fsub float %v41, %v34
  ; line 3: return d / (length_sq(d) + 0.01)
  %v45 = fmul float %v42, %v42
  %v46 = fmul float %v43, %v43
  %v47 = fmul float %v44, %v44
  %v48 = fadd float %v45, %v46
  %v49 = fadd float %v48, %v47
  %v50 = fadd float %v49, 0x3F847AE140000000
  %v51 = fdiv float %v42, %v50
  %v52 = fdiv float %v43, %v50
  %v53 = fdiv float %v44, %v50
  ; line 9: total += force(p[i], p[j])
  %v54 = fadd float %total.23, %v51
  %v55 = fadd float %total.24, %v52
  %v56 = fadd float %total.25, %v53
  ; line 8: for j in range(len(p)):
  %j.next.57 = add nsw i32 %j.22, 1
  %more.58 = icmp ne i32 %j.next.57, %last.21
  br i1 %more.58, label %body.10, label %stripped.11
stripped.11:
  %more.59 = icmp ne i32 %last.21, %v8
  br i1 %more.59, label %again.12, label %endfor.13
again.12:
  %stop.62 = load volatile i32, ptr %stop
  %calm.63 = icmp eq i32 %stop.62, 0
  br i1 %calm.63, label %go.61, label %ask.60, !prof !1
ask.60:
  %v65 = load ptr, ptr %v64
  %v66 = call i32 %v65(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v67 = icmp eq i32 %v66, 0
  br i1 %v67, label %go.61, label %stopped
go.61:
  br label %strip.9
endfor.13:
  %v68 = phi float [ 0x0000000000000000, %thread ], [ %v54, %stripped.11 ]
  %v69 = phi float [ 0x0000000000000000, %thread ], [ %v55, %stripped.11 ]
  %v70 = phi float [ 0x0000000000000000, %thread ], [ %v56, %stripped.11 ]
  ; line 10: f[i] = total
  %v71 = sext i32 %tid to i64
  %v74 = getelementptr inbounds [3 x float], ptr %f.data.73, i64 %v71
  %v75 = getelementptr inbounds float, ptr %v74, i64 1
  %v76 = getelementptr inbounds float, ptr %v74, i64 2
  store float %v68, ptr %v74
  store float %v69, ptr %v75
  store float %v70, ptr %v76
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.77 = icmp slt i64 %last, %end
  br i1 %more.77, label %again, label %finish
again:
  store i64 %last, ptr %v80
  %stop.81 = load volatile i32, ptr %stop
  %calm.82 = icmp eq i32 %stop.81, 0
  br i1 %calm.82, label %go.79, label %ask.78, !prof !1
ask.78:
  %v83 = load ptr, ptr %v64
  %v84 = call i32 %v83(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v85 = icmp eq i32 %v84, 0
  br i1 %v85, label %go.79, label %stopped
go.79:
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
