define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %f.at.3 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.4 = load ptr, ptr %f.at.3
  %p.shape0.at.5 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.6 = load i64, ptr %p.shape0.at.5, !range !0
  %v7 = mul i64 12, %p.shape0.6
  %p.at.8 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.9 = load ptr, ptr %p.at.8
  %v10 = getelementptr i8, ptr %p.data.9, i64 %v7
  %v11 = icmp uge ptr %f.data.4, %v10
  %f.shape0.at.12 = getelementptr inbounds i8, ptr %params, i64 64
  %f.shape0.13 = load i64, ptr %f.shape0.at.12, !range !0
  %v14 = mul i64 12, %f.shape0.13
  %v15 = getelementptr i8, ptr %f.data.4, i64 %v14
  %v16 = icmp uge ptr %p.data.9, %v15
  %v17 = or i1 %v11, %v16
  %apart.18 = and i1 true, %v17
  %slots.21 = alloca [16 x float], align 64
  %slots.22 = alloca [16 x float], align 64
  %slots.23 = alloca [16 x float], align 64
  %v110 = getelementptr inbounds i8, ptr %stop, i64 8
  %v147 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.156 = alloca [16 x float], align 64
  %slots.157 = alloca [16 x float], align 64
  %slots.158 = alloca [16 x float], align 64
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br i1 %apart.18, label %groups, label %few
groups:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %group.end ]
  %left.19 = sub nsw i32 %high.2, %tid
  %full.20 = icmp sge i32 %left.19, 16
  br i1 %full.20, label %group, label %few
group:
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v24 = trunc i64 %p.shape0.6 to i32
  ; line 6: i = tid()
  br label %for.25
for.25:
  %place.28 = phi i32 [ 0, %group ], [ %place.next.40, %body.26 ]
  %more.29 = icmp slt i32 %place.28, 16
  br i1 %more.29, label %body.26, label %endfor.27
body.26:
  %thread.30 = add nsw i32 %tid, %place.28
  %v31 = add i32 %tid, %place.28
  %v32 = sext i32 %tid to i64
  %v33 = sext i32 %place.28 to i64
  %v34 = add i64 %v32, %v33
  %v35 = sext i32 %v31 to i64
  %v36 = sext i32 %place.28 to i64
  %v37 = getelementptr inbounds float, ptr %slots.21, i64 %v36
  %v38 = getelementptr inbounds float, ptr %slots.22, i64 %v36
  %v39 = getelementptr inbounds float, ptr %slots.23, i64 %v36
  store float 0x0000000000000000, ptr %v37
  store float 0x0000000000000000, ptr %v38
  store float 0x0000000000000000, ptr %v39
  %place.next.40 = add nsw i32 %place.28, 1
  br label %for.25
endfor.27:
  ; line 9: total += force(p[i], p[j])
  %left.46 = sub i32 %v24, 0
  %few.47 = call i32 @llvm.umin.i32(i32 %left.46, i32 64)
  %last.48 = add nsw i32 0, %few.47
  %more.49 = icmp slt i32 0, %v24
  br i1 %more.49, label %strip.41, label %endfor.45
strip.41:
  %j.50 = phi i32 [ 0, %endfor.27 ], [ %last.51, %go.107 ]
  %last.51 = phi i32 [ %last.48, %endfor.27 ], [ %last.116, %go.107 ]
  br label %body.42
body.42:
  %j.52 = phi i32 [ %j.50, %strip.41 ], [ %j.next.103, %endfor.62 ]
  %v53 = sext i32 %j.52 to i64
  %v54 = getelementptr inbounds [3 x float], ptr %p.data.9, i64 %v53
  %v55 = getelementptr inbounds float, ptr %v54, i64 1
  %v56 = getelementptr inbounds float, ptr %v54, i64 2
  %v57 = load float, ptr %v54, !alias.scope !5, !noalias !6
  %v58 = load float, ptr %v55, !alias.scope !5, !noalias !6
  %v59 = load float, ptr %v56, !alias.scope !5, !noalias !6
  ; line 3: return d / (length_sq(d) + 0.01)
  ; line 9: total += force(p[i], p[j])
  br label %for.60
for.60:
  %place.63 = phi i32 [ 0, %body.42 ], [ %place.next.102, %body.61 ]
  %more.64 = icmp slt i32 %place.63, 16
  br i1 %more.64, label %body.61, label %endfor.62
