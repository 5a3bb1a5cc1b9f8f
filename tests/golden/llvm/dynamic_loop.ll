define i32 @wb_dynamic_loop(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %slots.13 = alloca [8 x [16 x <8 x float>]], align 64
  %slots.14 = getelementptr [16 x <8 x float>], ptr %slots.13, i64 1
  %slots.15 = getelementptr [16 x <8 x float>], ptr %slots.13, i64 2
  %slots.16 = getelementptr [16 x <8 x float>], ptr %slots.13, i64 3
  %slots.17 = getelementptr [16 x <8 x float>], ptr %slots.13, i64 4
  %slots.18 = getelementptr [16 x <8 x float>], ptr %slots.13, i64 5
  %slots.19 = getelementptr [16 x <8 x float>], ptr %slots.13, i64 6
  %slots.20 = getelementptr [16 x <8 x float>], ptr %slots.13, i64 7
  %x.shape1.at.22 = getelementptr inbounds i8, ptr %params, i64 48
  %x.shape1.23 = load i64, ptr %x.shape1.at.22, !range !0
  %x.at.84 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.85 = load ptr, ptr %x.at.84
  %v159 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.558 = getelementptr inbounds i8, ptr %params, i64 72
  %y.data.559 = load ptr, ptr %y.at.558
  %v586 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.603 = alloca [2 x [16 x <8 x float>]], align 64
  %slots.604 = getelementptr [16 x <8 x float>], ptr %slots.603, i64 1
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v591, %go.583 ]
  %number.11 = phi i32 [ 0, %start ], [ %v592, %go.583 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 2: i = tid()
  %i.21 = sext i32 %gang.10 to i64
  ; line 4: for j in range(x.shape[1]):
  %v24 = trunc i64 %x.shape1.23 to i32
  %v25 = add i32 0, 16
  %v26 = icmp sge i32 %v24, %v25
  br i1 %v26, label %then.27, label %else.28
then.27:
  %v30 = icmp sgt i32 16, 0
  %v31 = select i1 %v30, i32 0, i32 %v24
  %v32 = select i1 %v30, i32 %v24, i32 0
  %v33 = icmp slt i32 %v31, %v32
  %v34 = sub i32 %v32, %v31
  %v35 = sub i32 0, 16
  %v36 = select i1 %v30, i32 16, i32 %v35
  %v37 = icmp ne i32 16, 0
  %v38 = and i1 %v33, %v37
  %v39 = select i1 %v38, i32 %v36, i32 1
  %v40 = sub i32 %v34, 1
  %v41 = udiv i32 %v40, %v39
  %v42 = add i32 %v41, 1
  %iterations.43 = select i1 %v38, i32 %v42, i32 0
  %left.49 = sub i32 %iterations.43, 0
  %few.50 = call i32 @llvm.umin.i32(i32 %left.49, i32 512)
  %last.51 = add nuw i32 0, %few.50
  %more.52 = icmp ult i32 0, %iterations.43
  br i1 %more.52, label %strip.44, label %endfor.48
strip.44:
  %first.53 = phi i32 [ 0, %then.27 ], [ %first.next.151, %go.156 ]
  %count.54 = phi i32 [ 0, %then.27 ], [ %last.63, %go.156 ]
  %s.55 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.91, %go.156 ]
  %s.56 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.92, %go.156 ]
  %s.57 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.93, %go.156 ]
  %s.58 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.94, %go.156 ]
  %s.59 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.95, %go.156 ]
  %s.60 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.96, %go.156 ]
  %s.61 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.97, %go.156 ]
  %s.62 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.98, %go.156 ]
  %last.63 = phi i32 [ %last.51, %then.27 ], [ %last.165, %go.156 ]
  br label %body.45
body.45:
  %first.64 = phi i32 [ %first.53, %strip.44 ], [ %first.next.151, %endfor.89 ]
  %count.65 = phi i32 [ %count.54, %strip.44 ], [ %count.next.152, %endfor.89 ]
  %s.66 = phi <8 x float> [ %s.55, %strip.44 ], [ %s.91, %endfor.89 ]
  %s.67 = phi <8 x float> [ %s.56, %strip.44 ], [ %s.92, %endfor.89 ]
  %s.68 = phi <8 x float> [ %s.57, %strip.44 ], [ %s.93, %endfor.89 ]
  %s.69 = phi <8 x float> [ %s.58, %strip.44 ], [ %s.94, %endfor.89 ]
  %s.70 = phi <8 x float> [ %s.59, %strip.44 ], [ %s.95, %endfor.89 ]
  %s.71 = phi <8 x float> [ %s.60, %strip.44 ], [ %s.96, %endfor.89 ]
  %s.72 = phi <8 x float> [ %s.61, %strip.44 ], [ %s.97, %endfor.89 ]
  %s.73 = phi <8 x float> [ %s.62, %strip.44 ], [ %s.98, %endfor.89 ]
  %v74 = sub i32 %v24, %first.64
  %v75 = icmp slt i32 %v74, 16
  %v76 = select i1 %v75, i32 %v74, i32 16
  %v77 = sub i32 %v76, 1
  %v78 = add i32 %first.64, %v77
  %v79 = sext i32 %first.64 to i64
  %v80 = mul i64 %i.21, %x.shape1.23
  %v81 = add i64 %v80, %v79
  %v82 = mul i64 %v81, 4
  %v83 = mul i64 %x.shape1.23, 4
  %v86 = getelementptr i8, ptr %x.data.85, i64 %v82
  call void @wb.row_load.float32.8.8.1.1(ptr %v86, i64 %v83, ptr %slots.13, i32 %v76, i64 -1)
  br label %for.87
for.87:
  %turn.90 = phi i32 [ 0, %body.45 ], [ %turn.next.150, %body.88 ]
  %s.91 = phi <8 x float> [ %s.66, %body.45 ], [ %s.142, %body.88 ]
  %s.92 = phi <8 x float> [ %s.67, %body.45 ], [ %s.143, %body.88 ]
  %s.93 = phi <8 x float> [ %s.68, %body.45 ], [ %s.144, %body.88 ]
  %s.94 = phi <8 x float> [ %s.69, %body.45 ], [ %s.145, %body.88 ]
  %s.95 = phi <8 x float> [ %s.70, %body.45 ], [ %s.146, %body.88 ]
  %s.96 = phi <8 x float> [ %s.71, %body.45 ], [ %s.147, %body.88 ]
  %s.97 = phi <8 x float> [ %s.72, %body.45 ], [ %s.148, %body.88 ]
  %s.98 = phi <8 x float> [ %s.73, %body.45 ], [ %s.149, %body.88 ]
  %more.99 = icmp slt i32 %turn.90, %v76
  br i1 %more.99, label %body.88, label %endfor.89
