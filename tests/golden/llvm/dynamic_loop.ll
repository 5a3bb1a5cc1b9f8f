define i32 @wb_dynamic_loop(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %slots.13 = alloca [16 x [8 x <8 x float>]], align 64
  %x.shape1.at.15 = getelementptr inbounds i8, ptr %params, i64 48
  %x.shape1.16 = load i64, ptr %x.shape1.at.15, !range !0
  %x.at.77 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.78 = load ptr, ptr %x.at.77
  %v152 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.551 = getelementptr inbounds i8, ptr %params, i64 72
  %y.data.552 = load ptr, ptr %y.at.551
  %v579 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.596 = alloca [16 x [2 x <8 x float>]], align 64
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  %v6 = sub nsw i32 %high.2, %low.1
  %v7 = call i32 @llvm.smax.i32(i32 %v6, i32 0)
  %v8 = and i32 %v7, -64
  %gangs.9 = add nsw i32 %low.1, %v8
  br label %gangs.3
gangs.3:
  %gang.10 = phi i32 [ %low.1, %start ], [ %v584, %go.576 ]
  %number.11 = phi i32 [ 0, %start ], [ %v585, %go.576 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 2: i = tid()
  %i.14 = sext i32 %gang.10 to i64
  ; line 4: for j in range(x.shape[1]):
  %v17 = trunc i64 %x.shape1.16 to i32
  %v18 = add i32 0, 16
  %v19 = icmp sge i32 %v17, %v18
  br i1 %v19, label %then.20, label %else.21
then.20:
  %v23 = icmp sgt i32 16, 0
  %v24 = select i1 %v23, i32 0, i32 %v17
  %v25 = select i1 %v23, i32 %v17, i32 0
  %v26 = icmp slt i32 %v24, %v25
  %v27 = sub i32 %v25, %v24
  %v28 = sub i32 0, 16
  %v29 = select i1 %v23, i32 16, i32 %v28
  %v30 = icmp ne i32 16, 0
  %v31 = and i1 %v26, %v30
  %v32 = select i1 %v31, i32 %v29, i32 1
  %v33 = sub i32 %v27, 1
  %v34 = udiv i32 %v33, %v32
  %v35 = add i32 %v34, 1
  %iterations.36 = select i1 %v31, i32 %v35, i32 0
  %left.42 = sub i32 %iterations.36, 0
  %few.43 = call i32 @llvm.umin.i32(i32 %left.42, i32 512)
  %last.44 = add nuw i32 0, %few.43
  %more.45 = icmp ult i32 0, %iterations.36
  br i1 %more.45, label %strip.37, label %endfor.41
strip.37:
  %first.46 = phi i32 [ 0, %then.20 ], [ %first.next.144, %go.149 ]
  %count.47 = phi i32 [ 0, %then.20 ], [ %last.56, %go.149 ]
  %s.48 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.84, %go.149 ]
  %s.49 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.85, %go.149 ]
  %s.50 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.86, %go.149 ]
  %s.51 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.87, %go.149 ]
  %s.52 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.88, %go.149 ]
  %s.53 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.89, %go.149 ]
  %s.54 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.90, %go.149 ]
  %s.55 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.91, %go.149 ]
  %last.56 = phi i32 [ %last.44, %then.20 ], [ %last.158, %go.149 ]
  br label %body.38
body.38:
  %first.57 = phi i32 [ %first.46, %strip.37 ], [ %first.next.144, %endfor.82 ]
  %count.58 = phi i32 [ %count.47, %strip.37 ], [ %count.next.145, %endfor.82 ]
  %s.59 = phi <8 x float> [ %s.48, %strip.37 ], [ %s.84, %endfor.82 ]
  %s.60 = phi <8 x float> [ %s.49, %strip.37 ], [ %s.85, %endfor.82 ]
  %s.61 = phi <8 x float> [ %s.50, %strip.37 ], [ %s.86, %endfor.82 ]
  %s.62 = phi <8 x float> [ %s.51, %strip.37 ], [ %s.87, %endfor.82 ]
  %s.63 = phi <8 x float> [ %s.52, %strip.37 ], [ %s.88, %endfor.82 ]
  %s.64 = phi <8 x float> [ %s.53, %strip.37 ], [ %s.89, %endfor.82 ]
  %s.65 = phi <8 x float> [ %s.54, %strip.37 ], [ %s.90, %endfor.82 ]
  %s.66 = phi <8 x float> [ %s.55, %strip.37 ], [ %s.91, %endfor.82 ]
  %v67 = sub i32 %v17, %first.57
  %v68 = icmp slt i32 %v67, 16
  %v69 = select i1 %v68, i32 %v67, i32 16
  %v70 = sub i32 %v69, 1
  %v71 = add i32 %first.57, %v70
  %v72 = sext i32 %first.57 to i64
  %v73 = mul i64 %i.14, %x.shape1.16
  %v74 = add i64 %v73, %v72
  %v75 = mul i64 %v74, 4
  %v76 = mul i64 %x.shape1.16, 4
  %v79 = getelementptr i8, ptr %x.data.78, i64 %v75
  call void @wb.row_load.float32.8.8.1.1(ptr %v79, i64 %v76, ptr %slots.13, i32 %v69, i64 -1)
  br label %for.80
for.80:
  %turn.83 = phi i32 [ 0, %body.38 ], [ %turn.next.143, %body.81 ]
  %s.84 = phi <8 x float> [ %s.59, %body.38 ], [ %s.135, %body.81 ]
  %s.85 = phi <8 x float> [ %s.60, %body.38 ], [ %s.136, %body.81 ]
  %s.86 = phi <8 x float> [ %s.61, %body.38 ], [ %s.137, %body.81 ]
  %s.87 = phi <8 x float> [ %s.62, %body.38 ], [ %s.138, %body.81 ]
  %s.88 = phi <8 x float> [ %s.63, %body.38 ], [ %s.139, %body.81 ]
  %s.89 = phi <8 x float> [ %s.64, %body.38 ], [ %s.140, %body.81 ]
  %s.90 = phi <8 x float> [ %s.65, %body.38 ], [ %s.141, %body.81 ]
  %s.91 = phi <8 x float> [ %s.66, %body.38 ], [ %s.142, %body.81 ]
  %more.92 = icmp slt i32 %turn.83, %v69
  br i1 %more.92, label %body.81, label %endfor.82
body.81:
  %j.93 = add i32 %first.57, %turn.83
  %v94 = sub i32 %v70, %turn.83
  ; line 5: s += sin(x[i, j])
  %v95 = sext i32 %turn.83 to i64
  %v96 = getelementptr [8 x <8 x float>], ptr %slots.13, i64 %v95, i64 0
  %v97 = load <8 x float>, ptr %v96
  %v98 = sext i32 %turn.83 to i64
  %v99 = getelementptr [8 x <8 x float>], ptr %slots.13, i64 %v98, i64 1
  %v100 = load <8 x float>, ptr %v99
  %v101 = sext i32 %turn.83 to i64
  %v102 = getelementptr [8 x <8 x float>], ptr %slots.13, i64 %v101, i64 2
  %v103 = load <8 x float>, ptr %v102
  %v104 = sext i32 %turn.83 to i64
  %v105 = getelementptr [8 x <8 x float>], ptr %slots.13, i64 %v104, i64 3
  %v106 = load <8 x float>, ptr %v105
  %v107 = sext i32 %turn.83 to i64
  %v108 = getelementptr [8 x <8 x float>], ptr %slots.13, i64 %v107, i64 4
  %v109 = load <8 x float>, ptr %v108
  %v110 = sext i32 %turn.83 to i64
  %v111 = getelementptr [8 x <8 x float>], ptr %slots.13, i64 %v110, i64 5
  %v112 = load <8 x float>, ptr %v111
  %v113 = sext i32 %turn.83 to i64
  %v114 = getelementptr [8 x <8 x float>], ptr %slots.13, i64 %v113, i64 6
  %v115 = load <8 x float>, ptr %v114
  %v116 = sext i32 %turn.83 to i64
  %v117 = getelementptr [8 x <8 x float>], ptr %slots.13, i64 %v116, i64 7
  %v118 = load <8 x float>, ptr %v117
  %v119 = shufflevector <8 x float> %v97, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v120 = call <8 x float> @wbm_sin_32x8(<8 x float> %v119)
  %v121 = shufflevector <8 x float> %v100, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v122 = call <8 x float> @wbm_sin_32x8(<8 x float> %v121)
  %v123 = shufflevector <8 x float> %v103, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v124 = call <8 x float> @wbm_sin_32x8(<8 x float> %v123)
  %v125 = shufflevector <8 x float> %v106, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v126 = call <8 x float> @wbm_sin_32x8(<8 x float> %v125)
  %v127 = shufflevector <8 x float> %v109, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v128 = call <8 x float> @wbm_sin_32x8(<8 x float> %v127)
  %v129 = shufflevector <8 x float> %v112, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v130 = call <8 x float> @wbm_sin_32x8(<8 x float> %v129)
  %v131 = shufflevector <8 x float> %v115, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v132 = call <8 x float> @wbm_sin_32x8(<8 x float> %v131)
  %v133 = shufflevector <8 x float> %v118, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v134 = call <8 x float> @wbm_sin_32x8(<8 x float> %v133)
  %s.135 = fadd <8 x float> %s.84, %v120
  %s.136 = fadd <8 x float> %s.85, %v122
  %s.137 = fadd <8 x float> %s.86, %v124
  %s.138 = fadd <8 x float> %s.87, %v126
  %s.139 = fadd <8 x float> %s.88, %v128
  %s.140 = fadd <8 x float> %s.89, %v130
  %s.141 = fadd <8 x float> %s.90, %v132
  %s.142 = fadd <8 x float> %s.91, %v134
  ; line 4: for j in range(x.shape[1]):
  %turn.next.143 = add nsw i32 %turn.83, 1
  br label %for.80
endfor.82:
  %first.next.144 = add nsw i32 %first.57, 16
  %count.next.145 = add nuw i32 %count.58, 1
  %more.146 = icmp ne i32 %count.next.145, %last.56
  br i1 %more.146, label %body.38, label %stripped.39
stripped.39:
  %over.147 = icmp eq i32 %last.56, %iterations.36
  br i1 %over.147, label %endfor.41, label %again.40, !prof !1
again.40:
  %stop.150 = load volatile i32, ptr %stop
  %calm.151 = icmp eq i32 %stop.150, 0
  br i1 %calm.151, label %go.149, label %ask.148, !prof !1
ask.148:
  %v153 = load ptr, ptr %v152
  %v154 = call i32 %v153(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v155 = icmp eq i32 %v154, 0
  br i1 %v155, label %go.149, label %stopped
go.149:
  %left.156 = sub i32 %iterations.36, %last.56
  %few.157 = call i32 @llvm.umin.i32(i32 %left.156, i32 512)
  %last.158 = add nuw i32 %last.56, %few.157
  br label %strip.37
endfor.41:
  %v159 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.84, %stripped.39 ]
  %v160 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.85, %stripped.39 ]
  %v161 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.86, %stripped.39 ]
  %v162 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.87, %stripped.39 ]
  %v163 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.88, %stripped.39 ]
  %v164 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.89, %stripped.39 ]
  %v165 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.90, %stripped.39 ]
  %v166 = phi <8 x float> [ splat (float 0x0000000000000000), %then.20 ], [ %s.91, %stripped.39 ]
  br label %endif.22
