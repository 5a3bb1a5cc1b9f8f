define i32 @wb_collatz(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %start.at.15 = getelementptr inbounds i8, ptr %params, i64 32
  %start.data.16 = load ptr, ptr %start.at.15
  %v385 = getelementptr inbounds i8, ptr %stop, i64 8
  %steps.at.390 = getelementptr inbounds i8, ptr %params, i64 56
  %steps.data.391 = load ptr, ptr %steps.at.390
  %v404 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  %v6 = sub nsw i32 %high.2, %low.1
  %v7 = call i32 @llvm.smax.i32(i32 %v6, i32 0)
  %v8 = and i32 %v7, -16
  %gangs.9 = add nsw i32 %low.1, %v8
  br label %gangs.3
gangs.3:
  %gang.10 = phi i32 [ %low.1, %start ], [ %v409, %on.397 ]
  %number.11 = phi i32 [ 0, %start ], [ %v410, %on.397 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 2: i = tid()
  %v13 = sext i32 %gang.10 to i64
  ; line 3: n = start[i]
  %v14 = mul i64 %v13, 4
  %v17 = getelementptr i8, ptr %start.data.16, i64 %v14
  %start.18 = load <8 x i32>, ptr %v17, align 4
  %v19 = mul i64 %v13, 4
  %v20 = add i64 %v19, 32
  %v21 = getelementptr i8, ptr %start.data.16, i64 %v20
  %start.22 = load <8 x i32>, ptr %v21, align 4
  ; line 5: while n != 1:
  br label %lanes.23
lanes.23:
  %count.26 = phi i32 [ 0, %gang.4 ], [ %count.336, %on.378 ]
  %lanes.27 = phi <8 x i32> [ splat (i32 -1), %gang.4 ], [ %mask.54, %on.378 ]
  %lanes.28 = phi <8 x i32> [ splat (i32 -1), %gang.4 ], [ %mask.55, %on.378 ]
  %n.29 = phi <8 x i32> [ %start.18, %gang.4 ], [ %mask.341, %on.378 ]
  %n.30 = phi <8 x i32> [ %start.22, %gang.4 ], [ %mask.346, %on.378 ]
  %k.31 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %mask.352, %on.378 ]
  %k.32 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %mask.356, %on.378 ]
  %break.1.33 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %break.1.372, %on.378 ]
  %break.1.34 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %break.1.376, %on.378 ]
  %k.35 = phi i32 [ 0, %gang.4 ], [ %k.330, %on.378 ]
  %break.1.36 = phi i1 [ false, %gang.4 ], [ %break.1.335, %on.378 ]
  br i1 %break.1.36, label %then.37, label %else.38
then.37:
  br label %endif.39
else.38:
  %v40 = icmp ne <8 x i32> %n.29, splat (i32 1)
  %v41 = freeze <8 x i1> %v40
  %v42 = sext <8 x i1> %v41 to <8 x i32>
  %v43 = bitcast <8 x i32> %v42 to <8 x float>
  %v44 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v43)
  %mask.45 = bitcast <8 x float> %v44 to <8 x i32>
  %v46 = icmp ne <8 x i32> %n.30, splat (i32 1)
  %v47 = freeze <8 x i1> %v46
  %v48 = sext <8 x i1> %v47 to <8 x i32>
  %v49 = bitcast <8 x i32> %v48 to <8 x float>
  %v50 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v49)
  %mask.51 = bitcast <8 x float> %v50 to <8 x i32>
  br label %endif.39
endif.39:
  %v52 = phi <8 x i32> [ splat (i32 0), %then.37 ], [ %mask.45, %else.38 ]
  %v53 = phi <8 x i32> [ splat (i32 0), %then.37 ], [ %mask.51, %else.38 ]
  %mask.54 = and <8 x i32> %lanes.27, %v52
  %mask.55 = and <8 x i32> %lanes.28, %v53
  %v56 = or <8 x i32> %mask.54, %mask.55
  %v57 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v56)
  %any.58 = icmp ne i32 %v57, 0
  br i1 %any.58, label %lanes.body.24, label %lanes.end.25