body.88:
  %j.100 = add i32 %first.64, %turn.90
  %v101 = sub i32 %v77, %turn.90
  ; line 5: s += sin(x[i, j])
  %v102 = sext i32 %turn.90 to i64
  %v103 = getelementptr <8 x float>, ptr %slots.13, i64 %v102
  %v104 = load <8 x float>, ptr %v103, align 64
  %v105 = sext i32 %turn.90 to i64
  %v106 = getelementptr <8 x float>, ptr %slots.14, i64 %v105
  %v107 = load <8 x float>, ptr %v106, align 64
  %v108 = sext i32 %turn.90 to i64
  %v109 = getelementptr <8 x float>, ptr %slots.15, i64 %v108
  %v110 = load <8 x float>, ptr %v109, align 64
  %v111 = sext i32 %turn.90 to i64
  %v112 = getelementptr <8 x float>, ptr %slots.16, i64 %v111
  %v113 = load <8 x float>, ptr %v112, align 64
  %v114 = sext i32 %turn.90 to i64
  %v115 = getelementptr <8 x float>, ptr %slots.17, i64 %v114
  %v116 = load <8 x float>, ptr %v115, align 64
  %v117 = sext i32 %turn.90 to i64
  %v118 = getelementptr <8 x float>, ptr %slots.18, i64 %v117
  %v119 = load <8 x float>, ptr %v118, align 64
  %v120 = sext i32 %turn.90 to i64
  %v121 = getelementptr <8 x float>, ptr %slots.19, i64 %v120
  %v122 = load <8 x float>, ptr %v121, align 64
  %v123 = sext i32 %turn.90 to i64
  %v124 = getelementptr <8 x float>, ptr %slots.20, i64 %v123
  %v125 = load <8 x float>, ptr %v124, align 64
  %v126 = shufflevector <8 x float> %v104, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v127 = call <8 x float> @wbm_sin_32x8(<8 x float> %v126)
  %v128 = shufflevector <8 x float> %v107, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v129 = call <8 x float> @wbm_sin_32x8(<8 x float> %v128)
  %v130 = shufflevector <8 x float> %v110, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v131 = call <8 x float> @wbm_sin_32x8(<8 x float> %v130)
  %v132 = shufflevector <8 x float> %v113, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v133 = call <8 x float> @wbm_sin_32x8(<8 x float> %v132)
  %v134 = shufflevector <8 x float> %v116, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v135 = call <8 x float> @wbm_sin_32x8(<8 x float> %v134)
  %v136 = shufflevector <8 x float> %v119, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v137 = call <8 x float> @wbm_sin_32x8(<8 x float> %v136)
  %v138 = shufflevector <8 x float> %v122, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v139 = call <8 x float> @wbm_sin_32x8(<8 x float> %v138)
  %v140 = shufflevector <8 x float> %v125, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v141 = call <8 x float> @wbm_sin_32x8(<8 x float> %v140)
  %s.142 = fadd <8 x float> %s.91, %v127
  %s.143 = fadd <8 x float> %s.92, %v129
  %s.144 = fadd <8 x float> %s.93, %v131
  %s.145 = fadd <8 x float> %s.94, %v133
  %s.146 = fadd <8 x float> %s.95, %v135
  %s.147 = fadd <8 x float> %s.96, %v137
  %s.148 = fadd <8 x float> %s.97, %v139
  %s.149 = fadd <8 x float> %s.98, %v141
  ; line 4: for j in range(x.shape[1]):
  %turn.next.150 = add nsw i32 %turn.90, 1
  br label %for.87
endfor.89:
  %first.next.151 = add nsw i32 %first.64, 16
  %count.next.152 = add nuw i32 %count.65, 1
  %more.153 = icmp ne i32 %count.next.152, %last.63
  br i1 %more.153, label %body.45, label %stripped.46
stripped.46:
  %over.154 = icmp eq i32 %last.63, %iterations.43
  br i1 %over.154, label %endfor.48, label %again.47, !prof !1
again.47:
  %stop.157 = load volatile i32, ptr %stop
  %calm.158 = icmp eq i32 %stop.157, 0
  br i1 %calm.158, label %go.156, label %ask.155, !prof !1
ask.155:
  %v160 = load ptr, ptr %v159
  %v161 = call i32 %v160(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v162 = icmp eq i32 %v161, 0
  br i1 %v162, label %go.156, label %stopped
go.156:
  %left.163 = sub i32 %iterations.43, %last.63
  %few.164 = call i32 @llvm.umin.i32(i32 %left.163, i32 512)
  %last.165 = add nuw i32 %last.63, %few.164
  br label %strip.44
endfor.48:
  %v166 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.91, %stripped.46 ]
  %v167 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.92, %stripped.46 ]
  %v168 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.93, %stripped.46 ]
  %v169 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.94, %stripped.46 ]
  %v170 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.95, %stripped.46 ]
  %v171 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.96, %stripped.46 ]
  %v172 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.97, %stripped.46 ]
  %v173 = phi <8 x float> [ splat (float 0x0000000000000000), %then.27 ], [ %s.98, %stripped.46 ]
  br label %endif.29
else.28:
  %left.179 = sub i32 %v24, 0
  %few.180 = call i32 @llvm.umin.i32(i32 %left.179, i32 8192)
  %last.181 = add nsw i32 0, %few.180
  %more.182 = icmp slt i32 0, %v24
  br i1 %more.182, label %strip.174, label %endfor.178
strip.174:
  %j.183 = phi i32 [ 0, %else.28 ], [ %last.192, %go.532 ]
  %s.184 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.520, %go.532 ]
  %s.185 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.521, %go.532 ]
  %s.186 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.522, %go.532 ]
  %s.187 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.523, %go.532 ]
  %s.188 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.524, %go.532 ]
  %s.189 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.525, %go.532 ]
  %s.190 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.526, %go.532 ]
  %s.191 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.527, %go.532 ]
  %last.192 = phi i32 [ %last.181, %else.28 ], [ %last.540, %go.532 ]
  br label %body.175
