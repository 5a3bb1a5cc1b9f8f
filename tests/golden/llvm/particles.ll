define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %p.shape0.at.14 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.15 = load i64, ptr %p.shape0.at.14, !range !0
  %p.at.42 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.43 = load ptr, ptr %p.at.42
  %v106 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.124 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.125 = load ptr, ptr %f.at.124
  %v142 = getelementptr inbounds i8, ptr %stop, i64 16
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v147, %on.135 ]
  %number.11 = phi i32 [ 0, %start ], [ %v148, %on.135 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 6: i = tid()
  %v13 = sext i32 %gang.10 to i64
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v16 = trunc i64 %p.shape0.15 to i32
  %left.22 = sub i32 %v16, 0
  %few.23 = call i32 @llvm.umin.i32(i32 %left.22, i32 1024)
  %last.24 = add nsw i32 0, %few.23
  %more.25 = icmp slt i32 0, %v16
  br i1 %more.25, label %strip.17, label %endfor.21
strip.17:
  %j.26 = phi i32 [ 0, %gang.4 ], [ %last.33, %go.103 ]
  %total.27 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v93, %go.103 ]
  %total.28 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v95, %go.103 ]
  %total.29 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v97, %go.103 ]
  %total.30 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v94, %go.103 ]
  %total.31 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v96, %go.103 ]
  %total.32 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v98, %go.103 ]
  %last.33 = phi i32 [ %last.24, %gang.4 ], [ %last.112, %go.103 ]
  br label %body.18
body.18:
  %j.34 = phi i32 [ %j.26, %strip.17 ], [ %j.next.99, %body.18 ]
  %total.35 = phi <8 x float> [ %total.27, %strip.17 ], [ %v93, %body.18 ]
  %total.36 = phi <8 x float> [ %total.28, %strip.17 ], [ %v95, %body.18 ]
  %total.37 = phi <8 x float> [ %total.29, %strip.17 ], [ %v97, %body.18 ]
  %total.38 = phi <8 x float> [ %total.30, %strip.17 ], [ %v94, %body.18 ]
  %total.39 = phi <8 x float> [ %total.31, %strip.17 ], [ %v96, %body.18 ]
  %total.40 = phi <8 x float> [ %total.32, %strip.17 ], [ %v98, %body.18 ]
  ; line 9: total += force(p[i], p[j])
  %v41 = mul i64 %v13, 12
  %v44 = getelementptr i8, ptr %p.data.43, i64 %v41
  %p.45 = load <24 x float>, ptr %v44, align 4
  %v46 = shufflevector <24 x float> %p.45, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v47 = shufflevector <24 x float> %p.45, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v48 = shufflevector <24 x float> %p.45, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %v49 = mul i64 %v13, 12
  %v50 = add i64 %v49, 96
  %v51 = getelementptr i8, ptr %p.data.43, i64 %v50
  %p.52 = load <24 x float>, ptr %v51, align 4
  %v53 = shufflevector <24 x float> %p.52, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v54 = shufflevector <24 x float> %p.52, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v55 = shufflevector <24 x float> %p.52, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %v56 = sext i32 %j.34 to i64
  %v57 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v56
  %v58 = getelementptr inbounds float, ptr %v57, i64 1
  %v59 = getelementptr inbounds float, ptr %v57, i64 2
  %v60 = load float, ptr %v57
  %v61 = load float, ptr %v58
  %v62 = load float, ptr %v59
  ; line 2: d = b - a
  %v63 = insertelement <8 x float> poison, float %v60, i64 0
  %v64 = shufflevector <8 x float> %v63, <8 x float> poison, <8 x i32> zeroinitializer
  %v65 = fsub <8 x float> %v64, %v46
  %v66 = fsub <8 x float> %v64, %v53
  %v67 = insertelement <8 x float> poison, float %v61, i64 0
  %v68 = shufflevector <8 x float> %v67, <8 x float> poison, <8 x i32> zeroinitializer
  %v69 = fsub <8 x float> %v68, %v47
  %v70 = fsub <8 x float> %v68, %v54
  %v71 = insertelement <8 x float> poison, float %v62, i64 0
  %v72 = shufflevector <8 x float> %v71, <8 x float> poison, <8 x i32> zeroinitializer
  %v73 = fsub <8 x float> %v72, %v48
  %v74 = fsub <8 x float> %v72, %v55
  ; line 3: return d / (length_sq(d) + 0.01)
  %v75 = fmul <8 x float> %v65, %v65
  %v76 = fmul <8 x float> %v66, %v66
  %v77 = fmul <8 x float> %v69, %v69
  %v78 = fmul <8 x float> %v70, %v70
  %v79 = fmul <8 x float> %v73, %v73
  %v80 = fmul <8 x float> %v74, %v74
  %v81 = fadd <8 x float> %v75, %v77
  %v82 = fadd <8 x float> %v76, %v78
  %v83 = fadd <8 x float> %v81, %v79
  %v84 = fadd <8 x float> %v82, %v80
  %v85 = fadd <8 x float> %v83, splat (float 0x3F847AE140000000)
  %v86 = fadd <8 x float> %v84, splat (float 0x3F847AE140000000)
  %v87 = fdiv <8 x float> %v65, %v85
  %v88 = fdiv <8 x float> %v66, %v86
  %v89 = fdiv <8 x float> %v69, %v85
  %v90 = fdiv <8 x float> %v70, %v86
  %v91 = fdiv <8 x float> %v73, %v85
  %v92 = fdiv <8 x float> %v74, %v86
  ; line 9: total += force(p[i], p[j])
  %v93 = fadd <8 x float> %total.35, %v87
  %v94 = fadd <8 x float> %total.38, %v88
  %v95 = fadd <8 x float> %total.36, %v89
  %v96 = fadd <8 x float> %total.39, %v90
  %v97 = fadd <8 x float> %total.37, %v91
  %v98 = fadd <8 x float> %total.40, %v92
  ; line 8: for j in range(len(p)):
  %j.next.99 = add nsw i32 %j.34, 1
  %more.100 = icmp ne i32 %j.next.99, %last.33
  br i1 %more.100, label %body.18, label %stripped.19
