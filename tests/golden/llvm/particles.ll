define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %slots.5 = alloca [16 x float], align 64
  %slots.6 = alloca [16 x float], align 64
  %slots.7 = alloca [16 x float], align 64
  %p.shape0.at.8 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.9 = load i64, ptr %p.shape0.at.8, !range !0
  %p.at.40 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.41 = load ptr, ptr %p.at.40
  %v98 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.122 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.123 = load ptr, ptr %f.at.122
  %v137 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.143 = alloca [16 x float], align 64
  %slots.144 = alloca [16 x float], align 64
  %slots.145 = alloca [16 x float], align 64
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br label %groups
groups:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %group.end ]
  %left.3 = sub nsw i32 %high.2, %tid
  %full.4 = icmp sge i32 %left.3, 16
  br i1 %full.4, label %group, label %few
group:
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v10 = trunc i64 %p.shape0.9 to i32
  ; line 6: i = tid()
  br label %for.11
for.11:
  %place.14 = phi i32 [ 0, %group ], [ %place.next.26, %body.12 ]
  %more.15 = icmp slt i32 %place.14, 16
  br i1 %more.15, label %body.12, label %endfor.13
body.12:
  %thread.16 = add nsw i32 %tid, %place.14
  %v17 = add i32 %tid, %place.14
  %v18 = sext i32 %tid to i64
  %v19 = sext i32 %place.14 to i64
  %v20 = add i64 %v18, %v19
  %v21 = sext i32 %v17 to i64
  %v22 = sext i32 %place.14 to i64
  %v23 = getelementptr inbounds float, ptr %slots.5, i64 %v22
  %v24 = getelementptr inbounds float, ptr %slots.6, i64 %v22
  %v25 = getelementptr inbounds float, ptr %slots.7, i64 %v22
  store float 0x0000000000000000, ptr %v23
  store float 0x0000000000000000, ptr %v24
  store float 0x0000000000000000, ptr %v25
  %place.next.26 = add nsw i32 %place.14, 1
  br label %for.11
endfor.13:
  ; line 9: total += force(p[i], p[j])
  %left.32 = sub i32 %v10, 0
  %few.33 = call i32 @llvm.umin.i32(i32 %left.32, i32 64)
  %last.34 = add nsw i32 0, %few.33
  %more.35 = icmp slt i32 0, %v10
  br i1 %more.35, label %strip.27, label %endfor.31
strip.27:
  %j.36 = phi i32 [ 0, %endfor.13 ], [ %last.37, %go.95 ]
  %last.37 = phi i32 [ %last.34, %endfor.13 ], [ %last.104, %go.95 ]
  br label %body.28
body.28:
  %j.38 = phi i32 [ %j.36, %strip.27 ], [ %j.next.91, %endfor.50 ]
  %v39 = sext i32 %j.38 to i64
  %v42 = getelementptr inbounds [3 x float], ptr %p.data.41, i64 %v39
  %v43 = getelementptr inbounds float, ptr %v42, i64 1
  %v44 = getelementptr inbounds float, ptr %v42, i64 2
  %v45 = load float, ptr %v42
  %v46 = load float, ptr %v43
  %v47 = load float, ptr %v44
  ; line 3: return d / (length_sq(d) + 0.01)
  ; line 9: total += force(p[i], p[j])
  br label %for.48
for.48:
  %place.51 = phi i32 [ 0, %body.28 ], [ %place.next.90, %body.49 ]
  %more.52 = icmp slt i32 %place.51, 16
  br i1 %more.52, label %body.49, label %endfor.50
