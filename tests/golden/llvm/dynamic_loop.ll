define i32 @wb_dynamic_loop(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.shape1.at.14 = getelementptr inbounds i8, ptr %params, i64 48
  %x.shape1.15 = load i64, ptr %x.shape1.at.14, !range !0
  %slots.22 = alloca [8 x [16 x <8 x float>]], align 64
  %slots.23 = getelementptr [16 x <8 x float>], ptr %slots.22, i64 1
  %slots.24 = getelementptr [16 x <8 x float>], ptr %slots.22, i64 2
  %slots.25 = getelementptr [16 x <8 x float>], ptr %slots.22, i64 3
  %slots.26 = getelementptr [16 x <8 x float>], ptr %slots.22, i64 4
  %slots.27 = getelementptr [16 x <8 x float>], ptr %slots.22, i64 5
  %slots.28 = getelementptr [16 x <8 x float>], ptr %slots.22, i64 6
  %slots.29 = getelementptr [16 x <8 x float>], ptr %slots.22, i64 7
  %x.at.83 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.84 = load ptr, ptr %x.at.83
  %v157 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.564 = getelementptr inbounds i8, ptr %params, i64 72
  %y.data.565 = load ptr, ptr %y.at.564
  %v592 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.616 = alloca [2 x [16 x <8 x float>]], align 64
  %slots.617 = getelementptr [16 x <8 x float>], ptr %slots.616, i64 1
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v597, %go.589 ]
  %number.11 = phi i32 [ 0, %start ], [ %v598, %go.589 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 2: i = tid()
  %v13 = sext i32 %gang.10 to i64
  ; line 4: for j in range(x.shape[1]):
  %v16 = trunc i64 %x.shape1.15 to i32
  %v17 = add i32 0, 16
  %v18 = icmp sge i32 %v16, %v17
  br i1 %v18, label %then.19, label %else.20
then.19:
  %v30 = icmp sgt i32 16, 0
  %v31 = select i1 %v30, i32 0, i32 %v16
  %v32 = select i1 %v30, i32 %v16, i32 0
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
  %first.53 = phi i32 [ 0, %then.19 ], [ %first.next.149, %go.154 ]
  %count.54 = phi i32 [ 0, %then.19 ], [ %last.63, %go.154 ]
  %s.55 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.90, %go.154 ]
  %s.56 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.91, %go.154 ]
  %s.57 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.92, %go.154 ]
  %s.58 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.93, %go.154 ]
  %s.59 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.94, %go.154 ]
  %s.60 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.95, %go.154 ]
  %s.61 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.96, %go.154 ]
  %s.62 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.97, %go.154 ]
  %last.63 = phi i32 [ %last.51, %then.19 ], [ %last.163, %go.154 ]
  br label %body.45
body.45:
  %first.64 = phi i32 [ %first.53, %strip.44 ], [ %first.next.149, %endfor.88 ]
  %count.65 = phi i32 [ %count.54, %strip.44 ], [ %count.next.150, %endfor.88 ]
  %s.66 = phi <8 x float> [ %s.55, %strip.44 ], [ %s.90, %endfor.88 ]
  %s.67 = phi <8 x float> [ %s.56, %strip.44 ], [ %s.91, %endfor.88 ]
  %s.68 = phi <8 x float> [ %s.57, %strip.44 ], [ %s.92, %endfor.88 ]
  %s.69 = phi <8 x float> [ %s.58, %strip.44 ], [ %s.93, %endfor.88 ]
  %s.70 = phi <8 x float> [ %s.59, %strip.44 ], [ %s.94, %endfor.88 ]
  %s.71 = phi <8 x float> [ %s.60, %strip.44 ], [ %s.95, %endfor.88 ]
  %s.72 = phi <8 x float> [ %s.61, %strip.44 ], [ %s.96, %endfor.88 ]
  %s.73 = phi <8 x float> [ %s.62, %strip.44 ], [ %s.97, %endfor.88 ]
  %v74 = sub i32 %v16, %first.64
  %v75 = icmp slt i32 %v74, 16
  %v76 = select i1 %v75, i32 %v74, i32 16
  %v77 = sext i32 %gang.10 to i64
  %v78 = sext i32 %first.64 to i64
  %v79 = mul i64 %v77, %x.shape1.15
  %v80 = add i64 %v79, %v78
  %v81 = mul i64 %v80, 4
  %v82 = mul i64 %x.shape1.15, 4
  %v85 = getelementptr i8, ptr %x.data.84, i64 %v81
  call void @wb.row_load.float32.8.8.1.1(ptr %v85, i64 %v82, ptr %slots.22, i32 %v76, i64 -1)
  br label %for.86
for.86:
  %turn.89 = phi i32 [ 0, %body.45 ], [ %turn.next.148, %body.87 ]
  %s.90 = phi <8 x float> [ %s.66, %body.45 ], [ %s.140, %body.87 ]
  %s.91 = phi <8 x float> [ %s.67, %body.45 ], [ %s.141, %body.87 ]
  %s.92 = phi <8 x float> [ %s.68, %body.45 ], [ %s.142, %body.87 ]
  %s.93 = phi <8 x float> [ %s.69, %body.45 ], [ %s.143, %body.87 ]
  %s.94 = phi <8 x float> [ %s.70, %body.45 ], [ %s.144, %body.87 ]
  %s.95 = phi <8 x float> [ %s.71, %body.45 ], [ %s.145, %body.87 ]
  %s.96 = phi <8 x float> [ %s.72, %body.45 ], [ %s.146, %body.87 ]
  %s.97 = phi <8 x float> [ %s.73, %body.45 ], [ %s.147, %body.87 ]
  %more.98 = icmp slt i32 %turn.89, %v76
  br i1 %more.98, label %body.87, label %endfor.88
