define i32 @wb_collatz(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %start.at.15 = getelementptr inbounds i8, ptr %params, i64 32
  %start.data.16 = load ptr, ptr %start.at.15
  %v384 = getelementptr inbounds i8, ptr %stop, i64 8
  %steps.at.389 = getelementptr inbounds i8, ptr %params, i64 56
  %steps.data.390 = load ptr, ptr %steps.at.389
  %v402 = getelementptr inbounds i8, ptr %stop, i64 16
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v407, %on.395 ]
  %number.11 = phi i32 [ 0, %start ], [ %v408, %on.395 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 2: i = tid()
  %i.13 = sext i32 %gang.10 to i64
  ; line 3: n = start[i]
  %v14 = mul i64 %i.13, 4
  %v17 = getelementptr i8, ptr %start.data.16, i64 %v14
  %start.18 = load <8 x i32>, ptr %v17, align 4
  %v19 = add i64 %v14, 32
  %v20 = getelementptr i8, ptr %start.data.16, i64 %v19
  %start.21 = load <8 x i32>, ptr %v20, align 4
  ; line 5: while n != 1:
  br label %lanes.22
lanes.22:
  %count.25 = phi i32 [ 0, %gang.4 ], [ %count.335, %on.377 ]
  %lanes.26 = phi <8 x i32> [ splat (i32 -1), %gang.4 ], [ %mask.53, %on.377 ]
  %lanes.27 = phi <8 x i32> [ splat (i32 -1), %gang.4 ], [ %mask.54, %on.377 ]
  %n.28 = phi <8 x i32> [ %start.18, %gang.4 ], [ %v340, %on.377 ]
  %n.29 = phi <8 x i32> [ %start.21, %gang.4 ], [ %v345, %on.377 ]
  %k.30 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %v351, %on.377 ]
  %k.31 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %v355, %on.377 ]
  %break.5.32 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %break.5.371, %on.377 ]
  %break.5.33 = phi <8 x i32> [ splat (i32 0), %gang.4 ], [ %break.5.375, %on.377 ]
  %k.34 = phi i32 [ 0, %gang.4 ], [ %k.329, %on.377 ]
  %break.5.35 = phi i1 [ false, %gang.4 ], [ %break.5.334, %on.377 ]
  br i1 %break.5.35, label %then.36, label %else.37
then.36:
  br label %endif.38
else.37:
  %v39 = icmp ne <8 x i32> %n.28, splat (i32 1)
  %v40 = freeze <8 x i1> %v39
  %v41 = sext <8 x i1> %v40 to <8 x i32>
  %v42 = bitcast <8 x i32> %v41 to <8 x float>
  %v43 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v42)
  %v44 = bitcast <8 x float> %v43 to <8 x i32>
  %v45 = icmp ne <8 x i32> %n.29, splat (i32 1)
  %v46 = freeze <8 x i1> %v45
  %v47 = sext <8 x i1> %v46 to <8 x i32>
  %v48 = bitcast <8 x i32> %v47 to <8 x float>
  %v49 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v48)
  %v50 = bitcast <8 x float> %v49 to <8 x i32>
  br label %endif.38
endif.38:
  %v51 = phi <8 x i32> [ splat (i32 0), %then.36 ], [ %v44, %else.37 ]
  %v52 = phi <8 x i32> [ splat (i32 0), %then.36 ], [ %v50, %else.37 ]
  %mask.53 = and <8 x i32> %lanes.26, %v51
  %mask.54 = and <8 x i32> %lanes.27, %v52
  %v55 = or <8 x i32> %mask.53, %mask.54
  %v56 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v55)
  %v57 = icmp ne i32 %v56, 0
  br i1 %v57, label %lanes.body.23, label %lanes.end.24