body.49:
  %thread.53 = add nsw i32 %tid, %place.51
  ; line 8: for j in range(len(p)):
  %v54 = add i32 %tid, %place.51
  %v55 = sext i32 %tid to i64
  %v56 = sext i32 %place.51 to i64
  %v57 = add i64 %v55, %v56
  %v58 = sext i32 %place.51 to i64
  %v59 = getelementptr inbounds float, ptr %slots.5, i64 %v58
  %v60 = getelementptr inbounds float, ptr %slots.6, i64 %v58
  %v61 = getelementptr inbounds float, ptr %slots.7, i64 %v58
  %v62 = load float, ptr %v59
  %v63 = load float, ptr %v60
  %v64 = load float, ptr %v61
  ; line 9: total += force(p[i], p[j])
  %v65 = getelementptr inbounds [3 x float], ptr %p.data.41, i64 %v57
  %v66 = getelementptr inbounds float, ptr %v65, i64 1
  %v67 = getelementptr inbounds float, ptr %v65, i64 2
  %v68 = load float, ptr %v65
  %v69 = load float, ptr %v66
  %v70 = load float, ptr %v67
  ; line 2: d = b - a
  %v71 = fsub float %v45, %v68
  %v72 = fsub float %v46, %v69
  %v73 = fsub float %v47, %v70
  ; line 3: return d / (length_sq(d) + 0.01)
  %v74 = fmul float %v71, %v71
  %v75 = fmul float %v72, %v72
  %v76 = fmul float %v73, %v73
  %v77 = fadd float %v74, %v75
  %v78 = fadd float %v77, %v76
  %v79 = fadd float %v78, 0x3F847AE140000000
  %v80 = fdiv float %v71, %v79
  %v81 = fdiv float %v72, %v79
  %v82 = fdiv float %v73, %v79
  ; line 9: total += force(p[i], p[j])
  %v83 = fadd float %v62, %v80
  %v84 = fadd float %v63, %v81
  %v85 = fadd float %v64, %v82
  %v86 = sext i32 %place.51 to i64
  %v87 = getelementptr inbounds float, ptr %slots.5, i64 %v86
  %v88 = getelementptr inbounds float, ptr %slots.6, i64 %v86
  %v89 = getelementptr inbounds float, ptr %slots.7, i64 %v86
  store float %v83, ptr %v87
  store float %v84, ptr %v88
  store float %v85, ptr %v89
  %place.next.90 = add nsw i32 %place.51, 1
  br label %for.48
endfor.50:
  %j.next.91 = add nsw i32 %j.38, 1
  %more.92 = icmp ne i32 %j.next.91, %last.37
  br i1 %more.92, label %body.28, label %stripped.29
stripped.29:
  %over.93 = icmp eq i32 %last.37, %v10
  br i1 %over.93, label %endfor.31, label %again.30, !prof !1
again.30:
  %stop.96 = load volatile i32, ptr %stop
  %calm.97 = icmp eq i32 %stop.96, 0
  br i1 %calm.97, label %go.95, label %ask.94, !prof !1