lanes.body.24:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v59 = icmp eq i32 2, 0
  %v60 = icmp eq i32 2, -1
  %v61 = icmp eq <8 x i32> %n.29, splat (i32 -2147483648)
  %v62 = freeze <8 x i1> %v61
  %v63 = sext <8 x i1> %v62 to <8 x i32>
  %v64 = bitcast <8 x i32> %v63 to <8 x float>
  %v65 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v64)
  %mask.66 = bitcast <8 x float> %v65 to <8 x i32>
  %v67 = icmp eq <8 x i32> %n.30, splat (i32 -2147483648)
  %v68 = freeze <8 x i1> %v67
  %v69 = sext <8 x i1> %v68 to <8 x i32>
  %v70 = bitcast <8 x i32> %v69 to <8 x float>
  %v71 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v70)
  %mask.72 = bitcast <8 x float> %v71 to <8 x i32>
  %v73 = insertelement <8 x i1> poison, i1 %v60, i64 0
  %v74 = shufflevector <8 x i1> %v73, <8 x i1> poison, <8 x i32> zeroinitializer
  %v75 = and <8 x i1> %v74, %v61
  %v76 = freeze <8 x i1> %v75
  %v77 = sext <8 x i1> %v76 to <8 x i32>
  %v78 = bitcast <8 x i32> %v77 to <8 x float>
  %v79 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v78)
  %mask.80 = bitcast <8 x float> %v79 to <8 x i32>
  %v81 = and <8 x i1> %v74, %v67
  %v82 = freeze <8 x i1> %v81
  %v83 = sext <8 x i1> %v82 to <8 x i32>
  %v84 = bitcast <8 x i32> %v83 to <8 x float>
  %v85 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v84)
  %mask.86 = bitcast <8 x float> %v85 to <8 x i32>
  %v87 = insertelement <8 x i1> poison, i1 %v59, i64 0
  %v88 = shufflevector <8 x i1> %v87, <8 x i1> poison, <8 x i32> zeroinitializer
  %v89 = or <8 x i1> %v88, %v75
  %v90 = freeze <8 x i1> %v89
  %v91 = sext <8 x i1> %v90 to <8 x i32>
  %v92 = bitcast <8 x i32> %v91 to <8 x float>
  %v93 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v92)
  %mask.94 = bitcast <8 x float> %v93 to <8 x i32>
  %v95 = or <8 x i1> %v88, %v81
  %v96 = freeze <8 x i1> %v95
  %v97 = sext <8 x i1> %v96 to <8 x i32>
  %v98 = bitcast <8 x i32> %v97 to <8 x float>
  %v99 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v98)
  %mask.100 = bitcast <8 x float> %v99 to <8 x i32>
  %v101 = select <8 x i1> %v89, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v102 = select <8 x i1> %v95, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v103 = srem <8 x i32> %n.29, %v101
  %v104 = srem <8 x i32> %n.30, %v102
  %v105 = icmp ne <8 x i32> %v103, splat (i32 0)
  %v106 = freeze <8 x i1> %v105
  %v107 = sext <8 x i1> %v106 to <8 x i32>
  %v108 = bitcast <8 x i32> %v107 to <8 x float>
  %v109 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v108)
  %mask.110 = bitcast <8 x float> %v109 to <8 x i32>
  %v111 = icmp ne <8 x i32> %v104, splat (i32 0)
  %v112 = freeze <8 x i1> %v111
  %v113 = sext <8 x i1> %v112 to <8 x i32>
  %v114 = bitcast <8 x i32> %v113 to <8 x float>
  %v115 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v114)
  %mask.116 = bitcast <8 x float> %v115 to <8 x i32>
  %v117 = icmp slt <8 x i32> %v103, splat (i32 0)
  %v118 = freeze <8 x i1> %v117
  %v119 = sext <8 x i1> %v118 to <8 x i32>
  %v120 = bitcast <8 x i32> %v119 to <8 x float>
  %v121 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v120)
  %mask.122 = bitcast <8 x float> %v121 to <8 x i32>
  %v123 = icmp slt <8 x i32> %v104, splat (i32 0)
  %v124 = freeze <8 x i1> %v123
  %v125 = sext <8 x i1> %v124 to <8 x i32>
  %v126 = bitcast <8 x i32> %v125 to <8 x float>
  %v127 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v126)
  %mask.128 = bitcast <8 x float> %v127 to <8 x i32>
  %v129 = icmp slt <8 x i32> %v101, splat (i32 0)
  %v130 = freeze <8 x i1> %v129
  %v131 = sext <8 x i1> %v130 to <8 x i32>
  %v132 = bitcast <8 x i32> %v131 to <8 x float>
  %v133 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v132)
  %mask.134 = bitcast <8 x float> %v133 to <8 x i32>
  %v135 = icmp slt <8 x i32> %v102, splat (i32 0)
  %v136 = freeze <8 x i1> %v135
  %v137 = sext <8 x i1> %v136 to <8 x i32>
  %v138 = bitcast <8 x i32> %v137 to <8 x float>
  %v139 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v138)
  %mask.140 = bitcast <8 x float> %v139 to <8 x i32>
  %v141 = xor <8 x i1> %v117, %v129
  %v142 = freeze <8 x i1> %v141
  %v143 = sext <8 x i1> %v142 to <8 x i32>
  %v144 = bitcast <8 x i32> %v143 to <8 x float>
  %v145 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v144)
  %mask.146 = bitcast <8 x float> %v145 to <8 x i32>
  %v147 = xor <8 x i1> %v123, %v135
  %v148 = freeze <8 x i1> %v147
  %v149 = sext <8 x i1> %v148 to <8 x i32>
  %v150 = bitcast <8 x i32> %v149 to <8 x float>
  %v151 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v150)
  %mask.152 = bitcast <8 x float> %v151 to <8 x i32>
  %v153 = and <8 x i1> %v105, %v141
  %v154 = freeze <8 x i1> %v153
  %v155 = sext <8 x i1> %v154 to <8 x i32>
  %v156 = bitcast <8 x i32> %v155 to <8 x float>
  %v157 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v156)
  %mask.158 = bitcast <8 x float> %v157 to <8 x i32>
  %v159 = and <8 x i1> %v111, %v147
  %v160 = freeze <8 x i1> %v159
  %v161 = sext <8 x i1> %v160 to <8 x i32>
  %v162 = bitcast <8 x i32> %v161 to <8 x float>
  %v163 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v162)
  %mask.164 = bitcast <8 x float> %v163 to <8 x i32>
  %v165 = add <8 x i32> %v103, %v101
  %v166 = add <8 x i32> %v104, %v102
  %v167 = select <8 x i1> %v153, <8 x i32> %v165, <8 x i32> %v103
  %v168 = select <8 x i1> %v159, <8 x i32> %v166, <8 x i32> %v104
  %v169 = icmp eq i32 2, 0
  %v170 = insertelement <8 x i1> poison, i1 %v169, i64 0
  %v171 = shufflevector <8 x i1> %v170, <8 x i1> poison, <8 x i32> zeroinitializer
  %v172 = select <8 x i1> %v171, <8 x i32> %n.29, <8 x i32> %v167
  %v173 = select <8 x i1> %v171, <8 x i32> %n.30, <8 x i32> %v168
  %v174 = icmp eq <8 x i32> %v172, splat (i32 0)
  %v175 = freeze <8 x i1> %v174
  %v176 = sext <8 x i1> %v175 to <8 x i32>
  %v177 = bitcast <8 x i32> %v176 to <8 x float>
  %v178 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v177)
  %mask.179 = bitcast <8 x float> %v178 to <8 x i32>
  %v180 = icmp eq <8 x i32> %v173, splat (i32 0)
  %v181 = freeze <8 x i1> %v180
  %v182 = sext <8 x i1> %v181 to <8 x i32>
  %v183 = bitcast <8 x i32> %v182 to <8 x float>
  %v184 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v183)
  %mask.185 = bitcast <8 x float> %v184 to <8 x i32>
  %mask.186 = and <8 x i32> %mask.54, %mask.179
  %mask.187 = and <8 x i32> %mask.55, %mask.185
  %v190 = or <8 x i32> %mask.186, %mask.187
  %v191 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v190)
  %any.192 = icmp ne i32 %v191, 0
  br i1 %any.192, label %side.188, label %side.end.189