else.21:
  %left.172 = sub i32 %v17, 0
  %few.173 = call i32 @llvm.umin.i32(i32 %left.172, i32 8192)
  %last.174 = add nsw i32 0, %few.173
  %more.175 = icmp slt i32 0, %v17
  br i1 %more.175, label %strip.167, label %endfor.171
strip.167:
  %j.176 = phi i32 [ 0, %else.21 ], [ %last.185, %go.525 ]
  %s.177 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.513, %go.525 ]
  %s.178 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.514, %go.525 ]
  %s.179 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.515, %go.525 ]
  %s.180 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.516, %go.525 ]
  %s.181 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.517, %go.525 ]
  %s.182 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.518, %go.525 ]
  %s.183 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.519, %go.525 ]
  %s.184 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.520, %go.525 ]
  %last.185 = phi i32 [ %last.174, %else.21 ], [ %last.533, %go.525 ]
  br label %body.168
body.168:
  %j.186 = phi i32 [ %j.176, %strip.167 ], [ %j.next.521, %body.168 ]
  %s.187 = phi <8 x float> [ %s.177, %strip.167 ], [ %s.513, %body.168 ]
  %s.188 = phi <8 x float> [ %s.178, %strip.167 ], [ %s.514, %body.168 ]
  %s.189 = phi <8 x float> [ %s.179, %strip.167 ], [ %s.515, %body.168 ]
  %s.190 = phi <8 x float> [ %s.180, %strip.167 ], [ %s.516, %body.168 ]
  %s.191 = phi <8 x float> [ %s.181, %strip.167 ], [ %s.517, %body.168 ]
  %s.192 = phi <8 x float> [ %s.182, %strip.167 ], [ %s.518, %body.168 ]
  %s.193 = phi <8 x float> [ %s.183, %strip.167 ], [ %s.519, %body.168 ]
  %s.194 = phi <8 x float> [ %s.184, %strip.167 ], [ %s.520, %body.168 ]
  ; line 5: s += sin(x[i, j])
  %v195 = sext i32 %j.186 to i64
  %v196 = mul i64 %i.14, %x.shape1.16
  %v197 = add i64 %v196, %v195
  %v198 = mul i64 %v197, 4
  %v199 = mul i64 %x.shape1.16, 4
  %v200 = getelementptr i8, ptr %x.data.78, i64 %v198
  %v201 = getelementptr i8, ptr %v200, i64 0
  %v202 = load float, ptr %v201, align 4
  %x.203 = insertelement <8 x float> poison, float %v202, i64 0
  %v204 = getelementptr i8, ptr %v200, i64 %v199
  %v205 = load float, ptr %v204, align 4
  %x.206 = insertelement <8 x float> %x.203, float %v205, i64 1
  %v207 = mul i64 %v199, 2
  %v208 = getelementptr i8, ptr %v200, i64 %v207
  %v209 = load float, ptr %v208, align 4
  %x.210 = insertelement <8 x float> %x.206, float %v209, i64 2
  %v211 = mul i64 %v199, 3
  %v212 = getelementptr i8, ptr %v200, i64 %v211
  %v213 = load float, ptr %v212, align 4
  %x.214 = insertelement <8 x float> %x.210, float %v213, i64 3
  %v215 = mul i64 %v199, 4
  %v216 = getelementptr i8, ptr %v200, i64 %v215
  %v217 = load float, ptr %v216, align 4
  %x.218 = insertelement <8 x float> %x.214, float %v217, i64 4
  %v219 = mul i64 %v199, 5
  %v220 = getelementptr i8, ptr %v200, i64 %v219
  %v221 = load float, ptr %v220, align 4
  %x.222 = insertelement <8 x float> %x.218, float %v221, i64 5
  %v223 = mul i64 %v199, 6
  %v224 = getelementptr i8, ptr %v200, i64 %v223
  %v225 = load float, ptr %v224, align 4
  %x.226 = insertelement <8 x float> %x.222, float %v225, i64 6
  %v227 = mul i64 %v199, 7
  %v228 = getelementptr i8, ptr %v200, i64 %v227
  %v229 = load float, ptr %v228, align 4
  %x.230 = insertelement <8 x float> %x.226, float %v229, i64 7
  %v231 = sext i32 %j.186 to i64
  %v232 = mul i64 %i.14, %x.shape1.16
  %v233 = add i64 %v232, %v231
  %v234 = mul i64 %v233, 4
  %v235 = mul i64 %x.shape1.16, 4
  %v236 = mul i64 %v235, 8
  %v237 = add i64 %v234, %v236
  %v238 = getelementptr i8, ptr %x.data.78, i64 %v237
  %v239 = getelementptr i8, ptr %v238, i64 0
  %v240 = load float, ptr %v239, align 4
  %x.241 = insertelement <8 x float> poison, float %v240, i64 0
  %v242 = getelementptr i8, ptr %v238, i64 %v235
  %v243 = load float, ptr %v242, align 4
  %x.244 = insertelement <8 x float> %x.241, float %v243, i64 1
  %v245 = mul i64 %v235, 2
  %v246 = getelementptr i8, ptr %v238, i64 %v245
  %v247 = load float, ptr %v246, align 4
  %x.248 = insertelement <8 x float> %x.244, float %v247, i64 2
  %v249 = mul i64 %v235, 3
  %v250 = getelementptr i8, ptr %v238, i64 %v249
  %v251 = load float, ptr %v250, align 4
  %x.252 = insertelement <8 x float> %x.248, float %v251, i64 3
  %v253 = mul i64 %v235, 4
  %v254 = getelementptr i8, ptr %v238, i64 %v253
  %v255 = load float, ptr %v254, align 4
  %x.256 = insertelement <8 x float> %x.252, float %v255, i64 4
  %v257 = mul i64 %v235, 5
  %v258 = getelementptr i8, ptr %v238, i64 %v257
  %v259 = load float, ptr %v258, align 4
  %x.260 = insertelement <8 x float> %x.256, float %v259, i64 5
  %v261 = mul i64 %v235, 6
  %v262 = getelementptr i8, ptr %v238, i64 %v261
  %v263 = load float, ptr %v262, align 4
  %x.264 = insertelement <8 x float> %x.260, float %v263, i64 6
  %v265 = mul i64 %v235, 7
  %v266 = getelementptr i8, ptr %v238, i64 %v265
  %v267 = load float, ptr %v266, align 4
  %x.268 = insertelement <8 x float> %x.264, float %v267, i64 7
  %v269 = sext i32 %j.186 to i64
  %v270 = mul i64 %i.14, %x.shape1.16
  %v271 = add i64 %v270, %v269
  %v272 = mul i64 %v271, 4
  %v273 = mul i64 %x.shape1.16, 4
  %v274 = mul i64 %v273, 16
  %v275 = add i64 %v272, %v274
  %v276 = getelementptr i8, ptr %x.data.78, i64 %v275
  %v277 = getelementptr i8, ptr %v276, i64 0
  %v278 = load float, ptr %v277, align 4
  %x.279 = insertelement <8 x float> poison, float %v278, i64 0
  %v280 = getelementptr i8, ptr %v276, i64 %v273
  %v281 = load float, ptr %v280, align 4
  %x.282 = insertelement <8 x float> %x.279, float %v281, i64 1
  %v283 = mul i64 %v273, 2
  %v284 = getelementptr i8, ptr %v276, i64 %v283
  %v285 = load float, ptr %v284, align 4
  %x.286 = insertelement <8 x float> %x.282, float %v285, i64 2
  %v287 = mul i64 %v273, 3
  %v288 = getelementptr i8, ptr %v276, i64 %v287
  %v289 = load float, ptr %v288, align 4
  %x.290 = insertelement <8 x float> %x.286, float %v289, i64 3
  %v291 = mul i64 %v273, 4
  %v292 = getelementptr i8, ptr %v276, i64 %v291
  %v293 = load float, ptr %v292, align 4
  %x.294 = insertelement <8 x float> %x.290, float %v293, i64 4
  %v295 = mul i64 %v273, 5
  %v296 = getelementptr i8, ptr %v276, i64 %v295
  %v297 = load float, ptr %v296, align 4
  %x.298 = insertelement <8 x float> %x.294, float %v297, i64 5
  %v299 = mul i64 %v273, 6
  %v300 = getelementptr i8, ptr %v276, i64 %v299
  %v301 = load float, ptr %v300, align 4
  %x.302 = insertelement <8 x float> %x.298, float %v301, i64 6
  %v303 = mul i64 %v273, 7
  %v304 = getelementptr i8, ptr %v276, i64 %v303
  %v305 = load float, ptr %v304, align 4
  %x.306 = insertelement <8 x float> %x.302, float %v305, i64 7
  %v307 = sext i32 %j.186 to i64
  %v308 = mul i64 %i.14, %x.shape1.16
  %v309 = add i64 %v308, %v307
  %v310 = mul i64 %v309, 4
  %v311 = mul i64 %x.shape1.16, 4
  %v312 = mul i64 %v311, 24
  %v313 = add i64 %v310, %v312
  %v314 = getelementptr i8, ptr %x.data.78, i64 %v313
  %v315 = getelementptr i8, ptr %v314, i64 0
  %v316 = load float, ptr %v315, align 4
  %x.317 = insertelement <8 x float> poison, float %v316, i64 0
  %v318 = getelementptr i8, ptr %v314, i64 %v311
  %v319 = load float, ptr %v318, align 4
  %x.320 = insertelement <8 x float> %x.317, float %v319, i64 1
  %v321 = mul i64 %v311, 2
  %v322 = getelementptr i8, ptr %v314, i64 %v321
  %v323 = load float, ptr %v322, align 4
  %x.324 = insertelement <8 x float> %x.320, float %v323, i64 2
  %v325 = mul i64 %v311, 3
  %v326 = getelementptr i8, ptr %v314, i64 %v325
  %v327 = load float, ptr %v326, align 4
  %x.328 = insertelement <8 x float> %x.324, float %v327, i64 3
  %v329 = mul i64 %v311, 4
  %v330 = getelementptr i8, ptr %v314, i64 %v329
  %v331 = load float, ptr %v330, align 4
  %x.332 = insertelement <8 x float> %x.328, float %v331, i64 4
  %v333 = mul i64 %v311, 5
  %v334 = getelementptr i8, ptr %v314, i64 %v333
  %v335 = load float, ptr %v334, align 4
  %x.336 = insertelement <8 x float> %x.332, float %v335, i64 5
  %v337 = mul i64 %v311, 6
  %v338 = getelementptr i8, ptr %v314, i64 %v337
  %v339 = load float, ptr %v338, align 4
  %x.340 = insertelement <8 x float> %x.336, float %v339, i64 6
  %v341 = mul i64 %v311, 7
  %v342 = getelementptr i8, ptr %v314, i64 %v341
  %v343 = load float, ptr %v342, align 4
  %x.344 = insertelement <8 x float> %x.340, float %v343, i64 7
  %v345 = sext i32 %j.186 to i64
  %v346 = mul i64 %i.14, %x.shape1.16
  %v347 = add i64 %v346, %v345
  %v348 = mul i64 %v347, 4
  %v349 = mul i64 %x.shape1.16, 4
  %v350 = mul i64 %v349, 32
  %v351 = add i64 %v348, %v350
  %v352 = getelementptr i8, ptr %x.data.78, i64 %v351
  %v353 = getelementptr i8, ptr %v352, i64 0
  %v354 = load float, ptr %v353, align 4
  %x.355 = insertelement <8 x float> poison, float %v354, i64 0
  %v356 = getelementptr i8, ptr %v352, i64 %v349
  %v357 = load float, ptr %v356, align 4
  %x.358 = insertelement <8 x float> %x.355, float %v357, i64 1
  %v359 = mul i64 %v349, 2
  %v360 = getelementptr i8, ptr %v352, i64 %v359
  %v361 = load float, ptr %v360, align 4
  %x.362 = insertelement <8 x float> %x.358, float %v361, i64 2
  %v363 = mul i64 %v349, 3
  %v364 = getelementptr i8, ptr %v352, i64 %v363
  %v365 = load float, ptr %v364, align 4
  %x.366 = insertelement <8 x float> %x.362, float %v365, i64 3
  %v367 = mul i64 %v349, 4
  %v368 = getelementptr i8, ptr %v352, i64 %v367
  %v369 = load float, ptr %v368, align 4
  %x.370 = insertelement <8 x float> %x.366, float %v369, i64 4
  %v371 = mul i64 %v349, 5
  %v372 = getelementptr i8, ptr %v352, i64 %v371
  %v373 = load float, ptr %v372, align 4
  %x.374 = insertelement <8 x float> %x.370, float %v373, i64 5
  %v375 = mul i64 %v349, 6
  %v376 = getelementptr i8, ptr %v352, i64 %v375
  %v377 = load float, ptr %v376, align 4
  %x.378 = insertelement <8 x float> %x.374, float %v377, i64 6
  %v379 = mul i64 %v349, 7
  %v380 = getelementptr i8, ptr %v352, i64 %v379
  %v381 = load float, ptr %v380, align 4
  %x.382 = insertelement <8 x float> %x.378, float %v381, i64 7
  %v383 = sext i32 %j.186 to i64
  %v384 = mul i64 %i.14, %x.shape1.16
  %v385 = add i64 %v384, %v383
  %v386 = mul i64 %v385, 4
  %v387 = mul i64 %x.shape1.16, 4
  %v388 = mul i64 %v387, 40
  %v389 = add i64 %v386, %v388
  %v390 = getelementptr i8, ptr %x.data.78, i64 %v389
  %v391 = getelementptr i8, ptr %v390, i64 0
  %v392 = load float, ptr %v391, align 4
  %x.393 = insertelement <8 x float> poison, float %v392, i64 0
  %v394 = getelementptr i8, ptr %v390, i64 %v387
  %v395 = load float, ptr %v394, align 4
  %x.396 = insertelement <8 x float> %x.393, float %v395, i64 1
  %v397 = mul i64 %v387, 2
  %v398 = getelementptr i8, ptr %v390, i64 %v397
  %v399 = load float, ptr %v398, align 4
  %x.400 = insertelement <8 x float> %x.396, float %v399, i64 2
  %v401 = mul i64 %v387, 3
  %v402 = getelementptr i8, ptr %v390, i64 %v401
  %v403 = load float, ptr %v402, align 4
  %x.404 = insertelement <8 x float> %x.400, float %v403, i64 3
  %v405 = mul i64 %v387, 4
  %v406 = getelementptr i8, ptr %v390, i64 %v405
  %v407 = load float, ptr %v406, align 4
  %x.408 = insertelement <8 x float> %x.404, float %v407, i64 4
  %v409 = mul i64 %v387, 5
  %v410 = getelementptr i8, ptr %v390, i64 %v409
  %v411 = load float, ptr %v410, align 4
  %x.412 = insertelement <8 x float> %x.408, float %v411, i64 5
  %v413 = mul i64 %v387, 6
  %v414 = getelementptr i8, ptr %v390, i64 %v413
  %v415 = load float, ptr %v414, align 4
  %x.416 = insertelement <8 x float> %x.412, float %v415, i64 6
  %v417 = mul i64 %v387, 7
  %v418 = getelementptr i8, ptr %v390, i64 %v417
  %v419 = load float, ptr %v418, align 4
  %x.420 = insertelement <8 x float> %x.416, float %v419, i64 7
  %v421 = sext i32 %j.186 to i64
  %v422 = mul i64 %i.14, %x.shape1.16
  %v423 = add i64 %v422, %v421
  %v424 = mul i64 %v423, 4
  %v425 = mul i64 %x.shape1.16, 4
  %v426 = mul i64 %v425, 48
  %v427 = add i64 %v424, %v426
  %v428 = getelementptr i8, ptr %x.data.78, i64 %v427
  %v429 = getelementptr i8, ptr %v428, i64 0
  %v430 = load float, ptr %v429, align 4
  %x.431 = insertelement <8 x float> poison, float %v430, i64 0
  %v432 = getelementptr i8, ptr %v428, i64 %v425
  %v433 = load float, ptr %v432, align 4
  %x.434 = insertelement <8 x float> %x.431, float %v433, i64 1
  %v435 = mul i64 %v425, 2
  %v436 = getelementptr i8, ptr %v428, i64 %v435
  %v437 = load float, ptr %v436, align 4
  %x.438 = insertelement <8 x float> %x.434, float %v437, i64 2
  %v439 = mul i64 %v425, 3
  %v440 = getelementptr i8, ptr %v428, i64 %v439
  %v441 = load float, ptr %v440, align 4
  %x.442 = insertelement <8 x float> %x.438, float %v441, i64 3
  %v443 = mul i64 %v425, 4
  %v444 = getelementptr i8, ptr %v428, i64 %v443
  %v445 = load float, ptr %v444, align 4
  %x.446 = insertelement <8 x float> %x.442, float %v445, i64 4
  %v447 = mul i64 %v425, 5
  %v448 = getelementptr i8, ptr %v428, i64 %v447
  %v449 = load float, ptr %v448, align 4
  %x.450 = insertelement <8 x float> %x.446, float %v449, i64 5
  %v451 = mul i64 %v425, 6
  %v452 = getelementptr i8, ptr %v428, i64 %v451
  %v453 = load float, ptr %v452, align 4
  %x.454 = insertelement <8 x float> %x.450, float %v453, i64 6
  %v455 = mul i64 %v425, 7
  %v456 = getelementptr i8, ptr %v428, i64 %v455
  %v457 = load float, ptr %v456, align 4
  %x.458 = insertelement <8 x float> %x.454, float %v457, i64 7
  %v459 = sext i32 %j.186 to i64
  %v460 = mul i64 %i.14, %x.shape1.16
  %v461 = add i64 %v460, %v459
  %v462 = mul i64 %v461, 4
  %v463 = mul i64 %x.shape1.16, 4
  %v464 = mul i64 %v463, 56
  %v465 = add i64 %v462, %v464
  %v466 = getelementptr i8, ptr %x.data.78, i64 %v465
  %v467 = getelementptr i8, ptr %v466, i64 0
  %v468 = load float, ptr %v467, align 4
  %x.469 = insertelement <8 x float> poison, float %v468, i64 0
  %v470 = getelementptr i8, ptr %v466, i64 %v463
  %v471 = load float, ptr %v470, align 4
  %x.472 = insertelement <8 x float> %x.469, float %v471, i64 1
  %v473 = mul i64 %v463, 2
  %v474 = getelementptr i8, ptr %v466, i64 %v473
  %v475 = load float, ptr %v474, align 4
  %x.476 = insertelement <8 x float> %x.472, float %v475, i64 2
  %v477 = mul i64 %v463, 3
  %v478 = getelementptr i8, ptr %v466, i64 %v477
  %v479 = load float, ptr %v478, align 4
  %x.480 = insertelement <8 x float> %x.476, float %v479, i64 3
  %v481 = mul i64 %v463, 4
  %v482 = getelementptr i8, ptr %v466, i64 %v481
  %v483 = load float, ptr %v482, align 4
  %x.484 = insertelement <8 x float> %x.480, float %v483, i64 4
  %v485 = mul i64 %v463, 5
  %v486 = getelementptr i8, ptr %v466, i64 %v485
  %v487 = load float, ptr %v486, align 4
  %x.488 = insertelement <8 x float> %x.484, float %v487, i64 5
  %v489 = mul i64 %v463, 6
  %v490 = getelementptr i8, ptr %v466, i64 %v489
  %v491 = load float, ptr %v490, align 4
  %x.492 = insertelement <8 x float> %x.488, float %v491, i64 6
  %v493 = mul i64 %v463, 7
  %v494 = getelementptr i8, ptr %v466, i64 %v493
  %v495 = load float, ptr %v494, align 4
  %x.496 = insertelement <8 x float> %x.492, float %v495, i64 7
  %v497 = shufflevector <8 x float> %x.230, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v498 = call <8 x float> @wbm_sin_32x8(<8 x float> %v497)
  %v499 = shufflevector <8 x float> %x.268, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v500 = call <8 x float> @wbm_sin_32x8(<8 x float> %v499)
  %v501 = shufflevector <8 x float> %x.306, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v502 = call <8 x float> @wbm_sin_32x8(<8 x float> %v501)
  %v503 = shufflevector <8 x float> %x.344, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v504 = call <8 x float> @wbm_sin_32x8(<8 x float> %v503)
  %v505 = shufflevector <8 x float> %x.382, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v506 = call <8 x float> @wbm_sin_32x8(<8 x float> %v505)
  %v507 = shufflevector <8 x float> %x.420, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v508 = call <8 x float> @wbm_sin_32x8(<8 x float> %v507)
  %v509 = shufflevector <8 x float> %x.458, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v510 = call <8 x float> @wbm_sin_32x8(<8 x float> %v509)
  %v511 = shufflevector <8 x float> %x.496, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v512 = call <8 x float> @wbm_sin_32x8(<8 x float> %v511)
  %s.513 = fadd <8 x float> %s.187, %v498
  %s.514 = fadd <8 x float> %s.188, %v500
  %s.515 = fadd <8 x float> %s.189, %v502
  %s.516 = fadd <8 x float> %s.190, %v504
  %s.517 = fadd <8 x float> %s.191, %v506
  %s.518 = fadd <8 x float> %s.192, %v508
  %s.519 = fadd <8 x float> %s.193, %v510
  %s.520 = fadd <8 x float> %s.194, %v512
  ; line 4: for j in range(x.shape[1]):
  %j.next.521 = add nsw i32 %j.186, 1
  %more.522 = icmp ne i32 %j.next.521, %last.185
  br i1 %more.522, label %body.168, label %stripped.169
