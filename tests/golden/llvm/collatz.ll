define i32 @wb_collatz(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
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
  %i.13 = sext i32 %gang.10 to i64
  ; line 3: n = start[i]
  %v14 = mul i64 %i.13, 4
  %v17 = getelementptr i8, ptr %start.data.16, i64 %v14
  %start.18 = load <8 x i32>, ptr %v17, align 4
  %v19 = mul i64 %i.13, 4
  %v20 = add i64 %v19, 32
  %v21 = getelementptr i8, ptr %start.data.16, i64 %v20
  %start.22 = load <8 x i32>, ptr %v21, align 4
  ; line 5: while n != 1:
  br label %lanes.23
lanes.23:
  %count.26 = phi i32 [ 0, %gang.4 ], [ %count.336, %on.378 ]
  %lanes.27 = phi <8 x i32> [ splat (i32 -1), %gang.4 ], [ %mask.54, %on.378 ]
  %lanes.28 = phi <8 x i32> [ splat (i32 -1), %gang.4 ], [ %mask.55, %on.378 ]
  %n.29 = phi <8 x i32> [ %start.18, %gang.4 ], [ %v341, %on.378 ]
  %n.30 = phi <8 x i32> [ %start.22, %gang.4 ], [ %v346, %on.378 ]
  %k.31 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %v352, %on.378 ]
  %k.32 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %v356, %on.378 ]
  %break.5.33 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %break.5.372, %on.378 ]
  %break.5.34 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %break.5.376, %on.378 ]
  %k.35 = phi i32 [ 0, %gang.4 ], [ %k.330, %on.378 ]
  %break.5.36 = phi i1 [ false, %gang.4 ], [ %break.5.335, %on.378 ]
  br i1 %break.5.36, label %then.37, label %else.38
then.37:
  br label %endif.39
else.38:
  %v40 = icmp ne <8 x i32> %n.29, splat (i32 1)
  %v41 = freeze <8 x i1> %v40
  %v42 = sext <8 x i1> %v41 to <8 x i32>
  %v43 = bitcast <8 x i32> %v42 to <8 x float>
  %v44 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v43)
  %v45 = bitcast <8 x float> %v44 to <8 x i32>
  %v46 = icmp ne <8 x i32> %n.30, splat (i32 1)
  %v47 = freeze <8 x i1> %v46
  %v48 = sext <8 x i1> %v47 to <8 x i32>
  %v49 = bitcast <8 x i32> %v48 to <8 x float>
  %v50 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v49)
  %v51 = bitcast <8 x float> %v50 to <8 x i32>
  br label %endif.39
endif.39:
  %v52 = phi <8 x i32> [ splat (i32 0), %then.37 ], [ %v45, %else.38 ]
  %v53 = phi <8 x i32> [ splat (i32 0), %then.37 ], [ %v51, %else.38 ]
  %mask.54 = and <8 x i32> %lanes.27, %v52
  %mask.55 = and <8 x i32> %lanes.28, %v53
  %v56 = or <8 x i32> %mask.54, %mask.55
  %v57 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v56)
  %v58 = icmp ne i32 %v57, 0
  br i1 %v58, label %lanes.body.24, label %lanes.end.25