lanes.body.23:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v58 = icmp eq i32 2, 0
  %v59 = icmp eq i32 2, -1
  %v60 = icmp eq <8 x i32> %n.28, splat (i32 -2147483648)
  %v61 = freeze <8 x i1> %v60
  %v62 = sext <8 x i1> %v61 to <8 x i32>
  %v63 = bitcast <8 x i32> %v62 to <8 x float>
  %v64 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v63)
  %v65 = bitcast <8 x float> %v64 to <8 x i32>
  %v66 = icmp eq <8 x i32> %n.29, splat (i32 -2147483648)
  %v67 = freeze <8 x i1> %v66
  %v68 = sext <8 x i1> %v67 to <8 x i32>
  %v69 = bitcast <8 x i32> %v68 to <8 x float>
  %v70 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v69)
  %v71 = bitcast <8 x float> %v70 to <8 x i32>
  %v72 = insertelement <8 x i1> poison, i1 %v59, i64 0
  %v73 = shufflevector <8 x i1> %v72, <8 x i1> poison, <8 x i32> zeroinitializer
  %v74 = and <8 x i1> %v73, %v60
  %v75 = freeze <8 x i1> %v74
  %v76 = sext <8 x i1> %v75 to <8 x i32>
  %v77 = bitcast <8 x i32> %v76 to <8 x float>
  %v78 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v77)
  %v79 = bitcast <8 x float> %v78 to <8 x i32>
  %v80 = and <8 x i1> %v73, %v66
  %v81 = freeze <8 x i1> %v80
  %v82 = sext <8 x i1> %v81 to <8 x i32>
  %v83 = bitcast <8 x i32> %v82 to <8 x float>
  %v84 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v83)
  %v85 = bitcast <8 x float> %v84 to <8 x i32>
  %v86 = insertelement <8 x i1> poison, i1 %v58, i64 0
  %v87 = shufflevector <8 x i1> %v86, <8 x i1> poison, <8 x i32> zeroinitializer
  %v88 = or <8 x i1> %v87, %v74
  %v89 = freeze <8 x i1> %v88
  %v90 = sext <8 x i1> %v89 to <8 x i32>
  %v91 = bitcast <8 x i32> %v90 to <8 x float>
  %v92 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v91)
  %v93 = bitcast <8 x float> %v92 to <8 x i32>
  %v94 = or <8 x i1> %v87, %v80
  %v95 = freeze <8 x i1> %v94
  %v96 = sext <8 x i1> %v95 to <8 x i32>
  %v97 = bitcast <8 x i32> %v96 to <8 x float>
  %v98 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v97)
  %v99 = bitcast <8 x float> %v98 to <8 x i32>
  %v100 = select <8 x i1> %v88, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v101 = select <8 x i1> %v94, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v102 = srem <8 x i32> %n.28, %v100
  %v103 = srem <8 x i32> %n.29, %v101
  %v104 = icmp ne <8 x i32> %v102, splat (i32 0)
  %v105 = freeze <8 x i1> %v104
  %v106 = sext <8 x i1> %v105 to <8 x i32>
  %v107 = bitcast <8 x i32> %v106 to <8 x float>
  %v108 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v107)
  %v109 = bitcast <8 x float> %v108 to <8 x i32>
  %v110 = icmp ne <8 x i32> %v103, splat (i32 0)
  %v111 = freeze <8 x i1> %v110
  %v112 = sext <8 x i1> %v111 to <8 x i32>
  %v113 = bitcast <8 x i32> %v112 to <8 x float>
  %v114 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v113)
  %v115 = bitcast <8 x float> %v114 to <8 x i32>
  %v116 = icmp slt <8 x i32> %v102, splat (i32 0)
  %v117 = freeze <8 x i1> %v116
  %v118 = sext <8 x i1> %v117 to <8 x i32>
  %v119 = bitcast <8 x i32> %v118 to <8 x float>
  %v120 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v119)
  %v121 = bitcast <8 x float> %v120 to <8 x i32>
  %v122 = icmp slt <8 x i32> %v103, splat (i32 0)
  %v123 = freeze <8 x i1> %v122
  %v124 = sext <8 x i1> %v123 to <8 x i32>
  %v125 = bitcast <8 x i32> %v124 to <8 x float>
  %v126 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v125)
  %v127 = bitcast <8 x float> %v126 to <8 x i32>
  %v128 = icmp slt <8 x i32> %v100, splat (i32 0)
  %v129 = freeze <8 x i1> %v128
  %v130 = sext <8 x i1> %v129 to <8 x i32>
  %v131 = bitcast <8 x i32> %v130 to <8 x float>
  %v132 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v131)
  %v133 = bitcast <8 x float> %v132 to <8 x i32>
  %v134 = icmp slt <8 x i32> %v101, splat (i32 0)
  %v135 = freeze <8 x i1> %v134
  %v136 = sext <8 x i1> %v135 to <8 x i32>
  %v137 = bitcast <8 x i32> %v136 to <8 x float>
  %v138 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v137)
  %v139 = bitcast <8 x float> %v138 to <8 x i32>
  %v140 = xor <8 x i1> %v116, %v128
  %v141 = freeze <8 x i1> %v140
  %v142 = sext <8 x i1> %v141 to <8 x i32>
  %v143 = bitcast <8 x i32> %v142 to <8 x float>
  %v144 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v143)
  %v145 = bitcast <8 x float> %v144 to <8 x i32>
  %v146 = xor <8 x i1> %v122, %v134
  %v147 = freeze <8 x i1> %v146
  %v148 = sext <8 x i1> %v147 to <8 x i32>
  %v149 = bitcast <8 x i32> %v148 to <8 x float>
  %v150 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v149)
  %v151 = bitcast <8 x float> %v150 to <8 x i32>
  %v152 = and <8 x i1> %v104, %v140
  %v153 = freeze <8 x i1> %v152
  %v154 = sext <8 x i1> %v153 to <8 x i32>
  %v155 = bitcast <8 x i32> %v154 to <8 x float>
  %v156 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v155)
  %v157 = bitcast <8 x float> %v156 to <8 x i32>
  %v158 = and <8 x i1> %v110, %v146
  %v159 = freeze <8 x i1> %v158
  %v160 = sext <8 x i1> %v159 to <8 x i32>
  %v161 = bitcast <8 x i32> %v160 to <8 x float>
  %v162 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v161)
  %v163 = bitcast <8 x float> %v162 to <8 x i32>
  %v164 = add <8 x i32> %v102, %v100
  %v165 = add <8 x i32> %v103, %v101
  %v166 = select <8 x i1> %v152, <8 x i32> %v164, <8 x i32> %v102
  %v167 = select <8 x i1> %v158, <8 x i32> %v165, <8 x i32> %v103
  %v168 = icmp eq i32 2, 0
  %v169 = insertelement <8 x i1> poison, i1 %v168, i64 0
  %v170 = shufflevector <8 x i1> %v169, <8 x i1> poison, <8 x i32> zeroinitializer
  %v171 = select <8 x i1> %v170, <8 x i32> %n.28, <8 x i32> %v166
  %v172 = select <8 x i1> %v170, <8 x i32> %n.29, <8 x i32> %v167
  %v173 = icmp eq <8 x i32> %v171, splat (i32 0)
  %v174 = freeze <8 x i1> %v173
  %v175 = sext <8 x i1> %v174 to <8 x i32>
  %v176 = bitcast <8 x i32> %v175 to <8 x float>
  %v177 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v176)
  %v178 = bitcast <8 x float> %v177 to <8 x i32>
  %v179 = icmp eq <8 x i32> %v172, splat (i32 0)
  %v180 = freeze <8 x i1> %v179
  %v181 = sext <8 x i1> %v180 to <8 x i32>
  %v182 = bitcast <8 x i32> %v181 to <8 x float>
  %v183 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v182)
  %v184 = bitcast <8 x float> %v183 to <8 x i32>
  %mask.185 = and <8 x i32> %mask.53, %v178
  %mask.186 = and <8 x i32> %mask.54, %v184
  %v189 = or <8 x i32> %mask.185, %mask.186
  %v190 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v189)
  %v191 = icmp ne i32 %v190, 0
  br i1 %v191, label %side.187, label %side.end.188