body.87:
  %j.99 = add i32 %first.64, %turn.89
  ; line 5: s += sin(x[i, j])
  %v100 = sext i32 %turn.89 to i64
  %v101 = getelementptr <8 x float>, ptr %slots.22, i64 %v100
  %v102 = load <8 x float>, ptr %v101, align 64
  %v103 = sext i32 %turn.89 to i64
  %v104 = getelementptr <8 x float>, ptr %slots.23, i64 %v103
  %v105 = load <8 x float>, ptr %v104, align 64
  %v106 = sext i32 %turn.89 to i64
  %v107 = getelementptr <8 x float>, ptr %slots.24, i64 %v106
  %v108 = load <8 x float>, ptr %v107, align 64
  %v109 = sext i32 %turn.89 to i64
  %v110 = getelementptr <8 x float>, ptr %slots.25, i64 %v109
  %v111 = load <8 x float>, ptr %v110, align 64
  %v112 = sext i32 %turn.89 to i64
  %v113 = getelementptr <8 x float>, ptr %slots.26, i64 %v112
  %v114 = load <8 x float>, ptr %v113, align 64
  %v115 = sext i32 %turn.89 to i64
  %v116 = getelementptr <8 x float>, ptr %slots.27, i64 %v115
  %v117 = load <8 x float>, ptr %v116, align 64
  %v118 = sext i32 %turn.89 to i64
  %v119 = getelementptr <8 x float>, ptr %slots.28, i64 %v118
  %v120 = load <8 x float>, ptr %v119, align 64
  %v121 = sext i32 %turn.89 to i64
  %v122 = getelementptr <8 x float>, ptr %slots.29, i64 %v121
  %v123 = load <8 x float>, ptr %v122, align 64
  %v124 = shufflevector <8 x float> %v102, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v125 = call <8 x float> @wbm_sin_32x8(<8 x float> %v124)
  %v126 = shufflevector <8 x float> %v105, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v127 = call <8 x float> @wbm_sin_32x8(<8 x float> %v126)
  %v128 = shufflevector <8 x float> %v108, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v129 = call <8 x float> @wbm_sin_32x8(<8 x float> %v128)
  %v130 = shufflevector <8 x float> %v111, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v131 = call <8 x float> @wbm_sin_32x8(<8 x float> %v130)
  %v132 = shufflevector <8 x float> %v114, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v133 = call <8 x float> @wbm_sin_32x8(<8 x float> %v132)
  %v134 = shufflevector <8 x float> %v117, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v135 = call <8 x float> @wbm_sin_32x8(<8 x float> %v134)
  %v136 = shufflevector <8 x float> %v120, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v137 = call <8 x float> @wbm_sin_32x8(<8 x float> %v136)
  %v138 = shufflevector <8 x float> %v123, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v139 = call <8 x float> @wbm_sin_32x8(<8 x float> %v138)
  %s.140 = fadd <8 x float> %s.90, %v125
  %s.141 = fadd <8 x float> %s.91, %v127
  %s.142 = fadd <8 x float> %s.92, %v129
  %s.143 = fadd <8 x float> %s.93, %v131
  %s.144 = fadd <8 x float> %s.94, %v133
  %s.145 = fadd <8 x float> %s.95, %v135
  %s.146 = fadd <8 x float> %s.96, %v137
  %s.147 = fadd <8 x float> %s.97, %v139
  ; line 4: for j in range(x.shape[1]):
  %turn.next.148 = add nsw i32 %turn.89, 1
  br label %for.86
endfor.88:
  %first.next.149 = add nsw i32 %first.64, 16
  %count.next.150 = add nuw i32 %count.65, 1
  %more.151 = icmp ne i32 %count.next.150, %last.63
  br i1 %more.151, label %body.45, label %stripped.46
stripped.46:
  %over.152 = icmp eq i32 %last.63, %iterations.43
  br i1 %over.152, label %endfor.48, label %again.47, !prof !1
again.47:
  %stop.155 = load volatile i32, ptr %stop
  %calm.156 = icmp eq i32 %stop.155, 0
  br i1 %calm.156, label %go.154, label %ask.153, !prof !1
ask.153:
  %v158 = load ptr, ptr %v157
  %v159 = call i32 %v158(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v160 = icmp eq i32 %v159, 0
  br i1 %v160, label %go.154, label %stopped
go.154:
  %left.161 = sub i32 %iterations.43, %last.63
  %few.162 = call i32 @llvm.umin.i32(i32 %left.161, i32 512)
  %last.163 = add nuw i32 %last.63, %few.162
  br label %strip.44
endfor.48:
  %v164 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.90, %stripped.46 ]
  %v165 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.91, %stripped.46 ]
  %v166 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.92, %stripped.46 ]
  %v167 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.93, %stripped.46 ]
  %v168 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.94, %stripped.46 ]
  %v169 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.95, %stripped.46 ]
  %v170 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.96, %stripped.46 ]
  %v171 = phi <8 x float> [ splat (float 0x0000000000000000), %then.19 ], [ %s.97, %stripped.46 ]
  br label %endif.21
else.20:
  %left.177 = sub i32 %v16, 0
  %few.178 = call i32 @llvm.umin.i32(i32 %left.177, i32 8192)
  %last.179 = add nsw i32 0, %few.178
  %more.180 = icmp slt i32 0, %v16
  br i1 %more.180, label %strip.172, label %endfor.176
strip.172:
  %j.181 = phi i32 [ 0, %else.20 ], [ %last.190, %go.538 ]
  %s.182 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.526, %go.538 ]
  %s.183 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.527, %go.538 ]
  %s.184 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.528, %go.538 ]
  %s.185 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.529, %go.538 ]
  %s.186 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.530, %go.538 ]
  %s.187 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.531, %go.538 ]
  %s.188 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.532, %go.538 ]
  %s.189 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.533, %go.538 ]
  %last.190 = phi i32 [ %last.179, %else.20 ], [ %last.546, %go.538 ]
  br label %body.173