stripped.19:
  %over.101 = icmp eq i32 %last.33, %v16
  br i1 %over.101, label %endfor.21, label %again.20, !prof !1
again.20:
  %stop.104 = load volatile i32, ptr %stop
  %calm.105 = icmp eq i32 %stop.104, 0
  br i1 %calm.105, label %go.103, label %ask.102, !prof !1
ask.102:
  %v107 = load ptr, ptr %v106
  %v108 = call i32 %v107(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v109 = icmp eq i32 %v108, 0
  br i1 %v109, label %go.103, label %stopped
go.103:
  %left.110 = sub i32 %v16, %last.33
  %few.111 = call i32 @llvm.umin.i32(i32 %left.110, i32 1024)
  %last.112 = add nsw i32 %last.33, %few.111
  br label %strip.17
endfor.21:
  %v113 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v93, %stripped.19 ]
  %v114 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v95, %stripped.19 ]
  %v115 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v97, %stripped.19 ]
  %v116 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v94, %stripped.19 ]
  %v117 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v96, %stripped.19 ]
  %v118 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v98, %stripped.19 ]
  ; line 10: f[i] = total
  %v119 = mul i64 %v13, 12
  %v120 = shufflevector <8 x float> %v113, <8 x float> %v114, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v121 = shufflevector <8 x float> %v115, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v122 = shufflevector <16 x float> %v120, <16 x float> %v121, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v123 = shufflevector <32 x float> %v122, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v126 = getelementptr i8, ptr %f.data.125, i64 %v119
  store <24 x float> %v123, ptr %v126, align 4
  %v127 = mul i64 %v13, 12
  %v128 = shufflevector <8 x float> %v116, <8 x float> %v117, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v129 = shufflevector <8 x float> %v118, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v130 = shufflevector <16 x float> %v128, <16 x float> %v129, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v131 = shufflevector <32 x float> %v130, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v132 = add i64 %v127, 96
  %v133 = getelementptr i8, ptr %f.data.125, i64 %v132
  store <24 x float> %v131, ptr %v133, align 4
  %v136 = and i32 %number.11, 1
  %early.137 = icmp ne i32 %v136, 1
  br i1 %early.137, label %on.135, label %due.134, !prof !1
due.134:
  %stop.140 = load volatile i32, ptr %stop
  %calm.141 = icmp eq i32 %stop.140, 0
  br i1 %calm.141, label %go.139, label %ask.138, !prof !1
ask.138:
  %v143 = sext i32 %gang.10 to i64
  store i64 %v143, ptr %v142
  %v144 = load ptr, ptr %v106
  %v145 = call i32 %v144(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v146 = icmp eq i32 %v145, 0
  br i1 %v146, label %go.139, label %stopped
go.139:
  br label %on.135
on.135:
  %v147 = add nsw i32 %gang.10, 16
  %v148 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.9, %gangs.end.5 ], [ %tid.next, %thread.end ]
  %more.149 = icmp slt i32 %tid, %high.2
  br i1 %more.149, label %thread, label %finish
thread:
  ; line 6: i = tid()
  %v150 = sext i32 %tid to i64
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v151 = trunc i64 %p.shape0.15 to i32
  %left.157 = sub i32 %v151, 0
  %few.158 = call i32 @llvm.umin.i32(i32 %left.157, i32 1024)
  %last.159 = add nsw i32 0, %few.158
  %more.160 = icmp slt i32 0, %v151
  br i1 %more.160, label %strip.152, label %endfor.156
