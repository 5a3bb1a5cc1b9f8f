define i32 @wb_dynamic_loop(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %slots.13 = alloca [16 x [8 x <8 x float>]], align 64
  %x.shape1.at.15 = getelementptr inbounds i8, ptr %params, i64 48
  %x.shape1.16 = load i64, ptr %x.shape1.at.15, !range !0
  %x.at.77 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.78 = load ptr, ptr %x.at.77
  %v152 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.516 = getelementptr inbounds i8, ptr %params, i64 72
  %y.data.517 = load ptr, ptr %y.at.516
  %v537 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.554 = alloca [16 x [2 x <8 x float>]], align 64
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v542, %go.534 ]
  %number.11 = phi i32 [ 0, %start ], [ %v543, %go.534 ]
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
  %j.176 = phi i32 [ 0, %else.21 ], [ %last.185, %go.490 ]
  %s.177 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.478, %go.490 ]
  %s.178 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.479, %go.490 ]
  %s.179 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.480, %go.490 ]
  %s.180 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.481, %go.490 ]
  %s.181 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.482, %go.490 ]
  %s.182 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.483, %go.490 ]
  %s.183 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.484, %go.490 ]
  %s.184 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.485, %go.490 ]
  %last.185 = phi i32 [ %last.174, %else.21 ], [ %last.498, %go.490 ]
  br label %body.168