side.188:
  %v193 = icmp eq i32 2, 0
  %v194 = icmp eq i32 2, -1
  %v195 = icmp eq <8 x i32> %n.29, splat (i32 -2147483648)
  %v196 = freeze <8 x i1> %v195
  %v197 = sext <8 x i1> %v196 to <8 x i32>
  %v198 = bitcast <8 x i32> %v197 to <8 x float>
  %v199 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v198)
  %mask.200 = bitcast <8 x float> %v199 to <8 x i32>
  %v201 = icmp eq <8 x i32> %n.30, splat (i32 -2147483648)
  %v202 = freeze <8 x i1> %v201
  %v203 = sext <8 x i1> %v202 to <8 x i32>
  %v204 = bitcast <8 x i32> %v203 to <8 x float>
  %v205 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v204)
  %mask.206 = bitcast <8 x float> %v205 to <8 x i32>
  %v207 = insertelement <8 x i1> poison, i1 %v194, i64 0
  %v208 = shufflevector <8 x i1> %v207, <8 x i1> poison, <8 x i32> zeroinitializer
  %v209 = and <8 x i1> %v208, %v195
  %v210 = freeze <8 x i1> %v209
  %v211 = sext <8 x i1> %v210 to <8 x i32>
  %v212 = bitcast <8 x i32> %v211 to <8 x float>
  %v213 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v212)
  %mask.214 = bitcast <8 x float> %v213 to <8 x i32>
  %v215 = and <8 x i1> %v208, %v201
  %v216 = freeze <8 x i1> %v215
  %v217 = sext <8 x i1> %v216 to <8 x i32>
  %v218 = bitcast <8 x i32> %v217 to <8 x float>
  %v219 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v218)
  %mask.220 = bitcast <8 x float> %v219 to <8 x i32>
  %v221 = insertelement <8 x i1> poison, i1 %v193, i64 0
  %v222 = shufflevector <8 x i1> %v221, <8 x i1> poison, <8 x i32> zeroinitializer
  %v223 = or <8 x i1> %v222, %v209
  %v224 = freeze <8 x i1> %v223
  %v225 = sext <8 x i1> %v224 to <8 x i32>
  %v226 = bitcast <8 x i32> %v225 to <8 x float>
  %v227 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v226)
  %mask.228 = bitcast <8 x float> %v227 to <8 x i32>
  %v229 = or <8 x i1> %v222, %v215
  %v230 = freeze <8 x i1> %v229
  %v231 = sext <8 x i1> %v230 to <8 x i32>
  %v232 = bitcast <8 x i32> %v231 to <8 x float>
  %v233 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v232)
  %mask.234 = bitcast <8 x float> %v233 to <8 x i32>
  %v235 = select <8 x i1> %v223, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v236 = select <8 x i1> %v229, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v237 = sdiv <8 x i32> %n.29, %v235
  %v238 = sdiv <8 x i32> %n.30, %v236
  %v239 = srem <8 x i32> %n.29, %v235
  %v240 = srem <8 x i32> %n.30, %v236
  %v241 = icmp ne <8 x i32> %v239, splat (i32 0)
  %v242 = freeze <8 x i1> %v241
  %v243 = sext <8 x i1> %v242 to <8 x i32>
  %v244 = bitcast <8 x i32> %v243 to <8 x float>
  %v245 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v244)
  %mask.246 = bitcast <8 x float> %v245 to <8 x i32>
  %v247 = icmp ne <8 x i32> %v240, splat (i32 0)
  %v248 = freeze <8 x i1> %v247
  %v249 = sext <8 x i1> %v248 to <8 x i32>
  %v250 = bitcast <8 x i32> %v249 to <8 x float>
  %v251 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v250)
  %mask.252 = bitcast <8 x float> %v251 to <8 x i32>
  %v253 = icmp slt <8 x i32> %n.29, splat (i32 0)
  %v254 = freeze <8 x i1> %v253
  %v255 = sext <8 x i1> %v254 to <8 x i32>
  %v256 = bitcast <8 x i32> %v255 to <8 x float>
  %v257 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v256)
  %mask.258 = bitcast <8 x float> %v257 to <8 x i32>
  %v259 = icmp slt <8 x i32> %n.30, splat (i32 0)
  %v260 = freeze <8 x i1> %v259
  %v261 = sext <8 x i1> %v260 to <8 x i32>
  %v262 = bitcast <8 x i32> %v261 to <8 x float>
  %v263 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v262)
  %mask.264 = bitcast <8 x float> %v263 to <8 x i32>
  %v265 = icmp slt <8 x i32> %v235, splat (i32 0)
  %v266 = freeze <8 x i1> %v265
  %v267 = sext <8 x i1> %v266 to <8 x i32>
  %v268 = bitcast <8 x i32> %v267 to <8 x float>
  %v269 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v268)
  %mask.270 = bitcast <8 x float> %v269 to <8 x i32>
  %v271 = icmp slt <8 x i32> %v236, splat (i32 0)
  %v272 = freeze <8 x i1> %v271
  %v273 = sext <8 x i1> %v272 to <8 x i32>
  %v274 = bitcast <8 x i32> %v273 to <8 x float>
  %v275 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v274)
  %mask.276 = bitcast <8 x float> %v275 to <8 x i32>
  %v277 = xor <8 x i1> %v253, %v265
  %v278 = freeze <8 x i1> %v277
  %v279 = sext <8 x i1> %v278 to <8 x i32>
  %v280 = bitcast <8 x i32> %v279 to <8 x float>
  %v281 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v280)
  %mask.282 = bitcast <8 x float> %v281 to <8 x i32>
  %v283 = xor <8 x i1> %v259, %v271
  %v284 = freeze <8 x i1> %v283
  %v285 = sext <8 x i1> %v284 to <8 x i32>
  %v286 = bitcast <8 x i32> %v285 to <8 x float>
  %v287 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v286)
  %mask.288 = bitcast <8 x float> %v287 to <8 x i32>
  %v289 = and <8 x i1> %v241, %v277
  %v290 = freeze <8 x i1> %v289
  %v291 = sext <8 x i1> %v290 to <8 x i32>
  %v292 = bitcast <8 x i32> %v291 to <8 x float>
  %v293 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v292)
  %mask.294 = bitcast <8 x float> %v293 to <8 x i32>
  %v295 = and <8 x i1> %v247, %v283
  %v296 = freeze <8 x i1> %v295
  %v297 = sext <8 x i1> %v296 to <8 x i32>
  %v298 = bitcast <8 x i32> %v297 to <8 x float>
  %v299 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v298)
  %mask.300 = bitcast <8 x float> %v299 to <8 x i32>
  %v301 = sub <8 x i32> %v237, splat (i32 1)
  %v302 = sub <8 x i32> %v238, splat (i32 1)
  %v303 = select <8 x i1> %v289, <8 x i32> %v301, <8 x i32> %v237
  %v304 = select <8 x i1> %v295, <8 x i32> %v302, <8 x i32> %v238
  %v305 = icmp eq i32 2, 0
  %v306 = insertelement <8 x i1> poison, i1 %v305, i64 0
  %v307 = shufflevector <8 x i1> %v306, <8 x i1> poison, <8 x i32> zeroinitializer
  %v308 = select <8 x i1> %v307, <8 x i32> splat (i32 -1), <8 x i32> %v303
  %v309 = select <8 x i1> %v307, <8 x i32> splat (i32 -1), <8 x i32> %v304
  br label %side.end.189