body.175:
  %j.193 = phi i32 [ %j.183, %strip.174 ], [ %j.next.528, %body.175 ]
  %s.194 = phi <8 x float> [ %s.184, %strip.174 ], [ %s.520, %body.175 ]
  %s.195 = phi <8 x float> [ %s.185, %strip.174 ], [ %s.521, %body.175 ]
  %s.196 = phi <8 x float> [ %s.186, %strip.174 ], [ %s.522, %body.175 ]
  %s.197 = phi <8 x float> [ %s.187, %strip.174 ], [ %s.523, %body.175 ]
  %s.198 = phi <8 x float> [ %s.188, %strip.174 ], [ %s.524, %body.175 ]
  %s.199 = phi <8 x float> [ %s.189, %strip.174 ], [ %s.525, %body.175 ]
  %s.200 = phi <8 x float> [ %s.190, %strip.174 ], [ %s.526, %body.175 ]
  %s.201 = phi <8 x float> [ %s.191, %strip.174 ], [ %s.527, %body.175 ]
  ; line 5: s += sin(x[i, j])
  %v202 = sext i32 %j.193 to i64
  %v203 = mul i64 %i.21, %x.shape1.23
  %v204 = add i64 %v203, %v202
  %v205 = mul i64 %v204, 4
  %v206 = mul i64 %x.shape1.23, 4
  %v207 = getelementptr i8, ptr %x.data.85, i64 %v205
  %v208 = getelementptr i8, ptr %v207, i64 0
  %v209 = load float, ptr %v208, align 4
  %x.210 = insertelement <8 x float> poison, float %v209, i64 0
  %v211 = getelementptr i8, ptr %v207, i64 %v206
  %v212 = load float, ptr %v211, align 4
  %x.213 = insertelement <8 x float> %x.210, float %v212, i64 1
  %v214 = mul i64 %v206, 2
  %v215 = getelementptr i8, ptr %v207, i64 %v214
  %v216 = load float, ptr %v215, align 4
  %x.217 = insertelement <8 x float> %x.213, float %v216, i64 2
  %v218 = mul i64 %v206, 3
  %v219 = getelementptr i8, ptr %v207, i64 %v218
  %v220 = load float, ptr %v219, align 4
  %x.221 = insertelement <8 x float> %x.217, float %v220, i64 3
  %v222 = mul i64 %v206, 4
  %v223 = getelementptr i8, ptr %v207, i64 %v222
  %v224 = load float, ptr %v223, align 4
  %x.225 = insertelement <8 x float> %x.221, float %v224, i64 4
  %v226 = mul i64 %v206, 5
  %v227 = getelementptr i8, ptr %v207, i64 %v226
  %v228 = load float, ptr %v227, align 4
  %x.229 = insertelement <8 x float> %x.225, float %v228, i64 5
  %v230 = mul i64 %v206, 6
  %v231 = getelementptr i8, ptr %v207, i64 %v230
  %v232 = load float, ptr %v231, align 4
  %x.233 = insertelement <8 x float> %x.229, float %v232, i64 6
  %v234 = mul i64 %v206, 7
  %v235 = getelementptr i8, ptr %v207, i64 %v234
  %v236 = load float, ptr %v235, align 4
  %x.237 = insertelement <8 x float> %x.233, float %v236, i64 7
  %v238 = sext i32 %j.193 to i64
  %v239 = mul i64 %i.21, %x.shape1.23
  %v240 = add i64 %v239, %v238
  %v241 = mul i64 %v240, 4
  %v242 = mul i64 %x.shape1.23, 4
  %v243 = mul i64 %v242, 8
  %v244 = add i64 %v241, %v243
  %v245 = getelementptr i8, ptr %x.data.85, i64 %v244
  %v246 = getelementptr i8, ptr %v245, i64 0
  %v247 = load float, ptr %v246, align 4
  %x.248 = insertelement <8 x float> poison, float %v247, i64 0
  %v249 = getelementptr i8, ptr %v245, i64 %v242
  %v250 = load float, ptr %v249, align 4
  %x.251 = insertelement <8 x float> %x.248, float %v250, i64 1
  %v252 = mul i64 %v242, 2
  %v253 = getelementptr i8, ptr %v245, i64 %v252
  %v254 = load float, ptr %v253, align 4
  %x.255 = insertelement <8 x float> %x.251, float %v254, i64 2
  %v256 = mul i64 %v242, 3
  %v257 = getelementptr i8, ptr %v245, i64 %v256
  %v258 = load float, ptr %v257, align 4
  %x.259 = insertelement <8 x float> %x.255, float %v258, i64 3
  %v260 = mul i64 %v242, 4
  %v261 = getelementptr i8, ptr %v245, i64 %v260
  %v262 = load float, ptr %v261, align 4
  %x.263 = insertelement <8 x float> %x.259, float %v262, i64 4
  %v264 = mul i64 %v242, 5
  %v265 = getelementptr i8, ptr %v245, i64 %v264
  %v266 = load float, ptr %v265, align 4
  %x.267 = insertelement <8 x float> %x.263, float %v266, i64 5
  %v268 = mul i64 %v242, 6
  %v269 = getelementptr i8, ptr %v245, i64 %v268
  %v270 = load float, ptr %v269, align 4
  %x.271 = insertelement <8 x float> %x.267, float %v270, i64 6
  %v272 = mul i64 %v242, 7
  %v273 = getelementptr i8, ptr %v245, i64 %v272
  %v274 = load float, ptr %v273, align 4
  %x.275 = insertelement <8 x float> %x.271, float %v274, i64 7
  %v276 = sext i32 %j.193 to i64
  %v277 = mul i64 %i.21, %x.shape1.23
  %v278 = add i64 %v277, %v276
  %v279 = mul i64 %v278, 4
  %v280 = mul i64 %x.shape1.23, 4
  %v281 = mul i64 %v280, 16
  %v282 = add i64 %v279, %v281
  %v283 = getelementptr i8, ptr %x.data.85, i64 %v282
  %v284 = getelementptr i8, ptr %v283, i64 0
  %v285 = load float, ptr %v284, align 4
  %x.286 = insertelement <8 x float> poison, float %v285, i64 0
  %v287 = getelementptr i8, ptr %v283, i64 %v280
  %v288 = load float, ptr %v287, align 4
  %x.289 = insertelement <8 x float> %x.286, float %v288, i64 1
  %v290 = mul i64 %v280, 2
  %v291 = getelementptr i8, ptr %v283, i64 %v290
  %v292 = load float, ptr %v291, align 4
  %x.293 = insertelement <8 x float> %x.289, float %v292, i64 2
  %v294 = mul i64 %v280, 3
  %v295 = getelementptr i8, ptr %v283, i64 %v294
  %v296 = load float, ptr %v295, align 4
  %x.297 = insertelement <8 x float> %x.293, float %v296, i64 3
  %v298 = mul i64 %v280, 4
  %v299 = getelementptr i8, ptr %v283, i64 %v298
  %v300 = load float, ptr %v299, align 4
  %x.301 = insertelement <8 x float> %x.297, float %v300, i64 4
  %v302 = mul i64 %v280, 5
  %v303 = getelementptr i8, ptr %v283, i64 %v302
  %v304 = load float, ptr %v303, align 4
  %x.305 = insertelement <8 x float> %x.301, float %v304, i64 5
  %v306 = mul i64 %v280, 6
  %v307 = getelementptr i8, ptr %v283, i64 %v306
  %v308 = load float, ptr %v307, align 4
  %x.309 = insertelement <8 x float> %x.305, float %v308, i64 6
  %v310 = mul i64 %v280, 7
  %v311 = getelementptr i8, ptr %v283, i64 %v310
  %v312 = load float, ptr %v311, align 4
  %x.313 = insertelement <8 x float> %x.309, float %v312, i64 7
  %v314 = sext i32 %j.193 to i64
  %v315 = mul i64 %i.21, %x.shape1.23
  %v316 = add i64 %v315, %v314
  %v317 = mul i64 %v316, 4
  %v318 = mul i64 %x.shape1.23, 4
  %v319 = mul i64 %v318, 24
  %v320 = add i64 %v317, %v319
  %v321 = getelementptr i8, ptr %x.data.85, i64 %v320
  %v322 = getelementptr i8, ptr %v321, i64 0
  %v323 = load float, ptr %v322, align 4
  %x.324 = insertelement <8 x float> poison, float %v323, i64 0
  %v325 = getelementptr i8, ptr %v321, i64 %v318
  %v326 = load float, ptr %v325, align 4
  %x.327 = insertelement <8 x float> %x.324, float %v326, i64 1
  %v328 = mul i64 %v318, 2
  %v329 = getelementptr i8, ptr %v321, i64 %v328
  %v330 = load float, ptr %v329, align 4
  %x.331 = insertelement <8 x float> %x.327, float %v330, i64 2
  %v332 = mul i64 %v318, 3
  %v333 = getelementptr i8, ptr %v321, i64 %v332
  %v334 = load float, ptr %v333, align 4
  %x.335 = insertelement <8 x float> %x.331, float %v334, i64 3
  %v336 = mul i64 %v318, 4
  %v337 = getelementptr i8, ptr %v321, i64 %v336
  %v338 = load float, ptr %v337, align 4
  %x.339 = insertelement <8 x float> %x.335, float %v338, i64 4
  %v340 = mul i64 %v318, 5
  %v341 = getelementptr i8, ptr %v321, i64 %v340
  %v342 = load float, ptr %v341, align 4
  %x.343 = insertelement <8 x float> %x.339, float %v342, i64 5
  %v344 = mul i64 %v318, 6
  %v345 = getelementptr i8, ptr %v321, i64 %v344
  %v346 = load float, ptr %v345, align 4
  %x.347 = insertelement <8 x float> %x.343, float %v346, i64 6
  %v348 = mul i64 %v318, 7
  %v349 = getelementptr i8, ptr %v321, i64 %v348
  %v350 = load float, ptr %v349, align 4
  %x.351 = insertelement <8 x float> %x.347, float %v350, i64 7
  %v352 = sext i32 %j.193 to i64
  %v353 = mul i64 %i.21, %x.shape1.23
  %v354 = add i64 %v353, %v352
  %v355 = mul i64 %v354, 4
  %v356 = mul i64 %x.shape1.23, 4
  %v357 = mul i64 %v356, 32
  %v358 = add i64 %v355, %v357
  %v359 = getelementptr i8, ptr %x.data.85, i64 %v358
  %v360 = getelementptr i8, ptr %v359, i64 0
  %v361 = load float, ptr %v360, align 4
  %x.362 = insertelement <8 x float> poison, float %v361, i64 0
  %v363 = getelementptr i8, ptr %v359, i64 %v356
  %v364 = load float, ptr %v363, align 4
  %x.365 = insertelement <8 x float> %x.362, float %v364, i64 1
  %v366 = mul i64 %v356, 2
  %v367 = getelementptr i8, ptr %v359, i64 %v366
  %v368 = load float, ptr %v367, align 4
  %x.369 = insertelement <8 x float> %x.365, float %v368, i64 2
  %v370 = mul i64 %v356, 3
  %v371 = getelementptr i8, ptr %v359, i64 %v370
  %v372 = load float, ptr %v371, align 4
  %x.373 = insertelement <8 x float> %x.369, float %v372, i64 3
  %v374 = mul i64 %v356, 4
  %v375 = getelementptr i8, ptr %v359, i64 %v374
  %v376 = load float, ptr %v375, align 4
  %x.377 = insertelement <8 x float> %x.373, float %v376, i64 4
  %v378 = mul i64 %v356, 5
  %v379 = getelementptr i8, ptr %v359, i64 %v378
  %v380 = load float, ptr %v379, align 4
  %x.381 = insertelement <8 x float> %x.377, float %v380, i64 5
  %v382 = mul i64 %v356, 6
  %v383 = getelementptr i8, ptr %v359, i64 %v382
  %v384 = load float, ptr %v383, align 4
  %x.385 = insertelement <8 x float> %x.381, float %v384, i64 6
  %v386 = mul i64 %v356, 7
  %v387 = getelementptr i8, ptr %v359, i64 %v386
  %v388 = load float, ptr %v387, align 4
  %x.389 = insertelement <8 x float> %x.385, float %v388, i64 7
  %v390 = sext i32 %j.193 to i64
  %v391 = mul i64 %i.21, %x.shape1.23
  %v392 = add i64 %v391, %v390
  %v393 = mul i64 %v392, 4
  %v394 = mul i64 %x.shape1.23, 4
  %v395 = mul i64 %v394, 40
  %v396 = add i64 %v393, %v395
  %v397 = getelementptr i8, ptr %x.data.85, i64 %v396
  %v398 = getelementptr i8, ptr %v397, i64 0
  %v399 = load float, ptr %v398, align 4
  %x.400 = insertelement <8 x float> poison, float %v399, i64 0
  %v401 = getelementptr i8, ptr %v397, i64 %v394
  %v402 = load float, ptr %v401, align 4
  %x.403 = insertelement <8 x float> %x.400, float %v402, i64 1
  %v404 = mul i64 %v394, 2
  %v405 = getelementptr i8, ptr %v397, i64 %v404
  %v406 = load float, ptr %v405, align 4
  %x.407 = insertelement <8 x float> %x.403, float %v406, i64 2
  %v408 = mul i64 %v394, 3
  %v409 = getelementptr i8, ptr %v397, i64 %v408
  %v410 = load float, ptr %v409, align 4
  %x.411 = insertelement <8 x float> %x.407, float %v410, i64 3
  %v412 = mul i64 %v394, 4
  %v413 = getelementptr i8, ptr %v397, i64 %v412
  %v414 = load float, ptr %v413, align 4
  %x.415 = insertelement <8 x float> %x.411, float %v414, i64 4
  %v416 = mul i64 %v394, 5
  %v417 = getelementptr i8, ptr %v397, i64 %v416
  %v418 = load float, ptr %v417, align 4
  %x.419 = insertelement <8 x float> %x.415, float %v418, i64 5
  %v420 = mul i64 %v394, 6
  %v421 = getelementptr i8, ptr %v397, i64 %v420
  %v422 = load float, ptr %v421, align 4
  %x.423 = insertelement <8 x float> %x.419, float %v422, i64 6
  %v424 = mul i64 %v394, 7
  %v425 = getelementptr i8, ptr %v397, i64 %v424
  %v426 = load float, ptr %v425, align 4
  %x.427 = insertelement <8 x float> %x.423, float %v426, i64 7
  %v428 = sext i32 %j.193 to i64
  %v429 = mul i64 %i.21, %x.shape1.23
  %v430 = add i64 %v429, %v428
  %v431 = mul i64 %v430, 4
  %v432 = mul i64 %x.shape1.23, 4
  %v433 = mul i64 %v432, 48
  %v434 = add i64 %v431, %v433
  %v435 = getelementptr i8, ptr %x.data.85, i64 %v434
  %v436 = getelementptr i8, ptr %v435, i64 0
  %v437 = load float, ptr %v436, align 4
  %x.438 = insertelement <8 x float> poison, float %v437, i64 0
  %v439 = getelementptr i8, ptr %v435, i64 %v432
  %v440 = load float, ptr %v439, align 4
  %x.441 = insertelement <8 x float> %x.438, float %v440, i64 1
  %v442 = mul i64 %v432, 2
  %v443 = getelementptr i8, ptr %v435, i64 %v442
  %v444 = load float, ptr %v443, align 4
  %x.445 = insertelement <8 x float> %x.441, float %v444, i64 2
  %v446 = mul i64 %v432, 3
  %v447 = getelementptr i8, ptr %v435, i64 %v446
  %v448 = load float, ptr %v447, align 4
  %x.449 = insertelement <8 x float> %x.445, float %v448, i64 3
  %v450 = mul i64 %v432, 4
  %v451 = getelementptr i8, ptr %v435, i64 %v450
  %v452 = load float, ptr %v451, align 4
  %x.453 = insertelement <8 x float> %x.449, float %v452, i64 4
  %v454 = mul i64 %v432, 5
  %v455 = getelementptr i8, ptr %v435, i64 %v454
  %v456 = load float, ptr %v455, align 4
  %x.457 = insertelement <8 x float> %x.453, float %v456, i64 5
  %v458 = mul i64 %v432, 6
  %v459 = getelementptr i8, ptr %v435, i64 %v458
  %v460 = load float, ptr %v459, align 4
  %x.461 = insertelement <8 x float> %x.457, float %v460, i64 6
  %v462 = mul i64 %v432, 7
  %v463 = getelementptr i8, ptr %v435, i64 %v462
  %v464 = load float, ptr %v463, align 4
  %x.465 = insertelement <8 x float> %x.461, float %v464, i64 7
  %v466 = sext i32 %j.193 to i64
  %v467 = mul i64 %i.21, %x.shape1.23
  %v468 = add i64 %v467, %v466
  %v469 = mul i64 %v468, 4
  %v470 = mul i64 %x.shape1.23, 4
  %v471 = mul i64 %v470, 56
  %v472 = add i64 %v469, %v471
  %v473 = getelementptr i8, ptr %x.data.85, i64 %v472
  %v474 = getelementptr i8, ptr %v473, i64 0
  %v475 = load float, ptr %v474, align 4
  %x.476 = insertelement <8 x float> poison, float %v475, i64 0
  %v477 = getelementptr i8, ptr %v473, i64 %v470
  %v478 = load float, ptr %v477, align 4
  %x.479 = insertelement <8 x float> %x.476, float %v478, i64 1
  %v480 = mul i64 %v470, 2
  %v481 = getelementptr i8, ptr %v473, i64 %v480
  %v482 = load float, ptr %v481, align 4
  %x.483 = insertelement <8 x float> %x.479, float %v482, i64 2
  %v484 = mul i64 %v470, 3
  %v485 = getelementptr i8, ptr %v473, i64 %v484
  %v486 = load float, ptr %v485, align 4
  %x.487 = insertelement <8 x float> %x.483, float %v486, i64 3
  %v488 = mul i64 %v470, 4
  %v489 = getelementptr i8, ptr %v473, i64 %v488
  %v490 = load float, ptr %v489, align 4
  %x.491 = insertelement <8 x float> %x.487, float %v490, i64 4
  %v492 = mul i64 %v470, 5
  %v493 = getelementptr i8, ptr %v473, i64 %v492
  %v494 = load float, ptr %v493, align 4
  %x.495 = insertelement <8 x float> %x.491, float %v494, i64 5
  %v496 = mul i64 %v470, 6
  %v497 = getelementptr i8, ptr %v473, i64 %v496
  %v498 = load float, ptr %v497, align 4
  %x.499 = insertelement <8 x float> %x.495, float %v498, i64 6
  %v500 = mul i64 %v470, 7
  %v501 = getelementptr i8, ptr %v473, i64 %v500
  %v502 = load float, ptr %v501, align 4
  %x.503 = insertelement <8 x float> %x.499, float %v502, i64 7
  %v504 = shufflevector <8 x float> %x.237, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v505 = call <8 x float> @wbm_sin_32x8(<8 x float> %v504)
  %v506 = shufflevector <8 x float> %x.275, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v507 = call <8 x float> @wbm_sin_32x8(<8 x float> %v506)
  %v508 = shufflevector <8 x float> %x.313, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v509 = call <8 x float> @wbm_sin_32x8(<8 x float> %v508)
  %v510 = shufflevector <8 x float> %x.351, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v511 = call <8 x float> @wbm_sin_32x8(<8 x float> %v510)
  %v512 = shufflevector <8 x float> %x.389, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v513 = call <8 x float> @wbm_sin_32x8(<8 x float> %v512)
  %v514 = shufflevector <8 x float> %x.427, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v515 = call <8 x float> @wbm_sin_32x8(<8 x float> %v514)
  %v516 = shufflevector <8 x float> %x.465, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v517 = call <8 x float> @wbm_sin_32x8(<8 x float> %v516)
  %v518 = shufflevector <8 x float> %x.503, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v519 = call <8 x float> @wbm_sin_32x8(<8 x float> %v518)
  %s.520 = fadd <8 x float> %s.194, %v505
  %s.521 = fadd <8 x float> %s.195, %v507
  %s.522 = fadd <8 x float> %s.196, %v509
  %s.523 = fadd <8 x float> %s.197, %v511
  %s.524 = fadd <8 x float> %s.198, %v513
  %s.525 = fadd <8 x float> %s.199, %v515
  %s.526 = fadd <8 x float> %s.200, %v517
  %s.527 = fadd <8 x float> %s.201, %v519
  ; line 4: for j in range(x.shape[1]):
  %j.next.528 = add nsw i32 %j.193, 1
  %more.529 = icmp ne i32 %j.next.528, %last.192
  br i1 %more.529, label %body.175, label %stripped.176
