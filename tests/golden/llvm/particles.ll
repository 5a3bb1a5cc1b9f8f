define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %p.shape0.at.4 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.5 = load i64, ptr %p.shape0.at.4, !range !0
  %p.at.17 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.18 = load ptr, ptr %p.at.17
  %f.at.48 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.49 = load ptr, ptr %f.at.48
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
  ; line 6: i = tid()
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v6 = trunc i64 %p.shape0.5 to i32
  br label %for.7
for.7:
  %j.10 = phi i32 [ 0, %thread ], [ %j.next.11, %body.8 ]
  %total.12 = phi float [ 0x0000000000000000, %thread ], [ %v44, %body.8 ]
  %total.13 = phi float [ 0x0000000000000000, %thread ], [ %v45, %body.8 ]
  %total.14 = phi float [ 0x0000000000000000, %thread ], [ %v46, %body.8 ]
  %more.15 = icmp slt i32 %j.10, %v6
  br i1 %more.15, label %body.8, label %endfor.9
body.8:
  ; line 9: total += force(p[i], p[j])
  %v16 = sext i32 %tid to i64
  %v19 = getelementptr inbounds [3 x float], ptr %p.data.18, i64 %v16
  %v20 = getelementptr inbounds float, ptr %v19, i64 1
  %v21 = getelementptr inbounds float, ptr %v19, i64 2
  %v22 = load float, ptr %v19
  %v23 = load float, ptr %v20
  %v24 = load float, ptr %v21
  %v25 = sext i32 %j.10 to i64
  %v26 = getelementptr inbounds [3 x float], ptr %p.data.18, i64 %v25
  %v27 = getelementptr inbounds float, ptr %v26, i64 1
  %v28 = getelementptr inbounds float, ptr %v26, i64 2
  %v29 = load float, ptr %v26
  %v30 = load float, ptr %v27
  %v31 = load float, ptr %v28
  ; line 2: d = b - a
  %v32 = fsub float %v29, %v22
  %v33 = fsub float %v30, %v23
  %v34 = fsub float %v31, %v24
  ; line 3: return d / (length_sq(d) + 0.01)
  %v35 = fmul float %v32, %v32
  %v36 = fmul float %v33, %v33
  %v37 = fmul float %v34, %v34
  %v38 = fadd float %v35, %v36
  %v39 = fadd float %v38, %v37
  %v40 = fadd float %v39, 0x3F847AE140000000
  %v41 = fdiv float %v32, %v40
  %v42 = fdiv float %v33, %v40
  %v43 = fdiv float %v34, %v40
  ; line 9: total += force(p[i], p[j])
  %v44 = fadd float %total.12, %v41
  %v45 = fadd float %total.13, %v42
  %v46 = fadd float %total.14, %v43
  ; line 8: for j in range(len(p)):
  %j.next.11 = add nsw i32 %j.10, 1
  br label %for.7
endfor.9:
  ; line 10: f[i] = total
  %v47 = sext i32 %tid to i64
  %v50 = getelementptr inbounds [3 x float], ptr %f.data.49, i64 %v47
  %v51 = getelementptr inbounds float, ptr %v50, i64 1
  %v52 = getelementptr inbounds float, ptr %v50, i64 2
  store float %total.12, ptr %v50
  store float %total.13, ptr %v51
  store float %total.14, ptr %v52
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