side.end.189:
  %n.310 = phi <8 x i32> [ zeroinitializer, %lanes.body.24 ], [ %v308, %side.188 ]
  %n.311 = phi <8 x i32> [ zeroinitializer, %lanes.body.24 ], [ %v309, %side.188 ]
  %v312 = xor <8 x i32> %mask.179, splat (i32 -1)
  %mask.313 = and <8 x i32> %mask.54, %v312
  %v314 = xor <8 x i32> %mask.185, splat (i32 -1)
  %mask.315 = and <8 x i32> %mask.55, %v314
  %v316 = mul <8 x i32> splat (i32 3), %n.29
  %v317 = mul <8 x i32> splat (i32 3), %n.30
  %v318 = add <8 x i32> %v316, splat (i32 1)
  %v319 = add <8 x i32> %v317, splat (i32 1)
  %flags.320 = icmp slt <8 x i32> %mask.186, zeroinitializer
  %v321 = select <8 x i1> %flags.320, <8 x i32> %n.310, <8 x i32> %v318
  %v322 = bitcast <8 x i32> %v321 to <8 x float>
  %v323 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v322)
  %mask.324 = bitcast <8 x float> %v323 to <8 x i32>
  %flags.325 = icmp slt <8 x i32> %mask.187, zeroinitializer
  %v326 = select <8 x i1> %flags.325, <8 x i32> %n.311, <8 x i32> %v319
  %v327 = bitcast <8 x i32> %v326 to <8 x float>
  %v328 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v327)
  %mask.329 = bitcast <8 x float> %v328 to <8 x i32>
  ; line 7: k += 1
  %k.330 = add i32 %k.35, 1
  ; line 8: if k >= 1000:
  %v331 = icmp sge i32 %k.330, 1000
  br i1 %v331, label %then.332, label %else.333