lanes.body.24:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v59 = icmp eq i32 2, 0
  %v60 = icmp eq i32 2, -1
  %v61 = icmp eq <8 x i32> %n.29, splat (i32 -2147483648)
  %v62 = freeze <8 x i1> %v61
  %v63 = sext <8 x i1> %v62 to <8 x i32>
  %v64 = bitcast <8 x i32> %v63 to <8 x float>
  %v65 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v64)
  %v66 = bitcast <8 x float> %v65 to <8 x i32>
  %v67 = icmp eq <8 x i32> %n.30, splat (i32 -2147483648)
  %v68 = freeze <8 x i1> %v67
  %v69 = sext <8 x i1> %v68 to <8 x i32>
  %v70 = bitcast <8 x i32> %v69 to <8 x float>
  %v71 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v70)
  %v72 = bitcast <8 x float> %v71 to <8 x i32>
  %v73 = insertelement <8 x i1> poison, i1 %v60, i64 0
  %v74 = shufflevector <8 x i1> %v73, <8 x i1> poison, <8 x i32> zeroinitializer
  %v75 = and <8 x i1> %v74, %v61
  %v76 = freeze <8 x i1> %v75
  %v77 = sext <8 x i1> %v76 to <8 x i32>
  %v78 = bitcast <8 x i32> %v77 to <8 x float>
  %v79 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v78)
  %v80 = bitcast <8 x float> %v79 to <8 x i32>
  %v81 = and <8 x i1> %v74, %v67
  %v82 = freeze <8 x i1> %v81
  %v83 = sext <8 x i1> %v82 to <8 x i32>
  %v84 = bitcast <8 x i32> %v83 to <8 x float>
  %v85 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v84)
  %v86 = bitcast <8 x float> %v85 to <8 x i32>
  %v87 = insertelement <8 x i1> poison, i1 %v59, i64 0
  %v88 = shufflevector <8 x i1> %v87, <8 x i1> poison, <8 x i32> zeroinitializer
  %v89 = or <8 x i1> %v88, %v75
  %v90 = freeze <8 x i1> %v89
  %v91 = sext <8 x i1> %v90 to <8 x i32>
  %v92 = bitcast <8 x i32> %v91 to <8 x float>
  %v93 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v92)
  %v94 = bitcast <8 x float> %v93 to <8 x i32>
  %v95 = or <8 x i1> %v88, %v81
  %v96 = freeze <8 x i1> %v95
  %v97 = sext <8 x i1> %v96 to <8 x i32>
  %v98 = bitcast <8 x i32> %v97 to <8 x float>
  %v99 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v98)
  %v100 = bitcast <8 x float> %v99 to <8 x i32>
  %v101 = select <8 x i1> %v89, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v102 = select <8 x i1> %v95, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v103 = srem <8 x i32> %n.29, %v101
  %v104 = srem <8 x i32> %n.30, %v102
  %v105 = icmp ne <8 x i32> %v103, splat (i32 0)
  %v106 = freeze <8 x i1> %v105
  %v107 = sext <8 x i1> %v106 to <8 x i32>
  %v108 = bitcast <8 x i32> %v107 to <8 x float>
  %v109 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v108)
  %v110 = bitcast <8 x float> %v109 to <8 x i32>
  %v111 = icmp ne <8 x i32> %v104, splat (i32 0)
  %v112 = freeze <8 x i1> %v111
  %v113 = sext <8 x i1> %v112 to <8 x i32>
  %v114 = bitcast <8 x i32> %v113 to <8 x float>
  %v115 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v114)
  %v116 = bitcast <8 x float> %v115 to <8 x i32>
  %v117 = icmp slt <8 x i32> %v103, splat (i32 0)
  %v118 = freeze <8 x i1> %v117
  %v119 = sext <8 x i1> %v118 to <8 x i32>
  %v120 = bitcast <8 x i32> %v119 to <8 x float>
  %v121 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v120)
  %v122 = bitcast <8 x float> %v121 to <8 x i32>
  %v123 = icmp slt <8 x i32> %v104, splat (i32 0)
  %v124 = freeze <8 x i1> %v123
  %v125 = sext <8 x i1> %v124 to <8 x i32>
  %v126 = bitcast <8 x i32> %v125 to <8 x float>
  %v127 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v126)
  %v128 = bitcast <8 x float> %v127 to <8 x i32>
  %v129 = icmp slt <8 x i32> %v101, splat (i32 0)
  %v130 = freeze <8 x i1> %v129
  %v131 = sext <8 x i1> %v130 to <8 x i32>
  %v132 = bitcast <8 x i32> %v131 to <8 x float>
  %v133 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v132)
  %v134 = bitcast <8 x float> %v133 to <8 x i32>
  %v135 = icmp slt <8 x i32> %v102, splat (i32 0)
  %v136 = freeze <8 x i1> %v135
  %v137 = sext <8 x i1> %v136 to <8 x i32>
  %v138 = bitcast <8 x i32> %v137 to <8 x float>
  %v139 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v138)
  %v140 = bitcast <8 x float> %v139 to <8 x i32>
  %v141 = xor <8 x i1> %v117, %v129
  %v142 = freeze <8 x i1> %v141
  %v143 = sext <8 x i1> %v142 to <8 x i32>
  %v144 = bitcast <8 x i32> %v143 to <8 x float>
  %v145 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v144)
  %v146 = bitcast <8 x float> %v145 to <8 x i32>
  %v147 = xor <8 x i1> %v123, %v135
  %v148 = freeze <8 x i1> %v147
  %v149 = sext <8 x i1> %v148 to <8 x i32>
  %v150 = bitcast <8 x i32> %v149 to <8 x float>
  %v151 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v150)
  %v152 = bitcast <8 x float> %v151 to <8 x i32>
  %v153 = and <8 x i1> %v105, %v141
  %v154 = freeze <8 x i1> %v153
  %v155 = sext <8 x i1> %v154 to <8 x i32>
  %v156 = bitcast <8 x i32> %v155 to <8 x float>
  %v157 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v156)
  %v158 = bitcast <8 x float> %v157 to <8 x i32>
  %v159 = and <8 x i1> %v111, %v147
  %v160 = freeze <8 x i1> %v159
  %v161 = sext <8 x i1> %v160 to <8 x i32>
  %v162 = bitcast <8 x i32> %v161 to <8 x float>
  %v163 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v162)
  %v164 = bitcast <8 x float> %v163 to <8 x i32>
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
  %v179 = bitcast <8 x float> %v178 to <8 x i32>
  %v180 = icmp eq <8 x i32> %v173, splat (i32 0)
  %v181 = freeze <8 x i1> %v180
  %v182 = sext <8 x i1> %v181 to <8 x i32>
  %v183 = bitcast <8 x i32> %v182 to <8 x float>
  %v184 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v183)
  %v185 = bitcast <8 x float> %v184 to <8 x i32>
  %mask.186 = and <8 x i32> %mask.54, %v179
  %mask.187 = and <8 x i32> %mask.55, %v185
  %v190 = or <8 x i32> %mask.186, %mask.187
  %v191 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v190)
  %v192 = icmp ne i32 %v191, 0
  br i1 %v192, label %side.188, label %side.end.189