side.187:
  %v192 = icmp eq i32 2, 0
  %v193 = icmp eq i32 2, -1
  %v194 = icmp eq <8 x i32> %n.28, splat (i32 -2147483648)
  %v195 = freeze <8 x i1> %v194
  %v196 = sext <8 x i1> %v195 to <8 x i32>
  %v197 = bitcast <8 x i32> %v196 to <8 x float>
  %v198 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v197)
  %v199 = bitcast <8 x float> %v198 to <8 x i32>
  %v200 = icmp eq <8 x i32> %n.29, splat (i32 -2147483648)
  %v201 = freeze <8 x i1> %v200
  %v202 = sext <8 x i1> %v201 to <8 x i32>
  %v203 = bitcast <8 x i32> %v202 to <8 x float>
  %v204 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v203)
  %v205 = bitcast <8 x float> %v204 to <8 x i32>
  %v206 = insertelement <8 x i1> poison, i1 %v193, i64 0
  %v207 = shufflevector <8 x i1> %v206, <8 x i1> poison, <8 x i32> zeroinitializer
  %v208 = and <8 x i1> %v207, %v194
  %v209 = freeze <8 x i1> %v208
  %v210 = sext <8 x i1> %v209 to <8 x i32>
  %v211 = bitcast <8 x i32> %v210 to <8 x float>
  %v212 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v211)
  %v213 = bitcast <8 x float> %v212 to <8 x i32>
  %v214 = and <8 x i1> %v207, %v200
  %v215 = freeze <8 x i1> %v214
  %v216 = sext <8 x i1> %v215 to <8 x i32>
  %v217 = bitcast <8 x i32> %v216 to <8 x float>
  %v218 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v217)
  %v219 = bitcast <8 x float> %v218 to <8 x i32>
  %v220 = insertelement <8 x i1> poison, i1 %v192, i64 0
  %v221 = shufflevector <8 x i1> %v220, <8 x i1> poison, <8 x i32> zeroinitializer
  %v222 = or <8 x i1> %v221, %v208
  %v223 = freeze <8 x i1> %v222
  %v224 = sext <8 x i1> %v223 to <8 x i32>
  %v225 = bitcast <8 x i32> %v224 to <8 x float>
  %v226 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v225)
  %v227 = bitcast <8 x float> %v226 to <8 x i32>
  %v228 = or <8 x i1> %v221, %v214
  %v229 = freeze <8 x i1> %v228
  %v230 = sext <8 x i1> %v229 to <8 x i32>
  %v231 = bitcast <8 x i32> %v230 to <8 x float>
  %v232 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v231)
  %v233 = bitcast <8 x float> %v232 to <8 x i32>
  %v234 = select <8 x i1> %v222, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v235 = select <8 x i1> %v228, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v236 = sdiv <8 x i32> %n.28, %v234
  %v237 = sdiv <8 x i32> %n.29, %v235
  %v238 = srem <8 x i32> %n.28, %v234
  %v239 = srem <8 x i32> %n.29, %v235
  %v240 = icmp ne <8 x i32> %v238, splat (i32 0)
  %v241 = freeze <8 x i1> %v240
  %v242 = sext <8 x i1> %v241 to <8 x i32>
  %v243 = bitcast <8 x i32> %v242 to <8 x float>
  %v244 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v243)
  %v245 = bitcast <8 x float> %v244 to <8 x i32>
  %v246 = icmp ne <8 x i32> %v239, splat (i32 0)
  %v247 = freeze <8 x i1> %v246
  %v248 = sext <8 x i1> %v247 to <8 x i32>
  %v249 = bitcast <8 x i32> %v248 to <8 x float>
  %v250 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v249)
  %v251 = bitcast <8 x float> %v250 to <8 x i32>
  %v252 = icmp slt <8 x i32> %n.28, splat (i32 0)
  %v253 = freeze <8 x i1> %v252
  %v254 = sext <8 x i1> %v253 to <8 x i32>
  %v255 = bitcast <8 x i32> %v254 to <8 x float>
  %v256 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v255)
  %v257 = bitcast <8 x float> %v256 to <8 x i32>
  %v258 = icmp slt <8 x i32> %n.29, splat (i32 0)
  %v259 = freeze <8 x i1> %v258
  %v260 = sext <8 x i1> %v259 to <8 x i32>
  %v261 = bitcast <8 x i32> %v260 to <8 x float>
  %v262 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v261)
  %v263 = bitcast <8 x float> %v262 to <8 x i32>
  %v264 = icmp slt <8 x i32> %v234, splat (i32 0)
  %v265 = freeze <8 x i1> %v264
  %v266 = sext <8 x i1> %v265 to <8 x i32>
  %v267 = bitcast <8 x i32> %v266 to <8 x float>
  %v268 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v267)
  %v269 = bitcast <8 x float> %v268 to <8 x i32>
  %v270 = icmp slt <8 x i32> %v235, splat (i32 0)
  %v271 = freeze <8 x i1> %v270
  %v272 = sext <8 x i1> %v271 to <8 x i32>
  %v273 = bitcast <8 x i32> %v272 to <8 x float>
  %v274 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v273)
  %v275 = bitcast <8 x float> %v274 to <8 x i32>
  %v276 = xor <8 x i1> %v252, %v264
  %v277 = freeze <8 x i1> %v276
  %v278 = sext <8 x i1> %v277 to <8 x i32>
  %v279 = bitcast <8 x i32> %v278 to <8 x float>
  %v280 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v279)
  %v281 = bitcast <8 x float> %v280 to <8 x i32>
  %v282 = xor <8 x i1> %v258, %v270
  %v283 = freeze <8 x i1> %v282
  %v284 = sext <8 x i1> %v283 to <8 x i32>
  %v285 = bitcast <8 x i32> %v284 to <8 x float>
  %v286 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v285)
  %v287 = bitcast <8 x float> %v286 to <8 x i32>
  %v288 = and <8 x i1> %v240, %v276
  %v289 = freeze <8 x i1> %v288
  %v290 = sext <8 x i1> %v289 to <8 x i32>
  %v291 = bitcast <8 x i32> %v290 to <8 x float>
  %v292 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v291)
  %v293 = bitcast <8 x float> %v292 to <8 x i32>
  %v294 = and <8 x i1> %v246, %v282
  %v295 = freeze <8 x i1> %v294
  %v296 = sext <8 x i1> %v295 to <8 x i32>
  %v297 = bitcast <8 x i32> %v296 to <8 x float>
  %v298 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v297)
  %v299 = bitcast <8 x float> %v298 to <8 x i32>
  %v300 = sub <8 x i32> %v236, splat (i32 1)
  %v301 = sub <8 x i32> %v237, splat (i32 1)
  %v302 = select <8 x i1> %v288, <8 x i32> %v300, <8 x i32> %v236
  %v303 = select <8 x i1> %v294, <8 x i32> %v301, <8 x i32> %v237
  %v304 = icmp eq i32 2, 0
  %v305 = insertelement <8 x i1> poison, i1 %v304, i64 0
  %v306 = shufflevector <8 x i1> %v305, <8 x i1> poison, <8 x i32> zeroinitializer
  %v307 = select <8 x i1> %v306, <8 x i32> splat (i32 -1), <8 x i32> %v302
  %v308 = select <8 x i1> %v306, <8 x i32> splat (i32 -1), <8 x i32> %v303
  br label %side.end.188
side.end.188:
  %n.309 = phi <8 x i32> [ zeroinitializer, %lanes.body.23 ], [ %v307, %side.187 ]
  %n.310 = phi <8 x i32> [ zeroinitializer, %lanes.body.23 ], [ %v308, %side.187 ]
  %v311 = xor <8 x i32> %v178, splat (i32 -1)
  %mask.312 = and <8 x i32> %mask.53, %v311
  %v313 = xor <8 x i32> %v184, splat (i32 -1)
  %mask.314 = and <8 x i32> %mask.54, %v313
  %v315 = mul <8 x i32> splat (i32 3), %n.28
  %v316 = mul <8 x i32> splat (i32 3), %n.29
  %v317 = add <8 x i32> %v315, splat (i32 1)
  %v318 = add <8 x i32> %v316, splat (i32 1)
  %flags.319 = icmp slt <8 x i32> %mask.185, zeroinitializer
  %v320 = select <8 x i1> %flags.319, <8 x i32> %n.309, <8 x i32> %v317
  %v321 = bitcast <8 x i32> %v320 to <8 x float>
  %v322 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v321)
  %v323 = bitcast <8 x float> %v322 to <8 x i32>
  %flags.324 = icmp slt <8 x i32> %mask.186, zeroinitializer
  %v325 = select <8 x i1> %flags.324, <8 x i32> %n.310, <8 x i32> %v318
  %v326 = bitcast <8 x i32> %v325 to <8 x float>
  %v327 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v326)
  %v328 = bitcast <8 x float> %v327 to <8 x i32>
  ; line 7: k += 1
  %k.329 = add i32 %k.34, 1
  ; line 8: if k >= 1000:
  %v330 = icmp sge i32 %k.329, 1000
  br i1 %v330, label %then.331, label %else.332
then.331:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.333
else.332:
  br label %endif.333
