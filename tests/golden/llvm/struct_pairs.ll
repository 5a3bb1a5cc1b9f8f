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
  %slots.190 = alloca [16 x float], align 64
  %slots.191 = alloca [16 x float], align 64
  %slots.192 = alloca [16 x float], align 64
  %slots.193 = alloca [16 x float], align 64
  %slots.194 = alloca [16 x float], align 64
  %slots.195 = alloca [16 x float], align 64
  %slots.196 = alloca [16 x float], align 64
  %slots.197 = alloca [16 x i32], align 64
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
  %some.189 = icmp sgt i32 %left.3, 0
  br i1 %some.189, label %group.rest, label %finish
group.rest:
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v198 = trunc i64 %bodies.pos.shape0.14 to i32
  ; line 10: a = bodies[i]
  br label %for.199
for.199:
  %place.202 = phi i32 [ 0, %group.rest ], [ %place.next.232, %body.200 ]
  %more.203 = icmp slt i32 %place.202, %left.3
  br i1 %more.203, label %body.200, label %endfor.201
body.200:
  %thread.204 = add nsw i32 %tid, %place.202
  %v205 = add i32 %tid, %place.202
  %v206 = sext i32 %tid to i64
  %v207 = sext i32 %place.202 to i64
  %v208 = add i64 %v206, %v207
  ; line 9: i = tid()
  %v209 = sext i32 %v205 to i64
  ; line 10: a = bodies[i]
  %v210 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.28, i64 %v209
  %v211 = getelementptr inbounds float, ptr %v210, i64 1
  %v212 = getelementptr inbounds float, ptr %v210, i64 2
  %a.pos.213 = load float, ptr %v210
  %a.pos.214 = load float, ptr %v211
  %a.pos.215 = load float, ptr %v212
  %v216 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.35, i64 %v209
  %a.mass.217 = load float, ptr %v216
  %v218 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.38, i64 %v209
  %a.id.219 = load i32, ptr %v218
  %v220 = sext i32 %place.202 to i64
  %v221 = getelementptr inbounds float, ptr %slots.193, i64 %v220
  %v222 = getelementptr inbounds float, ptr %slots.194, i64 %v220
  %v223 = getelementptr inbounds float, ptr %slots.195, i64 %v220
  store float %a.pos.213, ptr %v221
  store float %a.pos.214, ptr %v222
  store float %a.pos.215, ptr %v223
  %v224 = sext i32 %place.202 to i64
  %v225 = getelementptr inbounds float, ptr %slots.196, i64 %v224
  store float %a.mass.217, ptr %v225
  %v226 = sext i32 %place.202 to i64
  %v227 = getelementptr inbounds i32, ptr %slots.197, i64 %v226
  store i32 %a.id.219, ptr %v227
  %v228 = sext i32 %place.202 to i64
  %v229 = getelementptr inbounds float, ptr %slots.190, i64 %v228
  %v230 = getelementptr inbounds float, ptr %slots.191, i64 %v228
  %v231 = getelementptr inbounds float, ptr %slots.192, i64 %v228
  store float 0x0000000000000000, ptr %v229
  store float 0x0000000000000000, ptr %v230
  store float 0x0000000000000000, ptr %v231
  %place.next.232 = add nsw i32 %place.202, 1
  br label %for.199
endfor.201:
  ; line 14: if b.id != a.id:
  %left.238 = sub i32 %v198, 0
  %few.239 = call i32 @llvm.umin.i32(i32 %left.238, i32 64)
  %last.240 = add nsw i32 0, %few.239
  %more.241 = icmp slt i32 0, %v198
  br i1 %more.241, label %strip.233, label %endfor.237
strip.233:
  %j.242 = phi i32 [ 0, %endfor.201 ], [ %last.243, %go.321 ]
  %last.243 = phi i32 [ %last.240, %endfor.201 ], [ %last.329, %go.321 ]
  br label %body.234
body.234:
  %j.244 = phi i32 [ %j.242, %strip.233 ], [ %j.next.317, %endfor.260 ]
  ; line 13: b = bodies[j]
  %v245 = sext i32 %j.244 to i64
  %v246 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.28, i64 %v245
  %v247 = getelementptr inbounds float, ptr %v246, i64 1
  %v248 = getelementptr inbounds float, ptr %v246, i64 2
  %b.pos.249 = load float, ptr %v246
  %b.pos.250 = load float, ptr %v247
  %b.pos.251 = load float, ptr %v248
  %v252 = sext i32 %j.244 to i64
  %v253 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.35, i64 %v252
  %b.mass.254 = load float, ptr %v253
  %v255 = sext i32 %j.244 to i64
  %v256 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.38, i64 %v255
  %b.id.257 = load i32, ptr %v256
  ; line 14: if b.id != a.id:
  br label %for.258
for.258:
  %place.261 = phi i32 [ 0, %body.234 ], [ %place.next.316, %endif.291 ]
  %more.262 = icmp slt i32 %place.261, %left.3
  br i1 %more.262, label %body.259, label %endfor.260
