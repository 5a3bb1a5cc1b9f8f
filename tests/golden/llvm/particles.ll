define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %slots.6 = alloca [16 x float], align 64
  %slots.7 = alloca [16 x float], align 64
  %slots.8 = alloca [16 x float], align 64
  %p.shape0.at.9 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.10 = load i64, ptr %p.shape0.at.9, !range !0
  %p.at.36 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.37 = load ptr, ptr %p.at.36
  %v91 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.112 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.113 = load ptr, ptr %f.at.112
  %v127 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.133 = alloca [16 x float], align 64
  %slots.134 = alloca [16 x float], align 64
  %slots.135 = alloca [16 x float], align 64
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
  %group_end.5 = add nsw i32 %tid, 16
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v11 = trunc i64 %p.shape0.10 to i32
  ; line 6: i = tid()
  br label %for.12
for.12:
  %thread.15 = phi i32 [ %tid, %group ], [ %thread.next.22, %body.13 ]
  %more.16 = icmp slt i32 %thread.15, %group_end.5
  br i1 %more.16, label %body.13, label %endfor.14
body.13:
  %v17 = sub i32 %thread.15, %tid
  %v18 = sext i32 %v17 to i64
  %v19 = getelementptr inbounds float, ptr %slots.6, i64 %v18
  %v20 = getelementptr inbounds float, ptr %slots.7, i64 %v18
  %v21 = getelementptr inbounds float, ptr %slots.8, i64 %v18
  store float 0x0000000000000000, ptr %v19
  store float 0x0000000000000000, ptr %v20
  store float 0x0000000000000000, ptr %v21
  %thread.next.22 = add nsw i32 %thread.15, 1
  br label %for.12
endfor.14:
  ; line 9: total += force(p[i], p[j])
  %left.28 = sub i32 %v11, 0
  %few.29 = call i32 @llvm.umin.i32(i32 %left.28, i32 64)
  %last.30 = add nsw i32 0, %few.29
  %more.31 = icmp slt i32 0, %v11
  br i1 %more.31, label %strip.23, label %endfor.27
strip.23:
  %j.32 = phi i32 [ 0, %endfor.14 ], [ %last.33, %go.88 ]
  %last.33 = phi i32 [ %last.30, %endfor.14 ], [ %last.97, %go.88 ]
  br label %body.24
body.24:
  %j.34 = phi i32 [ %j.32, %strip.23 ], [ %j.next.84, %endfor.46 ]
  %v35 = sext i32 %j.34 to i64
  %v38 = getelementptr inbounds [3 x float], ptr %p.data.37, i64 %v35
  %v39 = getelementptr inbounds float, ptr %v38, i64 1
  %v40 = getelementptr inbounds float, ptr %v38, i64 2
  %v41 = load float, ptr %v38
  %v42 = load float, ptr %v39
  %v43 = load float, ptr %v40
  ; line 3: return d / (length_sq(d) + 0.01)
  ; line 9: total += force(p[i], p[j])
  br label %for.44
for.44:
  %thread.47 = phi i32 [ %tid, %body.24 ], [ %thread.next.83, %body.45 ]
  %more.48 = icmp slt i32 %thread.47, %group_end.5
  br i1 %more.48, label %body.45, label %endfor.46