ask.94:
  %v99 = load ptr, ptr %v98
  %v100 = call i32 %v99(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v101 = icmp eq i32 %v100, 0
  br i1 %v101, label %go.95, label %stopped
go.95:
  %left.102 = sub i32 %v10, %last.37
  %few.103 = call i32 @llvm.umin.i32(i32 %left.102, i32 64)
  %last.104 = add nsw i32 %last.37, %few.103
  br label %strip.27
endfor.31:
  ; line 10: f[i] = total
  br label %for.105
for.105:
  %place.108 = phi i32 [ 0, %endfor.31 ], [ %place.next.127, %body.106 ]
  %more.109 = icmp slt i32 %place.108, 16
  br i1 %more.109, label %body.106, label %endfor.107
body.106:
  %thread.110 = add nsw i32 %tid, %place.108
  ; line 9: total += force(p[i], p[j])
  %v111 = add i32 %tid, %place.108
  %v112 = sext i32 %tid to i64
  %v113 = sext i32 %place.108 to i64
  %v114 = add i64 %v112, %v113
  %v115 = sext i32 %place.108 to i64
  %v116 = getelementptr inbounds float, ptr %slots.5, i64 %v115
  %v117 = getelementptr inbounds float, ptr %slots.6, i64 %v115
  %v118 = getelementptr inbounds float, ptr %slots.7, i64 %v115
  %v119 = load float, ptr %v116
  %v120 = load float, ptr %v117
  %v121 = load float, ptr %v118
  ; line 10: f[i] = total
  %v124 = getelementptr inbounds [3 x float], ptr %f.data.123, i64 %v114
  %v125 = getelementptr inbounds float, ptr %v124, i64 1
  %v126 = getelementptr inbounds float, ptr %v124, i64 2
  store float %v119, ptr %v124
  store float %v120, ptr %v125
  store float %v121, ptr %v126
  %place.next.127 = add nsw i32 %place.108, 1
  br label %for.105
endfor.107:
  %v128 = udiv i32 %tid, 16
  %v131 = and i32 %v128, 15
  %early.132 = icmp ne i32 %v131, 15
  br i1 %early.132, label %on.130, label %due.129, !prof !1
due.129:
  %stop.135 = load volatile i32, ptr %stop
  %calm.136 = icmp eq i32 %stop.135, 0
  br i1 %calm.136, label %go.134, label %ask.133, !prof !1
ask.133:
  %v138 = sext i32 %tid to i64
  store i64 %v138, ptr %v137
  %v139 = load ptr, ptr %v98
  %v140 = call i32 %v139(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v141 = icmp eq i32 %v140, 0
  br i1 %v141, label %go.134, label %stopped
go.134:
  br label %on.130
on.130:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 16
  br label %groups
few:
  %some.142 = icmp sgt i32 %left.3, 0
  br i1 %some.142, label %group.rest, label %finish
group.rest:
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v146 = trunc i64 %p.shape0.9 to i32
  ; line 6: i = tid()
  br label %for.147
for.147:
  %place.150 = phi i32 [ 0, %group.rest ], [ %place.next.162, %body.148 ]
  %more.151 = icmp slt i32 %place.150, %left.3
  br i1 %more.151, label %body.148, label %endfor.149
body.148:
  %thread.152 = add nsw i32 %tid, %place.150
  %v153 = add i32 %tid, %place.150
  %v154 = sext i32 %tid to i64
  %v155 = sext i32 %place.150 to i64
  %v156 = add i64 %v154, %v155
  %v157 = sext i32 %v153 to i64
  %v158 = sext i32 %place.150 to i64
  %v159 = getelementptr inbounds float, ptr %slots.143, i64 %v158
  %v160 = getelementptr inbounds float, ptr %slots.144, i64 %v158
  %v161 = getelementptr inbounds float, ptr %slots.145, i64 %v158
  store float 0x0000000000000000, ptr %v159
  store float 0x0000000000000000, ptr %v160
  store float 0x0000000000000000, ptr %v161
  %place.next.162 = add nsw i32 %place.150, 1
  br label %for.147
endfor.149:
  ; line 9: total += force(p[i], p[j])
  %left.168 = sub i32 %v146, 0
  %few.169 = call i32 @llvm.umin.i32(i32 %left.168, i32 64)
  %last.170 = add nsw i32 0, %few.169
  %more.171 = icmp slt i32 0, %v146
  br i1 %more.171, label %strip.163, label %endfor.167
strip.163:
  %j.172 = phi i32 [ 0, %endfor.149 ], [ %last.173, %go.229 ]
  %last.173 = phi i32 [ %last.170, %endfor.149 ], [ %last.237, %go.229 ]
  br label %body.164
body.164:
  %j.174 = phi i32 [ %j.172, %strip.163 ], [ %j.next.225, %endfor.184 ]
  %v175 = sext i32 %j.174 to i64
  %v176 = getelementptr inbounds [3 x float], ptr %p.data.41, i64 %v175
  %v177 = getelementptr inbounds float, ptr %v176, i64 1
  %v178 = getelementptr inbounds float, ptr %v176, i64 2
  %v179 = load float, ptr %v176
  %v180 = load float, ptr %v177
  %v181 = load float, ptr %v178
  ; line 3: return d / (length_sq(d) + 0.01)
  ; line 9: total += force(p[i], p[j])
  br label %for.182
for.182:
  %place.185 = phi i32 [ 0, %body.164 ], [ %place.next.224, %body.183 ]
  %more.186 = icmp slt i32 %place.185, %left.3
  br i1 %more.186, label %body.183, label %endfor.184
body.183:
  %thread.187 = add nsw i32 %tid, %place.185
  ; line 8: for j in range(len(p)):
  %v188 = add i32 %tid, %place.185
  %v189 = sext i32 %tid to i64
  %v190 = sext i32 %place.185 to i64
  %v191 = add i64 %v189, %v190
  %v192 = sext i32 %place.185 to i64
  %v193 = getelementptr inbounds float, ptr %slots.143, i64 %v192
  %v194 = getelementptr inbounds float, ptr %slots.144, i64 %v192
  %v195 = getelementptr inbounds float, ptr %slots.145, i64 %v192
  %v196 = load float, ptr %v193
  %v197 = load float, ptr %v194
  %v198 = load float, ptr %v195
  ; line 9: total += force(p[i], p[j])
  %v199 = getelementptr inbounds [3 x float], ptr %p.data.41, i64 %v191
  %v200 = getelementptr inbounds float, ptr %v199, i64 1
  %v201 = getelementptr inbounds float, ptr %v199, i64 2
  %v202 = load float, ptr %v199
  %v203 = load float, ptr %v200
  %v204 = load float, ptr %v201
  ; line 2: d = b - a
  %v205 = fsub float %v179, %v202
  %v206 = fsub float %v180, %v203
  %v207 = fsub float %v181, %v204
  ; line 3: return d / (length_sq(d) + 0.01)
  %v208 = fmul float %v205, %v205
  %v209 = fmul float %v206, %v206
  %v210 = fmul float %v207, %v207
  %v211 = fadd float %v208, %v209
  %v212 = fadd float %v211, %v210
  %v213 = fadd float %v212, 0x3F847AE140000000
  %v214 = fdiv float %v205, %v213
  %v215 = fdiv float %v206, %v213
  %v216 = fdiv float %v207, %v213
  ; line 9: total += force(p[i], p[j])
  %v217 = fadd float %v196, %v214
  %v218 = fadd float %v197, %v215
  %v219 = fadd float %v198, %v216
  %v220 = sext i32 %place.185 to i64
  %v221 = getelementptr inbounds float, ptr %slots.143, i64 %v220
  %v222 = getelementptr inbounds float, ptr %slots.144, i64 %v220
  %v223 = getelementptr inbounds float, ptr %slots.145, i64 %v220
  store float %v217, ptr %v221
  store float %v218, ptr %v222
  store float %v219, ptr %v223
  %place.next.224 = add nsw i32 %place.185, 1
  br label %for.182
endfor.184:
  %j.next.225 = add nsw i32 %j.174, 1
  %more.226 = icmp ne i32 %j.next.225, %last.173
  br i1 %more.226, label %body.164, label %stripped.165
stripped.165:
  %over.227 = icmp eq i32 %last.173, %v146
  br i1 %over.227, label %endfor.167, label %again.166, !prof !1
again.166:
  %stop.230 = load volatile i32, ptr %stop
  %calm.231 = icmp eq i32 %stop.230, 0
  br i1 %calm.231, label %go.229, label %ask.228, !prof !1
ask.228:
  %v232 = load ptr, ptr %v98
  %v233 = call i32 %v232(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v234 = icmp eq i32 %v233, 0
  br i1 %v234, label %go.229, label %stopped
go.229:
  %left.235 = sub i32 %v146, %last.173
  %few.236 = call i32 @llvm.umin.i32(i32 %left.235, i32 64)
  %last.237 = add nsw i32 %last.173, %few.236
  br label %strip.163
endfor.167:
  ; line 10: f[i] = total
  br label %for.238
for.238:
  %place.241 = phi i32 [ 0, %endfor.167 ], [ %place.next.258, %body.239 ]
  %more.242 = icmp slt i32 %place.241, %left.3
  br i1 %more.242, label %body.239, label %endfor.240
body.239:
  %thread.243 = add nsw i32 %tid, %place.241
  ; line 9: total += force(p[i], p[j])
  %v244 = add i32 %tid, %place.241
  %v245 = sext i32 %tid to i64
  %v246 = sext i32 %place.241 to i64
  %v247 = add i64 %v245, %v246
  %v248 = sext i32 %place.241 to i64
  %v249 = getelementptr inbounds float, ptr %slots.143, i64 %v248
  %v250 = getelementptr inbounds float, ptr %slots.144, i64 %v248
  %v251 = getelementptr inbounds float, ptr %slots.145, i64 %v248
  %v252 = load float, ptr %v249
  %v253 = load float, ptr %v250
  %v254 = load float, ptr %v251
  ; line 10: f[i] = total
  %v255 = getelementptr inbounds [3 x float], ptr %f.data.123, i64 %v247
  %v256 = getelementptr inbounds float, ptr %v255, i64 1
  %v257 = getelementptr inbounds float, ptr %v255, i64 2
  store float %v252, ptr %v255
  store float %v253, ptr %v256
  store float %v254, ptr %v257
  %place.next.258 = add nsw i32 %place.241, 1
  br label %for.238
endfor.240:
  br label %finish
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
