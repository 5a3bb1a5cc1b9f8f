define i32 @wb_blur(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %dim1.at.1 = getelementptr inbounds i8, ptr %params, i64 8
  %dim1.2 = load i64, ptr %dim1.at.1, !range !0
  %source.shape0.at.39 = getelementptr inbounds i8, ptr %params, i64 40
  %source.shape0.40 = load i64, ptr %source.shape0.at.39, !range !0
  %source.shape1.at.48 = getelementptr inbounds i8, ptr %params, i64 48
  %source.shape1.49 = load i64, ptr %source.shape1.at.48, !range !0
  %source.at.53 = getelementptr inbounds i8, ptr %params, i64 32
  %source.data.54 = load ptr, ptr %source.at.53
  %result.shape1.at.124 = getelementptr inbounds i8, ptr %params, i64 88
  %result.shape1.125 = load i64, ptr %result.shape1.at.124, !range !0
  %result.at.129 = getelementptr inbounds i8, ptr %params, i64 72
  %result.data.130 = load ptr, ptr %result.at.129
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %first.3 = udiv i64 %begin, %dim1.2
  %v4 = add nsw i64 %end, -1
  %last.5 = udiv i64 %v4, %dim1.2
  br label %row
row:
  %row.at = phi i64 [ %first.3, %start ], [ %row.next, %row.end ]
  %v6 = mul nuw nsw i64 %row.at, %dim1.2
  %v7 = sub nsw i64 %begin, %v6
  %v8 = call i64 @llvm.smax.i64(i64 %v7, i64 0)
  %v9 = sub nsw i64 %end, %v6
  %v10 = call i64 @llvm.smin.i64(i64 %v9, i64 %dim1.2)
  %low.11 = trunc nuw nsw i64 %v8 to i32
  %high.12 = trunc nuw nsw i64 %v10 to i32
  %tid0.13 = trunc nuw nsw i64 %row.at to i32
  %v17 = sub nsw i32 %high.12, %low.11
  %v18 = call i32 @llvm.smax.i32(i32 %v17, i32 0)
  %v19 = and i32 %v18, -64
  %gangs.20 = add nsw i32 %low.11, %v19
  br label %gangs.14
gangs.14:
  %gang.21 = phi i32 [ %low.11, %row ], [ %v174, %endfor.27 ]
  %number.22 = phi i32 [ 0, %row ], [ %v175, %endfor.27 ]
  %more.23 = icmp slt i32 %gang.21, %gangs.20
  br i1 %more.23, label %gang.15, label %gangs.end.16
gang.15:
  ; line 2: i, j = tid()
  %j.24 = sext i32 %gang.21 to i64
  ; line 4: for dy in range(-1, 2):
  br label %for.25
for.25:
  %dy.28 = phi i32 [ -1, %gang.15 ], [ %dy.next.122, %body.26 ]
  %total.29 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.114, %body.26 ]
  %total.30 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.115, %body.26 ]
  %total.31 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.116, %body.26 ]
  %total.32 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.117, %body.26 ]
  %total.33 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.118, %body.26 ]
  %total.34 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.119, %body.26 ]
  %total.35 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.120, %body.26 ]
  %total.36 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.121, %body.26 ]
  %more.37 = icmp slt i32 %dy.28, 2
  br i1 %more.37, label %body.26, label %endfor.27