stripped.169:
  %over.523 = icmp eq i32 %last.185, %v17
  br i1 %over.523, label %endfor.171, label %again.170, !prof !1
again.170:
  %stop.526 = load volatile i32, ptr %stop
  %calm.527 = icmp eq i32 %stop.526, 0
  br i1 %calm.527, label %go.525, label %ask.524, !prof !1
ask.524:
  %v528 = load ptr, ptr %v152
  %v529 = call i32 %v528(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v530 = icmp eq i32 %v529, 0
  br i1 %v530, label %go.525, label %stopped
go.525:
  %left.531 = sub i32 %v17, %last.185
  %few.532 = call i32 @llvm.umin.i32(i32 %left.531, i32 8192)
  %last.533 = add nsw i32 %last.185, %few.532
  br label %strip.167
endfor.171:
  %v534 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.513, %stripped.169 ]
  %v535 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.514, %stripped.169 ]
  %v536 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.515, %stripped.169 ]
  %v537 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.516, %stripped.169 ]
  %v538 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.517, %stripped.169 ]
  %v539 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.518, %stripped.169 ]
  %v540 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.519, %stripped.169 ]
  %v541 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.520, %stripped.169 ]
  br label %endif.22
endif.22:
  %s.542 = phi <8 x float> [ %v159, %endfor.41 ], [ %v534, %endfor.171 ]
  %s.543 = phi <8 x float> [ %v160, %endfor.41 ], [ %v535, %endfor.171 ]
  %s.544 = phi <8 x float> [ %v161, %endfor.41 ], [ %v536, %endfor.171 ]
  %s.545 = phi <8 x float> [ %v162, %endfor.41 ], [ %v537, %endfor.171 ]
  %s.546 = phi <8 x float> [ %v163, %endfor.41 ], [ %v538, %endfor.171 ]
  %s.547 = phi <8 x float> [ %v164, %endfor.41 ], [ %v539, %endfor.171 ]
  %s.548 = phi <8 x float> [ %v165, %endfor.41 ], [ %v540, %endfor.171 ]
  %s.549 = phi <8 x float> [ %v166, %endfor.41 ], [ %v541, %endfor.171 ]
  ; line 6: y[i] = s
  %v550 = mul i64 %i.14, 4
  %v553 = getelementptr i8, ptr %y.data.552, i64 %v550
  store <8 x float> %s.542, ptr %v553, align 4
  %v554 = mul i64 %i.14, 4
  %v555 = add i64 %v554, 32
  %v556 = getelementptr i8, ptr %y.data.552, i64 %v555
  store <8 x float> %s.543, ptr %v556, align 4
  %v557 = mul i64 %i.14, 4
  %v558 = add i64 %v557, 64
  %v559 = getelementptr i8, ptr %y.data.552, i64 %v558
  store <8 x float> %s.544, ptr %v559, align 4
  %v560 = mul i64 %i.14, 4
  %v561 = add i64 %v560, 96
  %v562 = getelementptr i8, ptr %y.data.552, i64 %v561
  store <8 x float> %s.545, ptr %v562, align 4
  %v563 = mul i64 %i.14, 4
  %v564 = add i64 %v563, 128
  %v565 = getelementptr i8, ptr %y.data.552, i64 %v564
  store <8 x float> %s.546, ptr %v565, align 4
  %v566 = mul i64 %i.14, 4
  %v567 = add i64 %v566, 160
  %v568 = getelementptr i8, ptr %y.data.552, i64 %v567
  store <8 x float> %s.547, ptr %v568, align 4
  %v569 = mul i64 %i.14, 4
  %v570 = add i64 %v569, 192
  %v571 = getelementptr i8, ptr %y.data.552, i64 %v570
  store <8 x float> %s.548, ptr %v571, align 4
  %v572 = mul i64 %i.14, 4
  %v573 = add i64 %v572, 224
  %v574 = getelementptr i8, ptr %y.data.552, i64 %v573
  store <8 x float> %s.549, ptr %v574, align 4
  %stop.577 = load volatile i32, ptr %stop
  %calm.578 = icmp eq i32 %stop.577, 0
  br i1 %calm.578, label %go.576, label %ask.575, !prof !1