body.168:
  %j.186 = phi i32 [ %j.176, %strip.167 ], [ %j.next.486, %body.168 ]
  %s.187 = phi <8 x float> [ %s.177, %strip.167 ], [ %s.478, %body.168 ]
  %s.188 = phi <8 x float> [ %s.178, %strip.167 ], [ %s.479, %body.168 ]
  %s.189 = phi <8 x float> [ %s.179, %strip.167 ], [ %s.480, %body.168 ]
  %s.190 = phi <8 x float> [ %s.180, %strip.167 ], [ %s.481, %body.168 ]
  %s.191 = phi <8 x float> [ %s.181, %strip.167 ], [ %s.482, %body.168 ]
  %s.192 = phi <8 x float> [ %s.182, %strip.167 ], [ %s.483, %body.168 ]
  %s.193 = phi <8 x float> [ %s.183, %strip.167 ], [ %s.484, %body.168 ]
  %s.194 = phi <8 x float> [ %s.184, %strip.167 ], [ %s.485, %body.168 ]
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
  %v231 = mul i64 %v199, 8
  %v232 = add i64 %v198, %v231
  %v233 = getelementptr i8, ptr %x.data.78, i64 %v232
  %v234 = getelementptr i8, ptr %v233, i64 0
  %v235 = load float, ptr %v234, align 4
  %x.236 = insertelement <8 x float> poison, float %v235, i64 0
  %v237 = getelementptr i8, ptr %v233, i64 %v199
  %v238 = load float, ptr %v237, align 4
  %x.239 = insertelement <8 x float> %x.236, float %v238, i64 1
  %v240 = mul i64 %v199, 2
  %v241 = getelementptr i8, ptr %v233, i64 %v240
  %v242 = load float, ptr %v241, align 4
  %x.243 = insertelement <8 x float> %x.239, float %v242, i64 2
  %v244 = mul i64 %v199, 3
  %v245 = getelementptr i8, ptr %v233, i64 %v244
  %v246 = load float, ptr %v245, align 4
  %x.247 = insertelement <8 x float> %x.243, float %v246, i64 3
  %v248 = mul i64 %v199, 4
  %v249 = getelementptr i8, ptr %v233, i64 %v248
  %v250 = load float, ptr %v249, align 4
  %x.251 = insertelement <8 x float> %x.247, float %v250, i64 4
  %v252 = mul i64 %v199, 5
  %v253 = getelementptr i8, ptr %v233, i64 %v252
  %v254 = load float, ptr %v253, align 4
  %x.255 = insertelement <8 x float> %x.251, float %v254, i64 5
  %v256 = mul i64 %v199, 6
  %v257 = getelementptr i8, ptr %v233, i64 %v256
  %v258 = load float, ptr %v257, align 4
  %x.259 = insertelement <8 x float> %x.255, float %v258, i64 6
  %v260 = mul i64 %v199, 7
  %v261 = getelementptr i8, ptr %v233, i64 %v260
  %v262 = load float, ptr %v261, align 4
  %x.263 = insertelement <8 x float> %x.259, float %v262, i64 7
  %v264 = mul i64 %v199, 16
  %v265 = add i64 %v198, %v264
  %v266 = getelementptr i8, ptr %x.data.78, i64 %v265
  %v267 = getelementptr i8, ptr %v266, i64 0
  %v268 = load float, ptr %v267, align 4
  %x.269 = insertelement <8 x float> poison, float %v268, i64 0
  %v270 = getelementptr i8, ptr %v266, i64 %v199
  %v271 = load float, ptr %v270, align 4
  %x.272 = insertelement <8 x float> %x.269, float %v271, i64 1
  %v273 = mul i64 %v199, 2
  %v274 = getelementptr i8, ptr %v266, i64 %v273
  %v275 = load float, ptr %v274, align 4
  %x.276 = insertelement <8 x float> %x.272, float %v275, i64 2
  %v277 = mul i64 %v199, 3
  %v278 = getelementptr i8, ptr %v266, i64 %v277
  %v279 = load float, ptr %v278, align 4
  %x.280 = insertelement <8 x float> %x.276, float %v279, i64 3
  %v281 = mul i64 %v199, 4
  %v282 = getelementptr i8, ptr %v266, i64 %v281
  %v283 = load float, ptr %v282, align 4
  %x.284 = insertelement <8 x float> %x.280, float %v283, i64 4
  %v285 = mul i64 %v199, 5
  %v286 = getelementptr i8, ptr %v266, i64 %v285
  %v287 = load float, ptr %v286, align 4
  %x.288 = insertelement <8 x float> %x.284, float %v287, i64 5
  %v289 = mul i64 %v199, 6
  %v290 = getelementptr i8, ptr %v266, i64 %v289
  %v291 = load float, ptr %v290, align 4
  %x.292 = insertelement <8 x float> %x.288, float %v291, i64 6
  %v293 = mul i64 %v199, 7
  %v294 = getelementptr i8, ptr %v266, i64 %v293
  %v295 = load float, ptr %v294, align 4
  %x.296 = insertelement <8 x float> %x.292, float %v295, i64 7
  %v297 = mul i64 %v199, 24
  %v298 = add i64 %v198, %v297
  %v299 = getelementptr i8, ptr %x.data.78, i64 %v298
  %v300 = getelementptr i8, ptr %v299, i64 0
  %v301 = load float, ptr %v300, align 4
  %x.302 = insertelement <8 x float> poison, float %v301, i64 0
  %v303 = getelementptr i8, ptr %v299, i64 %v199
  %v304 = load float, ptr %v303, align 4
  %x.305 = insertelement <8 x float> %x.302, float %v304, i64 1
  %v306 = mul i64 %v199, 2
  %v307 = getelementptr i8, ptr %v299, i64 %v306
  %v308 = load float, ptr %v307, align 4
  %x.309 = insertelement <8 x float> %x.305, float %v308, i64 2
  %v310 = mul i64 %v199, 3
  %v311 = getelementptr i8, ptr %v299, i64 %v310
  %v312 = load float, ptr %v311, align 4
  %x.313 = insertelement <8 x float> %x.309, float %v312, i64 3
  %v314 = mul i64 %v199, 4
  %v315 = getelementptr i8, ptr %v299, i64 %v314
  %v316 = load float, ptr %v315, align 4
  %x.317 = insertelement <8 x float> %x.313, float %v316, i64 4
  %v318 = mul i64 %v199, 5
  %v319 = getelementptr i8, ptr %v299, i64 %v318
  %v320 = load float, ptr %v319, align 4
  %x.321 = insertelement <8 x float> %x.317, float %v320, i64 5
  %v322 = mul i64 %v199, 6
  %v323 = getelementptr i8, ptr %v299, i64 %v322
  %v324 = load float, ptr %v323, align 4
  %x.325 = insertelement <8 x float> %x.321, float %v324, i64 6
  %v326 = mul i64 %v199, 7
  %v327 = getelementptr i8, ptr %v299, i64 %v326
  %v328 = load float, ptr %v327, align 4
  %x.329 = insertelement <8 x float> %x.325, float %v328, i64 7
  %v330 = mul i64 %v199, 32
  %v331 = add i64 %v198, %v330
  %v332 = getelementptr i8, ptr %x.data.78, i64 %v331
  %v333 = getelementptr i8, ptr %v332, i64 0
  %v334 = load float, ptr %v333, align 4
  %x.335 = insertelement <8 x float> poison, float %v334, i64 0
  %v336 = getelementptr i8, ptr %v332, i64 %v199
  %v337 = load float, ptr %v336, align 4
  %x.338 = insertelement <8 x float> %x.335, float %v337, i64 1
  %v339 = mul i64 %v199, 2
  %v340 = getelementptr i8, ptr %v332, i64 %v339
  %v341 = load float, ptr %v340, align 4
  %x.342 = insertelement <8 x float> %x.338, float %v341, i64 2
  %v343 = mul i64 %v199, 3
  %v344 = getelementptr i8, ptr %v332, i64 %v343
  %v345 = load float, ptr %v344, align 4
  %x.346 = insertelement <8 x float> %x.342, float %v345, i64 3
  %v347 = mul i64 %v199, 4
  %v348 = getelementptr i8, ptr %v332, i64 %v347
  %v349 = load float, ptr %v348, align 4
  %x.350 = insertelement <8 x float> %x.346, float %v349, i64 4
  %v351 = mul i64 %v199, 5
  %v352 = getelementptr i8, ptr %v332, i64 %v351
  %v353 = load float, ptr %v352, align 4
  %x.354 = insertelement <8 x float> %x.350, float %v353, i64 5
  %v355 = mul i64 %v199, 6
  %v356 = getelementptr i8, ptr %v332, i64 %v355
  %v357 = load float, ptr %v356, align 4
  %x.358 = insertelement <8 x float> %x.354, float %v357, i64 6
  %v359 = mul i64 %v199, 7
  %v360 = getelementptr i8, ptr %v332, i64 %v359
  %v361 = load float, ptr %v360, align 4
  %x.362 = insertelement <8 x float> %x.358, float %v361, i64 7
  %v363 = mul i64 %v199, 40
  %v364 = add i64 %v198, %v363
  %v365 = getelementptr i8, ptr %x.data.78, i64 %v364
  %v366 = getelementptr i8, ptr %v365, i64 0
  %v367 = load float, ptr %v366, align 4
  %x.368 = insertelement <8 x float> poison, float %v367, i64 0
  %v369 = getelementptr i8, ptr %v365, i64 %v199
  %v370 = load float, ptr %v369, align 4
  %x.371 = insertelement <8 x float> %x.368, float %v370, i64 1
  %v372 = mul i64 %v199, 2
  %v373 = getelementptr i8, ptr %v365, i64 %v372
  %v374 = load float, ptr %v373, align 4
  %x.375 = insertelement <8 x float> %x.371, float %v374, i64 2
  %v376 = mul i64 %v199, 3
  %v377 = getelementptr i8, ptr %v365, i64 %v376
  %v378 = load float, ptr %v377, align 4
  %x.379 = insertelement <8 x float> %x.375, float %v378, i64 3
  %v380 = mul i64 %v199, 4
  %v381 = getelementptr i8, ptr %v365, i64 %v380
  %v382 = load float, ptr %v381, align 4
  %x.383 = insertelement <8 x float> %x.379, float %v382, i64 4
  %v384 = mul i64 %v199, 5
  %v385 = getelementptr i8, ptr %v365, i64 %v384
  %v386 = load float, ptr %v385, align 4
  %x.387 = insertelement <8 x float> %x.383, float %v386, i64 5
  %v388 = mul i64 %v199, 6
  %v389 = getelementptr i8, ptr %v365, i64 %v388
  %v390 = load float, ptr %v389, align 4
  %x.391 = insertelement <8 x float> %x.387, float %v390, i64 6
  %v392 = mul i64 %v199, 7
  %v393 = getelementptr i8, ptr %v365, i64 %v392
  %v394 = load float, ptr %v393, align 4
  %x.395 = insertelement <8 x float> %x.391, float %v394, i64 7
  %v396 = mul i64 %v199, 48
  %v397 = add i64 %v198, %v396
  %v398 = getelementptr i8, ptr %x.data.78, i64 %v397
  %v399 = getelementptr i8, ptr %v398, i64 0
  %v400 = load float, ptr %v399, align 4
  %x.401 = insertelement <8 x float> poison, float %v400, i64 0
  %v402 = getelementptr i8, ptr %v398, i64 %v199
  %v403 = load float, ptr %v402, align 4
  %x.404 = insertelement <8 x float> %x.401, float %v403, i64 1
  %v405 = mul i64 %v199, 2
  %v406 = getelementptr i8, ptr %v398, i64 %v405
  %v407 = load float, ptr %v406, align 4
  %x.408 = insertelement <8 x float> %x.404, float %v407, i64 2
  %v409 = mul i64 %v199, 3
  %v410 = getelementptr i8, ptr %v398, i64 %v409
  %v411 = load float, ptr %v410, align 4
  %x.412 = insertelement <8 x float> %x.408, float %v411, i64 3
  %v413 = mul i64 %v199, 4
  %v414 = getelementptr i8, ptr %v398, i64 %v413
  %v415 = load float, ptr %v414, align 4
  %x.416 = insertelement <8 x float> %x.412, float %v415, i64 4
  %v417 = mul i64 %v199, 5
  %v418 = getelementptr i8, ptr %v398, i64 %v417
  %v419 = load float, ptr %v418, align 4
  %x.420 = insertelement <8 x float> %x.416, float %v419, i64 5
  %v421 = mul i64 %v199, 6
  %v422 = getelementptr i8, ptr %v398, i64 %v421
  %v423 = load float, ptr %v422, align 4
  %x.424 = insertelement <8 x float> %x.420, float %v423, i64 6
  %v425 = mul i64 %v199, 7
  %v426 = getelementptr i8, ptr %v398, i64 %v425
  %v427 = load float, ptr %v426, align 4
  %x.428 = insertelement <8 x float> %x.424, float %v427, i64 7
  %v429 = mul i64 %v199, 56
  %v430 = add i64 %v198, %v429
  %v431 = getelementptr i8, ptr %x.data.78, i64 %v430
  %v432 = getelementptr i8, ptr %v431, i64 0
  %v433 = load float, ptr %v432, align 4
  %x.434 = insertelement <8 x float> poison, float %v433, i64 0
  %v435 = getelementptr i8, ptr %v431, i64 %v199
  %v436 = load float, ptr %v435, align 4
  %x.437 = insertelement <8 x float> %x.434, float %v436, i64 1
  %v438 = mul i64 %v199, 2
  %v439 = getelementptr i8, ptr %v431, i64 %v438
  %v440 = load float, ptr %v439, align 4
  %x.441 = insertelement <8 x float> %x.437, float %v440, i64 2
  %v442 = mul i64 %v199, 3
  %v443 = getelementptr i8, ptr %v431, i64 %v442
  %v444 = load float, ptr %v443, align 4
  %x.445 = insertelement <8 x float> %x.441, float %v444, i64 3
  %v446 = mul i64 %v199, 4
  %v447 = getelementptr i8, ptr %v431, i64 %v446
  %v448 = load float, ptr %v447, align 4
  %x.449 = insertelement <8 x float> %x.445, float %v448, i64 4
  %v450 = mul i64 %v199, 5
  %v451 = getelementptr i8, ptr %v431, i64 %v450
  %v452 = load float, ptr %v451, align 4
  %x.453 = insertelement <8 x float> %x.449, float %v452, i64 5
  %v454 = mul i64 %v199, 6
  %v455 = getelementptr i8, ptr %v431, i64 %v454
  %v456 = load float, ptr %v455, align 4
  %x.457 = insertelement <8 x float> %x.453, float %v456, i64 6
  %v458 = mul i64 %v199, 7
  %v459 = getelementptr i8, ptr %v431, i64 %v458
  %v460 = load float, ptr %v459, align 4
  %x.461 = insertelement <8 x float> %x.457, float %v460, i64 7
  %v462 = shufflevector <8 x float> %x.230, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v463 = call <8 x float> @wbm_sin_32x8(<8 x float> %v462)
  %v464 = shufflevector <8 x float> %x.263, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v465 = call <8 x float> @wbm_sin_32x8(<8 x float> %v464)
  %v466 = shufflevector <8 x float> %x.296, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v467 = call <8 x float> @wbm_sin_32x8(<8 x float> %v466)
  %v468 = shufflevector <8 x float> %x.329, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v469 = call <8 x float> @wbm_sin_32x8(<8 x float> %v468)
  %v470 = shufflevector <8 x float> %x.362, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v471 = call <8 x float> @wbm_sin_32x8(<8 x float> %v470)
  %v472 = shufflevector <8 x float> %x.395, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v473 = call <8 x float> @wbm_sin_32x8(<8 x float> %v472)
  %v474 = shufflevector <8 x float> %x.428, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v475 = call <8 x float> @wbm_sin_32x8(<8 x float> %v474)
  %v476 = shufflevector <8 x float> %x.461, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v477 = call <8 x float> @wbm_sin_32x8(<8 x float> %v476)
  %s.478 = fadd <8 x float> %s.187, %v463
  %s.479 = fadd <8 x float> %s.188, %v465
  %s.480 = fadd <8 x float> %s.189, %v467
  %s.481 = fadd <8 x float> %s.190, %v469
  %s.482 = fadd <8 x float> %s.191, %v471
  %s.483 = fadd <8 x float> %s.192, %v473
  %s.484 = fadd <8 x float> %s.193, %v475
  %s.485 = fadd <8 x float> %s.194, %v477
  ; line 4: for j in range(x.shape[1]):
  %j.next.486 = add nsw i32 %j.186, 1
  %more.487 = icmp ne i32 %j.next.486, %last.185
  br i1 %more.487, label %body.168, label %stripped.169