body.45:
  ; line 8: for j in range(len(p)):
  %v49 = sub i32 %thread.47, %tid
  %v50 = sext i32 %v49 to i64
  %v51 = getelementptr inbounds float, ptr %slots.6, i64 %v50
  %v52 = getelementptr inbounds float, ptr %slots.7, i64 %v50
  %v53 = getelementptr inbounds float, ptr %slots.8, i64 %v50
  %v54 = load float, ptr %v51
  %v55 = load float, ptr %v52
  %v56 = load float, ptr %v53
  ; line 9: total += force(p[i], p[j])
  %v57 = sext i32 %thread.47 to i64
  %v58 = getelementptr inbounds [3 x float], ptr %p.data.37, i64 %v57
  %v59 = getelementptr inbounds float, ptr %v58, i64 1
  %v60 = getelementptr inbounds float, ptr %v58, i64 2
  %v61 = load float, ptr %v58
  %v62 = load float, ptr %v59
  %v63 = load float, ptr %v60
  ; line 2: d = b - a
  %v64 = fsub float %v41, %v61
  %v65 = fsub float %v42, %v62
  %v66 = fsub float %v43, %v63
  ; line 3: return d / (length_sq(d) + 0.01)
  %v67 = fmul float %v64, %v64
  %v68 = fmul float %v65, %v65
  %v69 = fmul float %v66, %v66
  %v70 = fadd float %v67, %v68
  %v71 = fadd float %v70, %v69
  %v72 = fadd float %v71, 0x3F847AE140000000
  %v73 = fdiv float %v64, %v72
  %v74 = fdiv float %v65, %v72
  %v75 = fdiv float %v66, %v72
  ; line 9: total += force(p[i], p[j])
  %v76 = fadd float %v54, %v73
  %v77 = fadd float %v55, %v74
  %v78 = fadd float %v56, %v75
  %v79 = sext i32 %v49 to i64
  %v80 = getelementptr inbounds float, ptr %slots.6, i64 %v79
  %v81 = getelementptr inbounds float, ptr %slots.7, i64 %v79
  %v82 = getelementptr inbounds float, ptr %slots.8, i64 %v79
  store float %v76, ptr %v80
  store float %v77, ptr %v81
  store float %v78, ptr %v82
  %thread.next.83 = add nsw i32 %thread.47, 1
  br label %for.44
endfor.46:
  %j.next.84 = add nsw i32 %j.34, 1
  %more.85 = icmp ne i32 %j.next.84, %last.33
  br i1 %more.85, label %body.24, label %stripped.25
stripped.25:
  %over.86 = icmp eq i32 %last.33, %v11
  br i1 %over.86, label %endfor.27, label %again.26, !prof !1
again.26:
  %stop.89 = load volatile i32, ptr %stop
  %calm.90 = icmp eq i32 %stop.89, 0
  br i1 %calm.90, label %go.88, label %ask.87, !prof !1