body.61:
  %thread.65 = add nsw i32 %tid, %place.63
  ; line 8: for j in range(len(p)):
  %v66 = add i32 %tid, %place.63
  %v67 = sext i32 %tid to i64
  %v68 = sext i32 %place.63 to i64
  %v69 = add i64 %v67, %v68
  %v70 = sext i32 %place.63 to i64
  %v71 = getelementptr inbounds float, ptr %slots.21, i64 %v70
  %v72 = getelementptr inbounds float, ptr %slots.22, i64 %v70
  %v73 = getelementptr inbounds float, ptr %slots.23, i64 %v70
  %v74 = load float, ptr %v71
  %v75 = load float, ptr %v72
  %v76 = load float, ptr %v73
  ; line 9: total += force(p[i], p[j])
  %v77 = getelementptr inbounds [3 x float], ptr %p.data.9, i64 %v69
  %v78 = getelementptr inbounds float, ptr %v77, i64 1
  %v79 = getelementptr inbounds float, ptr %v77, i64 2
  %v80 = load float, ptr %v77, !alias.scope !5, !noalias !6
  %v81 = load float, ptr %v78, !alias.scope !5, !noalias !6
  %v82 = load float, ptr %v79, !alias.scope !5, !noalias !6
  ; line 2: d = b - a
  %v83 = fsub float %v57, %v80
  %v84 = fsub float %v58, %v81
  %v85 = fsub float %v59, %v82
  ; line 3: return d / (length_sq(d) + 0.01)
  %v86 = fmul float %v83, %v83
  %v87 = fmul float %v84, %v84
  %v88 = fmul float %v85, %v85
  %v89 = fadd float %v86, %v87
  %v90 = fadd float %v89, %v88
  %v91 = fadd float %v90, 0x3F847AE140000000
  %v92 = fdiv float %v83, %v91
  %v93 = fdiv float %v84, %v91
  %v94 = fdiv float %v85, %v91
  ; line 9: total += force(p[i], p[j])
  %v95 = fadd float %v74, %v92
  %v96 = fadd float %v75, %v93
  %v97 = fadd float %v76, %v94
  %v98 = sext i32 %place.63 to i64
  %v99 = getelementptr inbounds float, ptr %slots.21, i64 %v98
  %v100 = getelementptr inbounds float, ptr %slots.22, i64 %v98
  %v101 = getelementptr inbounds float, ptr %slots.23, i64 %v98
  store float %v95, ptr %v99
  store float %v96, ptr %v100
  store float %v97, ptr %v101
  %place.next.102 = add nsw i32 %place.63, 1
  br label %for.60
endfor.62:
  %j.next.103 = add nsw i32 %j.52, 1
  %more.104 = icmp ne i32 %j.next.103, %last.51
  br i1 %more.104, label %body.42, label %stripped.43
stripped.43:
  %over.105 = icmp eq i32 %last.51, %v24
  br i1 %over.105, label %endfor.45, label %again.44, !prof !1
again.44:
  %stop.108 = load volatile i32, ptr %stop
  %calm.109 = icmp eq i32 %stop.108, 0
  br i1 %calm.109, label %go.107, label %ask.106, !prof !1
