define i32 @wb_struct_pairs(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %slots.6 = alloca [16 x float], align 64
  %slots.7 = alloca [16 x float], align 64
  %slots.8 = alloca [16 x float], align 64
  %slots.9 = alloca [16 x float], align 64
  %slots.10 = alloca [16 x i32], align 64
  %slots.11 = alloca [16 x float], align 64
  %slots.12 = alloca [16 x float], align 64
  %slots.13 = alloca [16 x float], align 64
  %bodies.pos.shape0.at.14 = getelementptr inbounds i8, ptr %params, i64 40
  %bodies.pos.shape0.15 = load i64, ptr %bodies.pos.shape0.at.14, !range !0
  %bodies.pos.at.24 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.25 = load ptr, ptr %bodies.pos.at.24
  %bodies.mass.data.37 = getelementptr inbounds i8, ptr %bodies.pos.data.25, i64 24
  %bodies.id.data.43 = getelementptr inbounds i8, ptr %bodies.pos.data.25, i64 28
  %v140 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.161 = getelementptr inbounds i8, ptr %params, i64 128
  %f.data.162 = load ptr, ptr %f.at.161
  %v176 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.182 = alloca [16 x float], align 64
  %slots.183 = alloca [16 x float], align 64
  %slots.184 = alloca [16 x float], align 64
  %slots.185 = alloca [16 x float], align 64
  %slots.186 = alloca [16 x i32], align 64
  %slots.187 = alloca [16 x float], align 64
  %slots.188 = alloca [16 x float], align 64
  %slots.189 = alloca [16 x float], align 64
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
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v16 = trunc i64 %bodies.pos.shape0.15 to i32
  ; line 10: a = bodies[i]
  br label %for.17
for.17:
  %thread.20 = phi i32 [ %tid, %group ], [ %thread.next.52, %body.18 ]
  %more.21 = icmp slt i32 %thread.20, %group_end.5
  br i1 %more.21, label %body.18, label %endfor.19
body.18:
  %v22 = sub i32 %thread.20, %tid
  %v23 = sext i32 %thread.20 to i64
  %v26 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.25, i64 %v23
  %v27 = getelementptr inbounds float, ptr %v26, i64 1
  %v28 = getelementptr inbounds float, ptr %v26, i64 2
  %a.pos.29 = load float, ptr %v26
  %a.pos.30 = load float, ptr %v27
  %a.pos.31 = load float, ptr %v28
  %v32 = sext i32 %v22 to i64
  %v33 = getelementptr inbounds float, ptr %slots.6, i64 %v32
  %v34 = getelementptr inbounds float, ptr %slots.7, i64 %v32
  %v35 = getelementptr inbounds float, ptr %slots.8, i64 %v32
  store float %a.pos.29, ptr %v33
  store float %a.pos.30, ptr %v34
  store float %a.pos.31, ptr %v35
  %v36 = sext i32 %thread.20 to i64
  %v38 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.37, i64 %v36
  %a.mass.39 = load float, ptr %v38
  %v40 = sext i32 %v22 to i64
  %v41 = getelementptr inbounds float, ptr %slots.9, i64 %v40
  store float %a.mass.39, ptr %v41
  %v42 = sext i32 %thread.20 to i64
  %v44 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.43, i64 %v42
  %a.id.45 = load i32, ptr %v44
  %v46 = sext i32 %v22 to i64
  %v47 = getelementptr inbounds i32, ptr %slots.10, i64 %v46
  store i32 %a.id.45, ptr %v47
  %v48 = sext i32 %v22 to i64
  %v49 = getelementptr inbounds float, ptr %slots.11, i64 %v48
  %v50 = getelementptr inbounds float, ptr %slots.12, i64 %v48
  %v51 = getelementptr inbounds float, ptr %slots.13, i64 %v48
  store float 0x0000000000000000, ptr %v49
  store float 0x0000000000000000, ptr %v50
  store float 0x0000000000000000, ptr %v51
  %thread.next.52 = add nsw i32 %thread.20, 1
  br label %for.17
endfor.19:
  ; line 14: if b.id != a.id:
  %left.58 = sub i32 %v16, 0
  %few.59 = call i32 @llvm.umin.i32(i32 %left.58, i32 64)
  %last.60 = add nsw i32 0, %few.59
  %more.61 = icmp slt i32 0, %v16
  br i1 %more.61, label %strip.53, label %endfor.57
strip.53:
  %j.62 = phi i32 [ 0, %endfor.19 ], [ %last.63, %go.137 ]
  %last.63 = phi i32 [ %last.60, %endfor.19 ], [ %last.146, %go.137 ]
  br label %body.54
body.54:
  %j.64 = phi i32 [ %j.62, %strip.53 ], [ %j.next.133, %endfor.80 ]
  ; line 13: b = bodies[j]
  %v65 = sext i32 %j.64 to i64
  %v66 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.25, i64 %v65
  %v67 = getelementptr inbounds float, ptr %v66, i64 1
  %v68 = getelementptr inbounds float, ptr %v66, i64 2
  %b.pos.69 = load float, ptr %v66
  %b.pos.70 = load float, ptr %v67
  %b.pos.71 = load float, ptr %v68
  %v72 = sext i32 %j.64 to i64
  %v73 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.37, i64 %v72
  %b.mass.74 = load float, ptr %v73
  %v75 = sext i32 %j.64 to i64
  %v76 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.43, i64 %v75
  %b.id.77 = load i32, ptr %v76
  ; line 14: if b.id != a.id:
  br label %for.78
for.78:
  %thread.81 = phi i32 [ %tid, %body.54 ], [ %thread.next.132, %endif.107 ]
  %more.82 = icmp slt i32 %thread.81, %group_end.5
  br i1 %more.82, label %body.79, label %endfor.80
body.79:
  ; line 12: for j in range(len(bodies)):
  %v83 = sub i32 %thread.81, %tid
  %v84 = sext i32 %v83 to i64
  %v85 = getelementptr inbounds i32, ptr %slots.10, i64 %v84
  %v86 = load i32, ptr %v85
  %v87 = sext i32 %v83 to i64
  %v88 = getelementptr inbounds float, ptr %slots.6, i64 %v87
  %v89 = getelementptr inbounds float, ptr %slots.7, i64 %v87
  %v90 = getelementptr inbounds float, ptr %slots.8, i64 %v87
  %v91 = load float, ptr %v88
  %v92 = load float, ptr %v89
  %v93 = load float, ptr %v90
  %v94 = sext i32 %v83 to i64
  %v95 = getelementptr inbounds float, ptr %slots.9, i64 %v94
  %v96 = load float, ptr %v95
  %v97 = sext i32 %v83 to i64
  %v98 = getelementptr inbounds float, ptr %slots.11, i64 %v97
  %v99 = getelementptr inbounds float, ptr %slots.12, i64 %v97
  %v100 = getelementptr inbounds float, ptr %slots.13, i64 %v97
  %v101 = load float, ptr %v98
  %v102 = load float, ptr %v99
  %v103 = load float, ptr %v100
  ; line 14: if b.id != a.id:
  %v104 = icmp ne i32 %b.id.77, %v86
  br i1 %v104, label %then.105, label %else.106
then.105:
  ; line 15: d = b.pos - a.pos
  %v108 = fsub float %b.pos.69, %v91
  %v109 = fsub float %b.pos.70, %v92
  %v110 = fsub float %b.pos.71, %v93
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v111 = fmul float %v96, %b.mass.74
  %v112 = fmul float %v108, %v108
  %v113 = fmul float %v109, %v109
  %v114 = fmul float %v110, %v110
  %v115 = fadd float %v112, %v113
  %v116 = fadd float %v115, %v114
  %v117 = fadd float %v116, 0x3F847AE140000000
  %v118 = fdiv float %v111, %v117
  %v119 = fmul float %v108, %v118
  %v120 = fmul float %v109, %v118
  %v121 = fmul float %v110, %v118
  %v122 = fadd float %v101, %v119
  %v123 = fadd float %v102, %v120
  %v124 = fadd float %v103, %v121
  ; line 14: if b.id != a.id:
  br label %endif.107
else.106:
  br label %endif.107
endif.107:
  %total.125 = phi float [ %v122, %then.105 ], [ %v101, %else.106 ]
  %total.126 = phi float [ %v123, %then.105 ], [ %v102, %else.106 ]
  %total.127 = phi float [ %v124, %then.105 ], [ %v103, %else.106 ]
  %v128 = sext i32 %v83 to i64
  %v129 = getelementptr inbounds float, ptr %slots.11, i64 %v128
  %v130 = getelementptr inbounds float, ptr %slots.12, i64 %v128
  %v131 = getelementptr inbounds float, ptr %slots.13, i64 %v128
  store float %total.125, ptr %v129
  store float %total.126, ptr %v130
  store float %total.127, ptr %v131
  %thread.next.132 = add nsw i32 %thread.81, 1
  br label %for.78
endfor.80:
  %j.next.133 = add nsw i32 %j.64, 1
  %more.134 = icmp ne i32 %j.next.133, %last.63
  br i1 %more.134, label %body.54, label %stripped.55
stripped.55:
  %over.135 = icmp eq i32 %last.63, %v16
  br i1 %over.135, label %endfor.57, label %again.56, !prof !1
again.56:
  %stop.138 = load volatile i32, ptr %stop
  %calm.139 = icmp eq i32 %stop.138, 0
  br i1 %calm.139, label %go.137, label %ask.136, !prof !1
ask.136:
  %v141 = load ptr, ptr %v140
  %v142 = call i32 %v141(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v143 = icmp eq i32 %v142, 0
  br i1 %v143, label %go.137, label %stopped
go.137:
  %left.144 = sub i32 %v16, %last.63
  %few.145 = call i32 @llvm.umin.i32(i32 %left.144, i32 64)
  %last.146 = add nsw i32 %last.63, %few.145
  br label %strip.53
endfor.57:
  ; line 17: f[i] = total
  br label %for.147
for.147:
  %thread.150 = phi i32 [ %tid, %endfor.57 ], [ %thread.next.166, %body.148 ]
  %more.151 = icmp slt i32 %thread.150, %group_end.5
  br i1 %more.151, label %body.148, label %endfor.149
body.148:
  ; line 14: if b.id != a.id:
  %v152 = sub i32 %thread.150, %tid
  %v153 = sext i32 %v152 to i64
  %v154 = getelementptr inbounds float, ptr %slots.11, i64 %v153
  %v155 = getelementptr inbounds float, ptr %slots.12, i64 %v153
  %v156 = getelementptr inbounds float, ptr %slots.13, i64 %v153
  %v157 = load float, ptr %v154
  %v158 = load float, ptr %v155
  %v159 = load float, ptr %v156
  ; line 17: f[i] = total
  %v160 = sext i32 %thread.150 to i64
  %v163 = getelementptr inbounds [3 x float], ptr %f.data.162, i64 %v160
  %v164 = getelementptr inbounds float, ptr %v163, i64 1
  %v165 = getelementptr inbounds float, ptr %v163, i64 2
  store float %v157, ptr %v163
  store float %v158, ptr %v164
  store float %v159, ptr %v165
  %thread.next.166 = add nsw i32 %thread.150, 1
  br label %for.147
endfor.149:
  %v167 = udiv i32 %tid, 16
  %v170 = and i32 %v167, 15
  %early.171 = icmp ne i32 %v170, 15
  br i1 %early.171, label %on.169, label %due.168, !prof !1
due.168:
  %stop.174 = load volatile i32, ptr %stop
  %calm.175 = icmp eq i32 %stop.174, 0
  br i1 %calm.175, label %go.173, label %ask.172, !prof !1
ask.172:
  %v177 = sext i32 %tid to i64
  store i64 %v177, ptr %v176
  %v178 = load ptr, ptr %v140
  %v179 = call i32 %v178(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v180 = icmp eq i32 %v179, 0
  br i1 %v180, label %go.173, label %stopped
go.173:
  br label %on.169
on.169:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 16
  br label %groups
few:
  %some.181 = icmp sgt i32 %left.3, 0
  br i1 %some.181, label %group.rest, label %finish
group.rest:
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v190 = trunc i64 %bodies.pos.shape0.15 to i32
  ; line 10: a = bodies[i]
  br label %for.191
for.191:
  %thread.194 = phi i32 [ %tid, %group.rest ], [ %thread.next.222, %body.192 ]
  %more.195 = icmp slt i32 %thread.194, %high.2
  br i1 %more.195, label %body.192, label %endfor.193
body.192:
  %v196 = sub i32 %thread.194, %tid
  %v197 = sext i32 %thread.194 to i64
  %v198 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.25, i64 %v197
  %v199 = getelementptr inbounds float, ptr %v198, i64 1
  %v200 = getelementptr inbounds float, ptr %v198, i64 2
  %a.pos.201 = load float, ptr %v198
  %a.pos.202 = load float, ptr %v199
  %a.pos.203 = load float, ptr %v200
  %v204 = sext i32 %v196 to i64
  %v205 = getelementptr inbounds float, ptr %slots.182, i64 %v204
  %v206 = getelementptr inbounds float, ptr %slots.183, i64 %v204
  %v207 = getelementptr inbounds float, ptr %slots.184, i64 %v204
  store float %a.pos.201, ptr %v205
  store float %a.pos.202, ptr %v206
  store float %a.pos.203, ptr %v207
  %v208 = sext i32 %thread.194 to i64
  %v209 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.37, i64 %v208
  %a.mass.210 = load float, ptr %v209
  %v211 = sext i32 %v196 to i64
  %v212 = getelementptr inbounds float, ptr %slots.185, i64 %v211
  store float %a.mass.210, ptr %v212
  %v213 = sext i32 %thread.194 to i64
  %v214 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.43, i64 %v213
  %a.id.215 = load i32, ptr %v214
  %v216 = sext i32 %v196 to i64
  %v217 = getelementptr inbounds i32, ptr %slots.186, i64 %v216
  store i32 %a.id.215, ptr %v217
  %v218 = sext i32 %v196 to i64
  %v219 = getelementptr inbounds float, ptr %slots.187, i64 %v218
  %v220 = getelementptr inbounds float, ptr %slots.188, i64 %v218
  %v221 = getelementptr inbounds float, ptr %slots.189, i64 %v218
  store float 0x0000000000000000, ptr %v219
  store float 0x0000000000000000, ptr %v220
  store float 0x0000000000000000, ptr %v221
  %thread.next.222 = add nsw i32 %thread.194, 1
  br label %for.191
endfor.193:
  ; line 14: if b.id != a.id:
  %left.228 = sub i32 %v190, 0
  %few.229 = call i32 @llvm.umin.i32(i32 %left.228, i32 64)
  %last.230 = add nsw i32 0, %few.229
  %more.231 = icmp slt i32 0, %v190
  br i1 %more.231, label %strip.223, label %endfor.227
strip.223:
  %j.232 = phi i32 [ 0, %endfor.193 ], [ %last.233, %go.307 ]
  %last.233 = phi i32 [ %last.230, %endfor.193 ], [ %last.315, %go.307 ]
  br label %body.224
body.224:
  %j.234 = phi i32 [ %j.232, %strip.223 ], [ %j.next.303, %endfor.250 ]
  ; line 13: b = bodies[j]
  %v235 = sext i32 %j.234 to i64
  %v236 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.25, i64 %v235
  %v237 = getelementptr inbounds float, ptr %v236, i64 1
  %v238 = getelementptr inbounds float, ptr %v236, i64 2
  %b.pos.239 = load float, ptr %v236
  %b.pos.240 = load float, ptr %v237
  %b.pos.241 = load float, ptr %v238
  %v242 = sext i32 %j.234 to i64
  %v243 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.37, i64 %v242
  %b.mass.244 = load float, ptr %v243
  %v245 = sext i32 %j.234 to i64
  %v246 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.43, i64 %v245
  %b.id.247 = load i32, ptr %v246
  ; line 14: if b.id != a.id:
  br label %for.248
for.248:
  %thread.251 = phi i32 [ %tid, %body.224 ], [ %thread.next.302, %endif.277 ]
  %more.252 = icmp slt i32 %thread.251, %high.2
  br i1 %more.252, label %body.249, label %endfor.250
body.249:
  ; line 12: for j in range(len(bodies)):
  %v253 = sub i32 %thread.251, %tid
  %v254 = sext i32 %v253 to i64
  %v255 = getelementptr inbounds i32, ptr %slots.186, i64 %v254
  %v256 = load i32, ptr %v255
  %v257 = sext i32 %v253 to i64
  %v258 = getelementptr inbounds float, ptr %slots.182, i64 %v257
  %v259 = getelementptr inbounds float, ptr %slots.183, i64 %v257
  %v260 = getelementptr inbounds float, ptr %slots.184, i64 %v257
  %v261 = load float, ptr %v258
  %v262 = load float, ptr %v259
  %v263 = load float, ptr %v260
  %v264 = sext i32 %v253 to i64
  %v265 = getelementptr inbounds float, ptr %slots.185, i64 %v264
  %v266 = load float, ptr %v265
  %v267 = sext i32 %v253 to i64
  %v268 = getelementptr inbounds float, ptr %slots.187, i64 %v267
  %v269 = getelementptr inbounds float, ptr %slots.188, i64 %v267
  %v270 = getelementptr inbounds float, ptr %slots.189, i64 %v267
  %v271 = load float, ptr %v268
  %v272 = load float, ptr %v269
  %v273 = load float, ptr %v270
  ; line 14: if b.id != a.id:
  %v274 = icmp ne i32 %b.id.247, %v256
  br i1 %v274, label %then.275, label %else.276
then.275:
  ; line 15: d = b.pos - a.pos
  %v278 = fsub float %b.pos.239, %v261
  %v279 = fsub float %b.pos.240, %v262
  %v280 = fsub float %b.pos.241, %v263
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v281 = fmul float %v266, %b.mass.244
  %v282 = fmul float %v278, %v278
  %v283 = fmul float %v279, %v279
  %v284 = fmul float %v280, %v280
  %v285 = fadd float %v282, %v283
  %v286 = fadd float %v285, %v284
  %v287 = fadd float %v286, 0x3F847AE140000000
  %v288 = fdiv float %v281, %v287
  %v289 = fmul float %v278, %v288
  %v290 = fmul float %v279, %v288
  %v291 = fmul float %v280, %v288
  %v292 = fadd float %v271, %v289
  %v293 = fadd float %v272, %v290
  %v294 = fadd float %v273, %v291
  ; line 14: if b.id != a.id:
  br label %endif.277
else.276:
  br label %endif.277
endif.277:
  %total.295 = phi float [ %v292, %then.275 ], [ %v271, %else.276 ]
  %total.296 = phi float [ %v293, %then.275 ], [ %v272, %else.276 ]
  %total.297 = phi float [ %v294, %then.275 ], [ %v273, %else.276 ]
  %v298 = sext i32 %v253 to i64
  %v299 = getelementptr inbounds float, ptr %slots.187, i64 %v298
  %v300 = getelementptr inbounds float, ptr %slots.188, i64 %v298
  %v301 = getelementptr inbounds float, ptr %slots.189, i64 %v298
  store float %total.295, ptr %v299
  store float %total.296, ptr %v300
  store float %total.297, ptr %v301
  %thread.next.302 = add nsw i32 %thread.251, 1
  br label %for.248
endfor.250:
  %j.next.303 = add nsw i32 %j.234, 1
  %more.304 = icmp ne i32 %j.next.303, %last.233
  br i1 %more.304, label %body.224, label %stripped.225
stripped.225:
  %over.305 = icmp eq i32 %last.233, %v190
  br i1 %over.305, label %endfor.227, label %again.226, !prof !1
again.226:
  %stop.308 = load volatile i32, ptr %stop
  %calm.309 = icmp eq i32 %stop.308, 0
  br i1 %calm.309, label %go.307, label %ask.306, !prof !1
ask.306:
  %v310 = load ptr, ptr %v140
  %v311 = call i32 %v310(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v312 = icmp eq i32 %v311, 0
  br i1 %v312, label %go.307, label %stopped
go.307:
  %left.313 = sub i32 %v190, %last.233
  %few.314 = call i32 @llvm.umin.i32(i32 %left.313, i32 64)
  %last.315 = add nsw i32 %last.233, %few.314
  br label %strip.223
endfor.227:
  ; line 17: f[i] = total
  br label %for.316
for.316:
  %thread.319 = phi i32 [ %tid, %endfor.227 ], [ %thread.next.333, %body.317 ]
  %more.320 = icmp slt i32 %thread.319, %high.2
  br i1 %more.320, label %body.317, label %endfor.318
body.317:
  ; line 14: if b.id != a.id:
  %v321 = sub i32 %thread.319, %tid
  %v322 = sext i32 %v321 to i64
  %v323 = getelementptr inbounds float, ptr %slots.187, i64 %v322
  %v324 = getelementptr inbounds float, ptr %slots.188, i64 %v322
  %v325 = getelementptr inbounds float, ptr %slots.189, i64 %v322
  %v326 = load float, ptr %v323
  %v327 = load float, ptr %v324
  %v328 = load float, ptr %v325
  ; line 17: f[i] = total
  %v329 = sext i32 %thread.319 to i64
  %v330 = getelementptr inbounds [3 x float], ptr %f.data.162, i64 %v329
  %v331 = getelementptr inbounds float, ptr %v330, i64 1
  %v332 = getelementptr inbounds float, ptr %v330, i64 2
  store float %v326, ptr %v330
  store float %v327, ptr %v331
  store float %v328, ptr %v332
  %thread.next.333 = add nsw i32 %thread.319, 1
  br label %for.316
endfor.318:
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