stripped.176:
  %over.530 = icmp eq i32 %last.192, %v24
  br i1 %over.530, label %endfor.178, label %again.177, !prof !1
again.177:
  %stop.533 = load volatile i32, ptr %stop
  %calm.534 = icmp eq i32 %stop.533, 0
  br i1 %calm.534, label %go.532, label %ask.531, !prof !1
ask.531:
  %v535 = load ptr, ptr %v159
  %v536 = call i32 %v535(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v537 = icmp eq i32 %v536, 0
  br i1 %v537, label %go.532, label %stopped
go.532:
  %left.538 = sub i32 %v24, %last.192
  %few.539 = call i32 @llvm.umin.i32(i32 %left.538, i32 8192)
  %last.540 = add nsw i32 %last.192, %few.539
  br label %strip.174
endfor.178:
  %v541 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.520, %stripped.176 ]
  %v542 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.521, %stripped.176 ]
  %v543 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.522, %stripped.176 ]
  %v544 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.523, %stripped.176 ]
  %v545 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.524, %stripped.176 ]
  %v546 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.525, %stripped.176 ]
  %v547 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.526, %stripped.176 ]
  %v548 = phi <8 x float> [ splat (float 0x0000000000000000), %else.28 ], [ %s.527, %stripped.176 ]
  br label %endif.29