body.173:
  %j.191 = phi i32 [ %j.181, %strip.172 ], [ %j.next.534, %body.173 ]
  %s.192 = phi <8 x float> [ %s.182, %strip.172 ], [ %s.526, %body.173 ]
  %s.193 = phi <8 x float> [ %s.183, %strip.172 ], [ %s.527, %body.173 ]
  %s.194 = phi <8 x float> [ %s.184, %strip.172 ], [ %s.528, %body.173 ]
  %s.195 = phi <8 x float> [ %s.185, %strip.172 ], [ %s.529, %body.173 ]
  %s.196 = phi <8 x float> [ %s.186, %strip.172 ], [ %s.530, %body.173 ]
  %s.197 = phi <8 x float> [ %s.187, %strip.172 ], [ %s.531, %body.173 ]
  %s.198 = phi <8 x float> [ %s.188, %strip.172 ], [ %s.532, %body.173 ]
  %s.199 = phi <8 x float> [ %s.189, %strip.172 ], [ %s.533, %body.173 ]
  ; line 5: s += sin(x[i, j])
  %v200 = sext i32 %gang.10 to i64
  %v201 = sext i32 %j.191 to i64
  %v202 = mul i64 %v200, %x.shape1.15
  %v203 = add i64 %v202, %v201
  %v204 = mul i64 %v203, 4
  %v205 = mul i64 %x.shape1.15, 4
  %v206 = getelementptr i8, ptr %x.data.84, i64 %v204
  %v207 = getelementptr i8, ptr %v206, i64 0
  %v208 = load float, ptr %v207, align 4
  %x.209 = insertelement <8 x float> poison, float %v208, i64 0
  %v210 = getelementptr i8, ptr %v206, i64 %v205
  %v211 = load float, ptr %v210, align 4
  %x.212 = insertelement <8 x float> %x.209, float %v211, i64 1
  %v213 = mul i64 %v205, 2
  %v214 = getelementptr i8, ptr %v206, i64 %v213
  %v215 = load float, ptr %v214, align 4
  %x.216 = insertelement <8 x float> %x.212, float %v215, i64 2
  %v217 = mul i64 %v205, 3
  %v218 = getelementptr i8, ptr %v206, i64 %v217
  %v219 = load float, ptr %v218, align 4
  %x.220 = insertelement <8 x float> %x.216, float %v219, i64 3
  %v221 = mul i64 %v205, 4
  %v222 = getelementptr i8, ptr %v206, i64 %v221
  %v223 = load float, ptr %v222, align 4
  %x.224 = insertelement <8 x float> %x.220, float %v223, i64 4
  %v225 = mul i64 %v205, 5
  %v226 = getelementptr i8, ptr %v206, i64 %v225
  %v227 = load float, ptr %v226, align 4
  %x.228 = insertelement <8 x float> %x.224, float %v227, i64 5
  %v229 = mul i64 %v205, 6
  %v230 = getelementptr i8, ptr %v206, i64 %v229
  %v231 = load float, ptr %v230, align 4
  %x.232 = insertelement <8 x float> %x.228, float %v231, i64 6
  %v233 = mul i64 %v205, 7
  %v234 = getelementptr i8, ptr %v206, i64 %v233
  %v235 = load float, ptr %v234, align 4
  %x.236 = insertelement <8 x float> %x.232, float %v235, i64 7
  %v237 = sext i32 %gang.10 to i64
  %v238 = sext i32 %j.191 to i64
  %v239 = mul i64 %v237, %x.shape1.15
  %v240 = add i64 %v239, %v238
  %v241 = mul i64 %v240, 4
  %v242 = mul i64 %x.shape1.15, 4
  %v243 = mul i64 %v242, 8
  %v244 = add i64 %v241, %v243
  %v245 = getelementptr i8, ptr %x.data.84, i64 %v244
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
  %v276 = sext i32 %gang.10 to i64
  %v277 = sext i32 %j.191 to i64
  %v278 = mul i64 %v276, %x.shape1.15
  %v279 = add i64 %v278, %v277
  %v280 = mul i64 %v279, 4
  %v281 = mul i64 %x.shape1.15, 4
  %v282 = mul i64 %v281, 16
  %v283 = add i64 %v280, %v282
  %v284 = getelementptr i8, ptr %x.data.84, i64 %v283
  %v285 = getelementptr i8, ptr %v284, i64 0
  %v286 = load float, ptr %v285, align 4
  %x.287 = insertelement <8 x float> poison, float %v286, i64 0
  %v288 = getelementptr i8, ptr %v284, i64 %v281
  %v289 = load float, ptr %v288, align 4
  %x.290 = insertelement <8 x float> %x.287, float %v289, i64 1
  %v291 = mul i64 %v281, 2
  %v292 = getelementptr i8, ptr %v284, i64 %v291
  %v293 = load float, ptr %v292, align 4
  %x.294 = insertelement <8 x float> %x.290, float %v293, i64 2
  %v295 = mul i64 %v281, 3
  %v296 = getelementptr i8, ptr %v284, i64 %v295
  %v297 = load float, ptr %v296, align 4
  %x.298 = insertelement <8 x float> %x.294, float %v297, i64 3
  %v299 = mul i64 %v281, 4
  %v300 = getelementptr i8, ptr %v284, i64 %v299
  %v301 = load float, ptr %v300, align 4
  %x.302 = insertelement <8 x float> %x.298, float %v301, i64 4
  %v303 = mul i64 %v281, 5
  %v304 = getelementptr i8, ptr %v284, i64 %v303
  %v305 = load float, ptr %v304, align 4
  %x.306 = insertelement <8 x float> %x.302, float %v305, i64 5
  %v307 = mul i64 %v281, 6
  %v308 = getelementptr i8, ptr %v284, i64 %v307
  %v309 = load float, ptr %v308, align 4
  %x.310 = insertelement <8 x float> %x.306, float %v309, i64 6
  %v311 = mul i64 %v281, 7
  %v312 = getelementptr i8, ptr %v284, i64 %v311
  %v313 = load float, ptr %v312, align 4
  %x.314 = insertelement <8 x float> %x.310, float %v313, i64 7
  %v315 = sext i32 %gang.10 to i64
  %v316 = sext i32 %j.191 to i64
  %v317 = mul i64 %v315, %x.shape1.15
  %v318 = add i64 %v317, %v316
  %v319 = mul i64 %v318, 4
  %v320 = mul i64 %x.shape1.15, 4
  %v321 = mul i64 %v320, 24
  %v322 = add i64 %v319, %v321
  %v323 = getelementptr i8, ptr %x.data.84, i64 %v322
  %v324 = getelementptr i8, ptr %v323, i64 0
  %v325 = load float, ptr %v324, align 4
  %x.326 = insertelement <8 x float> poison, float %v325, i64 0
  %v327 = getelementptr i8, ptr %v323, i64 %v320
  %v328 = load float, ptr %v327, align 4
  %x.329 = insertelement <8 x float> %x.326, float %v328, i64 1
  %v330 = mul i64 %v320, 2
  %v331 = getelementptr i8, ptr %v323, i64 %v330
  %v332 = load float, ptr %v331, align 4
  %x.333 = insertelement <8 x float> %x.329, float %v332, i64 2
  %v334 = mul i64 %v320, 3
  %v335 = getelementptr i8, ptr %v323, i64 %v334
  %v336 = load float, ptr %v335, align 4
  %x.337 = insertelement <8 x float> %x.333, float %v336, i64 3
  %v338 = mul i64 %v320, 4
  %v339 = getelementptr i8, ptr %v323, i64 %v338
  %v340 = load float, ptr %v339, align 4
  %x.341 = insertelement <8 x float> %x.337, float %v340, i64 4
  %v342 = mul i64 %v320, 5
  %v343 = getelementptr i8, ptr %v323, i64 %v342
  %v344 = load float, ptr %v343, align 4
  %x.345 = insertelement <8 x float> %x.341, float %v344, i64 5
  %v346 = mul i64 %v320, 6
  %v347 = getelementptr i8, ptr %v323, i64 %v346
  %v348 = load float, ptr %v347, align 4
  %x.349 = insertelement <8 x float> %x.345, float %v348, i64 6
  %v350 = mul i64 %v320, 7
  %v351 = getelementptr i8, ptr %v323, i64 %v350
  %v352 = load float, ptr %v351, align 4
  %x.353 = insertelement <8 x float> %x.349, float %v352, i64 7
  %v354 = sext i32 %gang.10 to i64
  %v355 = sext i32 %j.191 to i64
  %v356 = mul i64 %v354, %x.shape1.15
  %v357 = add i64 %v356, %v355
  %v358 = mul i64 %v357, 4
  %v359 = mul i64 %x.shape1.15, 4
  %v360 = mul i64 %v359, 32
  %v361 = add i64 %v358, %v360
  %v362 = getelementptr i8, ptr %x.data.84, i64 %v361
  %v363 = getelementptr i8, ptr %v362, i64 0
  %v364 = load float, ptr %v363, align 4
  %x.365 = insertelement <8 x float> poison, float %v364, i64 0
  %v366 = getelementptr i8, ptr %v362, i64 %v359
  %v367 = load float, ptr %v366, align 4
  %x.368 = insertelement <8 x float> %x.365, float %v367, i64 1
  %v369 = mul i64 %v359, 2
  %v370 = getelementptr i8, ptr %v362, i64 %v369
  %v371 = load float, ptr %v370, align 4
  %x.372 = insertelement <8 x float> %x.368, float %v371, i64 2
  %v373 = mul i64 %v359, 3
  %v374 = getelementptr i8, ptr %v362, i64 %v373
  %v375 = load float, ptr %v374, align 4
  %x.376 = insertelement <8 x float> %x.372, float %v375, i64 3
  %v377 = mul i64 %v359, 4
  %v378 = getelementptr i8, ptr %v362, i64 %v377
  %v379 = load float, ptr %v378, align 4
  %x.380 = insertelement <8 x float> %x.376, float %v379, i64 4
  %v381 = mul i64 %v359, 5
  %v382 = getelementptr i8, ptr %v362, i64 %v381
  %v383 = load float, ptr %v382, align 4
  %x.384 = insertelement <8 x float> %x.380, float %v383, i64 5
  %v385 = mul i64 %v359, 6
  %v386 = getelementptr i8, ptr %v362, i64 %v385
  %v387 = load float, ptr %v386, align 4
  %x.388 = insertelement <8 x float> %x.384, float %v387, i64 6
  %v389 = mul i64 %v359, 7
  %v390 = getelementptr i8, ptr %v362, i64 %v389
  %v391 = load float, ptr %v390, align 4
  %x.392 = insertelement <8 x float> %x.388, float %v391, i64 7
  %v393 = sext i32 %gang.10 to i64
  %v394 = sext i32 %j.191 to i64
  %v395 = mul i64 %v393, %x.shape1.15
  %v396 = add i64 %v395, %v394
  %v397 = mul i64 %v396, 4
  %v398 = mul i64 %x.shape1.15, 4
  %v399 = mul i64 %v398, 40
  %v400 = add i64 %v397, %v399
  %v401 = getelementptr i8, ptr %x.data.84, i64 %v400
  %v402 = getelementptr i8, ptr %v401, i64 0
  %v403 = load float, ptr %v402, align 4
  %x.404 = insertelement <8 x float> poison, float %v403, i64 0
  %v405 = getelementptr i8, ptr %v401, i64 %v398
  %v406 = load float, ptr %v405, align 4
  %x.407 = insertelement <8 x float> %x.404, float %v406, i64 1
  %v408 = mul i64 %v398, 2
  %v409 = getelementptr i8, ptr %v401, i64 %v408
  %v410 = load float, ptr %v409, align 4
  %x.411 = insertelement <8 x float> %x.407, float %v410, i64 2
  %v412 = mul i64 %v398, 3
  %v413 = getelementptr i8, ptr %v401, i64 %v412
  %v414 = load float, ptr %v413, align 4
  %x.415 = insertelement <8 x float> %x.411, float %v414, i64 3
  %v416 = mul i64 %v398, 4
  %v417 = getelementptr i8, ptr %v401, i64 %v416
  %v418 = load float, ptr %v417, align 4
  %x.419 = insertelement <8 x float> %x.415, float %v418, i64 4
  %v420 = mul i64 %v398, 5
  %v421 = getelementptr i8, ptr %v401, i64 %v420
  %v422 = load float, ptr %v421, align 4
  %x.423 = insertelement <8 x float> %x.419, float %v422, i64 5
  %v424 = mul i64 %v398, 6
  %v425 = getelementptr i8, ptr %v401, i64 %v424
  %v426 = load float, ptr %v425, align 4
  %x.427 = insertelement <8 x float> %x.423, float %v426, i64 6
  %v428 = mul i64 %v398, 7
  %v429 = getelementptr i8, ptr %v401, i64 %v428
  %v430 = load float, ptr %v429, align 4
  %x.431 = insertelement <8 x float> %x.427, float %v430, i64 7
  %v432 = sext i32 %gang.10 to i64
  %v433 = sext i32 %j.191 to i64
  %v434 = mul i64 %v432, %x.shape1.15
  %v435 = add i64 %v434, %v433
  %v436 = mul i64 %v435, 4
  %v437 = mul i64 %x.shape1.15, 4
  %v438 = mul i64 %v437, 48
  %v439 = add i64 %v436, %v438
  %v440 = getelementptr i8, ptr %x.data.84, i64 %v439
  %v441 = getelementptr i8, ptr %v440, i64 0
  %v442 = load float, ptr %v441, align 4
  %x.443 = insertelement <8 x float> poison, float %v442, i64 0
  %v444 = getelementptr i8, ptr %v440, i64 %v437
  %v445 = load float, ptr %v444, align 4
  %x.446 = insertelement <8 x float> %x.443, float %v445, i64 1
  %v447 = mul i64 %v437, 2
  %v448 = getelementptr i8, ptr %v440, i64 %v447
  %v449 = load float, ptr %v448, align 4
  %x.450 = insertelement <8 x float> %x.446, float %v449, i64 2
  %v451 = mul i64 %v437, 3
  %v452 = getelementptr i8, ptr %v440, i64 %v451
  %v453 = load float, ptr %v452, align 4
  %x.454 = insertelement <8 x float> %x.450, float %v453, i64 3
  %v455 = mul i64 %v437, 4
  %v456 = getelementptr i8, ptr %v440, i64 %v455
  %v457 = load float, ptr %v456, align 4
  %x.458 = insertelement <8 x float> %x.454, float %v457, i64 4
  %v459 = mul i64 %v437, 5
  %v460 = getelementptr i8, ptr %v440, i64 %v459
  %v461 = load float, ptr %v460, align 4
  %x.462 = insertelement <8 x float> %x.458, float %v461, i64 5
  %v463 = mul i64 %v437, 6
  %v464 = getelementptr i8, ptr %v440, i64 %v463
  %v465 = load float, ptr %v464, align 4
  %x.466 = insertelement <8 x float> %x.462, float %v465, i64 6
  %v467 = mul i64 %v437, 7
  %v468 = getelementptr i8, ptr %v440, i64 %v467
  %v469 = load float, ptr %v468, align 4
  %x.470 = insertelement <8 x float> %x.466, float %v469, i64 7
  %v471 = sext i32 %gang.10 to i64
  %v472 = sext i32 %j.191 to i64
  %v473 = mul i64 %v471, %x.shape1.15
  %v474 = add i64 %v473, %v472
  %v475 = mul i64 %v474, 4
  %v476 = mul i64 %x.shape1.15, 4
  %v477 = mul i64 %v476, 56
  %v478 = add i64 %v475, %v477
  %v479 = getelementptr i8, ptr %x.data.84, i64 %v478
  %v480 = getelementptr i8, ptr %v479, i64 0
  %v481 = load float, ptr %v480, align 4
  %x.482 = insertelement <8 x float> poison, float %v481, i64 0
  %v483 = getelementptr i8, ptr %v479, i64 %v476
  %v484 = load float, ptr %v483, align 4
  %x.485 = insertelement <8 x float> %x.482, float %v484, i64 1
  %v486 = mul i64 %v476, 2
  %v487 = getelementptr i8, ptr %v479, i64 %v486
  %v488 = load float, ptr %v487, align 4
  %x.489 = insertelement <8 x float> %x.485, float %v488, i64 2
  %v490 = mul i64 %v476, 3
  %v491 = getelementptr i8, ptr %v479, i64 %v490
  %v492 = load float, ptr %v491, align 4
  %x.493 = insertelement <8 x float> %x.489, float %v492, i64 3
  %v494 = mul i64 %v476, 4
  %v495 = getelementptr i8, ptr %v479, i64 %v494
  %v496 = load float, ptr %v495, align 4
  %x.497 = insertelement <8 x float> %x.493, float %v496, i64 4
  %v498 = mul i64 %v476, 5
  %v499 = getelementptr i8, ptr %v479, i64 %v498
  %v500 = load float, ptr %v499, align 4
  %x.501 = insertelement <8 x float> %x.497, float %v500, i64 5
  %v502 = mul i64 %v476, 6
  %v503 = getelementptr i8, ptr %v479, i64 %v502
  %v504 = load float, ptr %v503, align 4
  %x.505 = insertelement <8 x float> %x.501, float %v504, i64 6
  %v506 = mul i64 %v476, 7
  %v507 = getelementptr i8, ptr %v479, i64 %v506
  %v508 = load float, ptr %v507, align 4
  %x.509 = insertelement <8 x float> %x.505, float %v508, i64 7
  %v510 = shufflevector <8 x float> %x.236, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v511 = call <8 x float> @wbm_sin_32x8(<8 x float> %v510)
  %v512 = shufflevector <8 x float> %x.275, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v513 = call <8 x float> @wbm_sin_32x8(<8 x float> %v512)
  %v514 = shufflevector <8 x float> %x.314, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v515 = call <8 x float> @wbm_sin_32x8(<8 x float> %v514)
  %v516 = shufflevector <8 x float> %x.353, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v517 = call <8 x float> @wbm_sin_32x8(<8 x float> %v516)
  %v518 = shufflevector <8 x float> %x.392, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v519 = call <8 x float> @wbm_sin_32x8(<8 x float> %v518)
  %v520 = shufflevector <8 x float> %x.431, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v521 = call <8 x float> @wbm_sin_32x8(<8 x float> %v520)
  %v522 = shufflevector <8 x float> %x.470, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v523 = call <8 x float> @wbm_sin_32x8(<8 x float> %v522)
  %v524 = shufflevector <8 x float> %x.509, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v525 = call <8 x float> @wbm_sin_32x8(<8 x float> %v524)
  %s.526 = fadd <8 x float> %s.192, %v511
  %s.527 = fadd <8 x float> %s.193, %v513
  %s.528 = fadd <8 x float> %s.194, %v515
  %s.529 = fadd <8 x float> %s.195, %v517
  %s.530 = fadd <8 x float> %s.196, %v519
  %s.531 = fadd <8 x float> %s.197, %v521
  %s.532 = fadd <8 x float> %s.198, %v523
  %s.533 = fadd <8 x float> %s.199, %v525
  ; line 4: for j in range(x.shape[1]):
  %j.next.534 = add nsw i32 %j.191, 1
  %more.535 = icmp ne i32 %j.next.534, %last.190
  br i1 %more.535, label %body.173, label %stripped.174