then.332:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.334
else.333:
  br label %endif.334
endif.334:
  %break.1.335 = phi i1 [ true, %then.332 ], [ %break.1.36, %else.333 ]
  ; line 5: while n != 1:
  %count.336 = add i32 %count.26, 1
  %flags.337 = icmp slt <8 x i32> %mask.54, zeroinitializer
  %v338 = select <8 x i1> %flags.337, <8 x i32> %mask.324, <8 x i32> %n.29
  %v339 = bitcast <8 x i32> %v338 to <8 x float>
  %v340 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v339)
  %mask.341 = bitcast <8 x float> %v340 to <8 x i32>
  %flags.342 = icmp slt <8 x i32> %mask.55, zeroinitializer
  %v343 = select <8 x i1> %flags.342, <8 x i32> %mask.329, <8 x i32> %n.30
  %v344 = bitcast <8 x i32> %v343 to <8 x float>
  %v345 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v344)
  %mask.346 = bitcast <8 x float> %v345 to <8 x i32>
  %v347 = insertelement <8 x i32> poison, i32 %k.330, i64 0
  %v348 = shufflevector <8 x i32> %v347, <8 x i32> poison, <8 x i32> zeroinitializer
  %v349 = select <8 x i1> %flags.337, <8 x i32> %v348, <8 x i32> %k.31
  %v350 = bitcast <8 x i32> %v349 to <8 x float>
  %v351 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v350)
  %mask.352 = bitcast <8 x float> %v351 to <8 x i32>
  %v353 = select <8 x i1> %flags.342, <8 x i32> %v348, <8 x i32> %k.32
  %v354 = bitcast <8 x i32> %v353 to <8 x float>
  %v355 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v354)
  %mask.356 = bitcast <8 x float> %v355 to <8 x i32>
  %v357 = insertelement <8 x i1> poison, i1 %break.1.335, i64 0
  %v358 = shufflevector <8 x i1> %v357, <8 x i1> poison, <8 x i32> zeroinitializer
  %v359 = freeze <8 x i1> %v358
  %v360 = sext <8 x i1> %v359 to <8 x i32>
  %v361 = bitcast <8 x i32> %v360 to <8 x float>
  %v362 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v361)
  %mask.363 = bitcast <8 x float> %v362 to <8 x i32>
  %v364 = freeze <8 x i1> %v358
  %v365 = sext <8 x i1> %v364 to <8 x i32>
  %v366 = bitcast <8 x i32> %v365 to <8 x float>
  %v367 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v366)
  %mask.368 = bitcast <8 x float> %v367 to <8 x i32>
  %v369 = xor <8 x i32> %mask.54, splat (i32 -1)
  %v370 = and <8 x i32> %mask.54, %mask.363
  %v371 = and <8 x i32> %v369, %break.1.33
  %break.1.372 = or <8 x i32> %v370, %v371
  %v373 = xor <8 x i32> %mask.55, splat (i32 -1)
  %v374 = and <8 x i32> %mask.55, %mask.368
  %v375 = and <8 x i32> %v373, %break.1.34
  %break.1.376 = or <8 x i32> %v374, %v375
  %v379 = and i32 %count.26, 511
  %early.380 = icmp ne i32 %v379, 511
  br i1 %early.380, label %on.378, label %due.377, !prof !1