endif.333:
  %break.5.334 = phi i1 [ true, %then.331 ], [ %break.5.35, %else.332 ]
  ; line 5: while n != 1:
  %count.335 = add i32 %count.25, 1
  %flags.336 = icmp slt <8 x i32> %mask.53, zeroinitializer
  %v337 = select <8 x i1> %flags.336, <8 x i32> %v323, <8 x i32> %n.28
  %v338 = bitcast <8 x i32> %v337 to <8 x float>
  %v339 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v338)
  %v340 = bitcast <8 x float> %v339 to <8 x i32>
  %flags.341 = icmp slt <8 x i32> %mask.54, zeroinitializer
  %v342 = select <8 x i1> %flags.341, <8 x i32> %v328, <8 x i32> %n.29
  %v343 = bitcast <8 x i32> %v342 to <8 x float>
  %v344 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v343)
  %v345 = bitcast <8 x float> %v344 to <8 x i32>
  %v346 = insertelement <8 x i32> poison, i32 %k.329, i64 0
  %v347 = shufflevector <8 x i32> %v346, <8 x i32> poison, <8 x i32> zeroinitializer
  %v348 = select <8 x i1> %flags.336, <8 x i32> %v347, <8 x i32> %k.30
  %v349 = bitcast <8 x i32> %v348 to <8 x float>
  %v350 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v349)
  %v351 = bitcast <8 x float> %v350 to <8 x i32>
  %v352 = select <8 x i1> %flags.341, <8 x i32> %v347, <8 x i32> %k.31
  %v353 = bitcast <8 x i32> %v352 to <8 x float>
  %v354 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v353)
  %v355 = bitcast <8 x float> %v354 to <8 x i32>
  %v356 = insertelement <8 x i1> poison, i1 %break.5.334, i64 0
  %v357 = shufflevector <8 x i1> %v356, <8 x i1> poison, <8 x i32> zeroinitializer
  %v358 = freeze <8 x i1> %v357
  %v359 = sext <8 x i1> %v358 to <8 x i32>
  %v360 = bitcast <8 x i32> %v359 to <8 x float>
  %v361 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v360)
  %v362 = bitcast <8 x float> %v361 to <8 x i32>
  %v363 = freeze <8 x i1> %v357
  %v364 = sext <8 x i1> %v363 to <8 x i32>
  %v365 = bitcast <8 x i32> %v364 to <8 x float>
  %v366 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v365)
  %v367 = bitcast <8 x float> %v366 to <8 x i32>
  %v368 = xor <8 x i32> %mask.53, splat (i32 -1)
  %v369 = and <8 x i32> %mask.53, %v362
  %v370 = and <8 x i32> %v368, %break.5.32
  %break.5.371 = or <8 x i32> %v369, %v370
  %v372 = xor <8 x i32> %mask.54, splat (i32 -1)
  %v373 = and <8 x i32> %mask.54, %v367
  %v374 = and <8 x i32> %v372, %break.5.33
  %break.5.375 = or <8 x i32> %v373, %v374
  %v378 = and i32 %count.25, 511
  %early.379 = icmp ne i32 %v378, 511
  br i1 %early.379, label %on.377, label %due.376, !prof !1
due.376:
  %stop.382 = load volatile i32, ptr %stop
  %calm.383 = icmp eq i32 %stop.382, 0
  br i1 %calm.383, label %go.381, label %ask.380, !prof !1
ask.380:
  %v385 = load ptr, ptr %v384
  %v386 = call i32 %v385(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v387 = icmp eq i32 %v386, 0
  br i1 %v387, label %go.381, label %stopped
go.381:
  br label %on.377
on.377:
  br label %lanes.22, !llvm.loop !2
lanes.end.24:
  ; line 10: steps[i] = k
  %v388 = mul i64 %i.13, 4
  %v391 = getelementptr i8, ptr %steps.data.390, i64 %v388
  store <8 x i32> %k.30, ptr %v391, align 4
  %v392 = add i64 %v388, 32
  %v393 = getelementptr i8, ptr %steps.data.390, i64 %v392
  store <8 x i32> %k.31, ptr %v393, align 4
  %v396 = and i32 %number.11, 1
  %early.397 = icmp ne i32 %v396, 1
  br i1 %early.397, label %on.395, label %due.394, !prof !1
due.394:
  %stop.400 = load volatile i32, ptr %stop
  %calm.401 = icmp eq i32 %stop.400, 0
  br i1 %calm.401, label %go.399, label %ask.398, !prof !1
ask.398:
  %v403 = sext i32 %gang.10 to i64
  store i64 %v403, ptr %v402
  %v404 = load ptr, ptr %v384
  %v405 = call i32 %v404(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v406 = icmp eq i32 %v405, 0
  br i1 %v406, label %go.399, label %stopped
go.399:
  br label %on.395
on.395:
  %v407 = add nsw i32 %gang.10, 16
  %v408 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !3
gangs.end.5:
  %left.409 = sub nsw i32 %high.2, %gangs.9
  %several.412 = icmp sge i32 %left.409, 4
  br i1 %several.412, label %rest.410, label %rest.end.411
rest.410:
  %v413 = insertelement <8 x i32> poison, i32 %left.409, i64 0
  %v414 = shufflevector <8 x i32> %v413, <8 x i32> poison, <8 x i32> zeroinitializer
  %v415 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v414
  %v416 = sext <8 x i1> %v415 to <8 x i32>
  %v417 = bitcast <8 x i32> %v416 to <8 x float>
  %v418 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v417)
  %v419 = bitcast <8 x float> %v418 to <8 x i32>
  %v420 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v414
  %v421 = sext <8 x i1> %v420 to <8 x i32>
  %v422 = bitcast <8 x i32> %v421 to <8 x float>
  %v423 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v422)
  %v424 = bitcast <8 x float> %v423 to <8 x i32>
  ; line 2: i = tid()
  %i.425 = sext i32 %gangs.9 to i64
  ; line 3: n = start[i]
  %v426 = mul i64 %i.425, 4
  %v427 = getelementptr i8, ptr %start.data.16, i64 %v426
  %v428 = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr %v427, i32 4, <8 x i1> %v415, <8 x i32> zeroinitializer)
  %start.429 = freeze <8 x i32> %v428
  %v430 = add i64 %v426, 32
  %v431 = getelementptr i8, ptr %start.data.16, i64 %v430
  %v432 = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr %v431, i32 4, <8 x i1> %v420, <8 x i32> zeroinitializer)
  %start.433 = freeze <8 x i32> %v432
  ; line 5: while n != 1:
  br label %lanes.434
lanes.434:
  %count.437 = phi i32 [ 0, %rest.410 ], [ %count.747, %on.789 ]
  %lanes.438 = phi <8 x i32> [ %v419, %rest.410 ], [ %mask.465, %on.789 ]
  %lanes.439 = phi <8 x i32> [ %v424, %rest.410 ], [ %mask.466, %on.789 ]
  %n.440 = phi <8 x i32> [ %start.429, %rest.410 ], [ %v752, %on.789 ]
  %n.441 = phi <8 x i32> [ %start.433, %rest.410 ], [ %v757, %on.789 ]
  %k.442 = phi <8 x i32> [ splat (i32 0), %rest.410 ], [ %v763, %on.789 ]
  %k.443 = phi <8 x i32> [ splat (i32 0), %rest.410 ], [ %v767, %on.789 ]
  %break.5.444 = phi <8 x i32> [ splat (i32 0), %rest.410 ], [ %break.5.783, %on.789 ]
  %break.5.445 = phi <8 x i32> [ splat (i32 0), %rest.410 ], [ %break.5.787, %on.789 ]
  %k.446 = phi i32 [ 0, %rest.410 ], [ %k.741, %on.789 ]
  %break.5.447 = phi i1 [ false, %rest.410 ], [ %break.5.746, %on.789 ]
  br i1 %break.5.447, label %then.448, label %else.449