strip.152:
  %j.161 = phi i32 [ 0, %thread ], [ %last.165, %go.202 ]
  %total.162 = phi float [ 0x0000000000000000, %thread ], [ %v195, %go.202 ]
  %total.163 = phi float [ 0x0000000000000000, %thread ], [ %v196, %go.202 ]
  %total.164 = phi float [ 0x0000000000000000, %thread ], [ %v197, %go.202 ]
  %last.165 = phi i32 [ %last.159, %thread ], [ %last.210, %go.202 ]
  br label %body.153
body.153:
  %j.166 = phi i32 [ %j.161, %strip.152 ], [ %j.next.198, %body.153 ]
  %total.167 = phi float [ %total.162, %strip.152 ], [ %v195, %body.153 ]
  %total.168 = phi float [ %total.163, %strip.152 ], [ %v196, %body.153 ]
  %total.169 = phi float [ %total.164, %strip.152 ], [ %v197, %body.153 ]
  ; line 9: total += force(p[i], p[j])
  %v170 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v150
  %v171 = getelementptr inbounds float, ptr %v170, i64 1
  %v172 = getelementptr inbounds float, ptr %v170, i64 2
  %v173 = load float, ptr %v170
  %v174 = load float, ptr %v171
  %v175 = load float, ptr %v172
  %v176 = sext i32 %j.166 to i64
  %v177 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v176
  %v178 = getelementptr inbounds float, ptr %v177, i64 1
  %v179 = getelementptr inbounds float, ptr %v177, i64 2
  %v180 = load float, ptr %v177
  %v181 = load float, ptr %v178
  %v182 = load float, ptr %v179
  ; line 2: d = b - a
  %v183 = fsub float %v180, %v173
  %v184 = fsub float %v181, %v174
  %v185 = fsub float %v182, %v175
  ; line 3: return d / (length_sq(d) + 0.01)
  %v186 = fmul float %v183, %v183
  %v187 = fmul float %v184, %v184
  %v188 = fmul float %v185, %v185
  %v189 = fadd float %v186, %v187
  %v190 = fadd float %v189, %v188
  %v191 = fadd float %v190, 0x3F847AE140000000
  %v192 = fdiv float %v183, %v191
  %v193 = fdiv float %v184, %v191
  %v194 = fdiv float %v185, %v191
  ; line 9: total += force(p[i], p[j])
  %v195 = fadd float %total.167, %v192
  %v196 = fadd float %total.168, %v193
  %v197 = fadd float %total.169, %v194
  ; line 8: for j in range(len(p)):
  %j.next.198 = add nsw i32 %j.166, 1
  %more.199 = icmp ne i32 %j.next.198, %last.165
  br i1 %more.199, label %body.153, label %stripped.154
stripped.154:
  %over.200 = icmp eq i32 %last.165, %v151
  br i1 %over.200, label %endfor.156, label %again.155, !prof !1
again.155:
  %stop.203 = load volatile i32, ptr %stop
  %calm.204 = icmp eq i32 %stop.203, 0
  br i1 %calm.204, label %go.202, label %ask.201, !prof !1
ask.201:
  %v205 = load ptr, ptr %v106
  %v206 = call i32 %v205(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v207 = icmp eq i32 %v206, 0
  br i1 %v207, label %go.202, label %stopped
go.202:
  %left.208 = sub i32 %v151, %last.165
  %few.209 = call i32 @llvm.umin.i32(i32 %left.208, i32 1024)
  %last.210 = add nsw i32 %last.165, %few.209
  br label %strip.152
endfor.156:
  %v211 = phi float [ 0x0000000000000000, %thread ], [ %v195, %stripped.154 ]
  %v212 = phi float [ 0x0000000000000000, %thread ], [ %v196, %stripped.154 ]
  %v213 = phi float [ 0x0000000000000000, %thread ], [ %v197, %stripped.154 ]
  ; line 10: f[i] = total
  %v214 = getelementptr inbounds [3 x float], ptr %f.data.125, i64 %v150
  %v215 = getelementptr inbounds float, ptr %v214, i64 1
  %v216 = getelementptr inbounds float, ptr %v214, i64 2
  store float %v211, ptr %v214
  store float %v212, ptr %v215
  store float %v213, ptr %v216
  %v219 = and i32 %tid, 31
  %early.220 = icmp ne i32 %v219, 31
  br i1 %early.220, label %on.218, label %due.217, !prof !1
due.217:
  %stop.223 = load volatile i32, ptr %stop
  %calm.224 = icmp eq i32 %stop.223, 0
  br i1 %calm.224, label %go.222, label %ask.221, !prof !1
ask.221:
  %v225 = sext i32 %tid to i64
  store i64 %v225, ptr %v142
  %v226 = load ptr, ptr %v106
  %v227 = call i32 %v226(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v228 = icmp eq i32 %v227, 0
  br i1 %v228, label %go.222, label %stopped
go.222:
  br label %on.218
on.218:
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
declare i32 @llvm.umin.i32(i32, i32)
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