stripped.169:
  %over.488 = icmp eq i32 %last.185, %v17
  br i1 %over.488, label %endfor.171, label %again.170, !prof !1
again.170:
  %stop.491 = load volatile i32, ptr %stop
  %calm.492 = icmp eq i32 %stop.491, 0
  br i1 %calm.492, label %go.490, label %ask.489, !prof !1
ask.489:
  %v493 = load ptr, ptr %v152
  %v494 = call i32 %v493(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v495 = icmp eq i32 %v494, 0
  br i1 %v495, label %go.490, label %stopped
go.490:
  %left.496 = sub i32 %v17, %last.185
  %few.497 = call i32 @llvm.umin.i32(i32 %left.496, i32 8192)
  %last.498 = add nsw i32 %last.185, %few.497
  br label %strip.167
endfor.171:
  %v499 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.478, %stripped.169 ]
  %v500 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.479, %stripped.169 ]
  %v501 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.480, %stripped.169 ]
  %v502 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.481, %stripped.169 ]
  %v503 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.482, %stripped.169 ]
  %v504 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.483, %stripped.169 ]
  %v505 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.484, %stripped.169 ]
  %v506 = phi <8 x float> [ splat (float 0x0000000000000000), %else.21 ], [ %s.485, %stripped.169 ]
  br label %endif.22