side.188:
  %v193 = icmp eq i32 2, 0
  %v194 = icmp eq i32 2, -1
  %v195 = icmp eq <8 x i32> %n.29, splat (i32 -2147483648)
  %v196 = freeze <8 x i1> %v195
  %v197 = sext <8 x i1> %v196 to <8 x i32>
  %v198 = bitcast <8 x i32> %v197 to <8 x float>
  %v199 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v198)
  %v200 = bitcast <8 x float> %v199 to <8 x i32>
  %v201 = icmp eq <8 x i32> %n.30, splat (i32 -2147483648)
  %v202 = freeze <8 x i1> %v201
  %v203 = sext <8 x i1> %v202 to <8 x i32>
  %v204 = bitcast <8 x i32> %v203 to <8 x float>
  %v205 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v204)
  %v206 = bitcast <8 x float> %v205 to <8 x i32>
  %v207 = insertelement <8 x i1> poison, i1 %v194, i64 0
  %v208 = shufflevector <8 x i1> %v207, <8 x i1> poison, <8 x i32> zeroinitializer
  %v209 = and <8 x i1> %v208, %v195
  %v210 = freeze <8 x i1> %v209
  %v211 = sext <8 x i1> %v210 to <8 x i32>
  %v212 = bitcast <8 x i32> %v211 to <8 x float>
  %v213 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v212)
  %v214 = bitcast <8 x float> %v213 to <8 x i32>
  %v215 = and <8 x i1> %v208, %v201
  %v216 = freeze <8 x i1> %v215
  %v217 = sext <8 x i1> %v216 to <8 x i32>
  %v218 = bitcast <8 x i32> %v217 to <8 x float>
  %v219 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v218)
  %v220 = bitcast <8 x float> %v219 to <8 x i32>
  %v221 = insertelement <8 x i1> poison, i1 %v193, i64 0
  %v222 = shufflevector <8 x i1> %v221, <8 x i1> poison, <8 x i32> zeroinitializer
  %v223 = or <8 x i1> %v222, %v209
  %v224 = freeze <8 x i1> %v223
  %v225 = sext <8 x i1> %v224 to <8 x i32>
  %v226 = bitcast <8 x i32> %v225 to <8 x float>
  %v227 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v226)
  %v228 = bitcast <8 x float> %v227 to <8 x i32>
  %v229 = or <8 x i1> %v222, %v215
  %v230 = freeze <8 x i1> %v229
  %v231 = sext <8 x i1> %v230 to <8 x i32>
  %v232 = bitcast <8 x i32> %v231 to <8 x float>
  %v233 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v232)
  %v234 = bitcast <8 x float> %v233 to <8 x i32>
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
  %v246 = bitcast <8 x float> %v245 to <8 x i32>
  %v247 = icmp ne <8 x i32> %v240, splat (i32 0)
  %v248 = freeze <8 x i1> %v247
  %v249 = sext <8 x i1> %v248 to <8 x i32>
  %v250 = bitcast <8 x i32> %v249 to <8 x float>
  %v251 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v250)
  %v252 = bitcast <8 x float> %v251 to <8 x i32>
  %v253 = icmp slt <8 x i32> %n.29, splat (i32 0)
  %v254 = freeze <8 x i1> %v253
  %v255 = sext <8 x i1> %v254 to <8 x i32>
  %v256 = bitcast <8 x i32> %v255 to <8 x float>
  %v257 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v256)
  %v258 = bitcast <8 x float> %v257 to <8 x i32>
  %v259 = icmp slt <8 x i32> %n.30, splat (i32 0)
  %v260 = freeze <8 x i1> %v259
  %v261 = sext <8 x i1> %v260 to <8 x i32>
  %v262 = bitcast <8 x i32> %v261 to <8 x float>
  %v263 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v262)
  %v264 = bitcast <8 x float> %v263 to <8 x i32>
  %v265 = icmp slt <8 x i32> %v235, splat (i32 0)
  %v266 = freeze <8 x i1> %v265
  %v267 = sext <8 x i1> %v266 to <8 x i32>
  %v268 = bitcast <8 x i32> %v267 to <8 x float>
  %v269 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v268)
  %v270 = bitcast <8 x float> %v269 to <8 x i32>
  %v271 = icmp slt <8 x i32> %v236, splat (i32 0)
  %v272 = freeze <8 x i1> %v271
  %v273 = sext <8 x i1> %v272 to <8 x i32>
  %v274 = bitcast <8 x i32> %v273 to <8 x float>
  %v275 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v274)
  %v276 = bitcast <8 x float> %v275 to <8 x i32>
  %v277 = xor <8 x i1> %v253, %v265
  %v278 = freeze <8 x i1> %v277
  %v279 = sext <8 x i1> %v278 to <8 x i32>
  %v280 = bitcast <8 x i32> %v279 to <8 x float>
  %v281 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v280)
  %v282 = bitcast <8 x float> %v281 to <8 x i32>
  %v283 = xor <8 x i1> %v259, %v271
  %v284 = freeze <8 x i1> %v283
  %v285 = sext <8 x i1> %v284 to <8 x i32>
  %v286 = bitcast <8 x i32> %v285 to <8 x float>
  %v287 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v286)
  %v288 = bitcast <8 x float> %v287 to <8 x i32>
  %v289 = and <8 x i1> %v241, %v277
  %v290 = freeze <8 x i1> %v289
  %v291 = sext <8 x i1> %v290 to <8 x i32>
  %v292 = bitcast <8 x i32> %v291 to <8 x float>
  %v293 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v292)
  %v294 = bitcast <8 x float> %v293 to <8 x i32>
  %v295 = and <8 x i1> %v247, %v283
  %v296 = freeze <8 x i1> %v295
  %v297 = sext <8 x i1> %v296 to <8 x i32>
  %v298 = bitcast <8 x i32> %v297 to <8 x float>
  %v299 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v298)
  %v300 = bitcast <8 x float> %v299 to <8 x i32>
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
  %v312 = xor <8 x i32> %v179, splat (i32 -1)
  %mask.313 = and <8 x i32> %mask.54, %v312
  %v314 = xor <8 x i32> %v185, splat (i32 -1)
  %mask.315 = and <8 x i32> %mask.55, %v314
  %v316 = mul <8 x i32> splat (i32 3), %n.29
  %v317 = mul <8 x i32> splat (i32 3), %n.30
  %v318 = add <8 x i32> %v316, splat (i32 1)
  %v319 = add <8 x i32> %v317, splat (i32 1)
  %flags.320 = icmp slt <8 x i32> %mask.186, zeroinitializer
  %v321 = select <8 x i1> %flags.320, <8 x i32> %n.310, <8 x i32> %v318
  %v322 = bitcast <8 x i32> %v321 to <8 x float>
  %v323 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v322)
  %v324 = bitcast <8 x float> %v323 to <8 x i32>
  %flags.325 = icmp slt <8 x i32> %mask.187, zeroinitializer
  %v326 = select <8 x i1> %flags.325, <8 x i32> %n.311, <8 x i32> %v319
  %v327 = bitcast <8 x i32> %v326 to <8 x float>
  %v328 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v327)
  %v329 = bitcast <8 x float> %v328 to <8 x i32>
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
  %break.5.335 = phi i1 [ true, %then.332 ], [ %break.5.36, %else.333 ]
  ; line 5: while n != 1:
  %count.336 = add i32 %count.26, 1
  %flags.337 = icmp slt <8 x i32> %mask.54, zeroinitializer
  %v338 = select <8 x i1> %flags.337, <8 x i32> %v324, <8 x i32> %n.29
  %v339 = bitcast <8 x i32> %v338 to <8 x float>
  %v340 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v339)
  %v341 = bitcast <8 x float> %v340 to <8 x i32>
  %flags.342 = icmp slt <8 x i32> %mask.55, zeroinitializer
  %v343 = select <8 x i1> %flags.342, <8 x i32> %v329, <8 x i32> %n.30
  %v344 = bitcast <8 x i32> %v343 to <8 x float>
  %v345 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v344)
  %v346 = bitcast <8 x float> %v345 to <8 x i32>
  %v347 = insertelement <8 x i32> poison, i32 %k.330, i64 0
  %v348 = shufflevector <8 x i32> %v347, <8 x i32> poison, <8 x i32> zeroinitializer
  %v349 = select <8 x i1> %flags.337, <8 x i32> %v348, <8 x i32> %k.31
  %v350 = bitcast <8 x i32> %v349 to <8 x float>
  %v351 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v350)
  %v352 = bitcast <8 x float> %v351 to <8 x i32>
  %v353 = select <8 x i1> %flags.342, <8 x i32> %v348, <8 x i32> %k.32
  %v354 = bitcast <8 x i32> %v353 to <8 x float>
  %v355 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v354)
  %v356 = bitcast <8 x float> %v355 to <8 x i32>
  %v357 = insertelement <8 x i1> poison, i1 %break.5.335, i64 0
  %v358 = shufflevector <8 x i1> %v357, <8 x i1> poison, <8 x i32> zeroinitializer
  %v359 = freeze <8 x i1> %v358
  %v360 = sext <8 x i1> %v359 to <8 x i32>
  %v361 = bitcast <8 x i32> %v360 to <8 x float>
  %v362 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v361)
  %v363 = bitcast <8 x float> %v362 to <8 x i32>
  %v364 = freeze <8 x i1> %v358
  %v365 = sext <8 x i1> %v364 to <8 x i32>
  %v366 = bitcast <8 x i32> %v365 to <8 x float>
  %v367 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v366)
  %v368 = bitcast <8 x float> %v367 to <8 x i32>
  %v369 = xor <8 x i32> %mask.54, splat (i32 -1)
  %v370 = and <8 x i32> %mask.54, %v363
  %v371 = and <8 x i32> %v369, %break.5.33
  %break.5.372 = or <8 x i32> %v370, %v371
  %v373 = xor <8 x i32> %mask.55, splat (i32 -1)
  %v374 = and <8 x i32> %mask.55, %v368
  %v375 = and <8 x i32> %v373, %break.5.34
  %break.5.376 = or <8 x i32> %v374, %v375
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
  %v389 = mul i64 %i.13, 4
  %v392 = getelementptr i8, ptr %steps.data.391, i64 %v389
  store <8 x i32> %k.31, ptr %v392, align 4
  %v393 = mul i64 %i.13, 4
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
  %left.411 = sub nsw i32 %high.2, %gangs.9
  %several.414 = icmp sge i32 %left.411, 4
  br i1 %several.414, label %rest.412, label %rest.end.413