body.26:
  ; line 5: y = clamp(i + dy, 0, source.shape[0] - 1)
  %v38 = add i32 %tid0.13, %dy.28
  %v41 = trunc i64 %source.shape0.40 to i32
  %v42 = sub i32 %v41, 1
  %v43 = icmp sgt i32 0, %v38
  %v44 = select i1 %v43, i32 0, i32 %v38
  %v45 = icmp slt i32 %v44, %v42
  %y.46 = select i1 %v45, i32 %v44, i32 %v42
  ; line 6: total += source[y, j] / 3
  %v47 = sext i32 %y.46 to i64
  %v50 = mul i64 %v47, %source.shape1.49
  %v51 = add i64 %v50, %j.24
  %v52 = mul i64 %v51, 4
  %v55 = getelementptr i8, ptr %source.data.54, i64 %v52
  %source.56 = load <8 x float>, ptr %v55, align 4
  %v57 = sext i32 %y.46 to i64
  %v58 = mul i64 %v57, %source.shape1.49
  %v59 = add i64 %v58, %j.24
  %v60 = mul i64 %v59, 4
  %v61 = add i64 %v60, 32
  %v62 = getelementptr i8, ptr %source.data.54, i64 %v61
  %source.63 = load <8 x float>, ptr %v62, align 4
  %v64 = sext i32 %y.46 to i64
  %v65 = mul i64 %v64, %source.shape1.49
  %v66 = add i64 %v65, %j.24
  %v67 = mul i64 %v66, 4
  %v68 = add i64 %v67, 64
  %v69 = getelementptr i8, ptr %source.data.54, i64 %v68
  %source.70 = load <8 x float>, ptr %v69, align 4
  %v71 = sext i32 %y.46 to i64
  %v72 = mul i64 %v71, %source.shape1.49
  %v73 = add i64 %v72, %j.24
  %v74 = mul i64 %v73, 4
  %v75 = add i64 %v74, 96
  %v76 = getelementptr i8, ptr %source.data.54, i64 %v75
  %source.77 = load <8 x float>, ptr %v76, align 4
  %v78 = sext i32 %y.46 to i64
  %v79 = mul i64 %v78, %source.shape1.49
  %v80 = add i64 %v79, %j.24
  %v81 = mul i64 %v80, 4
  %v82 = add i64 %v81, 128
  %v83 = getelementptr i8, ptr %source.data.54, i64 %v82
  %source.84 = load <8 x float>, ptr %v83, align 4
  %v85 = sext i32 %y.46 to i64
  %v86 = mul i64 %v85, %source.shape1.49
  %v87 = add i64 %v86, %j.24
  %v88 = mul i64 %v87, 4
  %v89 = add i64 %v88, 160
  %v90 = getelementptr i8, ptr %source.data.54, i64 %v89
  %source.91 = load <8 x float>, ptr %v90, align 4
  %v92 = sext i32 %y.46 to i64
  %v93 = mul i64 %v92, %source.shape1.49
  %v94 = add i64 %v93, %j.24
  %v95 = mul i64 %v94, 4
  %v96 = add i64 %v95, 192
  %v97 = getelementptr i8, ptr %source.data.54, i64 %v96
  %source.98 = load <8 x float>, ptr %v97, align 4
  %v99 = sext i32 %y.46 to i64
  %v100 = mul i64 %v99, %source.shape1.49
  %v101 = add i64 %v100, %j.24
  %v102 = mul i64 %v101, 4
  %v103 = add i64 %v102, 224
  %v104 = getelementptr i8, ptr %source.data.54, i64 %v103
  %source.105 = load <8 x float>, ptr %v104, align 4
  %v106 = fdiv <8 x float> %source.56, splat (float 0x4008000000000000)
  %v107 = fdiv <8 x float> %source.63, splat (float 0x4008000000000000)
  %v108 = fdiv <8 x float> %source.70, splat (float 0x4008000000000000)
  %v109 = fdiv <8 x float> %source.77, splat (float 0x4008000000000000)
  %v110 = fdiv <8 x float> %source.84, splat (float 0x4008000000000000)
  %v111 = fdiv <8 x float> %source.91, splat (float 0x4008000000000000)
  %v112 = fdiv <8 x float> %source.98, splat (float 0x4008000000000000)
  %v113 = fdiv <8 x float> %source.105, splat (float 0x4008000000000000)
  %total.114 = fadd <8 x float> %total.29, %v106
  %total.115 = fadd <8 x float> %total.30, %v107
  %total.116 = fadd <8 x float> %total.31, %v108
  %total.117 = fadd <8 x float> %total.32, %v109
  %total.118 = fadd <8 x float> %total.33, %v110
  %total.119 = fadd <8 x float> %total.34, %v111
  %total.120 = fadd <8 x float> %total.35, %v112
  %total.121 = fadd <8 x float> %total.36, %v113
  ; line 4: for dy in range(-1, 2):
  %dy.next.122 = add nsw i32 %dy.28, 1
  br label %for.25