endif.22:
  %s.507 = phi <8 x float> [ %v159, %endfor.41 ], [ %v499, %endfor.171 ]
  %s.508 = phi <8 x float> [ %v160, %endfor.41 ], [ %v500, %endfor.171 ]
  %s.509 = phi <8 x float> [ %v161, %endfor.41 ], [ %v501, %endfor.171 ]
  %s.510 = phi <8 x float> [ %v162, %endfor.41 ], [ %v502, %endfor.171 ]
  %s.511 = phi <8 x float> [ %v163, %endfor.41 ], [ %v503, %endfor.171 ]
  %s.512 = phi <8 x float> [ %v164, %endfor.41 ], [ %v504, %endfor.171 ]
  %s.513 = phi <8 x float> [ %v165, %endfor.41 ], [ %v505, %endfor.171 ]
  %s.514 = phi <8 x float> [ %v166, %endfor.41 ], [ %v506, %endfor.171 ]
  ; line 6: y[i] = s
  %v515 = mul i64 %i.14, 4
  %v518 = getelementptr i8, ptr %y.data.517, i64 %v515
  store <8 x float> %s.507, ptr %v518, align 4
  %v519 = add i64 %v515, 32
  %v520 = getelementptr i8, ptr %y.data.517, i64 %v519
  store <8 x float> %s.508, ptr %v520, align 4
  %v521 = add i64 %v515, 64
  %v522 = getelementptr i8, ptr %y.data.517, i64 %v521
  store <8 x float> %s.509, ptr %v522, align 4
  %v523 = add i64 %v515, 96
  %v524 = getelementptr i8, ptr %y.data.517, i64 %v523
  store <8 x float> %s.510, ptr %v524, align 4
  %v525 = add i64 %v515, 128
  %v526 = getelementptr i8, ptr %y.data.517, i64 %v525
  store <8 x float> %s.511, ptr %v526, align 4
  %v527 = add i64 %v515, 160
  %v528 = getelementptr i8, ptr %y.data.517, i64 %v527
  store <8 x float> %s.512, ptr %v528, align 4
  %v529 = add i64 %v515, 192
  %v530 = getelementptr i8, ptr %y.data.517, i64 %v529
  store <8 x float> %s.513, ptr %v530, align 4
  %v531 = add i64 %v515, 224
  %v532 = getelementptr i8, ptr %y.data.517, i64 %v531
  store <8 x float> %s.514, ptr %v532, align 4
  %stop.535 = load volatile i32, ptr %stop
  %calm.536 = icmp eq i32 %stop.535, 0
  br i1 %calm.536, label %go.534, label %ask.533, !prof !1