then.448:
  br label %endif.450
else.449:
  %v451 = icmp ne <8 x i32> %n.440, splat (i32 1)
  %v452 = freeze <8 x i1> %v451
  %v453 = sext <8 x i1> %v452 to <8 x i32>
  %v454 = bitcast <8 x i32> %v453 to <8 x float>
  %v455 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v454)
  %v456 = bitcast <8 x float> %v455 to <8 x i32>
  %v457 = icmp ne <8 x i32> %n.441, splat (i32 1)
  %v458 = freeze <8 x i1> %v457
  %v459 = sext <8 x i1> %v458 to <8 x i32>
  %v460 = bitcast <8 x i32> %v459 to <8 x float>
  %v461 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v460)
  %v462 = bitcast <8 x float> %v461 to <8 x i32>
  br label %endif.450
endif.450:
  %v463 = phi <8 x i32> [ splat (i32 0), %then.448 ], [ %v456, %else.449 ]
  %v464 = phi <8 x i32> [ splat (i32 0), %then.448 ], [ %v462, %else.449 ]
  %mask.465 = and <8 x i32> %lanes.438, %v463
  %mask.466 = and <8 x i32> %lanes.439, %v464
  %v467 = or <8 x i32> %mask.465, %mask.466
  %v468 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v467)
  %v469 = icmp ne i32 %v468, 0
  br i1 %v469, label %lanes.body.435, label %lanes.end.436
lanes.body.435:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v470 = icmp eq i32 2, 0
  %v471 = icmp eq i32 2, -1
  %v472 = icmp eq <8 x i32> %n.440, splat (i32 -2147483648)
  %v473 = freeze <8 x i1> %v472
  %v474 = sext <8 x i1> %v473 to <8 x i32>
  %v475 = bitcast <8 x i32> %v474 to <8 x float>
  %v476 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v475)
  %v477 = bitcast <8 x float> %v476 to <8 x i32>
  %v478 = icmp eq <8 x i32> %n.441, splat (i32 -2147483648)
  %v479 = freeze <8 x i1> %v478
  %v480 = sext <8 x i1> %v479 to <8 x i32>
  %v481 = bitcast <8 x i32> %v480 to <8 x float>
  %v482 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v481)
  %v483 = bitcast <8 x float> %v482 to <8 x i32>
  %v484 = insertelement <8 x i1> poison, i1 %v471, i64 0
  %v485 = shufflevector <8 x i1> %v484, <8 x i1> poison, <8 x i32> zeroinitializer
  %v486 = and <8 x i1> %v485, %v472
  %v487 = freeze <8 x i1> %v486
  %v488 = sext <8 x i1> %v487 to <8 x i32>
  %v489 = bitcast <8 x i32> %v488 to <8 x float>
  %v490 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v489)
  %v491 = bitcast <8 x float> %v490 to <8 x i32>
  %v492 = and <8 x i1> %v485, %v478
  %v493 = freeze <8 x i1> %v492
  %v494 = sext <8 x i1> %v493 to <8 x i32>
  %v495 = bitcast <8 x i32> %v494 to <8 x float>
  %v496 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v495)
  %v497 = bitcast <8 x float> %v496 to <8 x i32>
  %v498 = insertelement <8 x i1> poison, i1 %v470, i64 0
  %v499 = shufflevector <8 x i1> %v498, <8 x i1> poison, <8 x i32> zeroinitializer
  %v500 = or <8 x i1> %v499, %v486
  %v501 = freeze <8 x i1> %v500
  %v502 = sext <8 x i1> %v501 to <8 x i32>
  %v503 = bitcast <8 x i32> %v502 to <8 x float>
  %v504 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v503)
  %v505 = bitcast <8 x float> %v504 to <8 x i32>
  %v506 = or <8 x i1> %v499, %v492
  %v507 = freeze <8 x i1> %v506
  %v508 = sext <8 x i1> %v507 to <8 x i32>
  %v509 = bitcast <8 x i32> %v508 to <8 x float>
  %v510 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v509)
  %v511 = bitcast <8 x float> %v510 to <8 x i32>
  %v512 = select <8 x i1> %v500, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v513 = select <8 x i1> %v506, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v514 = srem <8 x i32> %n.440, %v512
  %v515 = srem <8 x i32> %n.441, %v513
  %v516 = icmp ne <8 x i32> %v514, splat (i32 0)
  %v517 = freeze <8 x i1> %v516
  %v518 = sext <8 x i1> %v517 to <8 x i32>
  %v519 = bitcast <8 x i32> %v518 to <8 x float>
  %v520 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v519)
  %v521 = bitcast <8 x float> %v520 to <8 x i32>
  %v522 = icmp ne <8 x i32> %v515, splat (i32 0)
  %v523 = freeze <8 x i1> %v522
  %v524 = sext <8 x i1> %v523 to <8 x i32>
  %v525 = bitcast <8 x i32> %v524 to <8 x float>
  %v526 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v525)
  %v527 = bitcast <8 x float> %v526 to <8 x i32>
  %v528 = icmp slt <8 x i32> %v514, splat (i32 0)
  %v529 = freeze <8 x i1> %v528
  %v530 = sext <8 x i1> %v529 to <8 x i32>
  %v531 = bitcast <8 x i32> %v530 to <8 x float>
  %v532 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v531)
  %v533 = bitcast <8 x float> %v532 to <8 x i32>
  %v534 = icmp slt <8 x i32> %v515, splat (i32 0)
  %v535 = freeze <8 x i1> %v534
  %v536 = sext <8 x i1> %v535 to <8 x i32>
  %v537 = bitcast <8 x i32> %v536 to <8 x float>
  %v538 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v537)
  %v539 = bitcast <8 x float> %v538 to <8 x i32>
  %v540 = icmp slt <8 x i32> %v512, splat (i32 0)
  %v541 = freeze <8 x i1> %v540
  %v542 = sext <8 x i1> %v541 to <8 x i32>
  %v543 = bitcast <8 x i32> %v542 to <8 x float>
  %v544 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v543)
  %v545 = bitcast <8 x float> %v544 to <8 x i32>
  %v546 = icmp slt <8 x i32> %v513, splat (i32 0)
  %v547 = freeze <8 x i1> %v546
  %v548 = sext <8 x i1> %v547 to <8 x i32>
  %v549 = bitcast <8 x i32> %v548 to <8 x float>
  %v550 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v549)
  %v551 = bitcast <8 x float> %v550 to <8 x i32>
  %v552 = xor <8 x i1> %v528, %v540
  %v553 = freeze <8 x i1> %v552
  %v554 = sext <8 x i1> %v553 to <8 x i32>
  %v555 = bitcast <8 x i32> %v554 to <8 x float>
  %v556 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v555)
  %v557 = bitcast <8 x float> %v556 to <8 x i32>
  %v558 = xor <8 x i1> %v534, %v546
  %v559 = freeze <8 x i1> %v558
  %v560 = sext <8 x i1> %v559 to <8 x i32>
  %v561 = bitcast <8 x i32> %v560 to <8 x float>
  %v562 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v561)
  %v563 = bitcast <8 x float> %v562 to <8 x i32>
  %v564 = and <8 x i1> %v516, %v552
  %v565 = freeze <8 x i1> %v564
  %v566 = sext <8 x i1> %v565 to <8 x i32>
  %v567 = bitcast <8 x i32> %v566 to <8 x float>
  %v568 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v567)
  %v569 = bitcast <8 x float> %v568 to <8 x i32>
  %v570 = and <8 x i1> %v522, %v558
  %v571 = freeze <8 x i1> %v570
  %v572 = sext <8 x i1> %v571 to <8 x i32>
  %v573 = bitcast <8 x i32> %v572 to <8 x float>
  %v574 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v573)
  %v575 = bitcast <8 x float> %v574 to <8 x i32>
  %v576 = add <8 x i32> %v514, %v512
  %v577 = add <8 x i32> %v515, %v513
  %v578 = select <8 x i1> %v564, <8 x i32> %v576, <8 x i32> %v514
  %v579 = select <8 x i1> %v570, <8 x i32> %v577, <8 x i32> %v515
  %v580 = icmp eq i32 2, 0
  %v581 = insertelement <8 x i1> poison, i1 %v580, i64 0
  %v582 = shufflevector <8 x i1> %v581, <8 x i1> poison, <8 x i32> zeroinitializer
  %v583 = select <8 x i1> %v582, <8 x i32> %n.440, <8 x i32> %v578
  %v584 = select <8 x i1> %v582, <8 x i32> %n.441, <8 x i32> %v579
  %v585 = icmp eq <8 x i32> %v583, splat (i32 0)
  %v586 = freeze <8 x i1> %v585
  %v587 = sext <8 x i1> %v586 to <8 x i32>
  %v588 = bitcast <8 x i32> %v587 to <8 x float>
  %v589 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v588)
  %v590 = bitcast <8 x float> %v589 to <8 x i32>
  %v591 = icmp eq <8 x i32> %v584, splat (i32 0)
  %v592 = freeze <8 x i1> %v591
  %v593 = sext <8 x i1> %v592 to <8 x i32>
  %v594 = bitcast <8 x i32> %v593 to <8 x float>
  %v595 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v594)
  %v596 = bitcast <8 x float> %v595 to <8 x i32>
  %mask.597 = and <8 x i32> %mask.465, %v590
  %mask.598 = and <8 x i32> %mask.466, %v596
  %v601 = or <8 x i32> %mask.597, %mask.598
  %v602 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v601)
  %v603 = icmp ne i32 %v602, 0
  br i1 %v603, label %side.599, label %side.end.600