rest.412:
  %v415 = insertelement <8 x i32> poison, i32 %left.411, i64 0
  %v416 = shufflevector <8 x i32> %v415, <8 x i32> poison, <8 x i32> zeroinitializer
  %v417 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v416
  %v418 = sext <8 x i1> %v417 to <8 x i32>
  %v419 = bitcast <8 x i32> %v418 to <8 x float>
  %v420 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v419)
  %v421 = bitcast <8 x float> %v420 to <8 x i32>
  %v422 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v416
  %v423 = sext <8 x i1> %v422 to <8 x i32>
  %v424 = bitcast <8 x i32> %v423 to <8 x float>
  %v425 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v424)
  %v426 = bitcast <8 x float> %v425 to <8 x i32>
  ; line 2: i = tid()
  %i.427 = sext i32 %gangs.9 to i64
  ; line 3: n = start[i]
  %v428 = mul i64 %i.427, 4
  %v429 = getelementptr i8, ptr %start.data.16, i64 %v428
  %v430 = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr %v429, i32 4, <8 x i1> %v417, <8 x i32> zeroinitializer)
  %start.431 = freeze <8 x i32> %v430
  %v432 = mul i64 %i.427, 4
  %v433 = add i64 %v432, 32
  %v434 = getelementptr i8, ptr %start.data.16, i64 %v433
  %v435 = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr %v434, i32 4, <8 x i1> %v422, <8 x i32> zeroinitializer)
  %start.436 = freeze <8 x i32> %v435
  ; line 5: while n != 1:
  br label %lanes.437
lanes.437:
  %count.440 = phi i32 [ 0, %rest.412 ], [ %count.750, %on.792 ]
  %lanes.441 = phi <8 x i32> [ %v421, %rest.412 ], [ %mask.468, %on.792 ]
  %lanes.442 = phi <8 x i32> [ %v426, %rest.412 ], [ %mask.469, %on.792 ]
  %n.443 = phi <8 x i32> [ %start.431, %rest.412 ], [ %v755, %on.792 ]
  %n.444 = phi <8 x i32> [ %start.436, %rest.412 ], [ %v760, %on.792 ]
  %k.445 = phi <8 x i32> [ splat (i32 0), %rest.412 ], [ %v766, %on.792 ]
  %k.446 = phi <8 x i32> [ splat (i32 0), %rest.412 ], [ %v770, %on.792 ]
  %break.5.447 = phi <8 x i32> [ splat (i32 0), %rest.412 ], [ %break.5.786, %on.792 ]
  %break.5.448 = phi <8 x i32> [ splat (i32 0), %rest.412 ], [ %break.5.790, %on.792 ]
  %k.449 = phi i32 [ 0, %rest.412 ], [ %k.744, %on.792 ]
  %break.5.450 = phi i1 [ false, %rest.412 ], [ %break.5.749, %on.792 ]
  br i1 %break.5.450, label %then.451, label %else.452
then.451:
  br label %endif.453
else.452:
  %v454 = icmp ne <8 x i32> %n.443, splat (i32 1)
  %v455 = freeze <8 x i1> %v454
  %v456 = sext <8 x i1> %v455 to <8 x i32>
  %v457 = bitcast <8 x i32> %v456 to <8 x float>
  %v458 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v457)
  %v459 = bitcast <8 x float> %v458 to <8 x i32>
  %v460 = icmp ne <8 x i32> %n.444, splat (i32 1)
  %v461 = freeze <8 x i1> %v460
  %v462 = sext <8 x i1> %v461 to <8 x i32>
  %v463 = bitcast <8 x i32> %v462 to <8 x float>
  %v464 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v463)
  %v465 = bitcast <8 x float> %v464 to <8 x i32>
  br label %endif.453
endif.453:
  %v466 = phi <8 x i32> [ splat (i32 0), %then.451 ], [ %v459, %else.452 ]
  %v467 = phi <8 x i32> [ splat (i32 0), %then.451 ], [ %v465, %else.452 ]
  %mask.468 = and <8 x i32> %lanes.441, %v466
  %mask.469 = and <8 x i32> %lanes.442, %v467
  %v470 = or <8 x i32> %mask.468, %mask.469
  %v471 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v470)
  %v472 = icmp ne i32 %v471, 0
  br i1 %v472, label %lanes.body.438, label %lanes.end.439