ask.533:
  %v538 = sext i32 %gang.10 to i64
  store i64 %v538, ptr %v537
  %v539 = load ptr, ptr %v152
  %v540 = call i32 %v539(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v541 = icmp eq i32 %v540, 0
  br i1 %v541, label %go.534, label %stopped
go.534:
  %v542 = add nsw i32 %gang.10, 64
  %v543 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %v547 = sub nsw i32 %high.2, %gangs.9
  %v548 = call i32 @llvm.smax.i32(i32 %v547, i32 0)
  %v549 = and i32 %v548, -16
  %gangs.550 = add nsw i32 %gangs.9, %v549
  br label %gangs.544
gangs.544:
  %gang.551 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %v767, %on.756 ]
  %number.552 = phi i32 [ 0, %gangs.end.5 ], [ %v768, %on.756 ]
  %more.553 = icmp slt i32 %gang.551, %gangs.550
  br i1 %more.553, label %gang.545, label %gangs.end.546
gang.545:
  ; line 2: i = tid()
  %i.555 = sext i32 %gang.551 to i64
  ; line 4: for j in range(x.shape[1]):
  %v556 = trunc i64 %x.shape1.16 to i32
  %v557 = add i32 0, 16
  %v558 = icmp sge i32 %v556, %v557
  br i1 %v558, label %then.559, label %else.560
then.559:
  %v562 = icmp sgt i32 16, 0
  %v563 = select i1 %v562, i32 0, i32 %v556
  %v564 = select i1 %v562, i32 %v556, i32 0
  %v565 = icmp slt i32 %v563, %v564
  %v566 = sub i32 %v564, %v563
  %v567 = sub i32 0, 16
  %v568 = select i1 %v562, i32 16, i32 %v567
  %v569 = icmp ne i32 16, 0
  %v570 = and i1 %v565, %v569
  %v571 = select i1 %v570, i32 %v568, i32 1
  %v572 = sub i32 %v566, 1
  %v573 = udiv i32 %v572, %v571
  %v574 = add i32 %v573, 1
  %iterations.575 = select i1 %v570, i32 %v574, i32 0
  %left.581 = sub i32 %iterations.575, 0
  %few.582 = call i32 @llvm.umin.i32(i32 %left.581, i32 512)
  %last.583 = add nuw i32 0, %few.582
  %more.584 = icmp ult i32 0, %iterations.575
  br i1 %more.584, label %strip.576, label %endfor.580
strip.576:
  %first.585 = phi i32 [ 0, %then.559 ], [ %first.next.627, %go.632 ]
  %count.586 = phi i32 [ 0, %then.559 ], [ %last.589, %go.632 ]
  %s.587 = phi <8 x float> [ splat (float 0x0000000000000000), %then.559 ], [ %s.609, %go.632 ]
  %s.588 = phi <8 x float> [ splat (float 0x0000000000000000), %then.559 ], [ %s.610, %go.632 ]
  %last.589 = phi i32 [ %last.583, %then.559 ], [ %last.640, %go.632 ]
  br label %body.577
body.577:
  %first.590 = phi i32 [ %first.585, %strip.576 ], [ %first.next.627, %endfor.607 ]
  %count.591 = phi i32 [ %count.586, %strip.576 ], [ %count.next.628, %endfor.607 ]
  %s.592 = phi <8 x float> [ %s.587, %strip.576 ], [ %s.609, %endfor.607 ]
  %s.593 = phi <8 x float> [ %s.588, %strip.576 ], [ %s.610, %endfor.607 ]
  %v594 = sub i32 %v556, %first.590
  %v595 = icmp slt i32 %v594, 16
  %v596 = select i1 %v595, i32 %v594, i32 16
  %v597 = sub i32 %v596, 1
  %v598 = add i32 %first.590, %v597
  %v599 = sext i32 %first.590 to i64
  %v600 = mul i64 %i.555, %x.shape1.16
  %v601 = add i64 %v600, %v599
  %v602 = mul i64 %v601, 4
  %v603 = mul i64 %x.shape1.16, 4
  %v604 = getelementptr i8, ptr %x.data.78, i64 %v602
  call void @wb.row_load.float32.8.2.1.1(ptr %v604, i64 %v603, ptr %slots.554, i32 %v596, i64 -1)
  br label %for.605