side.599:
  %v604 = icmp eq i32 2, 0
  %v605 = icmp eq i32 2, -1
  %v606 = icmp eq <8 x i32> %n.440, splat (i32 -2147483648)
  %v607 = freeze <8 x i1> %v606
  %v608 = sext <8 x i1> %v607 to <8 x i32>
  %v609 = bitcast <8 x i32> %v608 to <8 x float>
  %v610 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v609)
  %v611 = bitcast <8 x float> %v610 to <8 x i32>
  %v612 = icmp eq <8 x i32> %n.441, splat (i32 -2147483648)
  %v613 = freeze <8 x i1> %v612
  %v614 = sext <8 x i1> %v613 to <8 x i32>
  %v615 = bitcast <8 x i32> %v614 to <8 x float>
  %v616 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v615)
  %v617 = bitcast <8 x float> %v616 to <8 x i32>
  %v618 = insertelement <8 x i1> poison, i1 %v605, i64 0
  %v619 = shufflevector <8 x i1> %v618, <8 x i1> poison, <8 x i32> zeroinitializer
  %v620 = and <8 x i1> %v619, %v606
  %v621 = freeze <8 x i1> %v620
  %v622 = sext <8 x i1> %v621 to <8 x i32>
  %v623 = bitcast <8 x i32> %v622 to <8 x float>
  %v624 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v623)
  %v625 = bitcast <8 x float> %v624 to <8 x i32>
  %v626 = and <8 x i1> %v619, %v612
  %v627 = freeze <8 x i1> %v626
  %v628 = sext <8 x i1> %v627 to <8 x i32>
  %v629 = bitcast <8 x i32> %v628 to <8 x float>
  %v630 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v629)
  %v631 = bitcast <8 x float> %v630 to <8 x i32>
  %v632 = insertelement <8 x i1> poison, i1 %v604, i64 0
  %v633 = shufflevector <8 x i1> %v632, <8 x i1> poison, <8 x i32> zeroinitializer
  %v634 = or <8 x i1> %v633, %v620
  %v635 = freeze <8 x i1> %v634
  %v636 = sext <8 x i1> %v635 to <8 x i32>
  %v637 = bitcast <8 x i32> %v636 to <8 x float>
  %v638 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v637)
  %v639 = bitcast <8 x float> %v638 to <8 x i32>
  %v640 = or <8 x i1> %v633, %v626
  %v641 = freeze <8 x i1> %v640
  %v642 = sext <8 x i1> %v641 to <8 x i32>
  %v643 = bitcast <8 x i32> %v642 to <8 x float>
  %v644 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v643)
  %v645 = bitcast <8 x float> %v644 to <8 x i32>
  %v646 = select <8 x i1> %v634, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v647 = select <8 x i1> %v640, <8 x i32> splat (i32 1), <8 x i32> splat (i32 2)
  %v648 = sdiv <8 x i32> %n.440, %v646
  %v649 = sdiv <8 x i32> %n.441, %v647
  %v650 = srem <8 x i32> %n.440, %v646
  %v651 = srem <8 x i32> %n.441, %v647
  %v652 = icmp ne <8 x i32> %v650, splat (i32 0)
  %v653 = freeze <8 x i1> %v652
  %v654 = sext <8 x i1> %v653 to <8 x i32>
  %v655 = bitcast <8 x i32> %v654 to <8 x float>
  %v656 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v655)
  %v657 = bitcast <8 x float> %v656 to <8 x i32>
  %v658 = icmp ne <8 x i32> %v651, splat (i32 0)
  %v659 = freeze <8 x i1> %v658
  %v660 = sext <8 x i1> %v659 to <8 x i32>
  %v661 = bitcast <8 x i32> %v660 to <8 x float>
  %v662 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v661)
  %v663 = bitcast <8 x float> %v662 to <8 x i32>
  %v664 = icmp slt <8 x i32> %n.440, splat (i32 0)
  %v665 = freeze <8 x i1> %v664
  %v666 = sext <8 x i1> %v665 to <8 x i32>
  %v667 = bitcast <8 x i32> %v666 to <8 x float>
  %v668 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v667)
  %v669 = bitcast <8 x float> %v668 to <8 x i32>
  %v670 = icmp slt <8 x i32> %n.441, splat (i32 0)
  %v671 = freeze <8 x i1> %v670
  %v672 = sext <8 x i1> %v671 to <8 x i32>
  %v673 = bitcast <8 x i32> %v672 to <8 x float>
  %v674 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v673)
  %v675 = bitcast <8 x float> %v674 to <8 x i32>
  %v676 = icmp slt <8 x i32> %v646, splat (i32 0)
  %v677 = freeze <8 x i1> %v676
  %v678 = sext <8 x i1> %v677 to <8 x i32>
  %v679 = bitcast <8 x i32> %v678 to <8 x float>
  %v680 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v679)
  %v681 = bitcast <8 x float> %v680 to <8 x i32>
  %v682 = icmp slt <8 x i32> %v647, splat (i32 0)
  %v683 = freeze <8 x i1> %v682
  %v684 = sext <8 x i1> %v683 to <8 x i32>
  %v685 = bitcast <8 x i32> %v684 to <8 x float>
  %v686 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v685)
  %v687 = bitcast <8 x float> %v686 to <8 x i32>
  %v688 = xor <8 x i1> %v664, %v676
  %v689 = freeze <8 x i1> %v688
  %v690 = sext <8 x i1> %v689 to <8 x i32>
  %v691 = bitcast <8 x i32> %v690 to <8 x float>
  %v692 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v691)
  %v693 = bitcast <8 x float> %v692 to <8 x i32>
  %v694 = xor <8 x i1> %v670, %v682
  %v695 = freeze <8 x i1> %v694
  %v696 = sext <8 x i1> %v695 to <8 x i32>
  %v697 = bitcast <8 x i32> %v696 to <8 x float>
  %v698 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v697)
  %v699 = bitcast <8 x float> %v698 to <8 x i32>
  %v700 = and <8 x i1> %v652, %v688
  %v701 = freeze <8 x i1> %v700
  %v702 = sext <8 x i1> %v701 to <8 x i32>
  %v703 = bitcast <8 x i32> %v702 to <8 x float>
  %v704 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v703)
  %v705 = bitcast <8 x float> %v704 to <8 x i32>
  %v706 = and <8 x i1> %v658, %v694
  %v707 = freeze <8 x i1> %v706
  %v708 = sext <8 x i1> %v707 to <8 x i32>
  %v709 = bitcast <8 x i32> %v708 to <8 x float>
  %v710 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v709)
  %v711 = bitcast <8 x float> %v710 to <8 x i32>
  %v712 = sub <8 x i32> %v648, splat (i32 1)
  %v713 = sub <8 x i32> %v649, splat (i32 1)
  %v714 = select <8 x i1> %v700, <8 x i32> %v712, <8 x i32> %v648
  %v715 = select <8 x i1> %v706, <8 x i32> %v713, <8 x i32> %v649
  %v716 = icmp eq i32 2, 0
  %v717 = insertelement <8 x i1> poison, i1 %v716, i64 0
  %v718 = shufflevector <8 x i1> %v717, <8 x i1> poison, <8 x i32> zeroinitializer
  %v719 = select <8 x i1> %v718, <8 x i32> splat (i32 -1), <8 x i32> %v714
  %v720 = select <8 x i1> %v718, <8 x i32> splat (i32 -1), <8 x i32> %v715
  br label %side.end.600
