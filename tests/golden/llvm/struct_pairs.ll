define i32 @wb_struct_pairs(ptr %params, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %bodies.pos.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.6 = load ptr, ptr %bodies.pos.at.5
  %bodies.mass.data.14 = getelementptr inbounds i8, ptr %bodies.pos.data.6, i64 24
  %bodies.id.data.18 = getelementptr inbounds i8, ptr %bodies.pos.data.6, i64 28
  %bodies.pos.shape0.at.21 = getelementptr inbounds i8, ptr %params, i64 40
  %bodies.pos.shape0.22 = load i64, ptr %bodies.pos.shape0.at.21, !range !0
  %f.at.71 = getelementptr inbounds i8, ptr %params, i64 128
  %f.data.72 = load ptr, ptr %f.at.71
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
  br label %for.24
for.24:
  %j.27 = phi i32 [ 0, %thread ], [ %j.next.28, %endif.49 ]
  %total.29 = phi float [ 0x0000000000000000, %thread ], [ %total.67, %endif.49 ]
  %total.30 = phi float [ 0x0000000000000000, %thread ], [ %total.68, %endif.49 ]
  %total.31 = phi float [ 0x0000000000000000, %thread ], [ %total.69, %endif.49 ]
  %more.32 = icmp slt i32 %j.27, %v23
  br i1 %more.32, label %body.25, label %endfor.26
body.25:
  ; line 13: b = bodies[j]
  %v33 = sext i32 %j.27 to i64
  %v34 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.6, i64 %v33
  %v35 = getelementptr inbounds float, ptr %v34, i64 1
  %v36 = getelementptr inbounds float, ptr %v34, i64 2
  %b.pos.37 = load float, ptr %v34
  %b.pos.38 = load float, ptr %v35
  %b.pos.39 = load float, ptr %v36
  %v40 = sext i32 %j.27 to i64
  %v41 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.14, i64 %v40
  %b.mass.42 = load float, ptr %v41
  %v43 = sext i32 %j.27 to i64
  %v44 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.18, i64 %v43
  %b.id.45 = load i32, ptr %v44
  ; line 14: if b.id != a.id:
  %v46 = icmp ne i32 %b.id.45, %a.id.20
  br i1 %v46, label %then.47, label %else.48
then.47:
  ; line 15: d = b.pos - a.pos
  %v50 = fsub float %b.pos.37, %a.pos.10
  %v51 = fsub float %b.pos.38, %a.pos.11
  %v52 = fsub float %b.pos.39, %a.pos.12
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v53 = fmul float %a.mass.16, %b.mass.42
  %v54 = fmul float %v50, %v50
  %v55 = fmul float %v51, %v51
  %v56 = fmul float %v52, %v52
  %v57 = fadd float %v54, %v55
  %v58 = fadd float %v57, %v56
  %v59 = fadd float %v58, 0x3F847AE140000000
  %v60 = fdiv float %v53, %v59
  %v61 = fmul float %v50, %v60
  %v62 = fmul float %v51, %v60
  %v63 = fmul float %v52, %v60
  %v64 = fadd float %total.29, %v61
  %v65 = fadd float %total.30, %v62
  %v66 = fadd float %total.31, %v63
  ; line 14: if b.id != a.id:
  br label %endif.49
else.48:
  br label %endif.49
endif.49:
  %total.67 = phi float [ %v64, %then.47 ], [ %total.29, %else.48 ]
  %total.68 = phi float [ %v65, %then.47 ], [ %total.30, %else.48 ]
  %total.69 = phi float [ %v66, %then.47 ], [ %total.31, %else.48 ]
  ; line 12: for j in range(len(bodies)):
  %j.next.28 = add nsw i32 %j.27, 1
  br label %for.24
endfor.26:
  ; line 17: f[i] = total
  %v70 = sext i32 %tid to i64
  %v73 = getelementptr inbounds [3 x float], ptr %f.data.72, i64 %v70
  %v74 = getelementptr inbounds float, ptr %v73, i64 1
  %v75 = getelementptr inbounds float, ptr %v73, i64 2
  store float %total.29, ptr %v73
  store float %total.30, ptr %v74
  store float %total.31, ptr %v75
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