for.605:
  %turn.608 = phi i32 [ 0, %body.577 ], [ %turn.next.626, %body.606 ]
  %s.609 = phi <8 x float> [ %s.592, %body.577 ], [ %s.624, %body.606 ]
  %s.610 = phi <8 x float> [ %s.593, %body.577 ], [ %s.625, %body.606 ]
  %more.611 = icmp slt i32 %turn.608, %v596
  br i1 %more.611, label %body.606, label %endfor.607
body.606:
  %j.612 = add i32 %first.590, %turn.608
  %v613 = sub i32 %v597, %turn.608
  ; line 5: s += sin(x[i, j])
  %v614 = sext i32 %turn.608 to i64
  %v615 = getelementptr [2 x <8 x float>], ptr %slots.554, i64 %v614, i64 0
  %v616 = load <8 x float>, ptr %v615
  %v617 = sext i32 %turn.608 to i64
  %v618 = getelementptr [2 x <8 x float>], ptr %slots.554, i64 %v617, i64 1
  %v619 = load <8 x float>, ptr %v618
  %v620 = shufflevector <8 x float> %v616, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v621 = call <8 x float> @wbm_sin_32x8(<8 x float> %v620)
  %v622 = shufflevector <8 x float> %v619, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v623 = call <8 x float> @wbm_sin_32x8(<8 x float> %v622)
  %s.624 = fadd <8 x float> %s.609, %v621
  %s.625 = fadd <8 x float> %s.610, %v623
  ; line 4: for j in range(x.shape[1]):
  %turn.next.626 = add nsw i32 %turn.608, 1
  br label %for.605
endfor.607:
  %first.next.627 = add nsw i32 %first.590, 16
  %count.next.628 = add nuw i32 %count.591, 1
  %more.629 = icmp ne i32 %count.next.628, %last.589
  br i1 %more.629, label %body.577, label %stripped.578
stripped.578:
  %over.630 = icmp eq i32 %last.589, %iterations.575
  br i1 %over.630, label %endfor.580, label %again.579, !prof !1
again.579:
  %stop.633 = load volatile i32, ptr %stop
  %calm.634 = icmp eq i32 %stop.633, 0
  br i1 %calm.634, label %go.632, label %ask.631, !prof !1