ask.575:
  %v580 = sext i32 %gang.10 to i64
  store i64 %v580, ptr %v579
  %v581 = load ptr, ptr %v152
  %v582 = call i32 %v581(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v583 = icmp eq i32 %v582, 0
  br i1 %v583, label %go.576, label %stopped
go.576:
  %v584 = add nsw i32 %gang.10, 64
  %v585 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %v589 = sub nsw i32 %high.2, %gangs.9
  %v590 = call i32 @llvm.smax.i32(i32 %v589, i32 0)
  %v591 = and i32 %v590, -16
  %gangs.592 = add nsw i32 %gangs.9, %v591
  br label %gangs.586
gangs.586:
  %gang.593 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %v815, %on.804 ]
  %number.594 = phi i32 [ 0, %gangs.end.5 ], [ %v816, %on.804 ]
  %more.595 = icmp slt i32 %gang.593, %gangs.592
  br i1 %more.595, label %gang.587, label %gangs.end.588
gang.587:
  ; line 2: i = tid()
  %i.597 = sext i32 %gang.593 to i64
  ; line 4: for j in range(x.shape[1]):
  %v598 = trunc i64 %x.shape1.16 to i32
  %v599 = add i32 0, 16
  %v600 = icmp sge i32 %v598, %v599
  br i1 %v600, label %then.601, label %else.602
then.601:
  %v604 = icmp sgt i32 16, 0
  %v605 = select i1 %v604, i32 0, i32 %v598
  %v606 = select i1 %v604, i32 %v598, i32 0
  %v607 = icmp slt i32 %v605, %v606
  %v608 = sub i32 %v606, %v605
  %v609 = sub i32 0, 16
  %v610 = select i1 %v604, i32 16, i32 %v609
  %v611 = icmp ne i32 16, 0
  %v612 = and i1 %v607, %v611
  %v613 = select i1 %v612, i32 %v610, i32 1
  %v614 = sub i32 %v608, 1
  %v615 = udiv i32 %v614, %v613
  %v616 = add i32 %v615, 1
  %iterations.617 = select i1 %v612, i32 %v616, i32 0
  %left.623 = sub i32 %iterations.617, 0
  %few.624 = call i32 @llvm.umin.i32(i32 %left.623, i32 512)
  %last.625 = add nuw i32 0, %few.624
  %more.626 = icmp ult i32 0, %iterations.617
  br i1 %more.626, label %strip.618, label %endfor.622
strip.618:
  %first.627 = phi i32 [ 0, %then.601 ], [ %first.next.669, %go.674 ]
  %count.628 = phi i32 [ 0, %then.601 ], [ %last.631, %go.674 ]
  %s.629 = phi <8 x float> [ splat (float 0x0000000000000000), %then.601 ], [ %s.651, %go.674 ]
  %s.630 = phi <8 x float> [ splat (float 0x0000000000000000), %then.601 ], [ %s.652, %go.674 ]
  %last.631 = phi i32 [ %last.625, %then.601 ], [ %last.682, %go.674 ]
  br label %body.619
body.619:
  %first.632 = phi i32 [ %first.627, %strip.618 ], [ %first.next.669, %endfor.649 ]
  %count.633 = phi i32 [ %count.628, %strip.618 ], [ %count.next.670, %endfor.649 ]
  %s.634 = phi <8 x float> [ %s.629, %strip.618 ], [ %s.651, %endfor.649 ]
  %s.635 = phi <8 x float> [ %s.630, %strip.618 ], [ %s.652, %endfor.649 ]
  %v636 = sub i32 %v598, %first.632
  %v637 = icmp slt i32 %v636, 16
  %v638 = select i1 %v637, i32 %v636, i32 16
  %v639 = sub i32 %v638, 1
  %v640 = add i32 %first.632, %v639
  %v641 = sext i32 %first.632 to i64
  %v642 = mul i64 %i.597, %x.shape1.16
  %v643 = add i64 %v642, %v641
  %v644 = mul i64 %v643, 4
  %v645 = mul i64 %x.shape1.16, 4
  %v646 = getelementptr i8, ptr %x.data.78, i64 %v644
  call void @wb.row_load.float32.8.2.1.1(ptr %v646, i64 %v645, ptr %slots.596, i32 %v638, i64 -1)
  br label %for.647
for.647:
  %turn.650 = phi i32 [ 0, %body.619 ], [ %turn.next.668, %body.648 ]
  %s.651 = phi <8 x float> [ %s.634, %body.619 ], [ %s.666, %body.648 ]
  %s.652 = phi <8 x float> [ %s.635, %body.619 ], [ %s.667, %body.648 ]
  %more.653 = icmp slt i32 %turn.650, %v638
  br i1 %more.653, label %body.648, label %endfor.649
body.648:
  %j.654 = add i32 %first.632, %turn.650
  %v655 = sub i32 %v639, %turn.650
  ; line 5: s += sin(x[i, j])
  %v656 = sext i32 %turn.650 to i64
  %v657 = getelementptr [2 x <8 x float>], ptr %slots.596, i64 %v656, i64 0
  %v658 = load <8 x float>, ptr %v657
  %v659 = sext i32 %turn.650 to i64
  %v660 = getelementptr [2 x <8 x float>], ptr %slots.596, i64 %v659, i64 1
  %v661 = load <8 x float>, ptr %v660
  %v662 = shufflevector <8 x float> %v658, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v663 = call <8 x float> @wbm_sin_32x8(<8 x float> %v662)
  %v664 = shufflevector <8 x float> %v661, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v665 = call <8 x float> @wbm_sin_32x8(<8 x float> %v664)
  %s.666 = fadd <8 x float> %s.651, %v663
  %s.667 = fadd <8 x float> %s.652, %v665
  ; line 4: for j in range(x.shape[1]):
  %turn.next.668 = add nsw i32 %turn.650, 1
  br label %for.647
endfor.649:
  %first.next.669 = add nsw i32 %first.632, 16
  %count.next.670 = add nuw i32 %count.633, 1
  %more.671 = icmp ne i32 %count.next.670, %last.631
  br i1 %more.671, label %body.619, label %stripped.620
stripped.620:
  %over.672 = icmp eq i32 %last.631, %iterations.617
  br i1 %over.672, label %endfor.622, label %again.621, !prof !1
again.621:
  %stop.675 = load volatile i32, ptr %stop
  %calm.676 = icmp eq i32 %stop.675, 0
  br i1 %calm.676, label %go.674, label %ask.673, !prof !1