lanes.body.438:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v473 = icmp eq i32 2, 0
  %v474 = icmp eq i32 2, -1
  %v475 = icmp eq <8 x i32> %n.443, splat (i32 -2147483648)
  %v476 = freeze <8 x i1> %v475
  %v477 = sext <8 x i1> %v476 to <8 x i32>
  %v478 = bitcast <8 x i32> %v477 to <8 x float>
  %v479 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v478)
  %v480 = bitcast <8 x float> %v479 to <8 x i32>
  %v481 = icmp eq <8 x i32> %n.444, splat (i32 -2147483648)
  %v482 = freeze <8 x i1> %v481
  %v483 = sext <8 x i1> %v482 to <8 x i32>
  %v484 = bitcast <8 x i32> %v483 to <8 x float>
  %v485 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v484)
  %v486 = bitcast <8 x float> %v485 to <8 x i32>
  %v487 = insertelement <8 x i1> poison, i1 %v474, i64 0
  %v488 = shufflevector <8 x i1> %v487, <8 x i1> poison, <8 x i32> zeroinitializer
  %v489 = and <8 x i1> %v488, %v475
  %v490 = freeze <8 x i1> %v489
  %v491 = sext <8 x i1> %v490 to <8 x i32>
  %v492 = bitcast <8 x i32> %v491 to <8 x float>
  %v493 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v492)
  %v494 = bitcast <8 x float> %v493 to <8 x i32>
  %v495 = and <8 x i1> %v488, %v481
  %v496 = freeze <8 x i1> %v495
  %v497 = sext <8 x i1> %v496 to <8 x i32>
  %v498 = bitcast <8 x i32> %v497 to <8 x float>
  %v499 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v498)
  %v500 = bitcast <8 x float> %v499 to <8 x i32>
  %v501 = insertelement <8 x i1> poison, i1 %v473, i64 0
  %v502 = shufflevector <8 x i1> %v501, <8 x i1> poison, <8 x i32> zeroinitializer
  %v503 = or <8 x i1> %v502, %v489
  %v504 = freeze <8 x i1> %v503
  %v505 = sext <8 x i1> %v504 to <8 x i32>
  %v506 = bitcast <8 x i32> %v505 to <8 x float>
  %v507 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v506)
  %v508 = bitcast <8 x float> %v507 to <8 x i32>
  %v509 = or <8 x i1> %v502, %v495
  %v510 = freeze <8 x i1> %v509
  %v511 = sext <8 x i1> %v510 to <8 x i32>
  %v512 = bitcast <8 x i32> %v511 to <8 x float>
  %v513 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v512)
  %v514 = bitcast <8 x float> %v513 to <8 x i32>
  %v515 = select <8 x i1> %v503, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v516 = select <8 x i1> %v509, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v517 = srem <8 x i32> %n.443, %v515
  %v518 = srem <8 x i32> %n.444, %v516
  %v519 = icmp ne <8 x i32> %v517, splat (i32 0)
  %v520 = freeze <8 x i1> %v519
  %v521 = sext <8 x i1> %v520 to <8 x i32>
  %v522 = bitcast <8 x i32> %v521 to <8 x float>
  %v523 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v522)
  %v524 = bitcast <8 x float> %v523 to <8 x i32>
  %v525 = icmp ne <8 x i32> %v518, splat (i32 0)
  %v526 = freeze <8 x i1> %v525
  %v527 = sext <8 x i1> %v526 to <8 x i32>
  %v528 = bitcast <8 x i32> %v527 to <8 x float>
  %v529 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v528)
  %v530 = bitcast <8 x float> %v529 to <8 x i32>
  %v531 = icmp slt <8 x i32> %v517, splat (i32 0)
  %v532 = freeze <8 x i1> %v531
  %v533 = sext <8 x i1> %v532 to <8 x i32>
  %v534 = bitcast <8 x i32> %v533 to <8 x float>
  %v535 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v534)
  %v536 = bitcast <8 x float> %v535 to <8 x i32>
  %v537 = icmp slt <8 x i32> %v518, splat (i32 0)
  %v538 = freeze <8 x i1> %v537
  %v539 = sext <8 x i1> %v538 to <8 x i32>
  %v540 = bitcast <8 x i32> %v539 to <8 x float>
  %v541 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v540)
  %v542 = bitcast <8 x float> %v541 to <8 x i32>
  %v543 = icmp slt <8 x i32> %v515, splat (i32 0)
  %v544 = freeze <8 x i1> %v543
  %v545 = sext <8 x i1> %v544 to <8 x i32>
  %v546 = bitcast <8 x i32> %v545 to <8 x float>
  %v547 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v546)
  %v548 = bitcast <8 x float> %v547 to <8 x i32>
  %v549 = icmp slt <8 x i32> %v516, splat (i32 0)
  %v550 = freeze <8 x i1> %v549
  %v551 = sext <8 x i1> %v550 to <8 x i32>
  %v552 = bitcast <8 x i32> %v551 to <8 x float>
  %v553 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v552)
  %v554 = bitcast <8 x float> %v553 to <8 x i32>
  %v555 = xor <8 x i1> %v531, %v543
  %v556 = freeze <8 x i1> %v555
  %v557 = sext <8 x i1> %v556 to <8 x i32>
  %v558 = bitcast <8 x i32> %v557 to <8 x float>
  %v559 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v558)
  %v560 = bitcast <8 x float> %v559 to <8 x i32>
  %v561 = xor <8 x i1> %v537, %v549
  %v562 = freeze <8 x i1> %v561
  %v563 = sext <8 x i1> %v562 to <8 x i32>
  %v564 = bitcast <8 x i32> %v563 to <8 x float>
  %v565 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v564)
  %v566 = bitcast <8 x float> %v565 to <8 x i32>
  %v567 = and <8 x i1> %v519, %v555
  %v568 = freeze <8 x i1> %v567
  %v569 = sext <8 x i1> %v568 to <8 x i32>
  %v570 = bitcast <8 x i32> %v569 to <8 x float>
  %v571 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v570)
  %v572 = bitcast <8 x float> %v571 to <8 x i32>
  %v573 = and <8 x i1> %v525, %v561
  %v574 = freeze <8 x i1> %v573
  %v575 = sext <8 x i1> %v574 to <8 x i32>
  %v576 = bitcast <8 x i32> %v575 to <8 x float>
  %v577 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v576)
  %v578 = bitcast <8 x float> %v577 to <8 x i32>
  %v579 = add <8 x i32> %v517, %v515
  %v580 = add <8 x i32> %v518, %v516
  %v581 = select <8 x i1> %v567, <8 x i32> %v579, <8 x i32> %v517
  %v582 = select <8 x i1> %v573, <8 x i32> %v580, <8 x i32> %v518
  %v583 = icmp eq i32 2, 0
  %v584 = insertelement <8 x i1> poison, i1 %v583, i64 0
  %v585 = shufflevector <8 x i1> %v584, <8 x i1> poison, <8 x i32> zeroinitializer
  %v586 = select <8 x i1> %v585, <8 x i32> %n.443, <8 x i32> %v581
  %v587 = select <8 x i1> %v585, <8 x i32> %n.444, <8 x i32> %v582
  %v588 = icmp eq <8 x i32> %v586, splat (i32 0)
  %v589 = freeze <8 x i1> %v588
  %v590 = sext <8 x i1> %v589 to <8 x i32>
  %v591 = bitcast <8 x i32> %v590 to <8 x float>
  %v592 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v591)
  %v593 = bitcast <8 x float> %v592 to <8 x i32>
  %v594 = icmp eq <8 x i32> %v587, splat (i32 0)
  %v595 = freeze <8 x i1> %v594
  %v596 = sext <8 x i1> %v595 to <8 x i32>
  %v597 = bitcast <8 x i32> %v596 to <8 x float>
  %v598 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v597)
  %v599 = bitcast <8 x float> %v598 to <8 x i32>
  %mask.600 = and <8 x i32> %mask.468, %v593
  %mask.601 = and <8 x i32> %mask.469, %v599
  %v604 = or <8 x i32> %mask.600, %mask.601
  %v605 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v604)
  %v606 = icmp ne i32 %v605, 0
  br i1 %v606, label %side.602, label %side.end.603