body.259:
  %thread.263 = add nsw i32 %tid, %place.261
  ; line 12: for j in range(len(bodies)):
  %v264 = add i32 %tid, %place.261
  %v265 = sext i32 %tid to i64
  %v266 = sext i32 %place.261 to i64
  %v267 = add i64 %v265, %v266
  %v268 = sext i32 %place.261 to i64
  %v269 = getelementptr inbounds i32, ptr %slots.197, i64 %v268
  %v270 = load i32, ptr %v269
  %v271 = sext i32 %place.261 to i64
  %v272 = getelementptr inbounds float, ptr %slots.193, i64 %v271
  %v273 = getelementptr inbounds float, ptr %slots.194, i64 %v271
  %v274 = getelementptr inbounds float, ptr %slots.195, i64 %v271
  %v275 = load float, ptr %v272
  %v276 = load float, ptr %v273
  %v277 = load float, ptr %v274
  %v278 = sext i32 %place.261 to i64
  %v279 = getelementptr inbounds float, ptr %slots.196, i64 %v278
  %v280 = load float, ptr %v279
  %v281 = sext i32 %place.261 to i64
  %v282 = getelementptr inbounds float, ptr %slots.190, i64 %v281
  %v283 = getelementptr inbounds float, ptr %slots.191, i64 %v281
  %v284 = getelementptr inbounds float, ptr %slots.192, i64 %v281
  %v285 = load float, ptr %v282
  %v286 = load float, ptr %v283
  %v287 = load float, ptr %v284
  ; line 14: if b.id != a.id:
  %v288 = icmp ne i32 %b.id.257, %v270
  br i1 %v288, label %then.289, label %else.290
then.289:
  ; line 15: d = b.pos - a.pos
  %v292 = fsub float %b.pos.249, %v275
  %v293 = fsub float %b.pos.250, %v276
  %v294 = fsub float %b.pos.251, %v277
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v295 = fmul float %v280, %b.mass.254
  %v296 = fmul float %v292, %v292
  %v297 = fmul float %v293, %v293
  %v298 = fmul float %v294, %v294
  %v299 = fadd float %v296, %v297
  %v300 = fadd float %v299, %v298
  %v301 = fadd float %v300, 0x3F847AE140000000
  %v302 = fdiv float %v295, %v301
  %v303 = fmul float %v292, %v302
  %v304 = fmul float %v293, %v302
  %v305 = fmul float %v294, %v302
  %v306 = fadd float %v285, %v303
  %v307 = fadd float %v286, %v304
  %v308 = fadd float %v287, %v305
  ; line 14: if b.id != a.id:
  br label %endif.291
else.290:
  br label %endif.291
endif.291:
  %total.309 = phi float [ %v306, %then.289 ], [ %v285, %else.290 ]
  %total.310 = phi float [ %v307, %then.289 ], [ %v286, %else.290 ]
  %total.311 = phi float [ %v308, %then.289 ], [ %v287, %else.290 ]
  %v312 = sext i32 %place.261 to i64
  %v313 = getelementptr inbounds float, ptr %slots.190, i64 %v312
  %v314 = getelementptr inbounds float, ptr %slots.191, i64 %v312
  %v315 = getelementptr inbounds float, ptr %slots.192, i64 %v312
  store float %total.309, ptr %v313
  store float %total.310, ptr %v314
  store float %total.311, ptr %v315
  %place.next.316 = add nsw i32 %place.261, 1
  br label %for.258
endfor.260:
  %j.next.317 = add nsw i32 %j.244, 1
  %more.318 = icmp ne i32 %j.next.317, %last.243
  br i1 %more.318, label %body.234, label %stripped.235
stripped.235:
  %over.319 = icmp eq i32 %last.243, %v198
  br i1 %over.319, label %endfor.237, label %again.236, !prof !1
again.236:
  %stop.322 = load volatile i32, ptr %stop
  %calm.323 = icmp eq i32 %stop.322, 0
  br i1 %calm.323, label %go.321, label %ask.320, !prof !1
ask.320:
  %v324 = load ptr, ptr %v145
  %v325 = call i32 %v324(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v326 = icmp eq i32 %v325, 0
  br i1 %v326, label %go.321, label %stopped
go.321:
  %left.327 = sub i32 %v198, %last.243
  %few.328 = call i32 @llvm.umin.i32(i32 %left.327, i32 64)
  %last.329 = add nsw i32 %last.243, %few.328
  br label %strip.233
endfor.237:
  ; line 17: f[i] = total
  br label %for.330
for.330:
  %place.333 = phi i32 [ 0, %endfor.237 ], [ %place.next.350, %body.331 ]
  %more.334 = icmp slt i32 %place.333, %left.3
  br i1 %more.334, label %body.331, label %endfor.332
body.331:
  %thread.335 = add nsw i32 %tid, %place.333
  ; line 14: if b.id != a.id:
  %v336 = add i32 %tid, %place.333
  %v337 = sext i32 %tid to i64
  %v338 = sext i32 %place.333 to i64
  %v339 = add i64 %v337, %v338
  %v340 = sext i32 %place.333 to i64
  %v341 = getelementptr inbounds float, ptr %slots.190, i64 %v340
  %v342 = getelementptr inbounds float, ptr %slots.191, i64 %v340
  %v343 = getelementptr inbounds float, ptr %slots.192, i64 %v340
  %v344 = load float, ptr %v341
  %v345 = load float, ptr %v342
  %v346 = load float, ptr %v343
  ; line 17: f[i] = total
  %v347 = getelementptr inbounds [3 x float], ptr %f.data.170, i64 %v339
  %v348 = getelementptr inbounds float, ptr %v347, i64 1
  %v349 = getelementptr inbounds float, ptr %v347, i64 2
  store float %v344, ptr %v347
  store float %v345, ptr %v348
  store float %v346, ptr %v349
  %place.next.350 = add nsw i32 %place.333, 1
  br label %for.330
endfor.332:
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