side.end.600:
  %n.721 = phi <8 x i32> [ zeroinitializer, %lanes.body.435 ], [ %v719, %side.599 ]
  %n.722 = phi <8 x i32> [ zeroinitializer, %lanes.body.435 ], [ %v720, %side.599 ]
  %v723 = xor <8 x i32> %v590, splat (i32 -1)
  %mask.724 = and <8 x i32> %mask.465, %v723
  %v725 = xor <8 x i32> %v596, splat (i32 -1)
  %mask.726 = and <8 x i32> %mask.466, %v725
  %v727 = mul <8 x i32> splat (i32 3), %n.440
  %v728 = mul <8 x i32> splat (i32 3), %n.441
  %v729 = add <8 x i32> %v727, splat (i32 1)
  %v730 = add <8 x i32> %v728, splat (i32 1)
  %flags.731 = icmp slt <8 x i32> %mask.597, zeroinitializer
  %v732 = select <8 x i1> %flags.731, <8 x i32> %n.721, <8 x i32> %v729
  %v733 = bitcast <8 x i32> %v732 to <8 x float>
  %v734 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v733)
  %v735 = bitcast <8 x float> %v734 to <8 x i32>
  %flags.736 = icmp slt <8 x i32> %mask.598, zeroinitializer
  %v737 = select <8 x i1> %flags.736, <8 x i32> %n.722, <8 x i32> %v730
  %v738 = bitcast <8 x i32> %v737 to <8 x float>
  %v739 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v738)
  %v740 = bitcast <8 x float> %v739 to <8 x i32>
  ; line 7: k += 1
  %k.741 = add i32 %k.446, 1
  ; line 8: if k >= 1000:
  %v742 = icmp sge i32 %k.741, 1000
  br i1 %v742, label %then.743, label %else.744
then.743:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.745
else.744:
  br label %endif.745
endif.745:
  %break.5.746 = phi i1 [ true, %then.743 ], [ %break.5.447, %else.744 ]
  ; line 5: while n != 1:
  %count.747 = add i32 %count.437, 1
  %flags.748 = icmp slt <8 x i32> %mask.465, zeroinitializer
  %v749 = select <8 x i1> %flags.748, <8 x i32> %v735, <8 x i32> %n.440
  %v750 = bitcast <8 x i32> %v749 to <8 x float>
  %v751 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v750)
  %v752 = bitcast <8 x float> %v751 to <8 x i32>
  %flags.753 = icmp slt <8 x i32> %mask.466, zeroinitializer
  %v754 = select <8 x i1> %flags.753, <8 x i32> %v740, <8 x i32> %n.441
  %v755 = bitcast <8 x i32> %v754 to <8 x float>
  %v756 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v755)
  %v757 = bitcast <8 x float> %v756 to <8 x i32>
  %v758 = insertelement <8 x i32> poison, i32 %k.741, i64 0
  %v759 = shufflevector <8 x i32> %v758, <8 x i32> poison, <8 x i32> zeroinitializer
  %v760 = select <8 x i1> %flags.748, <8 x i32> %v759, <8 x i32> %k.442
  %v761 = bitcast <8 x i32> %v760 to <8 x float>
  %v762 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v761)
  %v763 = bitcast <8 x float> %v762 to <8 x i32>
  %v764 = select <8 x i1> %flags.753, <8 x i32> %v759, <8 x i32> %k.443
  %v765 = bitcast <8 x i32> %v764 to <8 x float>
  %v766 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v765)
  %v767 = bitcast <8 x float> %v766 to <8 x i32>
  %v768 = insertelement <8 x i1> poison, i1 %break.5.746, i64 0
  %v769 = shufflevector <8 x i1> %v768, <8 x i1> poison, <8 x i32> zeroinitializer
  %v770 = freeze <8 x i1> %v769
  %v771 = sext <8 x i1> %v770 to <8 x i32>
  %v772 = bitcast <8 x i32> %v771 to <8 x float>
  %v773 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v772)
  %v774 = bitcast <8 x float> %v773 to <8 x i32>
  %v775 = freeze <8 x i1> %v769
  %v776 = sext <8 x i1> %v775 to <8 x i32>
  %v777 = bitcast <8 x i32> %v776 to <8 x float>
  %v778 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v777)
  %v779 = bitcast <8 x float> %v778 to <8 x i32>
  %v780 = xor <8 x i32> %mask.465, splat (i32 -1)
  %v781 = and <8 x i32> %mask.465, %v774
  %v782 = and <8 x i32> %v780, %break.5.444
  %break.5.783 = or <8 x i32> %v781, %v782
  %v784 = xor <8 x i32> %mask.466, splat (i32 -1)
  %v785 = and <8 x i32> %mask.466, %v779
  %v786 = and <8 x i32> %v784, %break.5.445
  %break.5.787 = or <8 x i32> %v785, %v786
  %v790 = and i32 %count.437, 511
  %early.791 = icmp ne i32 %v790, 511
  br i1 %early.791, label %on.789, label %due.788, !prof !1