endif.29:
  %s.549 = phi <8 x float> [ %v166, %endfor.48 ], [ %v541, %endfor.178 ]
  %s.550 = phi <8 x float> [ %v167, %endfor.48 ], [ %v542, %endfor.178 ]
  %s.551 = phi <8 x float> [ %v168, %endfor.48 ], [ %v543, %endfor.178 ]
  %s.552 = phi <8 x float> [ %v169, %endfor.48 ], [ %v544, %endfor.178 ]
  %s.553 = phi <8 x float> [ %v170, %endfor.48 ], [ %v545, %endfor.178 ]
  %s.554 = phi <8 x float> [ %v171, %endfor.48 ], [ %v546, %endfor.178 ]
  %s.555 = phi <8 x float> [ %v172, %endfor.48 ], [ %v547, %endfor.178 ]
  %s.556 = phi <8 x float> [ %v173, %endfor.48 ], [ %v548, %endfor.178 ]
  ; line 6: y[i] = s
  %v557 = mul i64 %i.21, 4
  %v560 = getelementptr i8, ptr %y.data.559, i64 %v557
  store <8 x float> %s.549, ptr %v560, align 4
  %v561 = mul i64 %i.21, 4
  %v562 = add i64 %v561, 32
  %v563 = getelementptr i8, ptr %y.data.559, i64 %v562
  store <8 x float> %s.550, ptr %v563, align 4
  %v564 = mul i64 %i.21, 4
  %v565 = add i64 %v564, 64
  %v566 = getelementptr i8, ptr %y.data.559, i64 %v565
  store <8 x float> %s.551, ptr %v566, align 4
  %v567 = mul i64 %i.21, 4
  %v568 = add i64 %v567, 96
  %v569 = getelementptr i8, ptr %y.data.559, i64 %v568
  store <8 x float> %s.552, ptr %v569, align 4
  %v570 = mul i64 %i.21, 4
  %v571 = add i64 %v570, 128
  %v572 = getelementptr i8, ptr %y.data.559, i64 %v571
  store <8 x float> %s.553, ptr %v572, align 4
  %v573 = mul i64 %i.21, 4
  %v574 = add i64 %v573, 160
  %v575 = getelementptr i8, ptr %y.data.559, i64 %v574
  store <8 x float> %s.554, ptr %v575, align 4
  %v576 = mul i64 %i.21, 4
  %v577 = add i64 %v576, 192
  %v578 = getelementptr i8, ptr %y.data.559, i64 %v577
  store <8 x float> %s.555, ptr %v578, align 4
  %v579 = mul i64 %i.21, 4
  %v580 = add i64 %v579, 224
  %v581 = getelementptr i8, ptr %y.data.559, i64 %v580
  store <8 x float> %s.556, ptr %v581, align 4
  %stop.584 = load volatile i32, ptr %stop
  %calm.585 = icmp eq i32 %stop.584, 0
  br i1 %calm.585, label %go.583, label %ask.582, !prof !1
ask.582:
  %v587 = sext i32 %gang.10 to i64
  store i64 %v587, ptr %v586
  %v588 = load ptr, ptr %v159
  %v589 = call i32 %v588(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v590 = icmp eq i32 %v589, 0
  br i1 %v590, label %go.583, label %stopped
go.583:
  %v591 = add nsw i32 %gang.10, 64
  %v592 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %v596 = sub nsw i32 %high.2, %gangs.9
  %v597 = call i32 @llvm.smax.i32(i32 %v596, i32 0)
  %v598 = and i32 %v597, -16
  %gangs.599 = add nsw i32 %gangs.9, %v598
  br label %gangs.593
gangs.593:
  %gang.600 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %v823, %on.812 ]
  %number.601 = phi i32 [ 0, %gangs.end.5 ], [ %v824, %on.812 ]
  %more.602 = icmp slt i32 %gang.600, %gangs.599
  br i1 %more.602, label %gang.594, label %gangs.end.595
gang.594:
  ; line 2: i = tid()
  %i.605 = sext i32 %gang.600 to i64
  ; line 4: for j in range(x.shape[1]):
  %v606 = trunc i64 %x.shape1.23 to i32
  %v607 = add i32 0, 16
  %v608 = icmp sge i32 %v606, %v607
  br i1 %v608, label %then.609, label %else.610
then.609:
  %v612 = icmp sgt i32 16, 0
  %v613 = select i1 %v612, i32 0, i32 %v606
  %v614 = select i1 %v612, i32 %v606, i32 0
  %v615 = icmp slt i32 %v613, %v614
  %v616 = sub i32 %v614, %v613
  %v617 = sub i32 0, 16
  %v618 = select i1 %v612, i32 16, i32 %v617
  %v619 = icmp ne i32 16, 0
  %v620 = and i1 %v615, %v619
  %v621 = select i1 %v620, i32 %v618, i32 1
  %v622 = sub i32 %v616, 1
  %v623 = udiv i32 %v622, %v621
  %v624 = add i32 %v623, 1
  %iterations.625 = select i1 %v620, i32 %v624, i32 0
  %left.631 = sub i32 %iterations.625, 0
  %few.632 = call i32 @llvm.umin.i32(i32 %left.631, i32 512)
  %last.633 = add nuw i32 0, %few.632
  %more.634 = icmp ult i32 0, %iterations.625
  br i1 %more.634, label %strip.626, label %endfor.630