endfor.27:
  ; line 7: result[i, j] = total
  %v123 = sext i32 %tid0.13 to i64
  %v126 = mul i64 %v123, %result.shape1.125
  %v127 = add i64 %v126, %j.24
  %v128 = mul i64 %v127, 4
  %v131 = getelementptr i8, ptr %result.data.130, i64 %v128
  store <8 x float> %total.29, ptr %v131, align 4
  %v132 = sext i32 %tid0.13 to i64
  %v133 = mul i64 %v132, %result.shape1.125
  %v134 = add i64 %v133, %j.24
  %v135 = mul i64 %v134, 4
  %v136 = add i64 %v135, 32
  %v137 = getelementptr i8, ptr %result.data.130, i64 %v136
  store <8 x float> %total.30, ptr %v137, align 4
  %v138 = sext i32 %tid0.13 to i64
  %v139 = mul i64 %v138, %result.shape1.125
  %v140 = add i64 %v139, %j.24
  %v141 = mul i64 %v140, 4
  %v142 = add i64 %v141, 64
  %v143 = getelementptr i8, ptr %result.data.130, i64 %v142
  store <8 x float> %total.31, ptr %v143, align 4
  %v144 = sext i32 %tid0.13 to i64
  %v145 = mul i64 %v144, %result.shape1.125
  %v146 = add i64 %v145, %j.24
  %v147 = mul i64 %v146, 4
  %v148 = add i64 %v147, 96
  %v149 = getelementptr i8, ptr %result.data.130, i64 %v148
  store <8 x float> %total.32, ptr %v149, align 4
  %v150 = sext i32 %tid0.13 to i64
  %v151 = mul i64 %v150, %result.shape1.125
  %v152 = add i64 %v151, %j.24
  %v153 = mul i64 %v152, 4
  %v154 = add i64 %v153, 128
  %v155 = getelementptr i8, ptr %result.data.130, i64 %v154
  store <8 x float> %total.33, ptr %v155, align 4
  %v156 = sext i32 %tid0.13 to i64
  %v157 = mul i64 %v156, %result.shape1.125
  %v158 = add i64 %v157, %j.24
  %v159 = mul i64 %v158, 4
  %v160 = add i64 %v159, 160
  %v161 = getelementptr i8, ptr %result.data.130, i64 %v160
  store <8 x float> %total.34, ptr %v161, align 4
  %v162 = sext i32 %tid0.13 to i64
  %v163 = mul i64 %v162, %result.shape1.125
  %v164 = add i64 %v163, %j.24
  %v165 = mul i64 %v164, 4
  %v166 = add i64 %v165, 192
  %v167 = getelementptr i8, ptr %result.data.130, i64 %v166
  store <8 x float> %total.35, ptr %v167, align 4
  %v168 = sext i32 %tid0.13 to i64
  %v169 = mul i64 %v168, %result.shape1.125
  %v170 = add i64 %v169, %j.24
  %v171 = mul i64 %v170, 4
  %v172 = add i64 %v171, 224
  %v173 = getelementptr i8, ptr %result.data.130, i64 %v172
  store <8 x float> %total.36, ptr %v173, align 4
  %v174 = add nsw i32 %gang.21, 64
  %v175 = add nsw i32 %number.22, 1
  br label %gangs.14, !llvm.loop !2
gangs.end.16:
  %v179 = sub nsw i32 %high.12, %gangs.20
  %v180 = call i32 @llvm.smax.i32(i32 %v179, i32 0)
  %v181 = and i32 %v180, -16
  %gangs.182 = add nsw i32 %gangs.20, %v181
  br label %gangs.176
gangs.176:
  %gang.183 = phi i32 [ %gangs.20, %gangs.end.16 ], [ %v230, %endfor.189 ]
  %number.184 = phi i32 [ 0, %gangs.end.16 ], [ %v231, %endfor.189 ]
  %more.185 = icmp slt i32 %gang.183, %gangs.182
  br i1 %more.185, label %gang.177, label %gangs.end.178
gang.177:
  ; line 2: i, j = tid()
  %j.186 = sext i32 %gang.183 to i64
  ; line 4: for dy in range(-1, 2):
  br label %for.187
for.187:
  %dy.190 = phi i32 [ -1, %gang.177 ], [ %dy.next.218, %body.188 ]
  %total.191 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.177 ], [ %total.216, %body.188 ]
  %total.192 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.177 ], [ %total.217, %body.188 ]
  %more.193 = icmp slt i32 %dy.190, 2
  br i1 %more.193, label %body.188, label %endfor.189