stripped.174:
  %over.536 = icmp eq i32 %last.190, %v16
  br i1 %over.536, label %endfor.176, label %again.175, !prof !1
again.175:
  %stop.539 = load volatile i32, ptr %stop
  %calm.540 = icmp eq i32 %stop.539, 0
  br i1 %calm.540, label %go.538, label %ask.537, !prof !1
ask.537:
  %v541 = load ptr, ptr %v157
  %v542 = call i32 %v541(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v543 = icmp eq i32 %v542, 0
  br i1 %v543, label %go.538, label %stopped
go.538:
  %left.544 = sub i32 %v16, %last.190
  %few.545 = call i32 @llvm.umin.i32(i32 %left.544, i32 8192)
  %last.546 = add nsw i32 %last.190, %few.545
  br label %strip.172
endfor.176:
  %v547 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.526, %stripped.174 ]
  %v548 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.527, %stripped.174 ]
  %v549 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.528, %stripped.174 ]
  %v550 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.529, %stripped.174 ]
  %v551 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.530, %stripped.174 ]
  %v552 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.531, %stripped.174 ]
  %v553 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.532, %stripped.174 ]
  %v554 = phi <8 x float> [ splat (float 0x0000000000000000), %else.20 ], [ %s.533, %stripped.174 ]
  br label %endif.21