ask.631:
  %v635 = load ptr, ptr %v152
  %v636 = call i32 %v635(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v637 = icmp eq i32 %v636, 0
  br i1 %v637, label %go.632, label %stopped
go.632:
  %left.638 = sub i32 %iterations.575, %last.589
  %few.639 = call i32 @llvm.umin.i32(i32 %left.638, i32 512)
  %last.640 = add nuw i32 %last.589, %few.639
  br label %strip.576
endfor.580:
  %v641 = phi <8 x float> [ splat (float 0x0000000000000000), %then.559 ], [ %s.609, %stripped.578 ]
  %v642 = phi <8 x float> [ splat (float 0x0000000000000000), %then.559 ], [ %s.610, %stripped.578 ]
  br label %endif.561
else.560:
  %left.648 = sub i32 %v556, 0
  %few.649 = call i32 @llvm.umin.i32(i32 %left.648, i32 8192)
  %last.650 = add nsw i32 0, %few.649
  %more.651 = icmp slt i32 0, %v556
  br i1 %more.651, label %strip.643, label %endfor.647
strip.643:
  %j.652 = phi i32 [ 0, %else.560 ], [ %last.655, %go.738 ]
  %s.653 = phi <8 x float> [ splat (float 0x0000000000000000), %else.560 ], [ %s.732, %go.738 ]
  %s.654 = phi <8 x float> [ splat (float 0x0000000000000000), %else.560 ], [ %s.733, %go.738 ]
  %last.655 = phi i32 [ %last.650, %else.560 ], [ %last.746, %go.738 ]
  br label %body.644
body.644:
  %j.656 = phi i32 [ %j.652, %strip.643 ], [ %j.next.734, %body.644 ]
  %s.657 = phi <8 x float> [ %s.653, %strip.643 ], [ %s.732, %body.644 ]
  %s.658 = phi <8 x float> [ %s.654, %strip.643 ], [ %s.733, %body.644 ]
  ; line 5: s += sin(x[i, j])
  %v659 = sext i32 %j.656 to i64
  %v660 = mul i64 %i.555, %x.shape1.16
  %v661 = add i64 %v660, %v659
  %v662 = mul i64 %v661, 4
  %v663 = mul i64 %x.shape1.16, 4
  %v664 = getelementptr i8, ptr %x.data.78, i64 %v662
  %v665 = getelementptr i8, ptr %v664, i64 0
  %v666 = load float, ptr %v665, align 4
  %x.667 = insertelement <8 x float> poison, float %v666, i64 0
  %v668 = getelementptr i8, ptr %v664, i64 %v663
  %v669 = load float, ptr %v668, align 4
  %x.670 = insertelement <8 x float> %x.667, float %v669, i64 1
  %v671 = mul i64 %v663, 2
  %v672 = getelementptr i8, ptr %v664, i64 %v671
  %v673 = load float, ptr %v672, align 4
  %x.674 = insertelement <8 x float> %x.670, float %v673, i64 2
  %v675 = mul i64 %v663, 3
  %v676 = getelementptr i8, ptr %v664, i64 %v675
  %v677 = load float, ptr %v676, align 4
  %x.678 = insertelement <8 x float> %x.674, float %v677, i64 3
  %v679 = mul i64 %v663, 4
  %v680 = getelementptr i8, ptr %v664, i64 %v679
  %v681 = load float, ptr %v680, align 4
  %x.682 = insertelement <8 x float> %x.678, float %v681, i64 4
  %v683 = mul i64 %v663, 5
  %v684 = getelementptr i8, ptr %v664, i64 %v683
  %v685 = load float, ptr %v684, align 4
  %x.686 = insertelement <8 x float> %x.682, float %v685, i64 5
  %v687 = mul i64 %v663, 6
  %v688 = getelementptr i8, ptr %v664, i64 %v687
  %v689 = load float, ptr %v688, align 4
  %x.690 = insertelement <8 x float> %x.686, float %v689, i64 6
  %v691 = mul i64 %v663, 7
  %v692 = getelementptr i8, ptr %v664, i64 %v691
  %v693 = load float, ptr %v692, align 4
  %x.694 = insertelement <8 x float> %x.690, float %v693, i64 7
  %v695 = mul i64 %v663, 8
  %v696 = add i64 %v662, %v695
  %v697 = getelementptr i8, ptr %x.data.78, i64 %v696
  %v698 = getelementptr i8, ptr %v697, i64 0
  %v699 = load float, ptr %v698, align 4
  %x.700 = insertelement <8 x float> poison, float %v699, i64 0
  %v701 = getelementptr i8, ptr %v697, i64 %v663
  %v702 = load float, ptr %v701, align 4
  %x.703 = insertelement <8 x float> %x.700, float %v702, i64 1
  %v704 = mul i64 %v663, 2
  %v705 = getelementptr i8, ptr %v697, i64 %v704
  %v706 = load float, ptr %v705, align 4
  %x.707 = insertelement <8 x float> %x.703, float %v706, i64 2
  %v708 = mul i64 %v663, 3
  %v709 = getelementptr i8, ptr %v697, i64 %v708
  %v710 = load float, ptr %v709, align 4
  %x.711 = insertelement <8 x float> %x.707, float %v710, i64 3
  %v712 = mul i64 %v663, 4
  %v713 = getelementptr i8, ptr %v697, i64 %v712
  %v714 = load float, ptr %v713, align 4
  %x.715 = insertelement <8 x float> %x.711, float %v714, i64 4
  %v716 = mul i64 %v663, 5
  %v717 = getelementptr i8, ptr %v697, i64 %v716
  %v718 = load float, ptr %v717, align 4
  %x.719 = insertelement <8 x float> %x.715, float %v718, i64 5
  %v720 = mul i64 %v663, 6
  %v721 = getelementptr i8, ptr %v697, i64 %v720
  %v722 = load float, ptr %v721, align 4
  %x.723 = insertelement <8 x float> %x.719, float %v722, i64 6
  %v724 = mul i64 %v663, 7
  %v725 = getelementptr i8, ptr %v697, i64 %v724
  %v726 = load float, ptr %v725, align 4
  %x.727 = insertelement <8 x float> %x.723, float %v726, i64 7
  %v728 = shufflevector <8 x float> %x.694, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v729 = call <8 x float> @wbm_sin_32x8(<8 x float> %v728)
  %v730 = shufflevector <8 x float> %x.727, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v731 = call <8 x float> @wbm_sin_32x8(<8 x float> %v730)
  %s.732 = fadd <8 x float> %s.657, %v729
  %s.733 = fadd <8 x float> %s.658, %v731
  ; line 4: for j in range(x.shape[1]):
  %j.next.734 = add nsw i32 %j.656, 1
  %more.735 = icmp ne i32 %j.next.734, %last.655
  br i1 %more.735, label %body.644, label %stripped.645
stripped.645:
  %over.736 = icmp eq i32 %last.655, %v556
  br i1 %over.736, label %endfor.647, label %again.646, !prof !1
again.646:
  %stop.739 = load volatile i32, ptr %stop
  %calm.740 = icmp eq i32 %stop.739, 0
  br i1 %calm.740, label %go.738, label %ask.737, !prof !1
ask.737:
  %v741 = load ptr, ptr %v152
  %v742 = call i32 %v741(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v743 = icmp eq i32 %v742, 0
  br i1 %v743, label %go.738, label %stopped
go.738:
  %left.744 = sub i32 %v556, %last.655
  %few.745 = call i32 @llvm.umin.i32(i32 %left.744, i32 8192)
  %last.746 = add nsw i32 %last.655, %few.745
  br label %strip.643
endfor.647:
  %v747 = phi <8 x float> [ splat (float 0x0000000000000000), %else.560 ], [ %s.732, %stripped.645 ]
  %v748 = phi <8 x float> [ splat (float 0x0000000000000000), %else.560 ], [ %s.733, %stripped.645 ]
  br label %endif.561
endif.561:
  %s.749 = phi <8 x float> [ %v641, %endfor.580 ], [ %v747, %endfor.647 ]
  %s.750 = phi <8 x float> [ %v642, %endfor.580 ], [ %v748, %endfor.647 ]
  ; line 6: y[i] = s
  %v751 = mul i64 %i.555, 4
  %v752 = getelementptr i8, ptr %y.data.517, i64 %v751
  store <8 x float> %s.749, ptr %v752, align 4
  %v753 = add i64 %v751, 32
  %v754 = getelementptr i8, ptr %y.data.517, i64 %v753
  store <8 x float> %s.750, ptr %v754, align 4
  %v757 = and i32 %number.552, 1
  %early.758 = icmp ne i32 %v757, 1
  br i1 %early.758, label %on.756, label %due.755, !prof !1
due.755:
  %stop.761 = load volatile i32, ptr %stop
  %calm.762 = icmp eq i32 %stop.761, 0
  br i1 %calm.762, label %go.760, label %ask.759, !prof !1
ask.759:
  %v763 = sext i32 %gang.551 to i64
  store i64 %v763, ptr %v537
  %v764 = load ptr, ptr %v152
  %v765 = call i32 %v764(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v766 = icmp eq i32 %v765, 0
  br i1 %v766, label %go.760, label %stopped
go.760:
  br label %on.756
on.756:
  %v767 = add nsw i32 %gang.551, 16
  %v768 = add nsw i32 %number.552, 1
  br label %gangs.544, !llvm.loop !3
gangs.end.546:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.550, %gangs.end.546 ], [ %tid.next, %thread.end ]
  %more.769 = icmp slt i32 %tid, %high.2
  br i1 %more.769, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 4: for j in range(x.shape[1]):
  %v770 = trunc i64 %x.shape1.16 to i32
  %left.776 = sub i32 %v770, 0
  %few.777 = call i32 @llvm.umin.i32(i32 %left.776, i32 8192)
  %last.778 = add nsw i32 0, %few.777
  %more.779 = icmp slt i32 0, %v770
  br i1 %more.779, label %strip.771, label %endfor.775
strip.771:
  %j.780 = phi i32 [ 0, %thread ], [ %last.782, %go.797 ]
  %s.781 = phi float [ 0x0000000000000000, %thread ], [ %s.792, %go.797 ]
  %last.782 = phi i32 [ %last.778, %thread ], [ %last.805, %go.797 ]
  br label %body.772
body.772:
  %j.783 = phi i32 [ %j.780, %strip.771 ], [ %j.next.793, %body.772 ]
  %s.784 = phi float [ %s.781, %strip.771 ], [ %s.792, %body.772 ]
  ; line 5: s += sin(x[i, j])
  %v785 = sext i32 %tid to i64
  %v786 = sext i32 %j.783 to i64
  %v787 = mul nsw i64 %v785, %x.shape1.16
  %v788 = add nsw i64 %v787, %v786
  %v789 = getelementptr inbounds float, ptr %x.data.78, i64 %v788
  %v790 = load float, ptr %v789
  %v791 = call float @wbm_sin_32(float %v790) #1
  %s.792 = fadd float %s.784, %v791
  ; line 4: for j in range(x.shape[1]):
  %j.next.793 = add nsw i32 %j.783, 1
  %more.794 = icmp ne i32 %j.next.793, %last.782
  br i1 %more.794, label %body.772, label %stripped.773
stripped.773:
  %over.795 = icmp eq i32 %last.782, %v770
  br i1 %over.795, label %endfor.775, label %again.774, !prof !1
again.774:
  %stop.798 = load volatile i32, ptr %stop
  %calm.799 = icmp eq i32 %stop.798, 0
  br i1 %calm.799, label %go.797, label %ask.796, !prof !1
ask.796:
  %v800 = load ptr, ptr %v152
  %v801 = call i32 %v800(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v802 = icmp eq i32 %v801, 0
  br i1 %v802, label %go.797, label %stopped
go.797:
  %left.803 = sub i32 %v770, %last.782
  %few.804 = call i32 @llvm.umin.i32(i32 %left.803, i32 8192)
  %last.805 = add nsw i32 %last.782, %few.804
  br label %strip.771
endfor.775:
  %v806 = phi float [ 0x0000000000000000, %thread ], [ %s.792, %stripped.773 ]
  ; line 6: y[i] = s
  %v807 = sext i32 %tid to i64
  %v808 = getelementptr inbounds float, ptr %y.data.517, i64 %v807
  store float %v806, ptr %v808
  %v811 = and i32 %tid, 31
  %early.812 = icmp ne i32 %v811, 31
  br i1 %early.812, label %on.810, label %due.809, !prof !1
due.809:
  %stop.815 = load volatile i32, ptr %stop
  %calm.816 = icmp eq i32 %stop.815, 0
  br i1 %calm.816, label %go.814, label %ask.813, !prof !1
ask.813:
  %v817 = sext i32 %tid to i64
  store i64 %v817, ptr %v537
  %v818 = load ptr, ptr %v152
  %v819 = call i32 %v818(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v820 = icmp eq i32 %v819, 0
  br i1 %v820, label %go.814, label %stopped
go.814:
  br label %on.810
on.810:
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