ask.106:
  %v111 = load ptr, ptr %v110
  %v112 = call i32 %v111(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v113 = icmp eq i32 %v112, 0
  br i1 %v113, label %go.107, label %stopped
go.107:
  %left.114 = sub i32 %v24, %last.51
  %few.115 = call i32 @llvm.umin.i32(i32 %left.114, i32 64)
  %last.116 = add nsw i32 %last.51, %few.115
  br label %strip.41
endfor.45:
  ; line 10: f[i] = total
  br label %for.117
for.117:
  %place.120 = phi i32 [ 0, %endfor.45 ], [ %place.next.137, %body.118 ]
  %more.121 = icmp slt i32 %place.120, 16
  br i1 %more.121, label %body.118, label %endfor.119
body.118:
  %thread.122 = add nsw i32 %tid, %place.120
  ; line 9: total += force(p[i], p[j])
  %v123 = add i32 %tid, %place.120
  %v124 = sext i32 %tid to i64
  %v125 = sext i32 %place.120 to i64
  %v126 = add i64 %v124, %v125
  %v127 = sext i32 %place.120 to i64
  %v128 = getelementptr inbounds float, ptr %slots.21, i64 %v127
  %v129 = getelementptr inbounds float, ptr %slots.22, i64 %v127
  %v130 = getelementptr inbounds float, ptr %slots.23, i64 %v127
  %v131 = load float, ptr %v128
  %v132 = load float, ptr %v129
  %v133 = load float, ptr %v130
  ; line 10: f[i] = total
  %v134 = getelementptr inbounds [3 x float], ptr %f.data.4, i64 %v126
  %v135 = getelementptr inbounds float, ptr %v134, i64 1
  %v136 = getelementptr inbounds float, ptr %v134, i64 2
  store float %v131, ptr %v134, !alias.scope !7, !noalias !8
  store float %v132, ptr %v135, !alias.scope !7, !noalias !8
  store float %v133, ptr %v136, !alias.scope !7, !noalias !8
  %place.next.137 = add nsw i32 %place.120, 1
  br label %for.117
endfor.119:
  %v138 = udiv i32 %tid, 16
  %v141 = and i32 %v138, 15
  %early.142 = icmp ne i32 %v141, 15
  br i1 %early.142, label %on.140, label %due.139, !prof !1
due.139:
  %stop.145 = load volatile i32, ptr %stop
  %calm.146 = icmp eq i32 %stop.145, 0
  br i1 %calm.146, label %go.144, label %ask.143, !prof !1
ask.143:
  %v148 = sext i32 %tid to i64
  store i64 %v148, ptr %v147
  %v149 = load ptr, ptr %v110
  %v150 = call i32 %v149(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v151 = icmp eq i32 %v150, 0
  br i1 %v151, label %go.144, label %stopped
go.144:
  br label %on.140
on.140:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 16
  br label %groups
few:
  %few.tid = phi i32 [ %tid, %groups ], [ %low.1, %start ], [ %few.next, %few.more ]
  %left.152 = sub nsw i32 %high.2, %few.tid
  %some.153 = icmp sgt i32 %left.152, 0
  br i1 %some.153, label %group.rest, label %finish
group.rest:
  %few.next = add i32 %few.tid, 16
  %more.154 = icmp sgt i32 %left.152, 16
  %v155 = select i1 %more.154, i32 16, i32 %left.152
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v159 = trunc i64 %p.shape0.6 to i32
  ; line 6: i = tid()
  br label %for.160
for.160:
  %place.163 = phi i32 [ 0, %group.rest ], [ %place.next.175, %body.161 ]
  %more.164 = icmp slt i32 %place.163, %v155
  br i1 %more.164, label %body.161, label %endfor.162
body.161:
  %thread.165 = add nsw i32 %few.tid, %place.163
  %v166 = add i32 %few.tid, %place.163
  %v167 = sext i32 %few.tid to i64
  %v168 = sext i32 %place.163 to i64
  %v169 = add i64 %v167, %v168
  %v170 = sext i32 %v166 to i64
  %v171 = sext i32 %place.163 to i64
  %v172 = getelementptr inbounds float, ptr %slots.156, i64 %v171
  %v173 = getelementptr inbounds float, ptr %slots.157, i64 %v171
  %v174 = getelementptr inbounds float, ptr %slots.158, i64 %v171
  store float 0x0000000000000000, ptr %v172
  store float 0x0000000000000000, ptr %v173
  store float 0x0000000000000000, ptr %v174
  %place.next.175 = add nsw i32 %place.163, 1
  br label %for.160
endfor.162:
  ; line 9: total += force(p[i], p[j])
  %left.181 = sub i32 %v159, 0
  %few.182 = call i32 @llvm.umin.i32(i32 %left.181, i32 64)
  %last.183 = add nsw i32 0, %few.182
  %more.184 = icmp slt i32 0, %v159
  br i1 %more.184, label %strip.176, label %endfor.180
strip.176:
  %j.185 = phi i32 [ 0, %endfor.162 ], [ %last.186, %go.242 ]
  %last.186 = phi i32 [ %last.183, %endfor.162 ], [ %last.250, %go.242 ]
  br label %body.177
body.177:
  %j.187 = phi i32 [ %j.185, %strip.176 ], [ %j.next.238, %endfor.197 ]
  %v188 = sext i32 %j.187 to i64
  %v189 = getelementptr inbounds [3 x float], ptr %p.data.9, i64 %v188
  %v190 = getelementptr inbounds float, ptr %v189, i64 1
  %v191 = getelementptr inbounds float, ptr %v189, i64 2
  %v192 = load float, ptr %v189
  %v193 = load float, ptr %v190
  %v194 = load float, ptr %v191
  ; line 3: return d / (length_sq(d) + 0.01)
  ; line 9: total += force(p[i], p[j])
  br label %for.195
for.195:
  %place.198 = phi i32 [ 0, %body.177 ], [ %place.next.237, %body.196 ]
  %more.199 = icmp slt i32 %place.198, %v155
  br i1 %more.199, label %body.196, label %endfor.197
body.196:
  %thread.200 = add nsw i32 %few.tid, %place.198
  ; line 8: for j in range(len(p)):
  %v201 = add i32 %few.tid, %place.198
  %v202 = sext i32 %few.tid to i64
  %v203 = sext i32 %place.198 to i64
  %v204 = add i64 %v202, %v203
  %v205 = sext i32 %place.198 to i64
  %v206 = getelementptr inbounds float, ptr %slots.156, i64 %v205
  %v207 = getelementptr inbounds float, ptr %slots.157, i64 %v205
  %v208 = getelementptr inbounds float, ptr %slots.158, i64 %v205
  %v209 = load float, ptr %v206
  %v210 = load float, ptr %v207
  %v211 = load float, ptr %v208
  ; line 9: total += force(p[i], p[j])
  %v212 = getelementptr inbounds [3 x float], ptr %p.data.9, i64 %v204
  %v213 = getelementptr inbounds float, ptr %v212, i64 1
  %v214 = getelementptr inbounds float, ptr %v212, i64 2
  %v215 = load float, ptr %v212
  %v216 = load float, ptr %v213
  %v217 = load float, ptr %v214
  ; line 2: d = b - a
  %v218 = fsub float %v192, %v215
  %v219 = fsub float %v193, %v216
  %v220 = fsub float %v194, %v217
  ; line 3: return d / (length_sq(d) + 0.01)
  %v221 = fmul float %v218, %v218
  %v222 = fmul float %v219, %v219
  %v223 = fmul float %v220, %v220
  %v224 = fadd float %v221, %v222
  %v225 = fadd float %v224, %v223
  %v226 = fadd float %v225, 0x3F847AE140000000
  %v227 = fdiv float %v218, %v226
  %v228 = fdiv float %v219, %v226
  %v229 = fdiv float %v220, %v226
  ; line 9: total += force(p[i], p[j])
  %v230 = fadd float %v209, %v227
  %v231 = fadd float %v210, %v228
  %v232 = fadd float %v211, %v229
  %v233 = sext i32 %place.198 to i64
  %v234 = getelementptr inbounds float, ptr %slots.156, i64 %v233
  %v235 = getelementptr inbounds float, ptr %slots.157, i64 %v233
  %v236 = getelementptr inbounds float, ptr %slots.158, i64 %v233
  store float %v230, ptr %v234
  store float %v231, ptr %v235
  store float %v232, ptr %v236
  %place.next.237 = add nsw i32 %place.198, 1
  br label %for.195
endfor.197:
  %j.next.238 = add nsw i32 %j.187, 1
  %more.239 = icmp ne i32 %j.next.238, %last.186
  br i1 %more.239, label %body.177, label %stripped.178
stripped.178:
  %over.240 = icmp eq i32 %last.186, %v159
  br i1 %over.240, label %endfor.180, label %again.179, !prof !1
again.179:
  %stop.243 = load volatile i32, ptr %stop
  %calm.244 = icmp eq i32 %stop.243, 0
  br i1 %calm.244, label %go.242, label %ask.241, !prof !1
ask.241:
  %v245 = load ptr, ptr %v110
  %v246 = call i32 %v245(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v247 = icmp eq i32 %v246, 0
  br i1 %v247, label %go.242, label %stopped
go.242:
  %left.248 = sub i32 %v159, %last.186
  %few.249 = call i32 @llvm.umin.i32(i32 %left.248, i32 64)
  %last.250 = add nsw i32 %last.186, %few.249
  br label %strip.176
endfor.180:
  ; line 10: f[i] = total
  br label %for.251
for.251:
  %place.254 = phi i32 [ 0, %endfor.180 ], [ %place.next.271, %body.252 ]
  %more.255 = icmp slt i32 %place.254, %v155
  br i1 %more.255, label %body.252, label %endfor.253
body.252:
  %thread.256 = add nsw i32 %few.tid, %place.254
  ; line 9: total += force(p[i], p[j])
  %v257 = add i32 %few.tid, %place.254
  %v258 = sext i32 %few.tid to i64
  %v259 = sext i32 %place.254 to i64
  %v260 = add i64 %v258, %v259
  %v261 = sext i32 %place.254 to i64
  %v262 = getelementptr inbounds float, ptr %slots.156, i64 %v261
  %v263 = getelementptr inbounds float, ptr %slots.157, i64 %v261
  %v264 = getelementptr inbounds float, ptr %slots.158, i64 %v261
  %v265 = load float, ptr %v262
  %v266 = load float, ptr %v263
  %v267 = load float, ptr %v264
  ; line 10: f[i] = total
  %v268 = getelementptr inbounds [3 x float], ptr %f.data.4, i64 %v260
  %v269 = getelementptr inbounds float, ptr %v268, i64 1
  %v270 = getelementptr inbounds float, ptr %v268, i64 2
  store float %v265, ptr %v268
  store float %v266, ptr %v269
  store float %v267, ptr %v270
  %place.next.271 = add nsw i32 %place.254, 1
  br label %for.251
endfor.253:
  br i1 %more.154, label %few.more, label %finish
few.more:
  br label %few
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
!2 = distinct !{!2}
!3 = distinct !{!3, !2}
!4 = distinct !{!4, !2}
!5 = !{!3}
!6 = !{!4}
!7 = !{!4}
!8 = !{!3}