strip.626:
  %first.635 = phi i32 [ 0, %then.609 ], [ %first.next.677, %go.682 ]
  %count.636 = phi i32 [ 0, %then.609 ], [ %last.639, %go.682 ]
  %s.637 = phi <8 x float> [ splat (float 0x0000000000000000), %then.609 ], [ %s.659, %go.682 ]
  %s.638 = phi <8 x float> [ splat (float 0x0000000000000000), %then.609 ], [ %s.660, %go.682 ]
  %last.639 = phi i32 [ %last.633, %then.609 ], [ %last.690, %go.682 ]
  br label %body.627
body.627:
  %first.640 = phi i32 [ %first.635, %strip.626 ], [ %first.next.677, %endfor.657 ]
  %count.641 = phi i32 [ %count.636, %strip.626 ], [ %count.next.678, %endfor.657 ]
  %s.642 = phi <8 x float> [ %s.637, %strip.626 ], [ %s.659, %endfor.657 ]
  %s.643 = phi <8 x float> [ %s.638, %strip.626 ], [ %s.660, %endfor.657 ]
  %v644 = sub i32 %v606, %first.640
  %v645 = icmp slt i32 %v644, 16
  %v646 = select i1 %v645, i32 %v644, i32 16
  %v647 = sub i32 %v646, 1
  %v648 = add i32 %first.640, %v647
  %v649 = sext i32 %first.640 to i64
  %v650 = mul i64 %i.605, %x.shape1.23
  %v651 = add i64 %v650, %v649
  %v652 = mul i64 %v651, 4
  %v653 = mul i64 %x.shape1.23, 4
  %v654 = getelementptr i8, ptr %x.data.85, i64 %v652
  call void @wb.row_load.float32.8.2.1.1(ptr %v654, i64 %v653, ptr %slots.603, i32 %v646, i64 -1)
  br label %for.655
for.655:
  %turn.658 = phi i32 [ 0, %body.627 ], [ %turn.next.676, %body.656 ]
  %s.659 = phi <8 x float> [ %s.642, %body.627 ], [ %s.674, %body.656 ]
  %s.660 = phi <8 x float> [ %s.643, %body.627 ], [ %s.675, %body.656 ]
  %more.661 = icmp slt i32 %turn.658, %v646
  br i1 %more.661, label %body.656, label %endfor.657
body.656:
  %j.662 = add i32 %first.640, %turn.658
  %v663 = sub i32 %v647, %turn.658
  ; line 5: s += sin(x[i, j])
  %v664 = sext i32 %turn.658 to i64
  %v665 = getelementptr <8 x float>, ptr %slots.603, i64 %v664
  %v666 = load <8 x float>, ptr %v665, align 64
  %v667 = sext i32 %turn.658 to i64
  %v668 = getelementptr <8 x float>, ptr %slots.604, i64 %v667
  %v669 = load <8 x float>, ptr %v668, align 64
  %v670 = shufflevector <8 x float> %v666, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v671 = call <8 x float> @wbm_sin_32x8(<8 x float> %v670)
  %v672 = shufflevector <8 x float> %v669, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v673 = call <8 x float> @wbm_sin_32x8(<8 x float> %v672)
  %s.674 = fadd <8 x float> %s.659, %v671
  %s.675 = fadd <8 x float> %s.660, %v673
  ; line 4: for j in range(x.shape[1]):
  %turn.next.676 = add nsw i32 %turn.658, 1
  br label %for.655
endfor.657:
  %first.next.677 = add nsw i32 %first.640, 16
  %count.next.678 = add nuw i32 %count.641, 1
  %more.679 = icmp ne i32 %count.next.678, %last.639
  br i1 %more.679, label %body.627, label %stripped.628
stripped.628:
  %over.680 = icmp eq i32 %last.639, %iterations.625
  br i1 %over.680, label %endfor.630, label %again.629, !prof !1
again.629:
  %stop.683 = load volatile i32, ptr %stop
  %calm.684 = icmp eq i32 %stop.683, 0
  br i1 %calm.684, label %go.682, label %ask.681, !prof !1