body.188:
  ; line 5: y = clamp(i + dy, 0, source.shape[0] - 1)
  %v194 = add i32 %tid0.13, %dy.190
  %v195 = trunc i64 %source.shape0.40 to i32
  %v196 = sub i32 %v195, 1
  %v197 = icmp sgt i32 0, %v194
  %v198 = select i1 %v197, i32 0, i32 %v194
  %v199 = icmp slt i32 %v198, %v196
  %y.200 = select i1 %v199, i32 %v198, i32 %v196
  ; line 6: total += source[y, j] / 3
  %v201 = sext i32 %y.200 to i64
  %v202 = mul i64 %v201, %source.shape1.49
  %v203 = add i64 %v202, %j.186
  %v204 = mul i64 %v203, 4
  %v205 = getelementptr i8, ptr %source.data.54, i64 %v204
  %source.206 = load <8 x float>, ptr %v205, align 4
  %v207 = sext i32 %y.200 to i64
  %v208 = mul i64 %v207, %source.shape1.49
  %v209 = add i64 %v208, %j.186
  %v210 = mul i64 %v209, 4
  %v211 = add i64 %v210, 32
  %v212 = getelementptr i8, ptr %source.data.54, i64 %v211
  %source.213 = load <8 x float>, ptr %v212, align 4
  %v214 = fdiv <8 x float> %source.206, splat (float 0x4008000000000000)
  %v215 = fdiv <8 x float> %source.213, splat (float 0x4008000000000000)
  %total.216 = fadd <8 x float> %total.191, %v214
  %total.217 = fadd <8 x float> %total.192, %v215
  ; line 4: for dy in range(-1, 2):
  %dy.next.218 = add nsw i32 %dy.190, 1
  br label %for.187
endfor.189:
  ; line 7: result[i, j] = total
  %v219 = sext i32 %tid0.13 to i64
  %v220 = mul i64 %v219, %result.shape1.125
  %v221 = add i64 %v220, %j.186
  %v222 = mul i64 %v221, 4
  %v223 = getelementptr i8, ptr %result.data.130, i64 %v222
  store <8 x float> %total.191, ptr %v223, align 4
  %v224 = sext i32 %tid0.13 to i64
  %v225 = mul i64 %v224, %result.shape1.125
  %v226 = add i64 %v225, %j.186
  %v227 = mul i64 %v226, 4
  %v228 = add i64 %v227, 32
  %v229 = getelementptr i8, ptr %result.data.130, i64 %v228
  store <8 x float> %total.192, ptr %v229, align 4
  %v230 = add nsw i32 %gang.183, 16
  %v231 = add nsw i32 %number.184, 1
  br label %gangs.176, !llvm.loop !3
gangs.end.178:
  %left.232 = sub nsw i32 %high.12, %gangs.182
  %several.235 = icmp sge i32 %left.232, 4
  br i1 %several.235, label %rest.233, label %rest.end.234
rest.233:
  %v236 = insertelement <8 x i32> poison, i32 %left.232, i64 0
  %v237 = shufflevector <8 x i32> %v236, <8 x i32> poison, <8 x i32> zeroinitializer
  %v238 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v237
  %v239 = sext <8 x i1> %v238 to <8 x i32>
  %v240 = bitcast <8 x i32> %v239 to <8 x float>
  %v241 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v240)
  %v242 = bitcast <8 x float> %v241 to <8 x i32>
  %v243 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v237
  %v244 = sext <8 x i1> %v243 to <8 x i32>
  %v245 = bitcast <8 x i32> %v244 to <8 x float>
  %v246 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v245)
  %v247 = bitcast <8 x float> %v246 to <8 x i32>
  ; line 2: i, j = tid()
  %j.248 = sext i32 %gangs.182 to i64
  ; line 4: for dy in range(-1, 2):
  br label %for.249
for.249:
  %dy.252 = phi i32 [ -1, %rest.233 ], [ %dy.next.284, %body.250 ]
  %total.253 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.233 ], [ %total.282, %body.250 ]
  %total.254 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.233 ], [ %total.283, %body.250 ]
  %more.255 = icmp slt i32 %dy.252, 2
  br i1 %more.255, label %body.250, label %endfor.251
body.250:
  ; line 5: y = clamp(i + dy, 0, source.shape[0] - 1)
  %v256 = add i32 %tid0.13, %dy.252
  %v257 = trunc i64 %source.shape0.40 to i32
  %v258 = sub i32 %v257, 1
  %v259 = icmp sgt i32 0, %v256
  %v260 = select i1 %v259, i32 0, i32 %v256
  %v261 = icmp slt i32 %v260, %v258
  %y.262 = select i1 %v261, i32 %v260, i32 %v258
  ; line 6: total += source[y, j] / 3
  %v263 = sext i32 %y.262 to i64
  %v264 = mul i64 %v263, %source.shape1.49
  %v265 = add i64 %v264, %j.248
  %v266 = mul i64 %v265, 4
  %v267 = getelementptr i8, ptr %source.data.54, i64 %v266
  %flags.268 = icmp slt <8 x i32> %v242, zeroinitializer
  %v269 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v267, i32 4, <8 x i1> %flags.268, <8 x float> zeroinitializer)
  %source.270 = freeze <8 x float> %v269
  %v271 = sext i32 %y.262 to i64
  %v272 = mul i64 %v271, %source.shape1.49
  %v273 = add i64 %v272, %j.248
  %v274 = mul i64 %v273, 4
  %v275 = add i64 %v274, 32
  %v276 = getelementptr i8, ptr %source.data.54, i64 %v275
  %flags.277 = icmp slt <8 x i32> %v247, zeroinitializer
  %v278 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v276, i32 4, <8 x i1> %flags.277, <8 x float> zeroinitializer)
  %source.279 = freeze <8 x float> %v278
  %v280 = fdiv <8 x float> %source.270, splat (float 0x4008000000000000)
  %v281 = fdiv <8 x float> %source.279, splat (float 0x4008000000000000)
  %total.282 = fadd <8 x float> %total.253, %v280
  %total.283 = fadd <8 x float> %total.254, %v281
  ; line 4: for dy in range(-1, 2):
  %dy.next.284 = add nsw i32 %dy.252, 1
  br label %for.249