side.602:
  %v607 = icmp eq i32 2, 0
  %v608 = icmp eq i32 2, -1
  %v609 = icmp eq <8 x i32> %n.443, splat (i32 -2147483648)
  %v610 = freeze <8 x i1> %v609
  %v611 = sext <8 x i1> %v610 to <8 x i32>
  %v612 = bitcast <8 x i32> %v611 to <8 x float>
  %v613 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v612)
  %v614 = bitcast <8 x float> %v613 to <8 x i32>
  %v615 = icmp eq <8 x i32> %n.444, splat (i32 -2147483648)
  %v616 = freeze <8 x i1> %v615
  %v617 = sext <8 x i1> %v616 to <8 x i32>
  %v618 = bitcast <8 x i32> %v617 to <8 x float>
  %v619 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v618)
  %v620 = bitcast <8 x float> %v619 to <8 x i32>
  %v621 = insertelement <8 x i1> poison, i1 %v608, i64 0
  %v622 = shufflevector <8 x i1> %v621, <8 x i1> poison, <8 x i32> zeroinitializer
  %v623 = and <8 x i1> %v622, %v609
  %v624 = freeze <8 x i1> %v623
  %v625 = sext <8 x i1> %v624 to <8 x i32>
  %v626 = bitcast <8 x i32> %v625 to <8 x float>
  %v627 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v626)
  %v628 = bitcast <8 x float> %v627 to <8 x i32>
  %v629 = and <8 x i1> %v622, %v615
  %v630 = freeze <8 x i1> %v629
  %v631 = sext <8 x i1> %v630 to <8 x i32>
  %v632 = bitcast <8 x i32> %v631 to <8 x float>
  %v633 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v632)
  %v634 = bitcast <8 x float> %v633 to <8 x i32>
  %v635 = insertelement <8 x i1> poison, i1 %v607, i64 0
  %v636 = shufflevector <8 x i1> %v635, <8 x i1> poison, <8 x i32> zeroinitializer
  %v637 = or <8 x i1> %v636, %v623
  %v638 = freeze <8 x i1> %v637
  %v639 = sext <8 x i1> %v638 to <8 x i32>
  %v640 = bitcast <8 x i32> %v639 to <8 x float>
  %v641 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v640)
  %v642 = bitcast <8 x float> %v641 to <8 x i32>
  %v643 = or <8 x i1> %v636, %v629
  %v644 = freeze <8 x i1> %v643
  %v645 = sext <8 x i1> %v644 to <8 x i32>
  %v646 = bitcast <8 x i32> %v645 to <8 x float>
  %v647 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v646)
  %v648 = bitcast <8 x float> %v647 to <8 x i32>
  %v649 = select <8 x i1> %v637, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v650 = select <8 x i1> %v643, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v651 = sdiv <8 x i32> %n.443, %v649
  %v652 = sdiv <8 x i32> %n.444, %v650
  %v653 = srem <8 x i32> %n.443, %v649
  %v654 = srem <8 x i32> %n.444, %v650
  %v655 = icmp ne <8 x i32> %v653, splat (i32 0)
  %v656 = freeze <8 x i1> %v655
  %v657 = sext <8 x i1> %v656 to <8 x i32>
  %v658 = bitcast <8 x i32> %v657 to <8 x float>
  %v659 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v658)
  %v660 = bitcast <8 x float> %v659 to <8 x i32>
  %v661 = icmp ne <8 x i32> %v654, splat (i32 0)
  %v662 = freeze <8 x i1> %v661
  %v663 = sext <8 x i1> %v662 to <8 x i32>
  %v664 = bitcast <8 x i32> %v663 to <8 x float>
  %v665 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v664)
  %v666 = bitcast <8 x float> %v665 to <8 x i32>
  %v667 = icmp slt <8 x i32> %n.443, splat (i32 0)
  %v668 = freeze <8 x i1> %v667
  %v669 = sext <8 x i1> %v668 to <8 x i32>
  %v670 = bitcast <8 x i32> %v669 to <8 x float>
  %v671 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v670)
  %v672 = bitcast <8 x float> %v671 to <8 x i32>
  %v673 = icmp slt <8 x i32> %n.444, splat (i32 0)
  %v674 = freeze <8 x i1> %v673
  %v675 = sext <8 x i1> %v674 to <8 x i32>
  %v676 = bitcast <8 x i32> %v675 to <8 x float>
  %v677 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v676)
  %v678 = bitcast <8 x float> %v677 to <8 x i32>
  %v679 = icmp slt <8 x i32> %v649, splat (i32 0)
  %v680 = freeze <8 x i1> %v679
  %v681 = sext <8 x i1> %v680 to <8 x i32>
  %v682 = bitcast <8 x i32> %v681 to <8 x float>
  %v683 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v682)
  %v684 = bitcast <8 x float> %v683 to <8 x i32>
  %v685 = icmp slt <8 x i32> %v650, splat (i32 0)
  %v686 = freeze <8 x i1> %v685
  %v687 = sext <8 x i1> %v686 to <8 x i32>
  %v688 = bitcast <8 x i32> %v687 to <8 x float>
  %v689 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v688)
  %v690 = bitcast <8 x float> %v689 to <8 x i32>
  %v691 = xor <8 x i1> %v667, %v679
  %v692 = freeze <8 x i1> %v691
  %v693 = sext <8 x i1> %v692 to <8 x i32>
  %v694 = bitcast <8 x i32> %v693 to <8 x float>
  %v695 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v694)
  %v696 = bitcast <8 x float> %v695 to <8 x i32>
  %v697 = xor <8 x i1> %v673, %v685
  %v698 = freeze <8 x i1> %v697
  %v699 = sext <8 x i1> %v698 to <8 x i32>
  %v700 = bitcast <8 x i32> %v699 to <8 x float>
  %v701 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v700)
  %v702 = bitcast <8 x float> %v701 to <8 x i32>
  %v703 = and <8 x i1> %v655, %v691
  %v704 = freeze <8 x i1> %v703
  %v705 = sext <8 x i1> %v704 to <8 x i32>
  %v706 = bitcast <8 x i32> %v705 to <8 x float>
  %v707 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v706)
  %v708 = bitcast <8 x float> %v707 to <8 x i32>
  %v709 = and <8 x i1> %v661, %v697
  %v710 = freeze <8 x i1> %v709
  %v711 = sext <8 x i1> %v710 to <8 x i32>
  %v712 = bitcast <8 x i32> %v711 to <8 x float>
  %v713 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v712)
  %v714 = bitcast <8 x float> %v713 to <8 x i32>
  %v715 = sub <8 x i32> %v651, splat (i32 1)
  %v716 = sub <8 x i32> %v652, splat (i32 1)
  %v717 = select <8 x i1> %v703, <8 x i32> %v715, <8 x i32> %v651
  %v718 = select <8 x i1> %v709, <8 x i32> %v716, <8 x i32> %v652
  %v719 = icmp eq i32 2, 0
  %v720 = insertelement <8 x i1> poison, i1 %v719, i64 0
  %v721 = shufflevector <8 x i1> %v720, <8 x i1> poison, <8 x i32> zeroinitializer
  %v722 = select <8 x i1> %v721, <8 x i32> splat (i32 -1), <8 x i32> %v717
  %v723 = select <8 x i1> %v721, <8 x i32> splat (i32 -1), <8 x i32> %v718
  br label %side.end.603
