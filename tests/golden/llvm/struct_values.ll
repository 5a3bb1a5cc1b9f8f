define i32 @wb_struct_values(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.at.15 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.16 = load ptr, ptr %x.at.15
  %b.vel.at.39 = getelementptr inbounds i8, ptr %params, i64 72
  %b.vel.40 = load float, ptr %b.vel.at.39
  %b.vel.at.41 = getelementptr inbounds i8, ptr %params, i64 76
  %b.vel.42 = load float, ptr %b.vel.at.41
  %b.vel.at.43 = getelementptr inbounds i8, ptr %params, i64 80
  %b.vel.44 = load float, ptr %b.vel.at.43
  %dt.at.49 = getelementptr inbounds i8, ptr %params, i64 104
  %dt.50 = load float, ptr %dt.at.49
  %b.mass.at.67 = getelementptr inbounds i8, ptr %params, i64 88
  %b.mass.68 = load float, ptr %b.mass.at.67
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  %v6 = sub nsw i32 %high.2, %low.1
  %v7 = call i32 @llvm.smax.i32(i32 %v6, i32 0)
  %v8 = and i32 %v7, -16
  %gangs.9 = add nsw i32 %low.1, %v8
  br label %gangs.3
gangs.3:
  %gang.10 = phi i32 [ %low.1, %start ], [ %v90, %endfor.31 ]
  %number.11 = phi i32 [ 0, %start ], [ %v91, %endfor.31 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 14: i = tid()
  %v13 = sext i32 %gang.10 to i64
  ; line 16: c.pos = x[i]
  %v14 = mul i64 %v13, 12
  %v17 = getelementptr i8, ptr %x.data.16, i64 %v14
  %x.18 = load <24 x float>, ptr %v17, align 4
  %v19 = shufflevector <24 x float> %x.18, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v20 = shufflevector <24 x float> %x.18, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v21 = shufflevector <24 x float> %x.18, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %v22 = mul i64 %v13, 12
  %v23 = add i64 %v22, 96
  %v24 = getelementptr i8, ptr %x.data.16, i64 %v23
  %x.25 = load <24 x float>, ptr %v24, align 4
  %v26 = shufflevector <24 x float> %x.25, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v27 = shufflevector <24 x float> %x.25, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v28 = shufflevector <24 x float> %x.25, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  ; line 17: for k in range(4):
  br label %for.29
for.29:
  %k.32 = phi i32 [ 0, %gang.4 ], [ %k.next.66, %body.30 ]
  %c.pos.33 = phi <8 x float> [ %v19, %gang.4 ], [ %v56, %body.30 ]
  %c.pos.34 = phi <8 x float> [ %v20, %gang.4 ], [ %v60, %body.30 ]
  %c.pos.35 = phi <8 x float> [ %v21, %gang.4 ], [ %v64, %body.30 ]
  %c.pos.36 = phi <8 x float> [ %v26, %gang.4 ], [ %v57, %body.30 ]
  %c.pos.37 = phi <8 x float> [ %v27, %gang.4 ], [ %v61, %body.30 ]
  %c.pos.38 = phi <8 x float> [ %v28, %gang.4 ], [ %v65, %body.30 ]
  %c.vel.45 = phi float [ %b.vel.40, %gang.4 ], [ %c.vel.45, %body.30 ]
  %c.vel.46 = phi float [ %b.vel.42, %gang.4 ], [ %c.vel.46, %body.30 ]
  %c.vel.47 = phi float [ %b.vel.44, %gang.4 ], [ %c.vel.47, %body.30 ]
  %more.48 = icmp slt i32 %k.32, 4
  br i1 %more.48, label %body.30, label %endfor.31
body.30:
  ; line 10: b.pos += b.vel * dt
  %v51 = fmul float %c.vel.45, %dt.50
  %v52 = fmul float %c.vel.46, %dt.50
  %v53 = fmul float %c.vel.47, %dt.50
  %v54 = insertelement <8 x float> poison, float %v51, i64 0
  %v55 = shufflevector <8 x float> %v54, <8 x float> poison, <8 x i32> zeroinitializer
  %v56 = fadd <8 x float> %c.pos.33, %v55
  %v57 = fadd <8 x float> %c.pos.36, %v55
  %v58 = insertelement <8 x float> poison, float %v52, i64 0
  %v59 = shufflevector <8 x float> %v58, <8 x float> poison, <8 x i32> zeroinitializer
  %v60 = fadd <8 x float> %c.pos.34, %v59
  %v61 = fadd <8 x float> %c.pos.37, %v59
  %v62 = insertelement <8 x float> poison, float %v53, i64 0
  %v63 = shufflevector <8 x float> %v62, <8 x float> poison, <8 x i32> zeroinitializer
  %v64 = fadd <8 x float> %c.pos.35, %v63
  %v65 = fadd <8 x float> %c.pos.38, %v63
  ; line 17: for k in range(4):
  %k.next.66 = add nsw i32 %k.32, 1
  br label %for.29
endfor.31:
  ; line 19: x[i] = c.pos * b.mass
  %v69 = insertelement <8 x float> poison, float %b.mass.68, i64 0
  %v70 = shufflevector <8 x float> %v69, <8 x float> poison, <8 x i32> zeroinitializer
  %v71 = fmul <8 x float> %c.pos.33, %v70
  %v72 = fmul <8 x float> %c.pos.36, %v70
  %v73 = fmul <8 x float> %c.pos.34, %v70
  %v74 = fmul <8 x float> %c.pos.37, %v70
  %v75 = fmul <8 x float> %c.pos.35, %v70
  %v76 = fmul <8 x float> %c.pos.38, %v70
  %v77 = mul i64 %v13, 12
  %v78 = shufflevector <8 x float> %v71, <8 x float> %v73, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v79 = shufflevector <8 x float> %v75, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v80 = shufflevector <16 x float> %v78, <16 x float> %v79, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v81 = shufflevector <32 x float> %v80, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v82 = getelementptr i8, ptr %x.data.16, i64 %v77
  store <24 x float> %v81, ptr %v82, align 4
  %v83 = mul i64 %v13, 12
  %v84 = shufflevector <8 x float> %v72, <8 x float> %v74, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v85 = shufflevector <8 x float> %v76, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v86 = shufflevector <16 x float> %v84, <16 x float> %v85, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v87 = shufflevector <32 x float> %v86, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v88 = add i64 %v83, 96
  %v89 = getelementptr i8, ptr %x.data.16, i64 %v88
  store <24 x float> %v87, ptr %v89, align 4
  %v90 = add nsw i32 %gang.10, 16
  %v91 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.9, %gangs.end.5 ], [ %tid.next, %thread.end ]
  %more.92 = icmp slt i32 %tid, %high.2
  br i1 %more.92, label %thread, label %finish
thread:
  ; line 14: i = tid()
  %v93 = sext i32 %tid to i64
  ; line 16: c.pos = x[i]
  %v94 = getelementptr inbounds [3 x float], ptr %x.data.16, i64 %v93
  %v95 = getelementptr inbounds float, ptr %v94, i64 1
  %v96 = getelementptr inbounds float, ptr %v94, i64 2
  %c.pos.97 = load float, ptr %v94
  %c.pos.98 = load float, ptr %v95
  %c.pos.99 = load float, ptr %v96
  ; line 17: for k in range(4):
  br label %for.100
for.100:
  %k.103 = phi i32 [ 0, %thread ], [ %k.next.117, %body.101 ]
  %c.pos.104 = phi float [ %c.pos.97, %thread ], [ %v114, %body.101 ]
  %c.pos.105 = phi float [ %c.pos.98, %thread ], [ %v115, %body.101 ]
  %c.pos.106 = phi float [ %c.pos.99, %thread ], [ %v116, %body.101 ]
  %c.vel.107 = phi float [ %b.vel.40, %thread ], [ %c.vel.107, %body.101 ]
  %c.vel.108 = phi float [ %b.vel.42, %thread ], [ %c.vel.108, %body.101 ]
  %c.vel.109 = phi float [ %b.vel.44, %thread ], [ %c.vel.109, %body.101 ]
  %more.110 = icmp slt i32 %k.103, 4
  br i1 %more.110, label %body.101, label %endfor.102
body.101:
  ; line 10: b.pos += b.vel * dt
  %v111 = fmul float %c.vel.107, %dt.50
  %v112 = fmul float %c.vel.108, %dt.50
  %v113 = fmul float %c.vel.109, %dt.50
  %v114 = fadd float %c.pos.104, %v111
  %v115 = fadd float %c.pos.105, %v112
  %v116 = fadd float %c.pos.106, %v113
  ; line 17: for k in range(4):
  %k.next.117 = add nsw i32 %k.103, 1
  br label %for.100
endfor.102:
  ; line 19: x[i] = c.pos * b.mass
  %v118 = fmul float %c.pos.104, %b.mass.68
  %v119 = fmul float %c.pos.105, %b.mass.68
  %v120 = fmul float %c.pos.106, %b.mass.68
  %v121 = getelementptr inbounds [3 x float], ptr %x.data.16, i64 %v93
  %v122 = getelementptr inbounds float, ptr %v121, i64 1
  %v123 = getelementptr inbounds float, ptr %v121, i64 2
  store float %v118, ptr %v121
  store float %v119, ptr %v122
  store float %v120, ptr %v123
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !3
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i32 @llvm.smax.i32(i32, i32)
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