endfor.251:
  ; line 7: result[i, j] = total
  %v285 = sext i32 %tid0.13 to i64
  %v286 = mul i64 %v285, %result.shape1.125
  %v287 = add i64 %v286, %j.248
  %v288 = mul i64 %v287, 4
  %v289 = getelementptr i8, ptr %result.data.130, i64 %v288
  %flags.290 = icmp slt <8 x i32> %v242, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> %total.253, ptr %v289, i32 4, <8 x i1> %flags.290)
  %v291 = sext i32 %tid0.13 to i64
  %v292 = mul i64 %v291, %result.shape1.125
  %v293 = add i64 %v292, %j.248
  %v294 = mul i64 %v293, 4
  %v295 = add i64 %v294, 32
  %v296 = getelementptr i8, ptr %result.data.130, i64 %v295
  %flags.297 = icmp slt <8 x i32> %v247, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> %total.254, ptr %v296, i32 4, <8 x i1> %flags.297)
  br label %rest.end.234
rest.end.234:
  %first.298 = phi i32 [ %gangs.182, %gangs.end.178 ], [ %high.12, %endfor.251 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.298, %rest.end.234 ], [ %tid.next, %thread.end ]
  %more.299 = icmp slt i32 %tid, %high.12
  br i1 %more.299, label %thread, label %row.end
thread:
  ; line 2: i, j = tid()
  ; line 4: for dy in range(-1, 2):
  br label %for.300
for.300:
  %dy.303 = phi i32 [ -1, %thread ], [ %dy.next.321, %body.301 ]
  %total.304 = phi float [ 0x0000000000000000, %thread ], [ %total.320, %body.301 ]
  %more.305 = icmp slt i32 %dy.303, 2
  br i1 %more.305, label %body.301, label %endfor.302
body.301:
  ; line 5: y = clamp(i + dy, 0, source.shape[0] - 1)
  %v306 = add i32 %tid0.13, %dy.303
  %v307 = trunc i64 %source.shape0.40 to i32
  %v308 = sub i32 %v307, 1
  %v309 = icmp sgt i32 0, %v306
  %v310 = select i1 %v309, i32 0, i32 %v306
  %v311 = icmp slt i32 %v310, %v308
  %y.312 = select i1 %v311, i32 %v310, i32 %v308
  ; line 6: total += source[y, j] / 3
  %v313 = sext i32 %y.312 to i64
  %v314 = sext i32 %tid to i64
  %v315 = mul nsw i64 %v313, %source.shape1.49
  %v316 = add nsw i64 %v315, %v314
  %v317 = getelementptr inbounds float, ptr %source.data.54, i64 %v316
  %v318 = load float, ptr %v317
  %v319 = fdiv float %v318, 0x4008000000000000
  %total.320 = fadd float %total.304, %v319
  ; line 4: for dy in range(-1, 2):
  %dy.next.321 = add nsw i32 %dy.303, 1
  br label %for.300
endfor.302:
  ; line 7: result[i, j] = total
  %v322 = sext i32 %tid0.13 to i64
  %v323 = sext i32 %tid to i64
  %v324 = mul nsw i64 %v322, %result.shape1.125
  %v325 = add nsw i64 %v324, %v323
  %v326 = getelementptr inbounds float, ptr %result.data.130, i64 %v325
  store float %total.304, ptr %v326
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !4
row.end:
  %row.next = add nuw nsw i64 %row.at, 1
  %v327 = icmp slt i64 %row.at, %last.5
  br i1 %v327, label %row, label %finish
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i32 @llvm.smax.i32(i32, i32)
declare <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float>)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