side.end.603:
  %n.724 = phi <8 x i32> [ zeroinitializer, %lanes.body.438 ], [ %v722, %side.602 ]
  %n.725 = phi <8 x i32> [ zeroinitializer, %lanes.body.438 ], [ %v723, %side.602 ]
  %v726 = xor <8 x i32> %v593, splat (i32 -1)
  %mask.727 = and <8 x i32> %mask.468, %v726
  %v728 = xor <8 x i32> %v599, splat (i32 -1)
  %mask.729 = and <8 x i32> %mask.469, %v728
  %v730 = mul <8 x i32> splat (i32 3), %n.443
  %v731 = mul <8 x i32> splat (i32 3), %n.444
  %v732 = add <8 x i32> %v730, splat (i32 1)
  %v733 = add <8 x i32> %v731, splat (i32 1)
  %flags.734 = icmp slt <8 x i32> %mask.600, zeroinitializer
  %v735 = select <8 x i1> %flags.734, <8 x i32> %n.724, <8 x i32> %v732
  %v736 = bitcast <8 x i32> %v735 to <8 x float>
  %v737 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v736)
  %v738 = bitcast <8 x float> %v737 to <8 x i32>
  %flags.739 = icmp slt <8 x i32> %mask.601, zeroinitializer
  %v740 = select <8 x i1> %flags.739, <8 x i32> %n.725, <8 x i32> %v733
  %v741 = bitcast <8 x i32> %v740 to <8 x float>
  %v742 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v741)
  %v743 = bitcast <8 x float> %v742 to <8 x i32>
  ; line 7: k += 1
  %k.744 = add i32 %k.449, 1
  ; line 8: if k >= 1000:
  %v745 = icmp sge i32 %k.744, 1000
  br i1 %v745, label %then.746, label %else.747
then.746:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.748
else.747:
  br label %endif.748
endif.748:
  %break.5.749 = phi i1 [ true, %then.746 ], [ %break.5.450, %else.747 ]
  ; line 5: while n != 1:
  %count.750 = add i32 %count.440, 1
  %flags.751 = icmp slt <8 x i32> %mask.468, zeroinitializer
  %v752 = select <8 x i1> %flags.751, <8 x i32> %v738, <8 x i32> %n.443
  %v753 = bitcast <8 x i32> %v752 to <8 x float>
  %v754 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v753)
  %v755 = bitcast <8 x float> %v754 to <8 x i32>
  %flags.756 = icmp slt <8 x i32> %mask.469, zeroinitializer
  %v757 = select <8 x i1> %flags.756, <8 x i32> %v743, <8 x i32> %n.444
  %v758 = bitcast <8 x i32> %v757 to <8 x float>
  %v759 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v758)
  %v760 = bitcast <8 x float> %v759 to <8 x i32>
  %v761 = insertelement <8 x i32> poison, i32 %k.744, i64 0
  %v762 = shufflevector <8 x i32> %v761, <8 x i32> poison, <8 x i32> zeroinitializer
  %v763 = select <8 x i1> %flags.751, <8 x i32> %v762, <8 x i32> %k.445
  %v764 = bitcast <8 x i32> %v763 to <8 x float>
  %v765 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v764)
  %v766 = bitcast <8 x float> %v765 to <8 x i32>
  %v767 = select <8 x i1> %flags.756, <8 x i32> %v762, <8 x i32> %k.446
  %v768 = bitcast <8 x i32> %v767 to <8 x float>
  %v769 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v768)
  %v770 = bitcast <8 x float> %v769 to <8 x i32>
  %v771 = insertelement <8 x i1> poison, i1 %break.5.749, i64 0
  %v772 = shufflevector <8 x i1> %v771, <8 x i1> poison, <8 x i32> zeroinitializer
  %v773 = freeze <8 x i1> %v772
  %v774 = sext <8 x i1> %v773 to <8 x i32>
  %v775 = bitcast <8 x i32> %v774 to <8 x float>
  %v776 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v775)
  %v777 = bitcast <8 x float> %v776 to <8 x i32>
  %v778 = freeze <8 x i1> %v772
  %v779 = sext <8 x i1> %v778 to <8 x i32>
  %v780 = bitcast <8 x i32> %v779 to <8 x float>
  %v781 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v780)
  %v782 = bitcast <8 x float> %v781 to <8 x i32>
  %v783 = xor <8 x i32> %mask.468, splat (i32 -1)
  %v784 = and <8 x i32> %mask.468, %v777
  %v785 = and <8 x i32> %v783, %break.5.447
  %break.5.786 = or <8 x i32> %v784, %v785
  %v787 = xor <8 x i32> %mask.469, splat (i32 -1)
  %v788 = and <8 x i32> %mask.469, %v782
  %v789 = and <8 x i32> %v787, %break.5.448
  %break.5.790 = or <8 x i32> %v788, %v789
  %v793 = and i32 %count.440, 511
  %early.794 = icmp ne i32 %v793, 511
  br i1 %early.794, label %on.792, label %due.791, !prof !1
due.791:
  %stop.797 = load volatile i32, ptr %stop
  %calm.798 = icmp eq i32 %stop.797, 0
  br i1 %calm.798, label %go.796, label %ask.795, !prof !1