endif.21:
  %s.555 = phi <8 x float> [ %v164, %endfor.48 ], [ %v547, %endfor.176 ]
  %s.556 = phi <8 x float> [ %v165, %endfor.48 ], [ %v548, %endfor.176 ]
  %s.557 = phi <8 x float> [ %v166, %endfor.48 ], [ %v549, %endfor.176 ]
  %s.558 = phi <8 x float> [ %v167, %endfor.48 ], [ %v550, %endfor.176 ]
  %s.559 = phi <8 x float> [ %v168, %endfor.48 ], [ %v551, %endfor.176 ]
  %s.560 = phi <8 x float> [ %v169, %endfor.48 ], [ %v552, %endfor.176 ]
  %s.561 = phi <8 x float> [ %v170, %endfor.48 ], [ %v553, %endfor.176 ]
  %s.562 = phi <8 x float> [ %v171, %endfor.48 ], [ %v554, %endfor.176 ]
  ; line 6: y[i] = s
  %v563 = mul i64 %v13, 4
  %v566 = getelementptr i8, ptr %y.data.565, i64 %v563
  store <8 x float> %s.555, ptr %v566, align 4
  %v567 = mul i64 %v13, 4
  %v568 = add i64 %v567, 32
  %v569 = getelementptr i8, ptr %y.data.565, i64 %v568
  store <8 x float> %s.556, ptr %v569, align 4
  %v570 = mul i64 %v13, 4
  %v571 = add i64 %v570, 64
  %v572 = getelementptr i8, ptr %y.data.565, i64 %v571
  store <8 x float> %s.557, ptr %v572, align 4
  %v573 = mul i64 %v13, 4
  %v574 = add i64 %v573, 96
  %v575 = getelementptr i8, ptr %y.data.565, i64 %v574
  store <8 x float> %s.558, ptr %v575, align 4
  %v576 = mul i64 %v13, 4
  %v577 = add i64 %v576, 128
  %v578 = getelementptr i8, ptr %y.data.565, i64 %v577
  store <8 x float> %s.559, ptr %v578, align 4
  %v579 = mul i64 %v13, 4
  %v580 = add i64 %v579, 160
  %v581 = getelementptr i8, ptr %y.data.565, i64 %v580
  store <8 x float> %s.560, ptr %v581, align 4
  %v582 = mul i64 %v13, 4
  %v583 = add i64 %v582, 192
  %v584 = getelementptr i8, ptr %y.data.565, i64 %v583
  store <8 x float> %s.561, ptr %v584, align 4
  %v585 = mul i64 %v13, 4
  %v586 = add i64 %v585, 224
  %v587 = getelementptr i8, ptr %y.data.565, i64 %v586
  store <8 x float> %s.562, ptr %v587, align 4
  %stop.590 = load volatile i32, ptr %stop
  %calm.591 = icmp eq i32 %stop.590, 0
  br i1 %calm.591, label %go.589, label %ask.588, !prof !1