due.788:
  %stop.794 = load volatile i32, ptr %stop
  %calm.795 = icmp eq i32 %stop.794, 0
  br i1 %calm.795, label %go.793, label %ask.792, !prof !1
ask.792:
  %v796 = load ptr, ptr %v384
  %v797 = call i32 %v796(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v798 = icmp eq i32 %v797, 0
  br i1 %v798, label %go.793, label %stopped
go.793:
  br label %on.789
on.789:
  br label %lanes.434, !llvm.loop !4
lanes.end.436:
  ; line 10: steps[i] = k
  %v799 = mul i64 %i.425, 4
  %v800 = getelementptr i8, ptr %steps.data.390, i64 %v799
  %flags.801 = icmp slt <8 x i32> %v419, zeroinitializer
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %k.442, ptr %v800, i32 4, <8 x i1> %flags.801)
  %v802 = add i64 %v799, 32
  %v803 = getelementptr i8, ptr %steps.data.390, i64 %v802
  %flags.804 = icmp slt <8 x i32> %v424, zeroinitializer
  call void @llvm.masked.store.v8i32.p0(<8 x i32> %k.443, ptr %v803, i32 4, <8 x i1> %flags.804)
  br label %rest.end.411
rest.end.411:
  %first.805 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %high.2, %lanes.end.436 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.805, %rest.end.411 ], [ %tid.next, %thread.end ]
  %more.806 = icmp slt i32 %tid, %high.2
  br i1 %more.806, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 3: n = start[i]
  %v807 = sext i32 %tid to i64
  %v808 = getelementptr inbounds i32, ptr %start.data.16, i64 %v807
  %n.809 = load i32, ptr %v808
  ; line 5: while n != 1:
  br label %strip.813
strip.813:
  %n.814 = phi i32 [ %n.809, %thread ], [ %n.864, %go.876 ]
  %k.815 = phi i32 [ 0, %thread ], [ %k.865, %go.876 ]
  %break.5.816 = phi i1 [ false, %thread ], [ %break.5.870, %go.876 ]
  br label %while.810
while.810:
  %turn.871 = phi i32 [ 0, %strip.813 ], [ %turn.872, %endif.869 ]
  %n.817 = phi i32 [ %n.814, %strip.813 ], [ %n.864, %endif.869 ]
  %k.818 = phi i32 [ %k.815, %strip.813 ], [ %k.865, %endif.869 ]
  %break.5.819 = phi i1 [ %break.5.816, %strip.813 ], [ %break.5.870, %endif.869 ]
  br i1 %break.5.819, label %then.820, label %else.821
then.820:
  br label %endif.822
else.821:
  %v823 = icmp ne i32 %n.817, 1
  br label %endif.822
endif.822:
  %v824 = phi i1 [ false, %then.820 ], [ %v823, %else.821 ]
  br i1 %v824, label %do.811, label %endwhile.812
do.811:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v825 = icmp eq i32 2, 0
  %v826 = icmp eq i32 2, -1
  %v827 = icmp eq i32 %n.817, -2147483648
  %v828 = and i1 %v826, %v827
  %v829 = or i1 %v825, %v828
  %v830 = select i1 %v829, i32 1, i32 2
  %v831 = srem i32 %n.817, %v830
  %v832 = icmp ne i32 %v831, 0
  %v833 = icmp slt i32 %v831, 0
  %v834 = icmp slt i32 %v830, 0
  %v835 = xor i1 %v833, %v834
  %v836 = and i1 %v832, %v835
  %v837 = add i32 %v831, %v830
  %v838 = select i1 %v836, i32 %v837, i32 %v831
  %v839 = icmp eq i32 2, 0
  %v840 = select i1 %v839, i32 %n.817, i32 %v838
  %v841 = icmp eq i32 %v840, 0
  br i1 %v841, label %then.842, label %else.843
then.842:
  %v845 = icmp eq i32 2, 0
  %v846 = icmp eq i32 2, -1
  %v847 = icmp eq i32 %n.817, -2147483648
  %v848 = and i1 %v846, %v847
  %v849 = or i1 %v845, %v848
  %v850 = select i1 %v849, i32 1, i32 2
  %v851 = sdiv i32 %n.817, %v850
  %v852 = srem i32 %n.817, %v850
  %v853 = icmp ne i32 %v852, 0
  %v854 = icmp slt i32 %n.817, 0
  %v855 = icmp slt i32 %v850, 0
  %v856 = xor i1 %v854, %v855
  %v857 = and i1 %v853, %v856
  %v858 = sub i32 %v851, 1
  %v859 = select i1 %v857, i32 %v858, i32 %v851
  %v860 = icmp eq i32 2, 0
  %v861 = select i1 %v860, i32 -1, i32 %v859
  br label %endif.844
else.843:
  %v862 = mul i32 3, %n.817
  %v863 = add i32 %v862, 1
  br label %endif.844
endif.844:
  %n.864 = phi i32 [ %v861, %then.842 ], [ %v863, %else.843 ]
  ; line 7: k += 1
  %k.865 = add i32 %k.818, 1
  ; line 8: if k >= 1000:
  %v866 = icmp sge i32 %k.865, 1000
  br i1 %v866, label %then.867, label %else.868
then.867:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.869
else.868:
  br label %endif.869
endif.869:
  %break.5.870 = phi i1 [ true, %then.867 ], [ %break.5.819, %else.868 ]
  ; line 5: while n != 1:
  %turn.872 = add nuw nsw i32 %turn.871, 1
  %more.874 = icmp ult i32 %turn.872, 512
  br i1 %more.874, label %while.810, label %full.873
full.873:
  %stop.877 = load volatile i32, ptr %stop
  %calm.878 = icmp eq i32 %stop.877, 0
  br i1 %calm.878, label %go.876, label %ask.875, !prof !1
ask.875:
  %v879 = load ptr, ptr %v384
  %v880 = call i32 %v879(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v881 = icmp eq i32 %v880, 0
  br i1 %v881, label %go.876, label %stopped
go.876:
  br label %strip.813
endwhile.812:
  ; line 10: steps[i] = k
  %v882 = sext i32 %tid to i64
  %v883 = getelementptr inbounds i32, ptr %steps.data.390, i64 %v882
  store i32 %k.818, ptr %v883
  %v886 = and i32 %tid, 31
  %early.887 = icmp ne i32 %v886, 31
  br i1 %early.887, label %on.885, label %due.884, !prof !1
due.884:
  %stop.890 = load volatile i32, ptr %stop
  %calm.891 = icmp eq i32 %stop.890, 0
  br i1 %calm.891, label %go.889, label %ask.888, !prof !1
ask.888:
  %v892 = sext i32 %tid to i64
  store i64 %v892, ptr %v402
  %v893 = load ptr, ptr %v384
  %v894 = call i32 %v893(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v895 = icmp eq i32 %v894, 0
  br i1 %v895, label %go.889, label %stopped
go.889:
  br label %on.885
on.885:
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