ask.673:
  %v677 = load ptr, ptr %v152
  %v678 = call i32 %v677(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v679 = icmp eq i32 %v678, 0
  br i1 %v679, label %go.674, label %stopped
go.674:
  %left.680 = sub i32 %iterations.617, %last.631
  %few.681 = call i32 @llvm.umin.i32(i32 %left.680, i32 512)
  %last.682 = add nuw i32 %last.631, %few.681
  br label %strip.618
endfor.622:
  %v683 = phi <8 x float> [ splat (float 0x0000000000000000), %then.601 ], [ %s.651, %stripped.620 ]
  %v684 = phi <8 x float> [ splat (float 0x0000000000000000), %then.601 ], [ %s.652, %stripped.620 ]
  br label %endif.603
else.602:
  %left.690 = sub i32 %v598, 0
  %few.691 = call i32 @llvm.umin.i32(i32 %left.690, i32 8192)
  %last.692 = add nsw i32 0, %few.691
  %more.693 = icmp slt i32 0, %v598
  br i1 %more.693, label %strip.685, label %endfor.689
strip.685:
  %j.694 = phi i32 [ 0, %else.602 ], [ %last.697, %go.785 ]
  %s.695 = phi <8 x float> [ splat (float 0x0000000000000000), %else.602 ], [ %s.779, %go.785 ]
  %s.696 = phi <8 x float> [ splat (float 0x0000000000000000), %else.602 ], [ %s.780, %go.785 ]
  %last.697 = phi i32 [ %last.692, %else.602 ], [ %last.793, %go.785 ]
  br label %body.686
body.686:
  %j.698 = phi i32 [ %j.694, %strip.685 ], [ %j.next.781, %body.686 ]
  %s.699 = phi <8 x float> [ %s.695, %strip.685 ], [ %s.779, %body.686 ]
  %s.700 = phi <8 x float> [ %s.696, %strip.685 ], [ %s.780, %body.686 ]
  ; line 5: s += sin(x[i, j])
  %v701 = sext i32 %j.698 to i64
  %v702 = mul i64 %i.597, %x.shape1.16
  %v703 = add i64 %v702, %v701
  %v704 = mul i64 %v703, 4
  %v705 = mul i64 %x.shape1.16, 4
  %v706 = getelementptr i8, ptr %x.data.78, i64 %v704
  %v707 = getelementptr i8, ptr %v706, i64 0
  %v708 = load float, ptr %v707, align 4
  %x.709 = insertelement <8 x float> poison, float %v708, i64 0
  %v710 = getelementptr i8, ptr %v706, i64 %v705
  %v711 = load float, ptr %v710, align 4
  %x.712 = insertelement <8 x float> %x.709, float %v711, i64 1
  %v713 = mul i64 %v705, 2
  %v714 = getelementptr i8, ptr %v706, i64 %v713
  %v715 = load float, ptr %v714, align 4
  %x.716 = insertelement <8 x float> %x.712, float %v715, i64 2
  %v717 = mul i64 %v705, 3
  %v718 = getelementptr i8, ptr %v706, i64 %v717
  %v719 = load float, ptr %v718, align 4
  %x.720 = insertelement <8 x float> %x.716, float %v719, i64 3
  %v721 = mul i64 %v705, 4
  %v722 = getelementptr i8, ptr %v706, i64 %v721
  %v723 = load float, ptr %v722, align 4
  %x.724 = insertelement <8 x float> %x.720, float %v723, i64 4
  %v725 = mul i64 %v705, 5
  %v726 = getelementptr i8, ptr %v706, i64 %v725
  %v727 = load float, ptr %v726, align 4
  %x.728 = insertelement <8 x float> %x.724, float %v727, i64 5
  %v729 = mul i64 %v705, 6
  %v730 = getelementptr i8, ptr %v706, i64 %v729
  %v731 = load float, ptr %v730, align 4
  %x.732 = insertelement <8 x float> %x.728, float %v731, i64 6
  %v733 = mul i64 %v705, 7
  %v734 = getelementptr i8, ptr %v706, i64 %v733
  %v735 = load float, ptr %v734, align 4
  %x.736 = insertelement <8 x float> %x.732, float %v735, i64 7
  %v737 = sext i32 %j.698 to i64
  %v738 = mul i64 %i.597, %x.shape1.16
  %v739 = add i64 %v738, %v737
  %v740 = mul i64 %v739, 4
  %v741 = mul i64 %x.shape1.16, 4
  %v742 = mul i64 %v741, 8
  %v743 = add i64 %v740, %v742
  %v744 = getelementptr i8, ptr %x.data.78, i64 %v743
  %v745 = getelementptr i8, ptr %v744, i64 0
  %v746 = load float, ptr %v745, align 4
  %x.747 = insertelement <8 x float> poison, float %v746, i64 0
  %v748 = getelementptr i8, ptr %v744, i64 %v741
  %v749 = load float, ptr %v748, align 4
  %x.750 = insertelement <8 x float> %x.747, float %v749, i64 1
  %v751 = mul i64 %v741, 2
  %v752 = getelementptr i8, ptr %v744, i64 %v751
  %v753 = load float, ptr %v752, align 4
  %x.754 = insertelement <8 x float> %x.750, float %v753, i64 2
  %v755 = mul i64 %v741, 3
  %v756 = getelementptr i8, ptr %v744, i64 %v755
  %v757 = load float, ptr %v756, align 4
  %x.758 = insertelement <8 x float> %x.754, float %v757, i64 3
  %v759 = mul i64 %v741, 4
  %v760 = getelementptr i8, ptr %v744, i64 %v759
  %v761 = load float, ptr %v760, align 4
  %x.762 = insertelement <8 x float> %x.758, float %v761, i64 4
  %v763 = mul i64 %v741, 5
  %v764 = getelementptr i8, ptr %v744, i64 %v763
  %v765 = load float, ptr %v764, align 4
  %x.766 = insertelement <8 x float> %x.762, float %v765, i64 5
  %v767 = mul i64 %v741, 6
  %v768 = getelementptr i8, ptr %v744, i64 %v767
  %v769 = load float, ptr %v768, align 4
  %x.770 = insertelement <8 x float> %x.766, float %v769, i64 6
  %v771 = mul i64 %v741, 7
  %v772 = getelementptr i8, ptr %v744, i64 %v771
  %v773 = load float, ptr %v772, align 4
  %x.774 = insertelement <8 x float> %x.770, float %v773, i64 7
  %v775 = shufflevector <8 x float> %x.736, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v776 = call <8 x float> @wbm_sin_32x8(<8 x float> %v775)
  %v777 = shufflevector <8 x float> %x.774, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v778 = call <8 x float> @wbm_sin_32x8(<8 x float> %v777)
  %s.779 = fadd <8 x float> %s.699, %v776
  %s.780 = fadd <8 x float> %s.700, %v778
  ; line 4: for j in range(x.shape[1]):
  %j.next.781 = add nsw i32 %j.698, 1
  %more.782 = icmp ne i32 %j.next.781, %last.697
  br i1 %more.782, label %body.686, label %stripped.687
stripped.687:
  %over.783 = icmp eq i32 %last.697, %v598
  br i1 %over.783, label %endfor.689, label %again.688, !prof !1
again.688:
  %stop.786 = load volatile i32, ptr %stop
  %calm.787 = icmp eq i32 %stop.786, 0
  br i1 %calm.787, label %go.785, label %ask.784, !prof !1
ask.784:
  %v788 = load ptr, ptr %v152
  %v789 = call i32 %v788(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v790 = icmp eq i32 %v789, 0
  br i1 %v790, label %go.785, label %stopped
go.785:
  %left.791 = sub i32 %v598, %last.697
  %few.792 = call i32 @llvm.umin.i32(i32 %left.791, i32 8192)
  %last.793 = add nsw i32 %last.697, %few.792
  br label %strip.685
endfor.689:
  %v794 = phi <8 x float> [ splat (float 0x0000000000000000), %else.602 ], [ %s.779, %stripped.687 ]
  %v795 = phi <8 x float> [ splat (float 0x0000000000000000), %else.602 ], [ %s.780, %stripped.687 ]
  br label %endif.603
endif.603:
  %s.796 = phi <8 x float> [ %v683, %endfor.622 ], [ %v794, %endfor.689 ]
  %s.797 = phi <8 x float> [ %v684, %endfor.622 ], [ %v795, %endfor.689 ]
  ; line 6: y[i] = s
  %v798 = mul i64 %i.597, 4
  %v799 = getelementptr i8, ptr %y.data.552, i64 %v798
  store <8 x float> %s.796, ptr %v799, align 4
  %v800 = mul i64 %i.597, 4
  %v801 = add i64 %v800, 32
  %v802 = getelementptr i8, ptr %y.data.552, i64 %v801
  store <8 x float> %s.797, ptr %v802, align 4
  %v805 = and i32 %number.594, 1
  %early.806 = icmp ne i32 %v805, 1
  br i1 %early.806, label %on.804, label %due.803, !prof !1
due.803:
  %stop.809 = load volatile i32, ptr %stop
  %calm.810 = icmp eq i32 %stop.809, 0
  br i1 %calm.810, label %go.808, label %ask.807, !prof !1
ask.807:
  %v811 = sext i32 %gang.593 to i64
  store i64 %v811, ptr %v579
  %v812 = load ptr, ptr %v152
  %v813 = call i32 %v812(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v814 = icmp eq i32 %v813, 0
  br i1 %v814, label %go.808, label %stopped
go.808:
  br label %on.804
on.804:
  %v815 = add nsw i32 %gang.593, 16
  %v816 = add nsw i32 %number.594, 1
  br label %gangs.586, !llvm.loop !3
gangs.end.588:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.592, %gangs.end.588 ], [ %tid.next, %thread.end ]
  %more.817 = icmp slt i32 %tid, %high.2
  br i1 %more.817, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 4: for j in range(x.shape[1]):
  %v818 = trunc i64 %x.shape1.16 to i32
  %left.824 = sub i32 %v818, 0
  %few.825 = call i32 @llvm.umin.i32(i32 %left.824, i32 8192)
  %last.826 = add nsw i32 0, %few.825
  %more.827 = icmp slt i32 0, %v818
  br i1 %more.827, label %strip.819, label %endfor.823
strip.819:
  %j.828 = phi i32 [ 0, %thread ], [ %last.830, %go.845 ]
  %s.829 = phi float [ 0x0000000000000000, %thread ], [ %s.840, %go.845 ]
  %last.830 = phi i32 [ %last.826, %thread ], [ %last.853, %go.845 ]
  br label %body.820
body.820:
  %j.831 = phi i32 [ %j.828, %strip.819 ], [ %j.next.841, %body.820 ]
  %s.832 = phi float [ %s.829, %strip.819 ], [ %s.840, %body.820 ]
  ; line 5: s += sin(x[i, j])
  %v833 = sext i32 %tid to i64
  %v834 = sext i32 %j.831 to i64
  %v835 = mul nsw i64 %v833, %x.shape1.16
  %v836 = add nsw i64 %v835, %v834
  %v837 = getelementptr inbounds float, ptr %x.data.78, i64 %v836
  %v838 = load float, ptr %v837
  %v839 = call float @wbm_sin_32(float %v838) #1
  %s.840 = fadd float %s.832, %v839
  ; line 4: for j in range(x.shape[1]):
  %j.next.841 = add nsw i32 %j.831, 1
  %more.842 = icmp ne i32 %j.next.841, %last.830
  br i1 %more.842, label %body.820, label %stripped.821
stripped.821:
  %over.843 = icmp eq i32 %last.830, %v818
  br i1 %over.843, label %endfor.823, label %again.822, !prof !1
again.822:
  %stop.846 = load volatile i32, ptr %stop
  %calm.847 = icmp eq i32 %stop.846, 0
  br i1 %calm.847, label %go.845, label %ask.844, !prof !1
ask.844:
  %v848 = load ptr, ptr %v152
  %v849 = call i32 %v848(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v850 = icmp eq i32 %v849, 0
  br i1 %v850, label %go.845, label %stopped
go.845:
  %left.851 = sub i32 %v818, %last.830
  %few.852 = call i32 @llvm.umin.i32(i32 %left.851, i32 8192)
  %last.853 = add nsw i32 %last.830, %few.852
  br label %strip.819
endfor.823:
  %v854 = phi float [ 0x0000000000000000, %thread ], [ %s.840, %stripped.821 ]
  ; line 6: y[i] = s
  %v855 = sext i32 %tid to i64
  %v856 = getelementptr inbounds float, ptr %y.data.552, i64 %v855
  store float %v854, ptr %v856
  %v859 = and i32 %tid, 31
  %early.860 = icmp ne i32 %v859, 31
  br i1 %early.860, label %on.858, label %due.857, !prof !1
due.857:
  %stop.863 = load volatile i32, ptr %stop
  %calm.864 = icmp eq i32 %stop.863, 0
  br i1 %calm.864, label %go.862, label %ask.861, !prof !1
ask.861:
  %v865 = sext i32 %tid to i64
  store i64 %v865, ptr %v579
  %v866 = load ptr, ptr %v152
  %v867 = call i32 %v866(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v868 = icmp eq i32 %v867, 0
  br i1 %v868, label %go.862, label %stopped
go.862:
  br label %on.858
on.858:
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !4
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
define internal void @wb.row_load.float32.8.8.1.1(ptr %rows, i64 %step, ptr %slots, i32 %count, i64 %on) noinline nounwind {
entry:
  %some = icmp sgt i32 %count, 0
  br i1 %some, label %group, label %exit
group:
  %lane = phi i64 [ 0, %entry ], [ %lane.next, %group.end ]
  %shifted = lshr i64 %on, %lane
  %bits = trunc i64 %shifted to i8
  %flags = bitcast i8 %bits to <8 x i1>
  %all = icmp eq i8 %bits, -1
  %own = getelementptr float, ptr %slots, i64 %lane
  br label %block
block:
  %first = phi i32 [ 0, %group ], [ %first.next, %block.end ]
  %left = sub i32 %count, %first
  %enough = icmp sge i32 %left, 8
  %full = and i1 %enough, %all
  %at = zext i32 %first to i64
  br i1 %full, label %whole, label %part.block
whole:
  %v1 = add i64 %lane, 0
  %v2 = mul i64 %v1, %step
  %v3 = getelementptr i8, ptr %rows, i64 %v2
  %v4 = getelementptr float, ptr %v3, i64 %at
  %v5 = add i64 %lane, 1
  %v6 = mul i64 %v5, %step
  %v7 = getelementptr i8, ptr %rows, i64 %v6
  %v8 = getelementptr float, ptr %v7, i64 %at
  %v9 = add i64 %lane, 2
  %v10 = mul i64 %v9, %step
  %v11 = getelementptr i8, ptr %rows, i64 %v10
  %v12 = getelementptr float, ptr %v11, i64 %at
  %v13 = add i64 %lane, 3
  %v14 = mul i64 %v13, %step
  %v15 = getelementptr i8, ptr %rows, i64 %v14
  %v16 = getelementptr float, ptr %v15, i64 %at
  %v17 = add i64 %lane, 4
  %v18 = mul i64 %v17, %step
  %v19 = getelementptr i8, ptr %rows, i64 %v18
  %v20 = getelementptr float, ptr %v19, i64 %at
  %v21 = add i64 %lane, 5
  %v22 = mul i64 %v21, %step
  %v23 = getelementptr i8, ptr %rows, i64 %v22
  %v24 = getelementptr float, ptr %v23, i64 %at
  %v25 = add i64 %lane, 6
  %v26 = mul i64 %v25, %step
  %v27 = getelementptr i8, ptr %rows, i64 %v26
  %v28 = getelementptr float, ptr %v27, i64 %at
  %v29 = add i64 %lane, 7
  %v30 = mul i64 %v29, %step
  %v31 = getelementptr i8, ptr %rows, i64 %v30
  %v32 = getelementptr float, ptr %v31, i64 %at
  %v33 = getelementptr i8, ptr %v4, i64 256
  call void @llvm.prefetch.p0(ptr %v33, i32 0, i32 2, i32 1)
  %v34 = getelementptr i8, ptr %v8, i64 256
  call void @llvm.prefetch.p0(ptr %v34, i32 0, i32 2, i32 1)
  %v35 = getelementptr i8, ptr %v12, i64 256
  call void @llvm.prefetch.p0(ptr %v35, i32 0, i32 2, i32 1)
  %v36 = getelementptr i8, ptr %v16, i64 256
  call void @llvm.prefetch.p0(ptr %v36, i32 0, i32 2, i32 1)
  %v37 = getelementptr i8, ptr %v20, i64 256
  call void @llvm.prefetch.p0(ptr %v37, i32 0, i32 2, i32 1)
  %v38 = getelementptr i8, ptr %v24, i64 256
  call void @llvm.prefetch.p0(ptr %v38, i32 0, i32 2, i32 1)
  %v39 = getelementptr i8, ptr %v28, i64 256
  call void @llvm.prefetch.p0(ptr %v39, i32 0, i32 2, i32 1)
  %v40 = getelementptr i8, ptr %v32, i64 256
  call void @llvm.prefetch.p0(ptr %v40, i32 0, i32 2, i32 1)
  %v41 = load <8 x float>, ptr %v4, align 4
  %v42 = load <8 x float>, ptr %v8, align 4
  %v43 = load <8 x float>, ptr %v12, align 4
  %v44 = load <8 x float>, ptr %v16, align 4
  %v45 = load <8 x float>, ptr %v20, align 4
  %v46 = load <8 x float>, ptr %v24, align 4
  %v47 = load <8 x float>, ptr %v28, align 4
  %v48 = load <8 x float>, ptr %v32, align 4
  %v49 = shufflevector <8 x float> %v41, <8 x float> %v42, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v50 = shufflevector <8 x float> %v41, <8 x float> %v42, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v51 = shufflevector <8 x float> %v43, <8 x float> %v44, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v52 = shufflevector <8 x float> %v43, <8 x float> %v44, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v53 = shufflevector <8 x float> %v45, <8 x float> %v46, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v54 = shufflevector <8 x float> %v45, <8 x float> %v46, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v55 = shufflevector <8 x float> %v47, <8 x float> %v48, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v56 = shufflevector <8 x float> %v47, <8 x float> %v48, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v57 = shufflevector <8 x float> %v49, <8 x float> %v51, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v58 = shufflevector <8 x float> %v49, <8 x float> %v51, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v59 = shufflevector <8 x float> %v50, <8 x float> %v52, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v60 = shufflevector <8 x float> %v50, <8 x float> %v52, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v61 = shufflevector <8 x float> %v53, <8 x float> %v55, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v62 = shufflevector <8 x float> %v53, <8 x float> %v55, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v63 = shufflevector <8 x float> %v54, <8 x float> %v56, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v64 = shufflevector <8 x float> %v54, <8 x float> %v56, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v65 = shufflevector <8 x float> %v57, <8 x float> %v61, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v66 = shufflevector <8 x float> %v58, <8 x float> %v62, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v67 = shufflevector <8 x float> %v59, <8 x float> %v63, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v68 = shufflevector <8 x float> %v60, <8 x float> %v64, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v69 = shufflevector <8 x float> %v57, <8 x float> %v61, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v70 = shufflevector <8 x float> %v58, <8 x float> %v62, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v71 = shufflevector <8 x float> %v59, <8 x float> %v63, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v72 = shufflevector <8 x float> %v60, <8 x float> %v64, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v73 = getelementptr [64 x float], ptr %own, i64 %at
  %v74 = getelementptr float, ptr %v73, i64 0
  store <8 x float> %v65, ptr %v74, align 4
  %v75 = getelementptr [64 x float], ptr %own, i64 %at
  %v76 = getelementptr float, ptr %v75, i64 64
  store <8 x float> %v66, ptr %v76, align 4
  %v77 = getelementptr [64 x float], ptr %own, i64 %at
  %v78 = getelementptr float, ptr %v77, i64 128
  store <8 x float> %v67, ptr %v78, align 4
  %v79 = getelementptr [64 x float], ptr %own, i64 %at
  %v80 = getelementptr float, ptr %v79, i64 192
  store <8 x float> %v68, ptr %v80, align 4
  %v81 = getelementptr [64 x float], ptr %own, i64 %at
  %v82 = getelementptr float, ptr %v81, i64 256
  store <8 x float> %v69, ptr %v82, align 4
  %v83 = getelementptr [64 x float], ptr %own, i64 %at
  %v84 = getelementptr float, ptr %v83, i64 320
  store <8 x float> %v70, ptr %v84, align 4
  %v85 = getelementptr [64 x float], ptr %own, i64 %at
  %v86 = getelementptr float, ptr %v85, i64 384
  store <8 x float> %v71, ptr %v86, align 4
  %v87 = getelementptr [64 x float], ptr %own, i64 %at
  %v88 = getelementptr float, ptr %v87, i64 448
  store <8 x float> %v72, ptr %v88, align 4
  br label %block.end
part.block:
  %l = insertelement <8 x i32> poison, i32 %left, i32 0
  %lefts = shufflevector <8 x i32> %l, <8 x i32> poison, <8 x i32> zeroinitializer
  %there = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %lefts
  %v89 = add i64 %lane, 0
  %v90 = mul i64 %v89, %step
  %v91 = getelementptr i8, ptr %rows, i64 %v90
  %v92 = getelementptr float, ptr %v91, i64 %at
  %v93 = add i64 %lane, 1
  %v94 = mul i64 %v93, %step
  %v95 = getelementptr i8, ptr %rows, i64 %v94
  %v96 = getelementptr float, ptr %v95, i64 %at
  %v97 = add i64 %lane, 2
  %v98 = mul i64 %v97, %step
  %v99 = getelementptr i8, ptr %rows, i64 %v98
  %v100 = getelementptr float, ptr %v99, i64 %at
  %v101 = add i64 %lane, 3
  %v102 = mul i64 %v101, %step
  %v103 = getelementptr i8, ptr %rows, i64 %v102
  %v104 = getelementptr float, ptr %v103, i64 %at
  %v105 = add i64 %lane, 4
  %v106 = mul i64 %v105, %step
  %v107 = getelementptr i8, ptr %rows, i64 %v106
  %v108 = getelementptr float, ptr %v107, i64 %at
  %v109 = add i64 %lane, 5
  %v110 = mul i64 %v109, %step
  %v111 = getelementptr i8, ptr %rows, i64 %v110
  %v112 = getelementptr float, ptr %v111, i64 %at
  %v113 = add i64 %lane, 6
  %v114 = mul i64 %v113, %step
  %v115 = getelementptr i8, ptr %rows, i64 %v114
  %v116 = getelementptr float, ptr %v115, i64 %at
  %v117 = add i64 %lane, 7
  %v118 = mul i64 %v117, %step
  %v119 = getelementptr i8, ptr %rows, i64 %v118
  %v120 = getelementptr float, ptr %v119, i64 %at
  %v121 = extractelement <8 x i1> %flags, i64 0
  %v122 = select i1 %v121, <8 x i1> %there, <8 x i1> zeroinitializer
  %v123 = extractelement <8 x i1> %flags, i64 1
  %v124 = select i1 %v123, <8 x i1> %there, <8 x i1> zeroinitializer
  %v125 = extractelement <8 x i1> %flags, i64 2
  %v126 = select i1 %v125, <8 x i1> %there, <8 x i1> zeroinitializer
  %v127 = extractelement <8 x i1> %flags, i64 3
  %v128 = select i1 %v127, <8 x i1> %there, <8 x i1> zeroinitializer
  %v129 = extractelement <8 x i1> %flags, i64 4
  %v130 = select i1 %v129, <8 x i1> %there, <8 x i1> zeroinitializer
  %v131 = extractelement <8 x i1> %flags, i64 5
  %v132 = select i1 %v131, <8 x i1> %there, <8 x i1> zeroinitializer
  %v133 = extractelement <8 x i1> %flags, i64 6
  %v134 = select i1 %v133, <8 x i1> %there, <8 x i1> zeroinitializer
  %v135 = extractelement <8 x i1> %flags, i64 7
  %v136 = select i1 %v135, <8 x i1> %there, <8 x i1> zeroinitializer
  %v137 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v92, i32 4, <8 x i1> %v122, <8 x float> zeroinitializer)
  %v138 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v96, i32 4, <8 x i1> %v124, <8 x float> zeroinitializer)
  %v139 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v100, i32 4, <8 x i1> %v126, <8 x float> zeroinitializer)
  %v140 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v104, i32 4, <8 x i1> %v128, <8 x float> zeroinitializer)
  %v141 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v108, i32 4, <8 x i1> %v130, <8 x float> zeroinitializer)
  %v142 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v112, i32 4, <8 x i1> %v132, <8 x float> zeroinitializer)
  %v143 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v116, i32 4, <8 x i1> %v134, <8 x float> zeroinitializer)
  %v144 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v120, i32 4, <8 x i1> %v136, <8 x float> zeroinitializer)
  %v145 = shufflevector <8 x float> %v137, <8 x float> %v138, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v146 = shufflevector <8 x float> %v137, <8 x float> %v138, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v147 = shufflevector <8 x float> %v139, <8 x float> %v140, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v148 = shufflevector <8 x float> %v139, <8 x float> %v140, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v149 = shufflevector <8 x float> %v141, <8 x float> %v142, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v150 = shufflevector <8 x float> %v141, <8 x float> %v142, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v151 = shufflevector <8 x float> %v143, <8 x float> %v144, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v152 = shufflevector <8 x float> %v143, <8 x float> %v144, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v153 = shufflevector <8 x float> %v145, <8 x float> %v147, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v154 = shufflevector <8 x float> %v145, <8 x float> %v147, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v155 = shufflevector <8 x float> %v146, <8 x float> %v148, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v156 = shufflevector <8 x float> %v146, <8 x float> %v148, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v157 = shufflevector <8 x float> %v149, <8 x float> %v151, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v158 = shufflevector <8 x float> %v149, <8 x float> %v151, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v159 = shufflevector <8 x float> %v150, <8 x float> %v152, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v160 = shufflevector <8 x float> %v150, <8 x float> %v152, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v161 = shufflevector <8 x float> %v153, <8 x float> %v157, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v162 = shufflevector <8 x float> %v154, <8 x float> %v158, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v163 = shufflevector <8 x float> %v155, <8 x float> %v159, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v164 = shufflevector <8 x float> %v156, <8 x float> %v160, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v165 = shufflevector <8 x float> %v153, <8 x float> %v157, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v166 = shufflevector <8 x float> %v154, <8 x float> %v158, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v167 = shufflevector <8 x float> %v155, <8 x float> %v159, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v168 = shufflevector <8 x float> %v156, <8 x float> %v160, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v169 = getelementptr [64 x float], ptr %own, i64 %at
  %v170 = getelementptr float, ptr %v169, i64 0
  store <8 x float> %v161, ptr %v170, align 4
  %v171 = getelementptr [64 x float], ptr %own, i64 %at
  %v172 = getelementptr float, ptr %v171, i64 64
  store <8 x float> %v162, ptr %v172, align 4
  %v173 = getelementptr [64 x float], ptr %own, i64 %at
  %v174 = getelementptr float, ptr %v173, i64 128
  store <8 x float> %v163, ptr %v174, align 4
  %v175 = getelementptr [64 x float], ptr %own, i64 %at
  %v176 = getelementptr float, ptr %v175, i64 192
  store <8 x float> %v164, ptr %v176, align 4
  %v177 = getelementptr [64 x float], ptr %own, i64 %at
  %v178 = getelementptr float, ptr %v177, i64 256
  store <8 x float> %v165, ptr %v178, align 4
  %v179 = getelementptr [64 x float], ptr %own, i64 %at
  %v180 = getelementptr float, ptr %v179, i64 320
  store <8 x float> %v166, ptr %v180, align 4
  %v181 = getelementptr [64 x float], ptr %own, i64 %at
  %v182 = getelementptr float, ptr %v181, i64 384
  store <8 x float> %v167, ptr %v182, align 4
  %v183 = getelementptr [64 x float], ptr %own, i64 %at
  %v184 = getelementptr float, ptr %v183, i64 448
  store <8 x float> %v168, ptr %v184, align 4
  br label %block.end