ask.588:
  %v593 = sext i32 %gang.10 to i64
  store i64 %v593, ptr %v592
  %v594 = load ptr, ptr %v157
  %v595 = call i32 %v594(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v596 = icmp eq i32 %v595, 0
  br i1 %v596, label %go.589, label %stopped
go.589:
  %v597 = add nsw i32 %gang.10, 64
  %v598 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %v602 = sub nsw i32 %high.2, %gangs.9
  %v603 = call i32 @llvm.smax.i32(i32 %v602, i32 0)
  %v604 = and i32 %v603, -16
  %gangs.605 = add nsw i32 %gangs.9, %v604
  br label %gangs.599
gangs.599:
  %gang.606 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %v829, %on.818 ]
  %number.607 = phi i32 [ 0, %gangs.end.5 ], [ %v830, %on.818 ]
  %more.608 = icmp slt i32 %gang.606, %gangs.605
  br i1 %more.608, label %gang.600, label %gangs.end.601
gang.600:
  ; line 2: i = tid()
  %v609 = sext i32 %gang.606 to i64
  ; line 4: for j in range(x.shape[1]):
  %v610 = trunc i64 %x.shape1.15 to i32
  %v611 = add i32 0, 16
  %v612 = icmp sge i32 %v610, %v611
  br i1 %v612, label %then.613, label %else.614
then.613:
  %v618 = icmp sgt i32 16, 0
  %v619 = select i1 %v618, i32 0, i32 %v610
  %v620 = select i1 %v618, i32 %v610, i32 0
  %v621 = icmp slt i32 %v619, %v620
  %v622 = sub i32 %v620, %v619
  %v623 = sub i32 0, 16
  %v624 = select i1 %v618, i32 16, i32 %v623
  %v625 = icmp ne i32 16, 0
  %v626 = and i1 %v621, %v625
  %v627 = select i1 %v626, i32 %v624, i32 1
  %v628 = sub i32 %v622, 1
  %v629 = udiv i32 %v628, %v627
  %v630 = add i32 %v629, 1
  %iterations.631 = select i1 %v626, i32 %v630, i32 0
  %left.637 = sub i32 %iterations.631, 0
  %few.638 = call i32 @llvm.umin.i32(i32 %left.637, i32 512)
  %last.639 = add nuw i32 0, %few.638
  %more.640 = icmp ult i32 0, %iterations.631
  br i1 %more.640, label %strip.632, label %endfor.636
strip.632:
  %first.641 = phi i32 [ 0, %then.613 ], [ %first.next.681, %go.686 ]
  %count.642 = phi i32 [ 0, %then.613 ], [ %last.645, %go.686 ]
  %s.643 = phi <8 x float> [ splat (float 0x0000000000000000), %then.613 ], [ %s.664, %go.686 ]
  %s.644 = phi <8 x float> [ splat (float 0x0000000000000000), %then.613 ], [ %s.665, %go.686 ]
  %last.645 = phi i32 [ %last.639, %then.613 ], [ %last.694, %go.686 ]
  br label %body.633
body.633:
  %first.646 = phi i32 [ %first.641, %strip.632 ], [ %first.next.681, %endfor.662 ]
  %count.647 = phi i32 [ %count.642, %strip.632 ], [ %count.next.682, %endfor.662 ]
  %s.648 = phi <8 x float> [ %s.643, %strip.632 ], [ %s.664, %endfor.662 ]
  %s.649 = phi <8 x float> [ %s.644, %strip.632 ], [ %s.665, %endfor.662 ]
  %v650 = sub i32 %v610, %first.646
  %v651 = icmp slt i32 %v650, 16
  %v652 = select i1 %v651, i32 %v650, i32 16
  %v653 = sext i32 %gang.606 to i64
  %v654 = sext i32 %first.646 to i64
  %v655 = mul i64 %v653, %x.shape1.15
  %v656 = add i64 %v655, %v654
  %v657 = mul i64 %v656, 4
  %v658 = mul i64 %x.shape1.15, 4
  %v659 = getelementptr i8, ptr %x.data.84, i64 %v657
  call void @wb.row_load.float32.8.2.1.1(ptr %v659, i64 %v658, ptr %slots.616, i32 %v652, i64 -1)
  br label %for.660
for.660:
  %turn.663 = phi i32 [ 0, %body.633 ], [ %turn.next.680, %body.661 ]
  %s.664 = phi <8 x float> [ %s.648, %body.633 ], [ %s.678, %body.661 ]
  %s.665 = phi <8 x float> [ %s.649, %body.633 ], [ %s.679, %body.661 ]
  %more.666 = icmp slt i32 %turn.663, %v652
  br i1 %more.666, label %body.661, label %endfor.662
body.661:
  %j.667 = add i32 %first.646, %turn.663
  ; line 5: s += sin(x[i, j])
  %v668 = sext i32 %turn.663 to i64
  %v669 = getelementptr <8 x float>, ptr %slots.616, i64 %v668
  %v670 = load <8 x float>, ptr %v669, align 64
  %v671 = sext i32 %turn.663 to i64
  %v672 = getelementptr <8 x float>, ptr %slots.617, i64 %v671
  %v673 = load <8 x float>, ptr %v672, align 64
  %v674 = shufflevector <8 x float> %v670, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v675 = call <8 x float> @wbm_sin_32x8(<8 x float> %v674)
  %v676 = shufflevector <8 x float> %v673, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v677 = call <8 x float> @wbm_sin_32x8(<8 x float> %v676)
  %s.678 = fadd <8 x float> %s.664, %v675
  %s.679 = fadd <8 x float> %s.665, %v677
  ; line 4: for j in range(x.shape[1]):
  %turn.next.680 = add nsw i32 %turn.663, 1
  br label %for.660
endfor.662:
  %first.next.681 = add nsw i32 %first.646, 16
  %count.next.682 = add nuw i32 %count.647, 1
  %more.683 = icmp ne i32 %count.next.682, %last.645
  br i1 %more.683, label %body.633, label %stripped.634
stripped.634:
  %over.684 = icmp eq i32 %last.645, %iterations.631
  br i1 %over.684, label %endfor.636, label %again.635, !prof !1
again.635:
  %stop.687 = load volatile i32, ptr %stop
  %calm.688 = icmp eq i32 %stop.687, 0
  br i1 %calm.688, label %go.686, label %ask.685, !prof !1