ask.87:
  %v92 = load ptr, ptr %v91
  %v93 = call i32 %v92(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v94 = icmp eq i32 %v93, 0
  br i1 %v94, label %go.88, label %stopped
go.88:
  %left.95 = sub i32 %v11, %last.33
  %few.96 = call i32 @llvm.umin.i32(i32 %left.95, i32 64)
  %last.97 = add nsw i32 %last.33, %few.96
  br label %strip.23
endfor.27:
  ; line 10: f[i] = total
  br label %for.98
for.98:
  %thread.101 = phi i32 [ %tid, %endfor.27 ], [ %thread.next.117, %body.99 ]
  %more.102 = icmp slt i32 %thread.101, %group_end.5
  br i1 %more.102, label %body.99, label %endfor.100
body.99:
  ; line 9: total += force(p[i], p[j])
  %v103 = sub i32 %thread.101, %tid
  %v104 = sext i32 %v103 to i64
  %v105 = getelementptr inbounds float, ptr %slots.6, i64 %v104
  %v106 = getelementptr inbounds float, ptr %slots.7, i64 %v104
  %v107 = getelementptr inbounds float, ptr %slots.8, i64 %v104
  %v108 = load float, ptr %v105
  %v109 = load float, ptr %v106
  %v110 = load float, ptr %v107
  ; line 10: f[i] = total
  %v111 = sext i32 %thread.101 to i64
  %v114 = getelementptr inbounds [3 x float], ptr %f.data.113, i64 %v111
  %v115 = getelementptr inbounds float, ptr %v114, i64 1
  %v116 = getelementptr inbounds float, ptr %v114, i64 2
  store float %v108, ptr %v114
  store float %v109, ptr %v115
  store float %v110, ptr %v116
  %thread.next.117 = add nsw i32 %thread.101, 1
  br label %for.98
endfor.100:
  %v118 = udiv i32 %tid, 16
  %v121 = and i32 %v118, 15
  %early.122 = icmp ne i32 %v121, 15
  br i1 %early.122, label %on.120, label %due.119, !prof !1
due.119:
  %stop.125 = load volatile i32, ptr %stop
  %calm.126 = icmp eq i32 %stop.125, 0
  br i1 %calm.126, label %go.124, label %ask.123, !prof !1
ask.123:
  %v128 = sext i32 %tid to i64
  store i64 %v128, ptr %v127
  %v129 = load ptr, ptr %v91
  %v130 = call i32 %v129(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v131 = icmp eq i32 %v130, 0
  br i1 %v131, label %go.124, label %stopped
go.124:
  br label %on.120
on.120:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 16
  br label %groups
few:
  %some.132 = icmp sgt i32 %left.3, 0
  br i1 %some.132, label %group.rest, label %finish
group.rest:
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v136 = trunc i64 %p.shape0.10 to i32
  ; line 6: i = tid()
  br label %for.137
for.137:
  %thread.140 = phi i32 [ %tid, %group.rest ], [ %thread.next.147, %body.138 ]
  %more.141 = icmp slt i32 %thread.140, %high.2
  br i1 %more.141, label %body.138, label %endfor.139
body.138:
  %v142 = sub i32 %thread.140, %tid
  %v143 = sext i32 %v142 to i64
  %v144 = getelementptr inbounds float, ptr %slots.133, i64 %v143
  %v145 = getelementptr inbounds float, ptr %slots.134, i64 %v143
  %v146 = getelementptr inbounds float, ptr %slots.135, i64 %v143
  store float 0x0000000000000000, ptr %v144
  store float 0x0000000000000000, ptr %v145
  store float 0x0000000000000000, ptr %v146
  %thread.next.147 = add nsw i32 %thread.140, 1
  br label %for.137
endfor.139:
  ; line 9: total += force(p[i], p[j])
  %left.153 = sub i32 %v136, 0
  %few.154 = call i32 @llvm.umin.i32(i32 %left.153, i32 64)
  %last.155 = add nsw i32 0, %few.154
  %more.156 = icmp slt i32 0, %v136
  br i1 %more.156, label %strip.148, label %endfor.152
strip.148:
  %j.157 = phi i32 [ 0, %endfor.139 ], [ %last.158, %go.211 ]
  %last.158 = phi i32 [ %last.155, %endfor.139 ], [ %last.219, %go.211 ]
  br label %body.149
body.149:
  %j.159 = phi i32 [ %j.157, %strip.148 ], [ %j.next.207, %endfor.169 ]
  %v160 = sext i32 %j.159 to i64
  %v161 = getelementptr inbounds [3 x float], ptr %p.data.37, i64 %v160
  %v162 = getelementptr inbounds float, ptr %v161, i64 1
  %v163 = getelementptr inbounds float, ptr %v161, i64 2
  %v164 = load float, ptr %v161
  %v165 = load float, ptr %v162
  %v166 = load float, ptr %v163
  ; line 3: return d / (length_sq(d) + 0.01)
  ; line 9: total += force(p[i], p[j])
  br label %for.167
for.167:
  %thread.170 = phi i32 [ %tid, %body.149 ], [ %thread.next.206, %body.168 ]
  %more.171 = icmp slt i32 %thread.170, %high.2
  br i1 %more.171, label %body.168, label %endfor.169
body.168:
  ; line 8: for j in range(len(p)):
  %v172 = sub i32 %thread.170, %tid
  %v173 = sext i32 %v172 to i64
  %v174 = getelementptr inbounds float, ptr %slots.133, i64 %v173
  %v175 = getelementptr inbounds float, ptr %slots.134, i64 %v173
  %v176 = getelementptr inbounds float, ptr %slots.135, i64 %v173
  %v177 = load float, ptr %v174
  %v178 = load float, ptr %v175
  %v179 = load float, ptr %v176
  ; line 9: total += force(p[i], p[j])
  %v180 = sext i32 %thread.170 to i64
  %v181 = getelementptr inbounds [3 x float], ptr %p.data.37, i64 %v180
  %v182 = getelementptr inbounds float, ptr %v181, i64 1
  %v183 = getelementptr inbounds float, ptr %v181, i64 2
  %v184 = load float, ptr %v181
  %v185 = load float, ptr %v182
  %v186 = load float, ptr %v183
  ; line 2: d = b - a
  %v187 = fsub float %v164, %v184
  %v188 = fsub float %v165, %v185
  %v189 = fsub float %v166, %v186
  ; line 3: return d / (length_sq(d) + 0.01)
  %v190 = fmul float %v187, %v187
  %v191 = fmul float %v188, %v188
  %v192 = fmul float %v189, %v189
  %v193 = fadd float %v190, %v191
  %v194 = fadd float %v193, %v192
  %v195 = fadd float %v194, 0x3F847AE140000000
  %v196 = fdiv float %v187, %v195
  %v197 = fdiv float %v188, %v195
  %v198 = fdiv float %v189, %v195
  ; line 9: total += force(p[i], p[j])
  %v199 = fadd float %v177, %v196
  %v200 = fadd float %v178, %v197
  %v201 = fadd float %v179, %v198
  %v202 = sext i32 %v172 to i64
  %v203 = getelementptr inbounds float, ptr %slots.133, i64 %v202
  %v204 = getelementptr inbounds float, ptr %slots.134, i64 %v202
  %v205 = getelementptr inbounds float, ptr %slots.135, i64 %v202
  store float %v199, ptr %v203
  store float %v200, ptr %v204
  store float %v201, ptr %v205
  %thread.next.206 = add nsw i32 %thread.170, 1
  br label %for.167
endfor.169:
  %j.next.207 = add nsw i32 %j.159, 1
  %more.208 = icmp ne i32 %j.next.207, %last.158
  br i1 %more.208, label %body.149, label %stripped.150
stripped.150:
  %over.209 = icmp eq i32 %last.158, %v136
  br i1 %over.209, label %endfor.152, label %again.151, !prof !1
again.151:
  %stop.212 = load volatile i32, ptr %stop
  %calm.213 = icmp eq i32 %stop.212, 0
  br i1 %calm.213, label %go.211, label %ask.210, !prof !1
ask.210:
  %v214 = load ptr, ptr %v91
  %v215 = call i32 %v214(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v216 = icmp eq i32 %v215, 0
  br i1 %v216, label %go.211, label %stopped
go.211:
  %left.217 = sub i32 %v136, %last.158
  %few.218 = call i32 @llvm.umin.i32(i32 %left.217, i32 64)
  %last.219 = add nsw i32 %last.158, %few.218
  br label %strip.148
endfor.152:
  ; line 10: f[i] = total
  br label %for.220
for.220:
  %thread.223 = phi i32 [ %tid, %endfor.152 ], [ %thread.next.237, %body.221 ]
  %more.224 = icmp slt i32 %thread.223, %high.2
  br i1 %more.224, label %body.221, label %endfor.222
body.221:
  ; line 9: total += force(p[i], p[j])
  %v225 = sub i32 %thread.223, %tid
  %v226 = sext i32 %v225 to i64
  %v227 = getelementptr inbounds float, ptr %slots.133, i64 %v226
  %v228 = getelementptr inbounds float, ptr %slots.134, i64 %v226
  %v229 = getelementptr inbounds float, ptr %slots.135, i64 %v226
  %v230 = load float, ptr %v227
  %v231 = load float, ptr %v228
  %v232 = load float, ptr %v229
  ; line 10: f[i] = total
  %v233 = sext i32 %thread.223 to i64
  %v234 = getelementptr inbounds [3 x float], ptr %f.data.113, i64 %v233
  %v235 = getelementptr inbounds float, ptr %v234, i64 1
  %v236 = getelementptr inbounds float, ptr %v234, i64 2
  store float %v230, ptr %v234
  store float %v231, ptr %v235
  store float %v232, ptr %v236
  %thread.next.237 = add nsw i32 %thread.223, 1
  br label %for.220
endfor.222:
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
