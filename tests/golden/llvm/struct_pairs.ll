define i32 @wb_struct_pairs(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %slots.5 = alloca [16 x float], align 64
  %slots.6 = alloca [16 x float], align 64
  %slots.7 = alloca [16 x float], align 64
  %slots.8 = alloca [16 x float], align 64
  %slots.9 = alloca [16 x float], align 64
  %slots.10 = alloca [16 x float], align 64
  %slots.11 = alloca [16 x float], align 64
  %slots.12 = alloca [16 x i32], align 64
  %bodies.pos.shape0.at.13 = getelementptr inbounds i8, ptr %params, i64 40
  %bodies.pos.shape0.14 = load i64, ptr %bodies.pos.shape0.at.13, !range !0
  %bodies.pos.at.27 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.28 = load ptr, ptr %bodies.pos.at.27
  %bodies.mass.data.35 = getelementptr inbounds i8, ptr %bodies.pos.data.28, i64 24
  %bodies.id.data.38 = getelementptr inbounds i8, ptr %bodies.pos.data.28, i64 28
  %v145 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.169 = getelementptr inbounds i8, ptr %params, i64 128
  %f.data.170 = load ptr, ptr %f.at.169
  %v184 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.192 = alloca [16 x float], align 64
  %slots.193 = alloca [16 x float], align 64
  %slots.194 = alloca [16 x float], align 64
  %slots.195 = alloca [16 x float], align 64
  %slots.196 = alloca [16 x float], align 64
  %slots.197 = alloca [16 x float], align 64
  %slots.198 = alloca [16 x float], align 64
  %slots.199 = alloca [16 x i32], align 64
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
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v15 = trunc i64 %bodies.pos.shape0.14 to i32
  ; line 10: a = bodies[i]
  br label %for.16
for.16:
  %place.19 = phi i32 [ 0, %group ], [ %place.next.53, %body.17 ]
  %more.20 = icmp slt i32 %place.19, 16
  br i1 %more.20, label %body.17, label %endfor.18
body.17:
  %thread.21 = add nsw i32 %tid, %place.19
  %v22 = add i32 %tid, %place.19
  %v23 = sext i32 %tid to i64
  %v24 = sext i32 %place.19 to i64
  %v25 = add i64 %v23, %v24
  ; line 9: i = tid()
  %v26 = sext i32 %v22 to i64
  ; line 10: a = bodies[i]
  %v29 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.28, i64 %v26
  %v30 = getelementptr inbounds float, ptr %v29, i64 1
  %v31 = getelementptr inbounds float, ptr %v29, i64 2
  %a.pos.32 = load float, ptr %v29
  %a.pos.33 = load float, ptr %v30
  %a.pos.34 = load float, ptr %v31
  %v36 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.35, i64 %v26
  %a.mass.37 = load float, ptr %v36
  %v39 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.38, i64 %v26
  %a.id.40 = load i32, ptr %v39
  %v41 = sext i32 %place.19 to i64
  %v42 = getelementptr inbounds float, ptr %slots.8, i64 %v41
  %v43 = getelementptr inbounds float, ptr %slots.9, i64 %v41
  %v44 = getelementptr inbounds float, ptr %slots.10, i64 %v41
  store float %a.pos.32, ptr %v42
  store float %a.pos.33, ptr %v43
  store float %a.pos.34, ptr %v44
  %v45 = sext i32 %place.19 to i64
  %v46 = getelementptr inbounds float, ptr %slots.11, i64 %v45
  store float %a.mass.37, ptr %v46
  %v47 = sext i32 %place.19 to i64
  %v48 = getelementptr inbounds i32, ptr %slots.12, i64 %v47
  store i32 %a.id.40, ptr %v48
  %v49 = sext i32 %place.19 to i64
  %v50 = getelementptr inbounds float, ptr %slots.5, i64 %v49
  %v51 = getelementptr inbounds float, ptr %slots.6, i64 %v49
  %v52 = getelementptr inbounds float, ptr %slots.7, i64 %v49
  store float 0x0000000000000000, ptr %v50
  store float 0x0000000000000000, ptr %v51
  store float 0x0000000000000000, ptr %v52
  %place.next.53 = add nsw i32 %place.19, 1
  br label %for.16
endfor.18:
  ; line 14: if b.id != a.id:
  %left.59 = sub i32 %v15, 0
  %few.60 = call i32 @llvm.umin.i32(i32 %left.59, i32 64)
  %last.61 = add nsw i32 0, %few.60
  %more.62 = icmp slt i32 0, %v15
  br i1 %more.62, label %strip.54, label %endfor.58
strip.54:
  %j.63 = phi i32 [ 0, %endfor.18 ], [ %last.64, %go.142 ]
  %last.64 = phi i32 [ %last.61, %endfor.18 ], [ %last.151, %go.142 ]
  br label %body.55
body.55:
  %j.65 = phi i32 [ %j.63, %strip.54 ], [ %j.next.138, %endfor.81 ]
  ; line 13: b = bodies[j]
  %v66 = sext i32 %j.65 to i64
  %v67 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.28, i64 %v66
  %v68 = getelementptr inbounds float, ptr %v67, i64 1
  %v69 = getelementptr inbounds float, ptr %v67, i64 2
  %b.pos.70 = load float, ptr %v67
  %b.pos.71 = load float, ptr %v68
  %b.pos.72 = load float, ptr %v69
  %v73 = sext i32 %j.65 to i64
  %v74 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.35, i64 %v73
  %b.mass.75 = load float, ptr %v74
  %v76 = sext i32 %j.65 to i64
  %v77 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.38, i64 %v76
  %b.id.78 = load i32, ptr %v77
  ; line 14: if b.id != a.id:
  br label %for.79
for.79:
  %place.82 = phi i32 [ 0, %body.55 ], [ %place.next.137, %endif.112 ]
  %more.83 = icmp slt i32 %place.82, 16
  br i1 %more.83, label %body.80, label %endfor.81
body.80:
  %thread.84 = add nsw i32 %tid, %place.82
  ; line 12: for j in range(len(bodies)):
  %v85 = add i32 %tid, %place.82
  %v86 = sext i32 %tid to i64
  %v87 = sext i32 %place.82 to i64
  %v88 = add i64 %v86, %v87
  %v89 = sext i32 %place.82 to i64
  %v90 = getelementptr inbounds i32, ptr %slots.12, i64 %v89
  %v91 = load i32, ptr %v90
  %v92 = sext i32 %place.82 to i64
  %v93 = getelementptr inbounds float, ptr %slots.8, i64 %v92
  %v94 = getelementptr inbounds float, ptr %slots.9, i64 %v92
  %v95 = getelementptr inbounds float, ptr %slots.10, i64 %v92
  %v96 = load float, ptr %v93
  %v97 = load float, ptr %v94
  %v98 = load float, ptr %v95
  %v99 = sext i32 %place.82 to i64
  %v100 = getelementptr inbounds float, ptr %slots.11, i64 %v99
  %v101 = load float, ptr %v100
  %v102 = sext i32 %place.82 to i64
  %v103 = getelementptr inbounds float, ptr %slots.5, i64 %v102
  %v104 = getelementptr inbounds float, ptr %slots.6, i64 %v102
  %v105 = getelementptr inbounds float, ptr %slots.7, i64 %v102
  %v106 = load float, ptr %v103
  %v107 = load float, ptr %v104
  %v108 = load float, ptr %v105
  ; line 14: if b.id != a.id:
  %v109 = icmp ne i32 %b.id.78, %v91
  br i1 %v109, label %then.110, label %else.111
then.110:
  ; line 15: d = b.pos - a.pos
  %v113 = fsub float %b.pos.70, %v96
  %v114 = fsub float %b.pos.71, %v97
  %v115 = fsub float %b.pos.72, %v98
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v116 = fmul float %v101, %b.mass.75
  %v117 = fmul float %v113, %v113
  %v118 = fmul float %v114, %v114
  %v119 = fmul float %v115, %v115
  %v120 = fadd float %v117, %v118
  %v121 = fadd float %v120, %v119
  %v122 = fadd float %v121, 0x3F847AE140000000
  %v123 = fdiv float %v116, %v122
  %v124 = fmul float %v113, %v123
  %v125 = fmul float %v114, %v123
  %v126 = fmul float %v115, %v123
  %v127 = fadd float %v106, %v124
  %v128 = fadd float %v107, %v125
  %v129 = fadd float %v108, %v126
  ; line 14: if b.id != a.id:
  br label %endif.112
else.111:
  br label %endif.112
endif.112:
  %total.130 = phi float [ %v127, %then.110 ], [ %v106, %else.111 ]
  %total.131 = phi float [ %v128, %then.110 ], [ %v107, %else.111 ]
  %total.132 = phi float [ %v129, %then.110 ], [ %v108, %else.111 ]
  %v133 = sext i32 %place.82 to i64
  %v134 = getelementptr inbounds float, ptr %slots.5, i64 %v133
  %v135 = getelementptr inbounds float, ptr %slots.6, i64 %v133
  %v136 = getelementptr inbounds float, ptr %slots.7, i64 %v133
  store float %total.130, ptr %v134
  store float %total.131, ptr %v135
  store float %total.132, ptr %v136
  %place.next.137 = add nsw i32 %place.82, 1
  br label %for.79
endfor.81:
  %j.next.138 = add nsw i32 %j.65, 1
  %more.139 = icmp ne i32 %j.next.138, %last.64
  br i1 %more.139, label %body.55, label %stripped.56
stripped.56:
  %over.140 = icmp eq i32 %last.64, %v15
  br i1 %over.140, label %endfor.58, label %again.57, !prof !1
again.57:
  %stop.143 = load volatile i32, ptr %stop
  %calm.144 = icmp eq i32 %stop.143, 0
  br i1 %calm.144, label %go.142, label %ask.141, !prof !1
ask.141:
  %v146 = load ptr, ptr %v145
  %v147 = call i32 %v146(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v148 = icmp eq i32 %v147, 0
  br i1 %v148, label %go.142, label %stopped
go.142:
  %left.149 = sub i32 %v15, %last.64
  %few.150 = call i32 @llvm.umin.i32(i32 %left.149, i32 64)
  %last.151 = add nsw i32 %last.64, %few.150
  br label %strip.54
endfor.58:
  ; line 17: f[i] = total
  br label %for.152
for.152:
  %place.155 = phi i32 [ 0, %endfor.58 ], [ %place.next.174, %body.153 ]
  %more.156 = icmp slt i32 %place.155, 16
  br i1 %more.156, label %body.153, label %endfor.154
body.153:
  %thread.157 = add nsw i32 %tid, %place.155
  ; line 14: if b.id != a.id:
  %v158 = add i32 %tid, %place.155
  %v159 = sext i32 %tid to i64
  %v160 = sext i32 %place.155 to i64
  %v161 = add i64 %v159, %v160
  %v162 = sext i32 %place.155 to i64
  %v163 = getelementptr inbounds float, ptr %slots.5, i64 %v162
  %v164 = getelementptr inbounds float, ptr %slots.6, i64 %v162
  %v165 = getelementptr inbounds float, ptr %slots.7, i64 %v162
  %v166 = load float, ptr %v163
  %v167 = load float, ptr %v164
  %v168 = load float, ptr %v165
  ; line 17: f[i] = total
  %v171 = getelementptr inbounds [3 x float], ptr %f.data.170, i64 %v161
  %v172 = getelementptr inbounds float, ptr %v171, i64 1
  %v173 = getelementptr inbounds float, ptr %v171, i64 2
  store float %v166, ptr %v171
  store float %v167, ptr %v172
  store float %v168, ptr %v173
  %place.next.174 = add nsw i32 %place.155, 1
  br label %for.152
endfor.154:
  %v175 = udiv i32 %tid, 16
  %v178 = and i32 %v175, 15
  %early.179 = icmp ne i32 %v178, 15
  br i1 %early.179, label %on.177, label %due.176, !prof !1
due.176:
  %stop.182 = load volatile i32, ptr %stop
  %calm.183 = icmp eq i32 %stop.182, 0
  br i1 %calm.183, label %go.181, label %ask.180, !prof !1
ask.180:
  %v185 = sext i32 %tid to i64
  store i64 %v185, ptr %v184
  %v186 = load ptr, ptr %v145
  %v187 = call i32 %v186(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v188 = icmp eq i32 %v187, 0
  br i1 %v188, label %go.181, label %stopped
go.181:
  br label %on.177
on.177:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 16
  br label %groups
few:
  %few.tid = phi i32 [ %tid, %groups ]
  %left.189 = sub nsw i32 %high.2, %few.tid
  %some.190 = icmp sgt i32 %left.189, 0
  br i1 %some.190, label %group.rest, label %finish
group.rest:
  %few.next = add i32 %few.tid, 16
  %more.191 = icmp sgt i32 %left.189, 16
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v200 = trunc i64 %bodies.pos.shape0.14 to i32
  ; line 10: a = bodies[i]
  br label %for.201
for.201:
  %place.204 = phi i32 [ 0, %group.rest ], [ %place.next.234, %body.202 ]
  %more.205 = icmp slt i32 %place.204, %left.189
  br i1 %more.205, label %body.202, label %endfor.203
body.202:
  %thread.206 = add nsw i32 %few.tid, %place.204
  %v207 = add i32 %few.tid, %place.204
  %v208 = sext i32 %few.tid to i64
  %v209 = sext i32 %place.204 to i64
  %v210 = add i64 %v208, %v209
  ; line 9: i = tid()
  %v211 = sext i32 %v207 to i64
  ; line 10: a = bodies[i]
  %v212 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.28, i64 %v211
  %v213 = getelementptr inbounds float, ptr %v212, i64 1
  %v214 = getelementptr inbounds float, ptr %v212, i64 2
  %a.pos.215 = load float, ptr %v212
  %a.pos.216 = load float, ptr %v213
  %a.pos.217 = load float, ptr %v214
  %v218 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.35, i64 %v211
  %a.mass.219 = load float, ptr %v218
  %v220 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.38, i64 %v211
  %a.id.221 = load i32, ptr %v220
  %v222 = sext i32 %place.204 to i64
  %v223 = getelementptr inbounds float, ptr %slots.195, i64 %v222
  %v224 = getelementptr inbounds float, ptr %slots.196, i64 %v222
  %v225 = getelementptr inbounds float, ptr %slots.197, i64 %v222
  store float %a.pos.215, ptr %v223
  store float %a.pos.216, ptr %v224
  store float %a.pos.217, ptr %v225
  %v226 = sext i32 %place.204 to i64
  %v227 = getelementptr inbounds float, ptr %slots.198, i64 %v226
  store float %a.mass.219, ptr %v227
  %v228 = sext i32 %place.204 to i64
  %v229 = getelementptr inbounds i32, ptr %slots.199, i64 %v228
  store i32 %a.id.221, ptr %v229
  %v230 = sext i32 %place.204 to i64
  %v231 = getelementptr inbounds float, ptr %slots.192, i64 %v230
  %v232 = getelementptr inbounds float, ptr %slots.193, i64 %v230
  %v233 = getelementptr inbounds float, ptr %slots.194, i64 %v230
  store float 0x0000000000000000, ptr %v231
  store float 0x0000000000000000, ptr %v232
  store float 0x0000000000000000, ptr %v233
  %place.next.234 = add nsw i32 %place.204, 1
  br label %for.201
endfor.203:
  ; line 14: if b.id != a.id:
  %left.240 = sub i32 %v200, 0
  %few.241 = call i32 @llvm.umin.i32(i32 %left.240, i32 64)
  %last.242 = add nsw i32 0, %few.241
  %more.243 = icmp slt i32 0, %v200
  br i1 %more.243, label %strip.235, label %endfor.239
strip.235:
  %j.244 = phi i32 [ 0, %endfor.203 ], [ %last.245, %go.323 ]
  %last.245 = phi i32 [ %last.242, %endfor.203 ], [ %last.331, %go.323 ]
  br label %body.236
body.236:
  %j.246 = phi i32 [ %j.244, %strip.235 ], [ %j.next.319, %endfor.262 ]
  ; line 13: b = bodies[j]
  %v247 = sext i32 %j.246 to i64
  %v248 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.28, i64 %v247
  %v249 = getelementptr inbounds float, ptr %v248, i64 1
  %v250 = getelementptr inbounds float, ptr %v248, i64 2
  %b.pos.251 = load float, ptr %v248
  %b.pos.252 = load float, ptr %v249
  %b.pos.253 = load float, ptr %v250
  %v254 = sext i32 %j.246 to i64
  %v255 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.35, i64 %v254
  %b.mass.256 = load float, ptr %v255
  %v257 = sext i32 %j.246 to i64
  %v258 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.38, i64 %v257
  %b.id.259 = load i32, ptr %v258
  ; line 14: if b.id != a.id:
  br label %for.260
for.260:
  %place.263 = phi i32 [ 0, %body.236 ], [ %place.next.318, %endif.293 ]
  %more.264 = icmp slt i32 %place.263, %left.189
  br i1 %more.264, label %body.261, label %endfor.262
body.261:
  %thread.265 = add nsw i32 %few.tid, %place.263
  ; line 12: for j in range(len(bodies)):
  %v266 = add i32 %few.tid, %place.263
  %v267 = sext i32 %few.tid to i64
  %v268 = sext i32 %place.263 to i64
  %v269 = add i64 %v267, %v268
  %v270 = sext i32 %place.263 to i64
  %v271 = getelementptr inbounds i32, ptr %slots.199, i64 %v270
  %v272 = load i32, ptr %v271
  %v273 = sext i32 %place.263 to i64
  %v274 = getelementptr inbounds float, ptr %slots.195, i64 %v273
  %v275 = getelementptr inbounds float, ptr %slots.196, i64 %v273
  %v276 = getelementptr inbounds float, ptr %slots.197, i64 %v273
  %v277 = load float, ptr %v274
  %v278 = load float, ptr %v275
  %v279 = load float, ptr %v276
  %v280 = sext i32 %place.263 to i64
  %v281 = getelementptr inbounds float, ptr %slots.198, i64 %v280
  %v282 = load float, ptr %v281
  %v283 = sext i32 %place.263 to i64
  %v284 = getelementptr inbounds float, ptr %slots.192, i64 %v283
  %v285 = getelementptr inbounds float, ptr %slots.193, i64 %v283
  %v286 = getelementptr inbounds float, ptr %slots.194, i64 %v283
  %v287 = load float, ptr %v284
  %v288 = load float, ptr %v285
  %v289 = load float, ptr %v286
  ; line 14: if b.id != a.id:
  %v290 = icmp ne i32 %b.id.259, %v272
  br i1 %v290, label %then.291, label %else.292
then.291:
  ; line 15: d = b.pos - a.pos
  %v294 = fsub float %b.pos.251, %v277
  %v295 = fsub float %b.pos.252, %v278
  %v296 = fsub float %b.pos.253, %v279
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v297 = fmul float %v282, %b.mass.256
  %v298 = fmul float %v294, %v294
  %v299 = fmul float %v295, %v295
  %v300 = fmul float %v296, %v296
  %v301 = fadd float %v298, %v299
  %v302 = fadd float %v301, %v300
  %v303 = fadd float %v302, 0x3F847AE140000000
  %v304 = fdiv float %v297, %v303
  %v305 = fmul float %v294, %v304
  %v306 = fmul float %v295, %v304
  %v307 = fmul float %v296, %v304
  %v308 = fadd float %v287, %v305
  %v309 = fadd float %v288, %v306
  %v310 = fadd float %v289, %v307
  ; line 14: if b.id != a.id:
  br label %endif.293
else.292:
  br label %endif.293
endif.293:
  %total.311 = phi float [ %v308, %then.291 ], [ %v287, %else.292 ]
  %total.312 = phi float [ %v309, %then.291 ], [ %v288, %else.292 ]
  %total.313 = phi float [ %v310, %then.291 ], [ %v289, %else.292 ]
  %v314 = sext i32 %place.263 to i64
  %v315 = getelementptr inbounds float, ptr %slots.192, i64 %v314
  %v316 = getelementptr inbounds float, ptr %slots.193, i64 %v314
  %v317 = getelementptr inbounds float, ptr %slots.194, i64 %v314
  store float %total.311, ptr %v315
  store float %total.312, ptr %v316
  store float %total.313, ptr %v317
  %place.next.318 = add nsw i32 %place.263, 1
  br label %for.260
endfor.262:
  %j.next.319 = add nsw i32 %j.246, 1
  %more.320 = icmp ne i32 %j.next.319, %last.245
  br i1 %more.320, label %body.236, label %stripped.237
stripped.237:
  %over.321 = icmp eq i32 %last.245, %v200
  br i1 %over.321, label %endfor.239, label %again.238, !prof !1
again.238:
  %stop.324 = load volatile i32, ptr %stop
  %calm.325 = icmp eq i32 %stop.324, 0
  br i1 %calm.325, label %go.323, label %ask.322, !prof !1
ask.322:
  %v326 = load ptr, ptr %v145
  %v327 = call i32 %v326(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v328 = icmp eq i32 %v327, 0
  br i1 %v328, label %go.323, label %stopped
go.323:
  %left.329 = sub i32 %v200, %last.245
  %few.330 = call i32 @llvm.umin.i32(i32 %left.329, i32 64)
  %last.331 = add nsw i32 %last.245, %few.330
  br label %strip.235
endfor.239:
  ; line 17: f[i] = total
  br label %for.332
for.332:
  %place.335 = phi i32 [ 0, %endfor.239 ], [ %place.next.352, %body.333 ]
  %more.336 = icmp slt i32 %place.335, %left.189
  br i1 %more.336, label %body.333, label %endfor.334
body.333:
  %thread.337 = add nsw i32 %few.tid, %place.335
  ; line 14: if b.id != a.id:
  %v338 = add i32 %few.tid, %place.335
  %v339 = sext i32 %few.tid to i64
  %v340 = sext i32 %place.335 to i64
  %v341 = add i64 %v339, %v340
  %v342 = sext i32 %place.335 to i64
  %v343 = getelementptr inbounds float, ptr %slots.192, i64 %v342
  %v344 = getelementptr inbounds float, ptr %slots.193, i64 %v342
  %v345 = getelementptr inbounds float, ptr %slots.194, i64 %v342
  %v346 = load float, ptr %v343
  %v347 = load float, ptr %v344
  %v348 = load float, ptr %v345
  ; line 17: f[i] = total
  %v349 = getelementptr inbounds [3 x float], ptr %f.data.170, i64 %v341
  %v350 = getelementptr inbounds float, ptr %v349, i64 1
  %v351 = getelementptr inbounds float, ptr %v349, i64 2
  store float %v346, ptr %v349
  store float %v347, ptr %v350
  store float %v348, ptr %v351
  %place.next.352 = add nsw i32 %place.335, 1
  br label %for.332
endfor.334:
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