ask.685:
  %v689 = load ptr, ptr %v157
  %v690 = call i32 %v689(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v691 = icmp eq i32 %v690, 0
  br i1 %v691, label %go.686, label %stopped
go.686:
  %left.692 = sub i32 %iterations.631, %last.645
  %few.693 = call i32 @llvm.umin.i32(i32 %left.692, i32 512)
  %last.694 = add nuw i32 %last.645, %few.693
  br label %strip.632
endfor.636:
  %v695 = phi <8 x float> [ splat (float 0x0000000000000000), %then.613 ], [ %s.664, %stripped.634 ]
  %v696 = phi <8 x float> [ splat (float 0x0000000000000000), %then.613 ], [ %s.665, %stripped.634 ]
  br label %endif.615
else.614:
  %left.702 = sub i32 %v610, 0
  %few.703 = call i32 @llvm.umin.i32(i32 %left.702, i32 8192)
  %last.704 = add nsw i32 0, %few.703
  %more.705 = icmp slt i32 0, %v610
  br i1 %more.705, label %strip.697, label %endfor.701
strip.697:
  %j.706 = phi i32 [ 0, %else.614 ], [ %last.709, %go.799 ]
  %s.707 = phi <8 x float> [ splat (float 0x0000000000000000), %else.614 ], [ %s.793, %go.799 ]
  %s.708 = phi <8 x float> [ splat (float 0x0000000000000000), %else.614 ], [ %s.794, %go.799 ]
  %last.709 = phi i32 [ %last.704, %else.614 ], [ %last.807, %go.799 ]
  br label %body.698
body.698:
  %j.710 = phi i32 [ %j.706, %strip.697 ], [ %j.next.795, %body.698 ]
  %s.711 = phi <8 x float> [ %s.707, %strip.697 ], [ %s.793, %body.698 ]
  %s.712 = phi <8 x float> [ %s.708, %strip.697 ], [ %s.794, %body.698 ]
  ; line 5: s += sin(x[i, j])
  %v713 = sext i32 %gang.606 to i64
  %v714 = sext i32 %j.710 to i64
  %v715 = mul i64 %v713, %x.shape1.15
  %v716 = add i64 %v715, %v714
  %v717 = mul i64 %v716, 4
  %v718 = mul i64 %x.shape1.15, 4
  %v719 = getelementptr i8, ptr %x.data.84, i64 %v717
  %v720 = getelementptr i8, ptr %v719, i64 0
  %v721 = load float, ptr %v720, align 4
  %x.722 = insertelement <8 x float> poison, float %v721, i64 0
  %v723 = getelementptr i8, ptr %v719, i64 %v718
  %v724 = load float, ptr %v723, align 4
  %x.725 = insertelement <8 x float> %x.722, float %v724, i64 1
  %v726 = mul i64 %v718, 2
  %v727 = getelementptr i8, ptr %v719, i64 %v726
  %v728 = load float, ptr %v727, align 4
  %x.729 = insertelement <8 x float> %x.725, float %v728, i64 2
  %v730 = mul i64 %v718, 3
  %v731 = getelementptr i8, ptr %v719, i64 %v730
  %v732 = load float, ptr %v731, align 4
  %x.733 = insertelement <8 x float> %x.729, float %v732, i64 3
  %v734 = mul i64 %v718, 4
  %v735 = getelementptr i8, ptr %v719, i64 %v734
  %v736 = load float, ptr %v735, align 4
  %x.737 = insertelement <8 x float> %x.733, float %v736, i64 4
  %v738 = mul i64 %v718, 5
  %v739 = getelementptr i8, ptr %v719, i64 %v738
  %v740 = load float, ptr %v739, align 4
  %x.741 = insertelement <8 x float> %x.737, float %v740, i64 5
  %v742 = mul i64 %v718, 6
  %v743 = getelementptr i8, ptr %v719, i64 %v742
  %v744 = load float, ptr %v743, align 4
  %x.745 = insertelement <8 x float> %x.741, float %v744, i64 6
  %v746 = mul i64 %v718, 7
  %v747 = getelementptr i8, ptr %v719, i64 %v746
  %v748 = load float, ptr %v747, align 4
  %x.749 = insertelement <8 x float> %x.745, float %v748, i64 7
  %v750 = sext i32 %gang.606 to i64
  %v751 = sext i32 %j.710 to i64
  %v752 = mul i64 %v750, %x.shape1.15
  %v753 = add i64 %v752, %v751
  %v754 = mul i64 %v753, 4
  %v755 = mul i64 %x.shape1.15, 4
  %v756 = mul i64 %v755, 8
  %v757 = add i64 %v754, %v756
  %v758 = getelementptr i8, ptr %x.data.84, i64 %v757
  %v759 = getelementptr i8, ptr %v758, i64 0
  %v760 = load float, ptr %v759, align 4
  %x.761 = insertelement <8 x float> poison, float %v760, i64 0
  %v762 = getelementptr i8, ptr %v758, i64 %v755
  %v763 = load float, ptr %v762, align 4
  %x.764 = insertelement <8 x float> %x.761, float %v763, i64 1
  %v765 = mul i64 %v755, 2
  %v766 = getelementptr i8, ptr %v758, i64 %v765
  %v767 = load float, ptr %v766, align 4
  %x.768 = insertelement <8 x float> %x.764, float %v767, i64 2
  %v769 = mul i64 %v755, 3
  %v770 = getelementptr i8, ptr %v758, i64 %v769
  %v771 = load float, ptr %v770, align 4
  %x.772 = insertelement <8 x float> %x.768, float %v771, i64 3
  %v773 = mul i64 %v755, 4
  %v774 = getelementptr i8, ptr %v758, i64 %v773
  %v775 = load float, ptr %v774, align 4
  %x.776 = insertelement <8 x float> %x.772, float %v775, i64 4
  %v777 = mul i64 %v755, 5
  %v778 = getelementptr i8, ptr %v758, i64 %v777
  %v779 = load float, ptr %v778, align 4
  %x.780 = insertelement <8 x float> %x.776, float %v779, i64 5
  %v781 = mul i64 %v755, 6
  %v782 = getelementptr i8, ptr %v758, i64 %v781
  %v783 = load float, ptr %v782, align 4
  %x.784 = insertelement <8 x float> %x.780, float %v783, i64 6
  %v785 = mul i64 %v755, 7
  %v786 = getelementptr i8, ptr %v758, i64 %v785
  %v787 = load float, ptr %v786, align 4
  %x.788 = insertelement <8 x float> %x.784, float %v787, i64 7
  %v789 = shufflevector <8 x float> %x.749, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v790 = call <8 x float> @wbm_sin_32x8(<8 x float> %v789)
  %v791 = shufflevector <8 x float> %x.788, <8 x float> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v792 = call <8 x float> @wbm_sin_32x8(<8 x float> %v791)
  %s.793 = fadd <8 x float> %s.711, %v790
  %s.794 = fadd <8 x float> %s.712, %v792
  ; line 4: for j in range(x.shape[1]):
  %j.next.795 = add nsw i32 %j.710, 1
  %more.796 = icmp ne i32 %j.next.795, %last.709
  br i1 %more.796, label %body.698, label %stripped.699
stripped.699:
  %over.797 = icmp eq i32 %last.709, %v610
  br i1 %over.797, label %endfor.701, label %again.700, !prof !1
again.700:
  %stop.800 = load volatile i32, ptr %stop
  %calm.801 = icmp eq i32 %stop.800, 0
  br i1 %calm.801, label %go.799, label %ask.798, !prof !1
ask.798:
  %v802 = load ptr, ptr %v157
  %v803 = call i32 %v802(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v804 = icmp eq i32 %v803, 0
  br i1 %v804, label %go.799, label %stopped
go.799:
  %left.805 = sub i32 %v610, %last.709
  %few.806 = call i32 @llvm.umin.i32(i32 %left.805, i32 8192)
  %last.807 = add nsw i32 %last.709, %few.806
  br label %strip.697
endfor.701:
  %v808 = phi <8 x float> [ splat (float 0x0000000000000000), %else.614 ], [ %s.793, %stripped.699 ]
  %v809 = phi <8 x float> [ splat (float 0x0000000000000000), %else.614 ], [ %s.794, %stripped.699 ]
  br label %endif.615
endif.615:
  %s.810 = phi <8 x float> [ %v695, %endfor.636 ], [ %v808, %endfor.701 ]
  %s.811 = phi <8 x float> [ %v696, %endfor.636 ], [ %v809, %endfor.701 ]
  ; line 6: y[i] = s
  %v812 = mul i64 %v609, 4
  %v813 = getelementptr i8, ptr %y.data.565, i64 %v812
  store <8 x float> %s.810, ptr %v813, align 4
  %v814 = mul i64 %v609, 4
  %v815 = add i64 %v814, 32
  %v816 = getelementptr i8, ptr %y.data.565, i64 %v815
  store <8 x float> %s.811, ptr %v816, align 4
  %v819 = and i32 %number.607, 1
  %early.820 = icmp ne i32 %v819, 1
  br i1 %early.820, label %on.818, label %due.817, !prof !1
due.817:
  %stop.823 = load volatile i32, ptr %stop
  %calm.824 = icmp eq i32 %stop.823, 0
  br i1 %calm.824, label %go.822, label %ask.821, !prof !1
ask.821:
  %v825 = sext i32 %gang.606 to i64
  store i64 %v825, ptr %v592
  %v826 = load ptr, ptr %v157
  %v827 = call i32 %v826(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v828 = icmp eq i32 %v827, 0
  br i1 %v828, label %go.822, label %stopped
go.822:
  br label %on.818
on.818:
  %v829 = add nsw i32 %gang.606, 16
  %v830 = add nsw i32 %number.607, 1
  br label %gangs.599, !llvm.loop !3
gangs.end.601:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.605, %gangs.end.601 ], [ %tid.next, %thread.end ]
  %more.831 = icmp slt i32 %tid, %high.2
  br i1 %more.831, label %thread, label %finish
thread:
  ; line 2: i = tid()
  %v832 = sext i32 %tid to i64
  ; line 4: for j in range(x.shape[1]):
  %v833 = trunc i64 %x.shape1.15 to i32
  %left.839 = sub i32 %v833, 0
  %few.840 = call i32 @llvm.umin.i32(i32 %left.839, i32 8192)
  %last.841 = add nsw i32 0, %few.840
  %more.842 = icmp slt i32 0, %v833
  br i1 %more.842, label %strip.834, label %endfor.838
strip.834:
  %j.843 = phi i32 [ 0, %thread ], [ %last.845, %go.860 ]
  %s.844 = phi float [ 0x0000000000000000, %thread ], [ %s.855, %go.860 ]
  %last.845 = phi i32 [ %last.841, %thread ], [ %last.868, %go.860 ]
  br label %body.835
body.835:
  %j.846 = phi i32 [ %j.843, %strip.834 ], [ %j.next.856, %body.835 ]
  %s.847 = phi float [ %s.844, %strip.834 ], [ %s.855, %body.835 ]
  ; line 5: s += sin(x[i, j])
  %v848 = sext i32 %tid to i64
  %v849 = sext i32 %j.846 to i64
  %v850 = mul nsw i64 %v848, %x.shape1.15
  %v851 = add nsw i64 %v850, %v849
  %v852 = getelementptr inbounds float, ptr %x.data.84, i64 %v851
  %v853 = load float, ptr %v852
  %v854 = call float @wbm_sin_32(float %v853) #1
  %s.855 = fadd float %s.847, %v854
  ; line 4: for j in range(x.shape[1]):
  %j.next.856 = add nsw i32 %j.846, 1
  %more.857 = icmp ne i32 %j.next.856, %last.845
  br i1 %more.857, label %body.835, label %stripped.836
stripped.836:
  %over.858 = icmp eq i32 %last.845, %v833
  br i1 %over.858, label %endfor.838, label %again.837, !prof !1
again.837:
  %stop.861 = load volatile i32, ptr %stop
  %calm.862 = icmp eq i32 %stop.861, 0
  br i1 %calm.862, label %go.860, label %ask.859, !prof !1
ask.859:
  %v863 = load ptr, ptr %v157
  %v864 = call i32 %v863(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v865 = icmp eq i32 %v864, 0
  br i1 %v865, label %go.860, label %stopped
go.860:
  %left.866 = sub i32 %v833, %last.845
  %few.867 = call i32 @llvm.umin.i32(i32 %left.866, i32 8192)
  %last.868 = add nsw i32 %last.845, %few.867
  br label %strip.834
endfor.838:
  %v869 = phi float [ 0x0000000000000000, %thread ], [ %s.855, %stripped.836 ]
  ; line 6: y[i] = s
  %v870 = getelementptr inbounds float, ptr %y.data.565, i64 %v832
  store float %v869, ptr %v870
  %v873 = and i32 %tid, 31
  %early.874 = icmp ne i32 %v873, 31
  br i1 %early.874, label %on.872, label %due.871, !prof !1
due.871:
  %stop.877 = load volatile i32, ptr %stop
  %calm.878 = icmp eq i32 %stop.877, 0
  br i1 %calm.878, label %go.876, label %ask.875, !prof !1
ask.875:
  %v879 = sext i32 %tid to i64
  store i64 %v879, ptr %v592
  %v880 = load ptr, ptr %v157
  %v881 = call i32 %v880(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v882 = icmp eq i32 %v881, 0
  br i1 %v882, label %go.876, label %stopped
go.876:
  br label %on.872
on.872:
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
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
attributes #1 = { "vector-function-abi-variant"="_ZGVdN8v_wbm_sin_32(wbm_sin_32x8)" }
@llvm.compiler.used = appending global [1 x ptr] [ptr @wbm_sin_32x8], section "llvm.metadata"
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