ask.795:
  %v799 = load ptr, ptr %v385
  %v800 = call i32 %v799(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v801 = icmp eq i32 %v800, 0
  br i1 %v801, label %go.796, label %stopped
go.796:
  br label %on.792
on.792:
  br label %lanes.437, !llvm.loop !4
lanes.end.439:
  ; line 10: steps[i] = k
  %v802 = mul i64 %i.427, 4
  %v803 = getelementptr i8, ptr %steps.data.391, i64 %v802
  %flags.804 = icmp slt <8 x i32> %v421, zeroinitializer
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %k.445, ptr %v803, i32 4, <8 x i1> %flags.804)
  %v805 = mul i64 %i.427, 4
  %v806 = add i64 %v805, 32
  %v807 = getelementptr i8, ptr %steps.data.391, i64 %v806
  %flags.808 = icmp slt <8 x i32> %v426, zeroinitializer
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %k.446, ptr %v807, i32 4, <8 x i1> %flags.808)
  br label %rest.end.413
rest.end.413:
  %first.809 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %high.2, %lanes.end.439 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.809, %rest.end.413 ], [ %tid.next, %thread.end ]
  %more.810 = icmp slt i32 %tid, %high.2
  br i1 %more.810, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 3: n = start[i]
  %v811 = sext i32 %tid to i64
  %v812 = getelementptr inbounds i32, ptr %start.data.16, i64 %v811
  %n.813 = load i32, ptr %v812
  ; line 5: while n != 1:
  br label %strip.817
strip.817:
  %n.818 = phi i32 [ %n.813, %thread ], [ %n.868, %go.880 ]
  %k.819 = phi i32 [ 0, %thread ], [ %k.869, %go.880 ]
  %break.5.820 = phi i1 [ false, %thread ], [ %break.5.874, %go.880 ]
  br label %while.814
while.814:
  %turn.875 = phi i32 [ 0, %strip.817 ], [ %turn.876, %endif.873 ]
  %n.821 = phi i32 [ %n.818, %strip.817 ], [ %n.868, %endif.873 ]
  %k.822 = phi i32 [ %k.819, %strip.817 ], [ %k.869, %endif.873 ]
  %break.5.823 = phi i1 [ %break.5.820, %strip.817 ], [ %break.5.874, %endif.873 ]
  br i1 %break.5.823, label %then.824, label %else.825
then.824:
  br label %endif.826
else.825:
  %v827 = icmp ne i32 %n.821, 1
  br label %endif.826
endif.826:
  %v828 = phi i1 [ false, %then.824 ], [ %v827, %else.825 ]
  br i1 %v828, label %do.815, label %endwhile.816
do.815:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v829 = icmp eq i32 2, 0
  %v830 = icmp eq i32 2, -1
  %v831 = icmp eq i32 %n.821, -2147483648
  %v832 = and i1 %v830, %v831
  %v833 = or i1 %v829, %v832
  %v834 = select i1 %v833, i32 1, i32 2
  %v835 = srem i32 %n.821, %v834
  %v836 = icmp ne i32 %v835, 0
  %v837 = icmp slt i32 %v835, 0
  %v838 = icmp slt i32 %v834, 0
  %v839 = xor i1 %v837, %v838
  %v840 = and i1 %v836, %v839
  %v841 = add i32 %v835, %v834
  %v842 = select i1 %v840, i32 %v841, i32 %v835
  %v843 = icmp eq i32 2, 0
  %v844 = select i1 %v843, i32 %n.821, i32 %v842
  %v845 = icmp eq i32 %v844, 0
  br i1 %v845, label %then.846, label %else.847
then.846:
  %v849 = icmp eq i32 2, 0
  %v850 = icmp eq i32 2, -1
  %v851 = icmp eq i32 %n.821, -2147483648
  %v852 = and i1 %v850, %v851
  %v853 = or i1 %v849, %v852
  %v854 = select i1 %v853, i32 1, i32 2
  %v855 = sdiv i32 %n.821, %v854
  %v856 = srem i32 %n.821, %v854
  %v857 = icmp ne i32 %v856, 0
  %v858 = icmp slt i32 %n.821, 0
  %v859 = icmp slt i32 %v854, 0
  %v860 = xor i1 %v858, %v859
  %v861 = and i1 %v857, %v860
  %v862 = sub i32 %v855, 1
  %v863 = select i1 %v861, i32 %v862, i32 %v855
  %v864 = icmp eq i32 2, 0
  %v865 = select i1 %v864, i32 -1, i32 %v863
  br label %endif.848
else.847:
  %v866 = mul i32 3, %n.821
  %v867 = add i32 %v866, 1
  br label %endif.848
endif.848:
  %n.868 = phi i32 [ %v865, %then.846 ], [ %v867, %else.847 ]
  ; line 7: k += 1
  %k.869 = add i32 %k.822, 1
  ; line 8: if k >= 1000:
  %v870 = icmp sge i32 %k.869, 1000
  br i1 %v870, label %then.871, label %else.872
then.871:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.873
else.872:
  br label %endif.873
endif.873:
  %break.5.874 = phi i1 [ true, %then.871 ], [ %break.5.823, %else.872 ]
  ; line 5: while n != 1:
  %turn.876 = add nuw nsw i32 %turn.875, 1
  %more.878 = icmp ult i32 %turn.876, 512
  br i1 %more.878, label %while.814, label %full.877
full.877:
  %stop.881 = load volatile i32, ptr %stop
  %calm.882 = icmp eq i32 %stop.881, 0
  br i1 %calm.882, label %go.880, label %ask.879, !prof !1
ask.879:
  %v883 = load ptr, ptr %v385
  %v884 = call i32 %v883(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v885 = icmp eq i32 %v884, 0
  br i1 %v885, label %go.880, label %stopped
go.880:
  br label %strip.817
endwhile.816:
  ; line 10: steps[i] = k
  %v886 = sext i32 %tid to i64
  %v887 = getelementptr inbounds i32, ptr %steps.data.391, i64 %v886
  store i32 %k.822, ptr %v887
  %v890 = and i32 %tid, 31
  %early.891 = icmp ne i32 %v890, 31
  br i1 %early.891, label %on.889, label %due.888, !prof !1
due.888:
  %stop.894 = load volatile i32, ptr %stop
  %calm.895 = icmp eq i32 %stop.894, 0
  br i1 %calm.895, label %go.893, label %ask.892, !prof !1
ask.892:
  %v896 = sext i32 %tid to i64
  store i64 %v896, ptr %v404
  %v897 = load ptr, ptr %v385
  %v898 = call i32 %v897(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v899 = icmp eq i32 %v898, 0
  br i1 %v899, label %go.893, label %stopped
go.893:
  br label %on.889
on.889:
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !5
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
declare <8 x i32> @llvm.masked.load.v8i32.p0(ptr, i32, <8 x i1>, <8 x i32>)
declare void @llvm.masked.store.v8i32.p0(<8 x i32>, ptr, i32, <8 x i1>)
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.unroll.disable"}}
!5 = distinct !{!5, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