due.377:
  %stop.383 = load volatile i32, ptr %stop
  %calm.384 = icmp eq i32 %stop.383, 0
  br i1 %calm.384, label %go.382, label %ask.381, !prof !1
ask.381:
  %v386 = load ptr, ptr %v385
  %v387 = call i32 %v386(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v388 = icmp eq i32 %v387, 0
  br i1 %v388, label %go.382, label %stopped
go.382:
  br label %on.378
on.378:
  br label %lanes.23, !llvm.loop !2
lanes.end.25:
  ; line 10: steps[i] = k
  %v389 = mul i64 %v13, 4
  %v392 = getelementptr i8, ptr %steps.data.391, i64 %v389
  store <8 x i32> %k.31, ptr %v392, align 4
  %v393 = mul i64 %v13, 4
  %v394 = add i64 %v393, 32
  %v395 = getelementptr i8, ptr %steps.data.391, i64 %v394
  store <8 x i32> %k.32, ptr %v395, align 4
  %v398 = and i32 %number.11, 1
  %early.399 = icmp ne i32 %v398, 1
  br i1 %early.399, label %on.397, label %due.396, !prof !1
due.396:
  %stop.402 = load volatile i32, ptr %stop
  %calm.403 = icmp eq i32 %stop.402, 0
  br i1 %calm.403, label %go.401, label %ask.400, !prof !1
ask.400:
  %v405 = sext i32 %gang.10 to i64
  store i64 %v405, ptr %v404
  %v406 = load ptr, ptr %v385
  %v407 = call i32 %v406(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v408 = icmp eq i32 %v407, 0
  br i1 %v408, label %go.401, label %stopped
go.401:
  br label %on.397
on.397:
  %v409 = add nsw i32 %gang.10, 16
  %v410 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !3
gangs.end.5:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.9, %gangs.end.5 ], [ %tid.next, %thread.end ]
  %more.411 = icmp slt i32 %tid, %high.2
  br i1 %more.411, label %thread, label %finish
thread:
  ; line 2: i = tid()
  %v412 = sext i32 %tid to i64
  ; line 3: n = start[i]
  %v413 = getelementptr inbounds i32, ptr %start.data.16, i64 %v412
  %n.414 = load i32, ptr %v413
  ; line 5: while n != 1:
  br label %strip.418
strip.418:
  %n.419 = phi i32 [ %n.414, %thread ], [ %n.469, %go.481 ]
  %k.420 = phi i32 [ 0, %thread ], [ %k.470, %go.481 ]
  %break.1.421 = phi i1 [ false, %thread ], [ %break.1.475, %go.481 ]
  br label %while.415
while.415:
  %turn.476 = phi i32 [ 0, %strip.418 ], [ %turn.477, %endif.474 ]
  %n.422 = phi i32 [ %n.419, %strip.418 ], [ %n.469, %endif.474 ]
  %k.423 = phi i32 [ %k.420, %strip.418 ], [ %k.470, %endif.474 ]
  %break.1.424 = phi i1 [ %break.1.421, %strip.418 ], [ %break.1.475, %endif.474 ]
  br i1 %break.1.424, label %then.425, label %else.426
then.425:
  br label %endif.427
else.426:
  %v428 = icmp ne i32 %n.422, 1
  br label %endif.427
endif.427:
  %v429 = phi i1 [ false, %then.425 ], [ %v428, %else.426 ]
  br i1 %v429, label %do.416, label %endwhile.417
do.416:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v430 = icmp eq i32 2, 0
  %v431 = icmp eq i32 2, -1
  %v432 = icmp eq i32 %n.422, -2147483648
  %v433 = and i1 %v431, %v432
  %v434 = or i1 %v430, %v433
  %v435 = select i1 %v434, i32 1, i32 2
  %v436 = srem i32 %n.422, %v435
  %v437 = icmp ne i32 %v436, 0
  %v438 = icmp slt i32 %v436, 0
  %v439 = icmp slt i32 %v435, 0
  %v440 = xor i1 %v438, %v439
  %v441 = and i1 %v437, %v440
  %v442 = add i32 %v436, %v435
  %v443 = select i1 %v441, i32 %v442, i32 %v436
  %v444 = icmp eq i32 2, 0
  %v445 = select i1 %v444, i32 %n.422, i32 %v443
  %v446 = icmp eq i32 %v445, 0
  br i1 %v446, label %then.447, label %else.448
then.447:
  %v450 = icmp eq i32 2, 0
  %v451 = icmp eq i32 2, -1
  %v452 = icmp eq i32 %n.422, -2147483648
  %v453 = and i1 %v451, %v452
  %v454 = or i1 %v450, %v453
  %v455 = select i1 %v454, i32 1, i32 2
  %v456 = sdiv i32 %n.422, %v455
  %v457 = srem i32 %n.422, %v455
  %v458 = icmp ne i32 %v457, 0
  %v459 = icmp slt i32 %n.422, 0
  %v460 = icmp slt i32 %v455, 0
  %v461 = xor i1 %v459, %v460
  %v462 = and i1 %v458, %v461
  %v463 = sub i32 %v456, 1
  %v464 = select i1 %v462, i32 %v463, i32 %v456
  %v465 = icmp eq i32 2, 0
  %v466 = select i1 %v465, i32 -1, i32 %v464
  br label %endif.449
else.448:
  %v467 = mul i32 3, %n.422
  %v468 = add i32 %v467, 1
  br label %endif.449
endif.449:
  %n.469 = phi i32 [ %v466, %then.447 ], [ %v468, %else.448 ]
  ; line 7: k += 1
  %k.470 = add i32 %k.423, 1
  ; line 8: if k >= 1000:
  %v471 = icmp sge i32 %k.470, 1000
  br i1 %v471, label %then.472, label %else.473
then.472:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.474
else.473:
  br label %endif.474
endif.474:
  %break.1.475 = phi i1 [ true, %then.472 ], [ %break.1.424, %else.473 ]
  ; line 5: while n != 1:
  %turn.477 = add nuw nsw i32 %turn.476, 1
  %more.479 = icmp ult i32 %turn.477, 512
  br i1 %more.479, label %while.415, label %full.478
full.478:
  %stop.482 = load volatile i32, ptr %stop
  %calm.483 = icmp eq i32 %stop.482, 0
  br i1 %calm.483, label %go.481, label %ask.480, !prof !1
ask.480:
  %v484 = load ptr, ptr %v385
  %v485 = call i32 %v484(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v486 = icmp eq i32 %v485, 0
  br i1 %v486, label %go.481, label %stopped
go.481:
  br label %strip.418
endwhile.417:
  ; line 10: steps[i] = k
  %v487 = getelementptr inbounds i32, ptr %steps.data.391, i64 %v412
  store i32 %k.423, ptr %v487
  %v490 = and i32 %tid, 31
  %early.491 = icmp ne i32 %v490, 31
  br i1 %early.491, label %on.489, label %due.488, !prof !1
due.488:
  %stop.494 = load volatile i32, ptr %stop
  %calm.495 = icmp eq i32 %stop.494, 0
  br i1 %calm.495, label %go.493, label %ask.492, !prof !1
ask.492:
  %v496 = sext i32 %tid to i64
  store i64 %v496, ptr %v404
  %v497 = load ptr, ptr %v385
  %v498 = call i32 %v497(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v499 = icmp eq i32 %v498, 0
  br i1 %v499, label %go.493, label %stopped
go.493:
  br label %on.489
on.489:
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
declare <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float>)
declare i32 @llvm.vector.reduce.or.v8i32(<8 x i32>)
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