block.end:
  %first.next = add i32 %first, 8
  %more = icmp slt i32 %first.next, %count
  br i1 %more, label %block, label %group.end
group.end:
  %lane.next = add i64 %lane, 8
  %lanes.more = icmp ult i64 %lane.next, 64
  br i1 %lanes.more, label %group, label %exit
exit:
  ret void
}
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare float @wbm_sin_32(float) nounwind willreturn memory(none)
declare <8 x float> @wbm_sin_32x8(<8 x float>) nounwind willreturn memory(none)
define internal void @wb.row_load.float32.8.2.1.1(ptr %rows, i64 %step, ptr %slots, i32 %count, i64 %on) noinline nounwind {
entry:
  %some = icmp sgt i32 %count, 0
  br i1 %some, label %group, label %exit
group:
  %lane = phi i64 [ 0, %entry ], [ %lane.next, %group.end ]
  %shifted = lshr i64 %on, %lane
  %bits = trunc i64 %shifted to i8
  %flags = bitcast i8 %bits to <8 x i1>
  %all = icmp eq i8 %bits, -1
  %own = getelementptr float, ptr %slots, i64 %lane
  br label %block
block:
  %first = phi i32 [ 0, %group ], [ %first.next, %block.end ]
  %left = sub i32 %count, %first
  %enough = icmp sge i32 %left, 8
  %full = and i1 %enough, %all
  %at = zext i32 %first to i64
  br i1 %full, label %whole, label %part.block
whole:
  %v1 = add i64 %lane, 0
  %v2 = mul i64 %v1, %step
  %v3 = getelementptr i8, ptr %rows, i64 %v2
  %v4 = getelementptr float, ptr %v3, i64 %at
  %v5 = add i64 %lane, 1
  %v6 = mul i64 %v5, %step
  %v7 = getelementptr i8, ptr %rows, i64 %v6
  %v8 = getelementptr float, ptr %v7, i64 %at
  %v9 = add i64 %lane, 2
  %v10 = mul i64 %v9, %step
  %v11 = getelementptr i8, ptr %rows, i64 %v10
  %v12 = getelementptr float, ptr %v11, i64 %at
  %v13 = add i64 %lane, 3
  %v14 = mul i64 %v13, %step
  %v15 = getelementptr i8, ptr %rows, i64 %v14
  %v16 = getelementptr float, ptr %v15, i64 %at
  %v17 = add i64 %lane, 4
  %v18 = mul i64 %v17, %step
  %v19 = getelementptr i8, ptr %rows, i64 %v18
  %v20 = getelementptr float, ptr %v19, i64 %at
  %v21 = add i64 %lane, 5
  %v22 = mul i64 %v21, %step
  %v23 = getelementptr i8, ptr %rows, i64 %v22
  %v24 = getelementptr float, ptr %v23, i64 %at
  %v25 = add i64 %lane, 6
  %v26 = mul i64 %v25, %step
  %v27 = getelementptr i8, ptr %rows, i64 %v26
  %v28 = getelementptr float, ptr %v27, i64 %at
  %v29 = add i64 %lane, 7
  %v30 = mul i64 %v29, %step
  %v31 = getelementptr i8, ptr %rows, i64 %v30
  %v32 = getelementptr float, ptr %v31, i64 %at
  %v33 = getelementptr i8, ptr %v4, i64 256
  call void @llvm.prefetch.p0(ptr %v33, i32 0, i32 2, i32 1)
  %v34 = getelementptr i8, ptr %v8, i64 256
  call void @llvm.prefetch.p0(ptr %v34, i32 0, i32 2, i32 1)
  %v35 = getelementptr i8, ptr %v12, i64 256
  call void @llvm.prefetch.p0(ptr %v35, i32 0, i32 2, i32 1)
  %v36 = getelementptr i8, ptr %v16, i64 256
  call void @llvm.prefetch.p0(ptr %v36, i32 0, i32 2, i32 1)
  %v37 = getelementptr i8, ptr %v20, i64 256
  call void @llvm.prefetch.p0(ptr %v37, i32 0, i32 2, i32 1)
  %v38 = getelementptr i8, ptr %v24, i64 256
  call void @llvm.prefetch.p0(ptr %v38, i32 0, i32 2, i32 1)
  %v39 = getelementptr i8, ptr %v28, i64 256
  call void @llvm.prefetch.p0(ptr %v39, i32 0, i32 2, i32 1)
  %v40 = getelementptr i8, ptr %v32, i64 256
  call void @llvm.prefetch.p0(ptr %v40, i32 0, i32 2, i32 1)
  %v41 = load <8 x float>, ptr %v4, align 4
  %v42 = load <8 x float>, ptr %v8, align 4
  %v43 = load <8 x float>, ptr %v12, align 4
  %v44 = load <8 x float>, ptr %v16, align 4
  %v45 = load <8 x float>, ptr %v20, align 4
  %v46 = load <8 x float>, ptr %v24, align 4
  %v47 = load <8 x float>, ptr %v28, align 4
  %v48 = load <8 x float>, ptr %v32, align 4
  %v49 = shufflevector <8 x float> %v41, <8 x float> %v42, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v50 = shufflevector <8 x float> %v41, <8 x float> %v42, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v51 = shufflevector <8 x float> %v43, <8 x float> %v44, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v52 = shufflevector <8 x float> %v43, <8 x float> %v44, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v53 = shufflevector <8 x float> %v45, <8 x float> %v46, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v54 = shufflevector <8 x float> %v45, <8 x float> %v46, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v55 = shufflevector <8 x float> %v47, <8 x float> %v48, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v56 = shufflevector <8 x float> %v47, <8 x float> %v48, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v57 = shufflevector <8 x float> %v49, <8 x float> %v51, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v58 = shufflevector <8 x float> %v49, <8 x float> %v51, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v59 = shufflevector <8 x float> %v50, <8 x float> %v52, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v60 = shufflevector <8 x float> %v50, <8 x float> %v52, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v61 = shufflevector <8 x float> %v53, <8 x float> %v55, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v62 = shufflevector <8 x float> %v53, <8 x float> %v55, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v63 = shufflevector <8 x float> %v54, <8 x float> %v56, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v64 = shufflevector <8 x float> %v54, <8 x float> %v56, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v65 = shufflevector <8 x float> %v57, <8 x float> %v61, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v66 = shufflevector <8 x float> %v58, <8 x float> %v62, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v67 = shufflevector <8 x float> %v59, <8 x float> %v63, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v68 = shufflevector <8 x float> %v60, <8 x float> %v64, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v69 = shufflevector <8 x float> %v57, <8 x float> %v61, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v70 = shufflevector <8 x float> %v58, <8 x float> %v62, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v71 = shufflevector <8 x float> %v59, <8 x float> %v63, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v72 = shufflevector <8 x float> %v60, <8 x float> %v64, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v73 = getelementptr [16 x float], ptr %own, i64 %at
  %v74 = getelementptr float, ptr %v73, i64 0
  store <8 x float> %v65, ptr %v74, align 4
  %v75 = getelementptr [16 x float], ptr %own, i64 %at
  %v76 = getelementptr float, ptr %v75, i64 16
  store <8 x float> %v66, ptr %v76, align 4
  %v77 = getelementptr [16 x float], ptr %own, i64 %at
  %v78 = getelementptr float, ptr %v77, i64 32
  store <8 x float> %v67, ptr %v78, align 4
  %v79 = getelementptr [16 x float], ptr %own, i64 %at
  %v80 = getelementptr float, ptr %v79, i64 48
  store <8 x float> %v68, ptr %v80, align 4
  %v81 = getelementptr [16 x float], ptr %own, i64 %at
  %v82 = getelementptr float, ptr %v81, i64 64
  store <8 x float> %v69, ptr %v82, align 4
  %v83 = getelementptr [16 x float], ptr %own, i64 %at
  %v84 = getelementptr float, ptr %v83, i64 80
  store <8 x float> %v70, ptr %v84, align 4
  %v85 = getelementptr [16 x float], ptr %own, i64 %at
  %v86 = getelementptr float, ptr %v85, i64 96
  store <8 x float> %v71, ptr %v86, align 4
  %v87 = getelementptr [16 x float], ptr %own, i64 %at
  %v88 = getelementptr float, ptr %v87, i64 112
  store <8 x float> %v72, ptr %v88, align 4
  br label %block.end
part.block:
  %l = insertelement <8 x i32> poison, i32 %left, i32 0
  %lefts = shufflevector <8 x i32> %l, <8 x i32> poison, <8 x i32> zeroinitializer
  %there = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %lefts
  %v89 = add i64 %lane, 0
  %v90 = mul i64 %v89, %step
  %v91 = getelementptr i8, ptr %rows, i64 %v90
  %v92 = getelementptr float, ptr %v91, i64 %at
  %v93 = add i64 %lane, 1
  %v94 = mul i64 %v93, %step
  %v95 = getelementptr i8, ptr %rows, i64 %v94
  %v96 = getelementptr float, ptr %v95, i64 %at
  %v97 = add i64 %lane, 2
  %v98 = mul i64 %v97, %step
  %v99 = getelementptr i8, ptr %rows, i64 %v98
  %v100 = getelementptr float, ptr %v99, i64 %at
  %v101 = add i64 %lane, 3
  %v102 = mul i64 %v101, %step
  %v103 = getelementptr i8, ptr %rows, i64 %v102
  %v104 = getelementptr float, ptr %v103, i64 %at
  %v105 = add i64 %lane, 4
  %v106 = mul i64 %v105, %step
  %v107 = getelementptr i8, ptr %rows, i64 %v106
  %v108 = getelementptr float, ptr %v107, i64 %at
  %v109 = add i64 %lane, 5
  %v110 = mul i64 %v109, %step
  %v111 = getelementptr i8, ptr %rows, i64 %v110
  %v112 = getelementptr float, ptr %v111, i64 %at
  %v113 = add i64 %lane, 6
  %v114 = mul i64 %v113, %step
  %v115 = getelementptr i8, ptr %rows, i64 %v114
  %v116 = getelementptr float, ptr %v115, i64 %at
  %v117 = add i64 %lane, 7
  %v118 = mul i64 %v117, %step
  %v119 = getelementptr i8, ptr %rows, i64 %v118
  %v120 = getelementptr float, ptr %v119, i64 %at
  %v121 = extractelement <8 x i1> %flags, i64 0
  %v122 = select i1 %v121, <8 x i1> %there, <8 x i1> zeroinitializer
  %v123 = extractelement <8 x i1> %flags, i64 1
  %v124 = select i1 %v123, <8 x i1> %there, <8 x i1> zeroinitializer
  %v125 = extractelement <8 x i1> %flags, i64 2
  %v126 = select i1 %v125, <8 x i1> %there, <8 x i1> zeroinitializer
  %v127 = extractelement <8 x i1> %flags, i64 3
  %v128 = select i1 %v127, <8 x i1> %there, <8 x i1> zeroinitializer
  %v129 = extractelement <8 x i1> %flags, i64 4
  %v130 = select i1 %v129, <8 x i1> %there, <8 x i1> zeroinitializer
  %v131 = extractelement <8 x i1> %flags, i64 5
  %v132 = select i1 %v131, <8 x i1> %there, <8 x i1> zeroinitializer
  %v133 = extractelement <8 x i1> %flags, i64 6
  %v134 = select i1 %v133, <8 x i1> %there, <8 x i1> zeroinitializer
  %v135 = extractelement <8 x i1> %flags, i64 7
  %v136 = select i1 %v135, <8 x i1> %there, <8 x i1> zeroinitializer
  %v137 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v92, i32 4, <8 x i1> %v122, <8 x float> zeroinitializer)
  %v138 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v96, i32 4, <8 x i1> %v124, <8 x float> zeroinitializer)
  %v139 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v100, i32 4, <8 x i1> %v126, <8 x float> zeroinitializer)
  %v140 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v104, i32 4, <8 x i1> %v128, <8 x float> zeroinitializer)
  %v141 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v108, i32 4, <8 x i1> %v130, <8 x float> zeroinitializer)
  %v142 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v112, i32 4, <8 x i1> %v132, <8 x float> zeroinitializer)
  %v143 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v116, i32 4, <8 x i1> %v134, <8 x float> zeroinitializer)
  %v144 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v120, i32 4, <8 x i1> %v136, <8 x float> zeroinitializer)
  %v145 = shufflevector <8 x float> %v137, <8 x float> %v138, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v146 = shufflevector <8 x float> %v137, <8 x float> %v138, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v147 = shufflevector <8 x float> %v139, <8 x float> %v140, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v148 = shufflevector <8 x float> %v139, <8 x float> %v140, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v149 = shufflevector <8 x float> %v141, <8 x float> %v142, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v150 = shufflevector <8 x float> %v141, <8 x float> %v142, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v151 = shufflevector <8 x float> %v143, <8 x float> %v144, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v152 = shufflevector <8 x float> %v143, <8 x float> %v144, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v153 = shufflevector <8 x float> %v145, <8 x float> %v147, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v154 = shufflevector <8 x float> %v145, <8 x float> %v147, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v155 = shufflevector <8 x float> %v146, <8 x float> %v148, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v156 = shufflevector <8 x float> %v146, <8 x float> %v148, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v157 = shufflevector <8 x float> %v149, <8 x float> %v151, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v158 = shufflevector <8 x float> %v149, <8 x float> %v151, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v159 = shufflevector <8 x float> %v150, <8 x float> %v152, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v160 = shufflevector <8 x float> %v150, <8 x float> %v152, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v161 = shufflevector <8 x float> %v153, <8 x float> %v157, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v162 = shufflevector <8 x float> %v154, <8 x float> %v158, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v163 = shufflevector <8 x float> %v155, <8 x float> %v159, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v164 = shufflevector <8 x float> %v156, <8 x float> %v160, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v165 = shufflevector <8 x float> %v153, <8 x float> %v157, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v166 = shufflevector <8 x float> %v154, <8 x float> %v158, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v167 = shufflevector <8 x float> %v155, <8 x float> %v159, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v168 = shufflevector <8 x float> %v156, <8 x float> %v160, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v169 = getelementptr [16 x float], ptr %own, i64 %at
  %v170 = getelementptr float, ptr %v169, i64 0
  store <8 x float> %v161, ptr %v170, align 4
  %v171 = getelementptr [16 x float], ptr %own, i64 %at
  %v172 = getelementptr float, ptr %v171, i64 16
  store <8 x float> %v162, ptr %v172, align 4
  %v173 = getelementptr [16 x float], ptr %own, i64 %at
  %v174 = getelementptr float, ptr %v173, i64 32
  store <8 x float> %v163, ptr %v174, align 4
  %v175 = getelementptr [16 x float], ptr %own, i64 %at
  %v176 = getelementptr float, ptr %v175, i64 48
  store <8 x float> %v164, ptr %v176, align 4
  %v177 = getelementptr [16 x float], ptr %own, i64 %at
  %v178 = getelementptr float, ptr %v177, i64 64
  store <8 x float> %v165, ptr %v178, align 4
  %v179 = getelementptr [16 x float], ptr %own, i64 %at
  %v180 = getelementptr float, ptr %v179, i64 80
  store <8 x float> %v166, ptr %v180, align 4
  %v181 = getelementptr [16 x float], ptr %own, i64 %at
  %v182 = getelementptr float, ptr %v181, i64 96
  store <8 x float> %v167, ptr %v182, align 4
  %v183 = getelementptr [16 x float], ptr %own, i64 %at
  %v184 = getelementptr float, ptr %v183, i64 112
  store <8 x float> %v168, ptr %v184, align 4
  br label %block.end
block.end:
  %first.next = add i32 %first, 8
  %more = icmp slt i32 %first.next, %count
  br i1 %more, label %block, label %group.end
group.end:
  %lane.next = add i64 %lane, 8
  %lanes.more = icmp ult i64 %lane.next, 16
  br i1 %lanes.more, label %group, label %exit
exit:
  ret void
}
attributes #1 = { "vector-function-abi-variant"="_ZGVdN8v_wbm_sin_32(wbm_sin_32x8)" }
@llvm.compiler.used = appending global [1 x ptr] [ptr @wbm_sin_32x8], section "llvm.metadata"
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