ask.681:
  %v685 = load ptr, ptr %v159
  %v686 = call i32 %v685(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v687 = icmp eq i32 %v686, 0
  br i1 %v687, label %go.682, label %stopped
go.682:
  %left.688 = sub i32 %iterations.625, %last.639
  %few.689 = call i32 @llvm.umin.i32(i32 %left.688, i32 512)
  %last.690 = add nuw i32 %last.639, %few.689
  br label %strip.626
endfor.630:
  %v691 = phi <8 x float> [ splat (float 0x0000000000000000), %then.609 ], [ %s.659, %stripped.628 ]
  %v692 = phi <8 x float> [ splat (float 0x0000000000000000), %then.609 ], [ %s.660, %stripped.628 ]
  br label %endif.611
else.610:
  %left.698 = sub i32 %v606, 0
  %few.699 = call i32 @llvm.umin.i32(i32 %left.698, i32 8192)
  %last.700 = add nsw i32 0, %few.699
  %more.701 = icmp slt i32 0, %v606
  br i1 %more.701, label %strip.693, label %endfor.697
strip.693:
  %j.702 = phi i32 [ 0, %else.610 ], [ %last.705, %go.793 ]
  %s.703 = phi <8 x float> [ splat (float 0x0000000000000000), %else.610 ], [ %s.787, %go.793 ]
  %s.704 = phi <8 x float> [ splat (float 0x0000000000000000), %else.610 ], [ %s.788, %go.793 ]
  %last.705 = phi i32 [ %last.700, %else.610 ], [ %last.801, %go.793 ]
  br label %body.694
body.694:
  %j.706 = phi i32 [ %j.702, %strip.693 ], [ %j.next.789, %body.694 ]
  %s.707 = phi <8 x float> [ %s.703, %strip.693 ], [ %s.787, %body.694 ]
  %s.708 = phi <8 x float> [ %s.704, %strip.693 ], [ %s.788, %body.694 ]
  ; line 5: s += sin(x[i, j])
  %v709 = sext i32 %j.706 to i64
  %v710 = mul i64 %i.605, %x.shape1.23
  %v711 = add i64 %v710, %v709
  %v712 = mul i64 %v711, 4
  %v713 = mul i64 %x.shape1.23, 4
  %v714 = getelementptr i8, ptr %x.data.85, i64 %v712
  %v715 = getelementptr i8, ptr %v714, i64 0
  %v716 = load float, ptr %v715, align 4
  %x.717 = insertelement <8 x float> poison, float %v716, i64 0
  %v718 = getelementptr i8, ptr %v714, i64 %v713
  %v719 = load float, ptr %v718, align 4
  %x.720 = insertelement <8 x float> %x.717, float %v719, i64 1
  %v721 = mul i64 %v713, 2
  %v722 = getelementptr i8, ptr %v714, i64 %v721
  %v723 = load float, ptr %v722, align 4
  %x.724 = insertelement <8 x float> %x.720, float %v723, i64 2
  %v725 = mul i64 %v713, 3
  %v726 = getelementptr i8, ptr %v714, i64 %v725
  %v727 = load float, ptr %v726, align 4
  %x.728 = insertelement <8 x float> %x.724, float %v727, i64 3
  %v729 = mul i64 %v713, 4
  %v730 = getelementptr i8, ptr %v714, i64 %v729
  %v731 = load float, ptr %v730, align 4
  %x.732 = insertelement <8 x float> %x.728, float %v731, i64 4
  %v733 = mul i64 %v713, 5
  %v734 = getelementptr i8, ptr %v714, i64 %v733
  %v735 = load float, ptr %v734, align 4
  %x.736 = insertelement <8 x float> %x.732, float %v735, i64 5
  %v737 = mul i64 %v713, 6
  %v738 = getelementptr i8, ptr %v714, i64 %v737
  %v739 = load float, ptr %v738, align 4
  %x.740 = insertelement <8 x float> %x.736, float %v739, i64 6
  %v741 = mul i64 %v713, 7
  %v742 = getelementptr i8, ptr %v714, i64 %v741
  %v743 = load float, ptr %v742, align 4
  %x.744 = insertelement <8 x float> %x.740, float %v743, i64 7
  %v745 = sext i32 %j.706 to i64
  %v746 = mul i64 %i.605, %x.shape1.23
  %v747 = add i64 %v746, %v745
  %v748 = mul i64 %v747, 4
  %v749 = mul i64 %x.shape1.23, 4
  %v750 = mul i64 %v749, 8
  %v751 = add i64 %v748, %v750
  %v752 = getelementptr i8, ptr %x.data.85, i64 %v751
  %v753 = getelementptr i8, ptr %v752, i64 0
  %v754 = load float, ptr %v753, align 4
  %x.755 = insertelement <8 x float> poison, float %v754, i64 0
  %v756 = getelementptr i8, ptr %v752, i64 %v749
  %v757 = load float, ptr %v756, align 4
  %x.758 = insertelement <8 x float> %x.755, float %v757, i64 1
  %v759 = mul i64 %v749, 2
  %v760 = getelementptr i8, ptr %v752, i64 %v759
  %v761 = load float, ptr %v760, align 4
  %x.762 = insertelement <8 x float> %x.758, float %v761, i64 2
  %v763 = mul i64 %v749, 3
  %v764 = getelementptr i8, ptr %v752, i64 %v763
  %v765 = load float, ptr %v764, align 4
  %x.766 = insertelement <8 x float> %x.762, float %v765, i64 3
  %v767 = mul i64 %v749, 4
  %v768 = getelementptr i8, ptr %v752, i64 %v767
  %v769 = load float, ptr %v768, align 4
  %x.770 = insertelement <8 x float> %x.766, float %v769, i64 4
  %v771 = mul i64 %v749, 5
  %v772 = getelementptr i8, ptr %v752, i64 %v771
  %v773 = load float, ptr %v772, align 4
  %x.774 = insertelement <8 x float> %x.770, float %v773, i64 5
  %v775 = mul i64 %v749, 6
  %v776 = getelementptr i8, ptr %v752, i64 %v775
  %v777 = load float, ptr %v776, align 4
  %x.778 = insertelement <8 x float> %x.774, float %v777, i64 6
  %v779 = mul i64 %v749, 7
  %v780 = getelementptr i8, ptr %v752, i64 %v779
  %v781 = load float, ptr %v780, align 4
  %x.782 = insertelement <8 x float> %x.778, float %v781, i64 7
  %v783 = shufflevector <8 x float> %x.744, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v784 = call <8 x float> @wbm_sin_32x8(<8 x float> %v783)
  %v785 = shufflevector <8 x float> %x.782, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v786 = call <8 x float> @wbm_sin_32x8(<8 x float> %v785)
  %s.787 = fadd <8 x float> %s.707, %v784
  %s.788 = fadd <8 x float> %s.708, %v786
  ; line 4: for j in range(x.shape[1]):
  %j.next.789 = add nsw i32 %j.706, 1
  %more.790 = icmp ne i32 %j.next.789, %last.705
  br i1 %more.790, label %body.694, label %stripped.695
stripped.695:
  %over.791 = icmp eq i32 %last.705, %v606
  br i1 %over.791, label %endfor.697, label %again.696, !prof !1
again.696:
  %stop.794 = load volatile i32, ptr %stop
  %calm.795 = icmp eq i32 %stop.794, 0
  br i1 %calm.795, label %go.793, label %ask.792, !prof !1
ask.792:
  %v796 = load ptr, ptr %v159
  %v797 = call i32 %v796(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v798 = icmp eq i32 %v797, 0
  br i1 %v798, label %go.793, label %stopped
go.793:
  %left.799 = sub i32 %v606, %last.705
  %few.800 = call i32 @llvm.umin.i32(i32 %left.799, i32 8192)
  %last.801 = add nsw i32 %last.705, %few.800
  br label %strip.693
endfor.697:
  %v802 = phi <8 x float> [ splat (float 0x0000000000000000), %else.610 ], [ %s.787, %stripped.695 ]
  %v803 = phi <8 x float> [ splat (float 0x0000000000000000), %else.610 ], [ %s.788, %stripped.695 ]
  br label %endif.611
endif.611:
  %s.804 = phi <8 x float> [ %v691, %endfor.630 ], [ %v802, %endfor.697 ]
  %s.805 = phi <8 x float> [ %v692, %endfor.630 ], [ %v803, %endfor.697 ]
  ; line 6: y[i] = s
  %v806 = mul i64 %i.605, 4
  %v807 = getelementptr i8, ptr %y.data.559, i64 %v806
  store <8 x float> %s.804, ptr %v807, align 4
  %v808 = mul i64 %i.605, 4
  %v809 = add i64 %v808, 32
  %v810 = getelementptr i8, ptr %y.data.559, i64 %v809
  store <8 x float> %s.805, ptr %v810, align 4
  %v813 = and i32 %number.601, 1
  %early.814 = icmp ne i32 %v813, 1
  br i1 %early.814, label %on.812, label %due.811, !prof !1
due.811:
  %stop.817 = load volatile i32, ptr %stop
  %calm.818 = icmp eq i32 %stop.817, 0
  br i1 %calm.818, label %go.816, label %ask.815, !prof !1
ask.815:
  %v819 = sext i32 %gang.600 to i64
  store i64 %v819, ptr %v586
  %v820 = load ptr, ptr %v159
  %v821 = call i32 %v820(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v822 = icmp eq i32 %v821, 0
  br i1 %v822, label %go.816, label %stopped
go.816:
  br label %on.812
on.812:
  %v823 = add nsw i32 %gang.600, 16
  %v824 = add nsw i32 %number.601, 1
  br label %gangs.593, !llvm.loop !3
gangs.end.595:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.599, %gangs.end.595 ], [ %tid.next, %thread.end ]
  %more.825 = icmp slt i32 %tid, %high.2
  br i1 %more.825, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 4: for j in range(x.shape[1]):
  %v826 = trunc i64 %x.shape1.23 to i32
  %left.832 = sub i32 %v826, 0
  %few.833 = call i32 @llvm.umin.i32(i32 %left.832, i32 8192)
  %last.834 = add nsw i32 0, %few.833
  %more.835 = icmp slt i32 0, %v826
  br i1 %more.835, label %strip.827, label %endfor.831
strip.827:
  %j.836 = phi i32 [ 0, %thread ], [ %last.838, %go.853 ]
  %s.837 = phi float [ 0x0000000000000000, %thread ], [ %s.848, %go.853 ]
  %last.838 = phi i32 [ %last.834, %thread ], [ %last.861, %go.853 ]
  br label %body.828
body.828:
  %j.839 = phi i32 [ %j.836, %strip.827 ], [ %j.next.849, %body.828 ]
  %s.840 = phi float [ %s.837, %strip.827 ], [ %s.848, %body.828 ]
  ; line 5: s += sin(x[i, j])
  %v841 = sext i32 %tid to i64
  %v842 = sext i32 %j.839 to i64
  %v843 = mul nsw i64 %v841, %x.shape1.23
  %v844 = add nsw i64 %v843, %v842
  %v845 = getelementptr inbounds float, ptr %x.data.85, i64 %v844
  %v846 = load float, ptr %v845
  %v847 = call float @wbm_sin_32(float %v846) #1
  %s.848 = fadd float %s.840, %v847
  ; line 4: for j in range(x.shape[1]):
  %j.next.849 = add nsw i32 %j.839, 1
  %more.850 = icmp ne i32 %j.next.849, %last.838
  br i1 %more.850, label %body.828, label %stripped.829
stripped.829:
  %over.851 = icmp eq i32 %last.838, %v826
  br i1 %over.851, label %endfor.831, label %again.830, !prof !1
again.830:
  %stop.854 = load volatile i32, ptr %stop
  %calm.855 = icmp eq i32 %stop.854, 0
  br i1 %calm.855, label %go.853, label %ask.852, !prof !1
ask.852:
  %v856 = load ptr, ptr %v159
  %v857 = call i32 %v856(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v858 = icmp eq i32 %v857, 0
  br i1 %v858, label %go.853, label %stopped
go.853:
  %left.859 = sub i32 %v826, %last.838
  %few.860 = call i32 @llvm.umin.i32(i32 %left.859, i32 8192)
  %last.861 = add nsw i32 %last.838, %few.860
  br label %strip.827
endfor.831:
  %v862 = phi float [ 0x0000000000000000, %thread ], [ %s.848, %stripped.829 ]
  ; line 6: y[i] = s
  %v863 = sext i32 %tid to i64
  %v864 = getelementptr inbounds float, ptr %y.data.559, i64 %v863
  store float %v862, ptr %v864
  %v867 = and i32 %tid, 31
  %early.868 = icmp ne i32 %v867, 31
  br i1 %early.868, label %on.866, label %due.865, !prof !1
due.865:
  %stop.871 = load volatile i32, ptr %stop
  %calm.872 = icmp eq i32 %stop.871, 0
  br i1 %calm.872, label %go.870, label %ask.869, !prof !1
ask.869:
  %v873 = sext i32 %tid to i64
  store i64 %v873, ptr %v586
  %v874 = load ptr, ptr %v159
  %v875 = call i32 %v874(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v876 = icmp eq i32 %v875, 0
  br i1 %v876, label %go.870, label %stopped
go.870:
  br label %on.866
on.866:
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
  %part = and i64 %lane, -8
  %in.part = and i64 %lane, 7
  %part.at = mul i64 %part, 16
  %lane.at = add i64 %part.at, %in.part
  %own = getelementptr float, ptr %slots, i64 %lane.at
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
  %v73 = getelementptr [8 x float], ptr %own, i64 %at
  %v74 = getelementptr float, ptr %v73, i64 0
  store <8 x float> %v65, ptr %v74, align 4
  %v75 = getelementptr [8 x float], ptr %own, i64 %at
  %v76 = getelementptr float, ptr %v75, i64 8
  store <8 x float> %v66, ptr %v76, align 4
  %v77 = getelementptr [8 x float], ptr %own, i64 %at
  %v78 = getelementptr float, ptr %v77, i64 16
  store <8 x float> %v67, ptr %v78, align 4
  %v79 = getelementptr [8 x float], ptr %own, i64 %at
  %v80 = getelementptr float, ptr %v79, i64 24
  store <8 x float> %v68, ptr %v80, align 4
  %v81 = getelementptr [8 x float], ptr %own, i64 %at
  %v82 = getelementptr float, ptr %v81, i64 32
  store <8 x float> %v69, ptr %v82, align 4
  %v83 = getelementptr [8 x float], ptr %own, i64 %at
  %v84 = getelementptr float, ptr %v83, i64 40
  store <8 x float> %v70, ptr %v84, align 4
  %v85 = getelementptr [8 x float], ptr %own, i64 %at
  %v86 = getelementptr float, ptr %v85, i64 48
  store <8 x float> %v71, ptr %v86, align 4
  %v87 = getelementptr [8 x float], ptr %own, i64 %at
  %v88 = getelementptr float, ptr %v87, i64 56
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
  %v169 = getelementptr [8 x float], ptr %own, i64 %at
  %v170 = getelementptr float, ptr %v169, i64 0
  store <8 x float> %v161, ptr %v170, align 4
  %v171 = getelementptr [8 x float], ptr %own, i64 %at
  %v172 = getelementptr float, ptr %v171, i64 8
  store <8 x float> %v162, ptr %v172, align 4
  %v173 = getelementptr [8 x float], ptr %own, i64 %at
  %v174 = getelementptr float, ptr %v173, i64 16
  store <8 x float> %v163, ptr %v174, align 4
  %v175 = getelementptr [8 x float], ptr %own, i64 %at
  %v176 = getelementptr float, ptr %v175, i64 24
  store <8 x float> %v164, ptr %v176, align 4
  %v177 = getelementptr [8 x float], ptr %own, i64 %at
  %v178 = getelementptr float, ptr %v177, i64 32
  store <8 x float> %v165, ptr %v178, align 4
  %v179 = getelementptr [8 x float], ptr %own, i64 %at
  %v180 = getelementptr float, ptr %v179, i64 40
  store <8 x float> %v166, ptr %v180, align 4
  %v181 = getelementptr [8 x float], ptr %own, i64 %at
  %v182 = getelementptr float, ptr %v181, i64 48
  store <8 x float> %v167, ptr %v182, align 4
  %v183 = getelementptr [8 x float], ptr %own, i64 %at
  %v184 = getelementptr float, ptr %v183, i64 56
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
  %part = and i64 %lane, -8
  %in.part = and i64 %lane, 7
  %part.at = mul i64 %part, 16
  %lane.at = add i64 %part.at, %in.part
  %own = getelementptr float, ptr %slots, i64 %lane.at
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
  %v73 = getelementptr [8 x float], ptr %own, i64 %at
  %v74 = getelementptr float, ptr %v73, i64 0
  store <8 x float> %v65, ptr %v74, align 4
  %v75 = getelementptr [8 x float], ptr %own, i64 %at
  %v76 = getelementptr float, ptr %v75, i64 8
  store <8 x float> %v66, ptr %v76, align 4
  %v77 = getelementptr [8 x float], ptr %own, i64 %at
  %v78 = getelementptr float, ptr %v77, i64 16
  store <8 x float> %v67, ptr %v78, align 4
  %v79 = getelementptr [8 x float], ptr %own, i64 %at
  %v80 = getelementptr float, ptr %v79, i64 24
  store <8 x float> %v68, ptr %v80, align 4
  %v81 = getelementptr [8 x float], ptr %own, i64 %at
  %v82 = getelementptr float, ptr %v81, i64 32
  store <8 x float> %v69, ptr %v82, align 4
  %v83 = getelementptr [8 x float], ptr %own, i64 %at
  %v84 = getelementptr float, ptr %v83, i64 40
  store <8 x float> %v70, ptr %v84, align 4
  %v85 = getelementptr [8 x float], ptr %own, i64 %at
  %v86 = getelementptr float, ptr %v85, i64 48
  store <8 x float> %v71, ptr %v86, align 4
  %v87 = getelementptr [8 x float], ptr %own, i64 %at
  %v88 = getelementptr float, ptr %v87, i64 56
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
  %v169 = getelementptr [8 x float], ptr %own, i64 %at
  %v170 = getelementptr float, ptr %v169, i64 0
  store <8 x float> %v161, ptr %v170, align 4
  %v171 = getelementptr [8 x float], ptr %own, i64 %at
  %v172 = getelementptr float, ptr %v171, i64 8
  store <8 x float> %v162, ptr %v172, align 4
  %v173 = getelementptr [8 x float], ptr %own, i64 %at
  %v174 = getelementptr float, ptr %v173, i64 16
  store <8 x float> %v163, ptr %v174, align 4
  %v175 = getelementptr [8 x float], ptr %own, i64 %at
  %v176 = getelementptr float, ptr %v175, i64 24
  store <8 x float> %v164, ptr %v176, align 4
  %v177 = getelementptr [8 x float], ptr %own, i64 %at
  %v178 = getelementptr float, ptr %v177, i64 32
  store <8 x float> %v165, ptr %v178, align 4
  %v179 = getelementptr [8 x float], ptr %own, i64 %at
  %v180 = getelementptr float, ptr %v179, i64 40
  store <8 x float> %v166, ptr %v180, align 4
  %v181 = getelementptr [8 x float], ptr %own, i64 %at
  %v182 = getelementptr float, ptr %v181, i64 48
  store <8 x float> %v167, ptr %v182, align 4
  %v183 = getelementptr [8 x float], ptr %own, i64 %at
  %v184 = getelementptr float, ptr %v183, i64 56
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
