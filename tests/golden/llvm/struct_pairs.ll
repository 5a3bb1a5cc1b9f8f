define i32 @wb_struct_pairs(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %bodies.pos.at.15 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.16 = load ptr, ptr %bodies.pos.at.15
  %bodies.mass.data.176 = getelementptr inbounds i8, ptr %bodies.pos.data.16, i64 24
  %bodies.id.data.230 = getelementptr inbounds i8, ptr %bodies.pos.data.16, i64 28
  %bodies.pos.shape0.at.283 = getelementptr inbounds i8, ptr %params, i64 40
  %bodies.pos.shape0.284 = load i64, ptr %bodies.pos.shape0.at.283, !range !0
  %v409 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.427 = getelementptr inbounds i8, ptr %params, i64 128
  %f.data.428 = load ptr, ptr %f.at.427
  %v445 = getelementptr inbounds i8, ptr %stop, i64 16
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v450, %on.438 ]
  %number.11 = phi i32 [ 0, %start ], [ %v451, %on.438 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 9: i = tid()
  %v13 = sext i32 %gang.10 to i64
  ; line 10: a = bodies[i]
  %v14 = mul i64 %v13, 32
  %v17 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v14
  %v18 = getelementptr i8, ptr %v17, i64 0
  %v19 = load float, ptr %v18, align 4
  %bodies.pos.20 = insertelement <8 x float> poison, float %v19, i64 0
  %v21 = getelementptr i8, ptr %v17, i64 32
  %v22 = load float, ptr %v21, align 4
  %bodies.pos.23 = insertelement <8 x float> %bodies.pos.20, float %v22, i64 1
  %v24 = getelementptr i8, ptr %v17, i64 64
  %v25 = load float, ptr %v24, align 4
  %bodies.pos.26 = insertelement <8 x float> %bodies.pos.23, float %v25, i64 2
  %v27 = getelementptr i8, ptr %v17, i64 96
  %v28 = load float, ptr %v27, align 4
  %bodies.pos.29 = insertelement <8 x float> %bodies.pos.26, float %v28, i64 3
  %v30 = getelementptr i8, ptr %v17, i64 128
  %v31 = load float, ptr %v30, align 4
  %bodies.pos.32 = insertelement <8 x float> %bodies.pos.29, float %v31, i64 4
  %v33 = getelementptr i8, ptr %v17, i64 160
  %v34 = load float, ptr %v33, align 4
  %bodies.pos.35 = insertelement <8 x float> %bodies.pos.32, float %v34, i64 5
  %v36 = getelementptr i8, ptr %v17, i64 192
  %v37 = load float, ptr %v36, align 4
  %bodies.pos.38 = insertelement <8 x float> %bodies.pos.35, float %v37, i64 6
  %v39 = getelementptr i8, ptr %v17, i64 224
  %v40 = load float, ptr %v39, align 4
  %bodies.pos.41 = insertelement <8 x float> %bodies.pos.38, float %v40, i64 7
  %v42 = add i64 %v14, 4
  %v43 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v42
  %v44 = getelementptr i8, ptr %v43, i64 0
  %v45 = load float, ptr %v44, align 4
  %bodies.pos.46 = insertelement <8 x float> poison, float %v45, i64 0
  %v47 = getelementptr i8, ptr %v43, i64 32
  %v48 = load float, ptr %v47, align 4
  %bodies.pos.49 = insertelement <8 x float> %bodies.pos.46, float %v48, i64 1
  %v50 = getelementptr i8, ptr %v43, i64 64
  %v51 = load float, ptr %v50, align 4
  %bodies.pos.52 = insertelement <8 x float> %bodies.pos.49, float %v51, i64 2
  %v53 = getelementptr i8, ptr %v43, i64 96
  %v54 = load float, ptr %v53, align 4
  %bodies.pos.55 = insertelement <8 x float> %bodies.pos.52, float %v54, i64 3
  %v56 = getelementptr i8, ptr %v43, i64 128
  %v57 = load float, ptr %v56, align 4
  %bodies.pos.58 = insertelement <8 x float> %bodies.pos.55, float %v57, i64 4
  %v59 = getelementptr i8, ptr %v43, i64 160
  %v60 = load float, ptr %v59, align 4
  %bodies.pos.61 = insertelement <8 x float> %bodies.pos.58, float %v60, i64 5
  %v62 = getelementptr i8, ptr %v43, i64 192
  %v63 = load float, ptr %v62, align 4
  %bodies.pos.64 = insertelement <8 x float> %bodies.pos.61, float %v63, i64 6
  %v65 = getelementptr i8, ptr %v43, i64 224
  %v66 = load float, ptr %v65, align 4
  %bodies.pos.67 = insertelement <8 x float> %bodies.pos.64, float %v66, i64 7
  %v68 = add i64 %v14, 8
  %v69 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v68
  %v70 = getelementptr i8, ptr %v69, i64 0
  %v71 = load float, ptr %v70, align 4
  %bodies.pos.72 = insertelement <8 x float> poison, float %v71, i64 0
  %v73 = getelementptr i8, ptr %v69, i64 32
  %v74 = load float, ptr %v73, align 4
  %bodies.pos.75 = insertelement <8 x float> %bodies.pos.72, float %v74, i64 1
  %v76 = getelementptr i8, ptr %v69, i64 64
  %v77 = load float, ptr %v76, align 4
  %bodies.pos.78 = insertelement <8 x float> %bodies.pos.75, float %v77, i64 2
  %v79 = getelementptr i8, ptr %v69, i64 96
  %v80 = load float, ptr %v79, align 4
  %bodies.pos.81 = insertelement <8 x float> %bodies.pos.78, float %v80, i64 3
  %v82 = getelementptr i8, ptr %v69, i64 128
  %v83 = load float, ptr %v82, align 4
  %bodies.pos.84 = insertelement <8 x float> %bodies.pos.81, float %v83, i64 4
  %v85 = getelementptr i8, ptr %v69, i64 160
  %v86 = load float, ptr %v85, align 4
  %bodies.pos.87 = insertelement <8 x float> %bodies.pos.84, float %v86, i64 5
  %v88 = getelementptr i8, ptr %v69, i64 192
  %v89 = load float, ptr %v88, align 4
  %bodies.pos.90 = insertelement <8 x float> %bodies.pos.87, float %v89, i64 6
  %v91 = getelementptr i8, ptr %v69, i64 224
  %v92 = load float, ptr %v91, align 4
  %bodies.pos.93 = insertelement <8 x float> %bodies.pos.90, float %v92, i64 7
  %v94 = mul i64 %v13, 32
  %v95 = add i64 %v94, 256
  %v96 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v95
  %v97 = getelementptr i8, ptr %v96, i64 0
  %v98 = load float, ptr %v97, align 4
  %bodies.pos.99 = insertelement <8 x float> poison, float %v98, i64 0
  %v100 = getelementptr i8, ptr %v96, i64 32
  %v101 = load float, ptr %v100, align 4
  %bodies.pos.102 = insertelement <8 x float> %bodies.pos.99, float %v101, i64 1
  %v103 = getelementptr i8, ptr %v96, i64 64
  %v104 = load float, ptr %v103, align 4
  %bodies.pos.105 = insertelement <8 x float> %bodies.pos.102, float %v104, i64 2
  %v106 = getelementptr i8, ptr %v96, i64 96
  %v107 = load float, ptr %v106, align 4
  %bodies.pos.108 = insertelement <8 x float> %bodies.pos.105, float %v107, i64 3
  %v109 = getelementptr i8, ptr %v96, i64 128
  %v110 = load float, ptr %v109, align 4
  %bodies.pos.111 = insertelement <8 x float> %bodies.pos.108, float %v110, i64 4
  %v112 = getelementptr i8, ptr %v96, i64 160
  %v113 = load float, ptr %v112, align 4
  %bodies.pos.114 = insertelement <8 x float> %bodies.pos.111, float %v113, i64 5
  %v115 = getelementptr i8, ptr %v96, i64 192
  %v116 = load float, ptr %v115, align 4
  %bodies.pos.117 = insertelement <8 x float> %bodies.pos.114, float %v116, i64 6
  %v118 = getelementptr i8, ptr %v96, i64 224
  %v119 = load float, ptr %v118, align 4
  %bodies.pos.120 = insertelement <8 x float> %bodies.pos.117, float %v119, i64 7
  %v121 = add i64 %v94, 4
  %v122 = add i64 %v121, 256
  %v123 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v122
  %v124 = getelementptr i8, ptr %v123, i64 0
  %v125 = load float, ptr %v124, align 4
  %bodies.pos.126 = insertelement <8 x float> poison, float %v125, i64 0
  %v127 = getelementptr i8, ptr %v123, i64 32
  %v128 = load float, ptr %v127, align 4
  %bodies.pos.129 = insertelement <8 x float> %bodies.pos.126, float %v128, i64 1
  %v130 = getelementptr i8, ptr %v123, i64 64
  %v131 = load float, ptr %v130, align 4
  %bodies.pos.132 = insertelement <8 x float> %bodies.pos.129, float %v131, i64 2
  %v133 = getelementptr i8, ptr %v123, i64 96
  %v134 = load float, ptr %v133, align 4
  %bodies.pos.135 = insertelement <8 x float> %bodies.pos.132, float %v134, i64 3
  %v136 = getelementptr i8, ptr %v123, i64 128
  %v137 = load float, ptr %v136, align 4
  %bodies.pos.138 = insertelement <8 x float> %bodies.pos.135, float %v137, i64 4
  %v139 = getelementptr i8, ptr %v123, i64 160
  %v140 = load float, ptr %v139, align 4
  %bodies.pos.141 = insertelement <8 x float> %bodies.pos.138, float %v140, i64 5
  %v142 = getelementptr i8, ptr %v123, i64 192
  %v143 = load float, ptr %v142, align 4
  %bodies.pos.144 = insertelement <8 x float> %bodies.pos.141, float %v143, i64 6
  %v145 = getelementptr i8, ptr %v123, i64 224
  %v146 = load float, ptr %v145, align 4
  %bodies.pos.147 = insertelement <8 x float> %bodies.pos.144, float %v146, i64 7
  %v148 = add i64 %v94, 8
  %v149 = add i64 %v148, 256
  %v150 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v149
  %v151 = getelementptr i8, ptr %v150, i64 0
  %v152 = load float, ptr %v151, align 4
  %bodies.pos.153 = insertelement <8 x float> poison, float %v152, i64 0
  %v154 = getelementptr i8, ptr %v150, i64 32
  %v155 = load float, ptr %v154, align 4
  %bodies.pos.156 = insertelement <8 x float> %bodies.pos.153, float %v155, i64 1
  %v157 = getelementptr i8, ptr %v150, i64 64
  %v158 = load float, ptr %v157, align 4
  %bodies.pos.159 = insertelement <8 x float> %bodies.pos.156, float %v158, i64 2
  %v160 = getelementptr i8, ptr %v150, i64 96
  %v161 = load float, ptr %v160, align 4
  %bodies.pos.162 = insertelement <8 x float> %bodies.pos.159, float %v161, i64 3
  %v163 = getelementptr i8, ptr %v150, i64 128
  %v164 = load float, ptr %v163, align 4
  %bodies.pos.165 = insertelement <8 x float> %bodies.pos.162, float %v164, i64 4
  %v166 = getelementptr i8, ptr %v150, i64 160
  %v167 = load float, ptr %v166, align 4
  %bodies.pos.168 = insertelement <8 x float> %bodies.pos.165, float %v167, i64 5
  %v169 = getelementptr i8, ptr %v150, i64 192
  %v170 = load float, ptr %v169, align 4
  %bodies.pos.171 = insertelement <8 x float> %bodies.pos.168, float %v170, i64 6
  %v172 = getelementptr i8, ptr %v150, i64 224
  %v173 = load float, ptr %v172, align 4
  %bodies.pos.174 = insertelement <8 x float> %bodies.pos.171, float %v173, i64 7
  %v175 = mul i64 %v13, 32
  %v177 = getelementptr i8, ptr %bodies.mass.data.176, i64 %v175
  %v178 = getelementptr i8, ptr %v177, i64 0
  %v179 = load float, ptr %v178, align 4
  %bodies.mass.180 = insertelement <8 x float> poison, float %v179, i64 0
  %v181 = getelementptr i8, ptr %v177, i64 32
  %v182 = load float, ptr %v181, align 4
  %bodies.mass.183 = insertelement <8 x float> %bodies.mass.180, float %v182, i64 1
  %v184 = getelementptr i8, ptr %v177, i64 64
  %v185 = load float, ptr %v184, align 4
  %bodies.mass.186 = insertelement <8 x float> %bodies.mass.183, float %v185, i64 2
  %v187 = getelementptr i8, ptr %v177, i64 96
  %v188 = load float, ptr %v187, align 4
  %bodies.mass.189 = insertelement <8 x float> %bodies.mass.186, float %v188, i64 3
  %v190 = getelementptr i8, ptr %v177, i64 128
  %v191 = load float, ptr %v190, align 4
  %bodies.mass.192 = insertelement <8 x float> %bodies.mass.189, float %v191, i64 4
  %v193 = getelementptr i8, ptr %v177, i64 160
  %v194 = load float, ptr %v193, align 4
  %bodies.mass.195 = insertelement <8 x float> %bodies.mass.192, float %v194, i64 5
  %v196 = getelementptr i8, ptr %v177, i64 192
  %v197 = load float, ptr %v196, align 4
  %bodies.mass.198 = insertelement <8 x float> %bodies.mass.195, float %v197, i64 6
  %v199 = getelementptr i8, ptr %v177, i64 224
  %v200 = load float, ptr %v199, align 4
  %bodies.mass.201 = insertelement <8 x float> %bodies.mass.198, float %v200, i64 7
  %v202 = mul i64 %v13, 32
  %v203 = add i64 %v202, 256
  %v204 = getelementptr i8, ptr %bodies.mass.data.176, i64 %v203
  %v205 = getelementptr i8, ptr %v204, i64 0
  %v206 = load float, ptr %v205, align 4
  %bodies.mass.207 = insertelement <8 x float> poison, float %v206, i64 0
  %v208 = getelementptr i8, ptr %v204, i64 32
  %v209 = load float, ptr %v208, align 4
  %bodies.mass.210 = insertelement <8 x float> %bodies.mass.207, float %v209, i64 1
  %v211 = getelementptr i8, ptr %v204, i64 64
  %v212 = load float, ptr %v211, align 4
  %bodies.mass.213 = insertelement <8 x float> %bodies.mass.210, float %v212, i64 2
  %v214 = getelementptr i8, ptr %v204, i64 96
  %v215 = load float, ptr %v214, align 4
  %bodies.mass.216 = insertelement <8 x float> %bodies.mass.213, float %v215, i64 3
  %v217 = getelementptr i8, ptr %v204, i64 128
  %v218 = load float, ptr %v217, align 4
  %bodies.mass.219 = insertelement <8 x float> %bodies.mass.216, float %v218, i64 4
  %v220 = getelementptr i8, ptr %v204, i64 160
  %v221 = load float, ptr %v220, align 4
  %bodies.mass.222 = insertelement <8 x float> %bodies.mass.219, float %v221, i64 5
  %v223 = getelementptr i8, ptr %v204, i64 192
  %v224 = load float, ptr %v223, align 4
  %bodies.mass.225 = insertelement <8 x float> %bodies.mass.222, float %v224, i64 6
  %v226 = getelementptr i8, ptr %v204, i64 224
  %v227 = load float, ptr %v226, align 4
  %bodies.mass.228 = insertelement <8 x float> %bodies.mass.225, float %v227, i64 7
  %v229 = mul i64 %v13, 32
  %v231 = getelementptr i8, ptr %bodies.id.data.230, i64 %v229
  %v232 = getelementptr i8, ptr %v231, i64 0
  %v233 = load i32, ptr %v232, align 4
  %bodies.id.234 = insertelement <8 x i32> poison, i32 %v233, i64 0
  %v235 = getelementptr i8, ptr %v231, i64 32
  %v236 = load i32, ptr %v235, align 4
  %bodies.id.237 = insertelement <8 x i32> %bodies.id.234, i32 %v236, i64 1
  %v238 = getelementptr i8, ptr %v231, i64 64
  %v239 = load i32, ptr %v238, align 4
  %bodies.id.240 = insertelement <8 x i32> %bodies.id.237, i32 %v239, i64 2
  %v241 = getelementptr i8, ptr %v231, i64 96
  %v242 = load i32, ptr %v241, align 4
  %bodies.id.243 = insertelement <8 x i32> %bodies.id.240, i32 %v242, i64 3
  %v244 = getelementptr i8, ptr %v231, i64 128
  %v245 = load i32, ptr %v244, align 4
  %bodies.id.246 = insertelement <8 x i32> %bodies.id.243, i32 %v245, i64 4
  %v247 = getelementptr i8, ptr %v231, i64 160
  %v248 = load i32, ptr %v247, align 4
  %bodies.id.249 = insertelement <8 x i32> %bodies.id.246, i32 %v248, i64 5
  %v250 = getelementptr i8, ptr %v231, i64 192
  %v251 = load i32, ptr %v250, align 4
  %bodies.id.252 = insertelement <8 x i32> %bodies.id.249, i32 %v251, i64 6
  %v253 = getelementptr i8, ptr %v231, i64 224
  %v254 = load i32, ptr %v253, align 4
  %bodies.id.255 = insertelement <8 x i32> %bodies.id.252, i32 %v254, i64 7
  %v256 = mul i64 %v13, 32
  %v257 = add i64 %v256, 256
  %v258 = getelementptr i8, ptr %bodies.id.data.230, i64 %v257
  %v259 = getelementptr i8, ptr %v258, i64 0
  %v260 = load i32, ptr %v259, align 4
  %bodies.id.261 = insertelement <8 x i32> poison, i32 %v260, i64 0
  %v262 = getelementptr i8, ptr %v258, i64 32
  %v263 = load i32, ptr %v262, align 4
  %bodies.id.264 = insertelement <8 x i32> %bodies.id.261, i32 %v263, i64 1
  %v265 = getelementptr i8, ptr %v258, i64 64
  %v266 = load i32, ptr %v265, align 4
  %bodies.id.267 = insertelement <8 x i32> %bodies.id.264, i32 %v266, i64 2
  %v268 = getelementptr i8, ptr %v258, i64 96
  %v269 = load i32, ptr %v268, align 4
  %bodies.id.270 = insertelement <8 x i32> %bodies.id.267, i32 %v269, i64 3
  %v271 = getelementptr i8, ptr %v258, i64 128
  %v272 = load i32, ptr %v271, align 4
  %bodies.id.273 = insertelement <8 x i32> %bodies.id.270, i32 %v272, i64 4
  %v274 = getelementptr i8, ptr %v258, i64 160
  %v275 = load i32, ptr %v274, align 4
  %bodies.id.276 = insertelement <8 x i32> %bodies.id.273, i32 %v275, i64 5
  %v277 = getelementptr i8, ptr %v258, i64 192
  %v278 = load i32, ptr %v277, align 4
  %bodies.id.279 = insertelement <8 x i32> %bodies.id.276, i32 %v278, i64 6
  %v280 = getelementptr i8, ptr %v258, i64 224
  %v281 = load i32, ptr %v280, align 4
  %bodies.id.282 = insertelement <8 x i32> %bodies.id.279, i32 %v281, i64 7
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v285 = trunc i64 %bodies.pos.shape0.284 to i32
  %left.291 = sub i32 %v285, 0
  %few.292 = call i32 @llvm.umin.i32(i32 %left.291, i32 1024)
  %last.293 = add nsw i32 0, %few.292
  %more.294 = icmp slt i32 0, %v285
  br i1 %more.294, label %strip.286, label %endfor.290
strip.286:
  %j.295 = phi i32 [ 0, %gang.4 ], [ %last.302, %go.406 ]
  %total.296 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v390, %go.406 ]
  %total.297 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v392, %go.406 ]
  %total.298 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v394, %go.406 ]
  %total.299 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v397, %go.406 ]
  %total.300 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v399, %go.406 ]
  %total.301 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v401, %go.406 ]
  %last.302 = phi i32 [ %last.293, %gang.4 ], [ %last.415, %go.406 ]
  br label %body.287
body.287:
  %j.303 = phi i32 [ %j.295, %strip.286 ], [ %j.next.402, %side.end.336 ]
  %total.304 = phi <8 x float> [ %total.296, %strip.286 ], [ %v390, %side.end.336 ]
  %total.305 = phi <8 x float> [ %total.297, %strip.286 ], [ %v392, %side.end.336 ]
  %total.306 = phi <8 x float> [ %total.298, %strip.286 ], [ %v394, %side.end.336 ]
  %total.307 = phi <8 x float> [ %total.299, %strip.286 ], [ %v397, %side.end.336 ]
  %total.308 = phi <8 x float> [ %total.300, %strip.286 ], [ %v399, %side.end.336 ]
  %total.309 = phi <8 x float> [ %total.301, %strip.286 ], [ %v401, %side.end.336 ]
  ; line 13: b = bodies[j]
  %v310 = sext i32 %j.303 to i64
  %v311 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v310
  %v312 = getelementptr inbounds float, ptr %v311, i64 1
  %v313 = getelementptr inbounds float, ptr %v311, i64 2
  %b.pos.314 = load float, ptr %v311
  %b.pos.315 = load float, ptr %v312
  %b.pos.316 = load float, ptr %v313
  %v317 = sext i32 %j.303 to i64
  %v318 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.176, i64 %v317
  %b.mass.319 = load float, ptr %v318
  %v320 = sext i32 %j.303 to i64
  %v321 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.230, i64 %v320
  %b.id.322 = load i32, ptr %v321
  ; line 14: if b.id != a.id:
  %v323 = insertelement <8 x i32> poison, i32 %b.id.322, i64 0
  %v324 = shufflevector <8 x i32> %v323, <8 x i32> poison, <8 x i32> zeroinitializer
  %v325 = icmp ne <8 x i32> %v324, %bodies.id.255
  %v326 = sext <8 x i1> %v325 to <8 x i32>
  %v327 = bitcast <8 x i32> %v326 to <8 x float>
  %v328 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v327)
  %mask.329 = bitcast <8 x float> %v328 to <8 x i32>
  %v330 = icmp ne <8 x i32> %v324, %bodies.id.282
  %v331 = sext <8 x i1> %v330 to <8 x i32>
  %v332 = bitcast <8 x i32> %v331 to <8 x float>
  %v333 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v332)
  %mask.334 = bitcast <8 x float> %v333 to <8 x i32>
  %v337 = or <8 x i32> %mask.329, %mask.334
  %v338 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v337)
  %any.339 = icmp ne i32 %v338, 0
  br i1 %any.339, label %side.335, label %side.end.336
side.335:
  ; line 15: d = b.pos - a.pos
  %v340 = insertelement <8 x float> poison, float %b.pos.314, i64 0
  %v341 = shufflevector <8 x float> %v340, <8 x float> poison, <8 x i32> zeroinitializer
  %v342 = fsub <8 x float> %v341, %bodies.pos.41
  %v343 = fsub <8 x float> %v341, %bodies.pos.120
  %v344 = insertelement <8 x float> poison, float %b.pos.315, i64 0
  %v345 = shufflevector <8 x float> %v344, <8 x float> poison, <8 x i32> zeroinitializer
  %v346 = fsub <8 x float> %v345, %bodies.pos.67
  %v347 = fsub <8 x float> %v345, %bodies.pos.147
  %v348 = insertelement <8 x float> poison, float %b.pos.316, i64 0
  %v349 = shufflevector <8 x float> %v348, <8 x float> poison, <8 x i32> zeroinitializer
  %v350 = fsub <8 x float> %v349, %bodies.pos.93
  %v351 = fsub <8 x float> %v349, %bodies.pos.174
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v352 = insertelement <8 x float> poison, float %b.mass.319, i64 0
  %v353 = shufflevector <8 x float> %v352, <8 x float> poison, <8 x i32> zeroinitializer
  %v354 = fmul <8 x float> %bodies.mass.201, %v353
  %v355 = fmul <8 x float> %bodies.mass.228, %v353
  %v356 = fmul <8 x float> %v342, %v342
  %v357 = fmul <8 x float> %v343, %v343
  %v358 = fmul <8 x float> %v346, %v346
  %v359 = fmul <8 x float> %v347, %v347
  %v360 = fmul <8 x float> %v350, %v350
  %v361 = fmul <8 x float> %v351, %v351
  %v362 = fadd <8 x float> %v356, %v358
  %v363 = fadd <8 x float> %v357, %v359
  %v364 = fadd <8 x float> %v362, %v360
  %v365 = fadd <8 x float> %v363, %v361
  %v366 = fadd <8 x float> %v364, splat (float 0x3F847AE140000000)
  %v367 = fadd <8 x float> %v365, splat (float 0x3F847AE140000000)
  %v368 = fdiv <8 x float> %v354, %v366
  %v369 = fdiv <8 x float> %v355, %v367
  %v370 = fmul <8 x float> %v342, %v368
  %v371 = fmul <8 x float> %v343, %v369
  %v372 = fmul <8 x float> %v346, %v368
  %v373 = fmul <8 x float> %v347, %v369
  %v374 = fmul <8 x float> %v350, %v368
  %v375 = fmul <8 x float> %v351, %v369
  %v376 = fadd <8 x float> %total.304, %v370
  %v377 = fadd <8 x float> %total.307, %v371
  %v378 = fadd <8 x float> %total.305, %v372
  %v379 = fadd <8 x float> %total.308, %v373
  %v380 = fadd <8 x float> %total.306, %v374
  %v381 = fadd <8 x float> %total.309, %v375
  ; line 14: if b.id != a.id:
  br label %side.end.336
side.end.336:
  %total.382 = phi <8 x float> [ zeroinitializer, %body.287 ], [ %v376, %side.335 ]
  %total.383 = phi <8 x float> [ zeroinitializer, %body.287 ], [ %v378, %side.335 ]
  %total.384 = phi <8 x float> [ zeroinitializer, %body.287 ], [ %v380, %side.335 ]
  %total.385 = phi <8 x float> [ zeroinitializer, %body.287 ], [ %v377, %side.335 ]
  %total.386 = phi <8 x float> [ zeroinitializer, %body.287 ], [ %v379, %side.335 ]
  %total.387 = phi <8 x float> [ zeroinitializer, %body.287 ], [ %v381, %side.335 ]
  %flags.388 = icmp slt <8 x i32> %mask.329, zeroinitializer
  %v389 = select <8 x i1> %flags.388, <8 x float> %total.382, <8 x float> %total.304
  %v390 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v389)
  %v391 = select <8 x i1> %flags.388, <8 x float> %total.383, <8 x float> %total.305
  %v392 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v391)
  %v393 = select <8 x i1> %flags.388, <8 x float> %total.384, <8 x float> %total.306
  %v394 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v393)
  %flags.395 = icmp slt <8 x i32> %mask.334, zeroinitializer
  %v396 = select <8 x i1> %flags.395, <8 x float> %total.385, <8 x float> %total.307
  %v397 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v396)
  %v398 = select <8 x i1> %flags.395, <8 x float> %total.386, <8 x float> %total.308
  %v399 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v398)
  %v400 = select <8 x i1> %flags.395, <8 x float> %total.387, <8 x float> %total.309
  %v401 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v400)
  ; line 12: for j in range(len(bodies)):
  %j.next.402 = add nsw i32 %j.303, 1
  %more.403 = icmp ne i32 %j.next.402, %last.302
  br i1 %more.403, label %body.287, label %stripped.288
stripped.288:
  %over.404 = icmp eq i32 %last.302, %v285
  br i1 %over.404, label %endfor.290, label %again.289, !prof !1
again.289:
  %stop.407 = load volatile i32, ptr %stop
  %calm.408 = icmp eq i32 %stop.407, 0
  br i1 %calm.408, label %go.406, label %ask.405, !prof !1
ask.405:
  %v410 = load ptr, ptr %v409
  %v411 = call i32 %v410(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v412 = icmp eq i32 %v411, 0
  br i1 %v412, label %go.406, label %stopped
go.406:
  %left.413 = sub i32 %v285, %last.302
  %few.414 = call i32 @llvm.umin.i32(i32 %left.413, i32 1024)
  %last.415 = add nsw i32 %last.302, %few.414
  br label %strip.286
endfor.290:
  %v416 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v390, %stripped.288 ]
  %v417 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v392, %stripped.288 ]
  %v418 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v394, %stripped.288 ]
  %v419 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v397, %stripped.288 ]
  %v420 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v399, %stripped.288 ]
  %v421 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v401, %stripped.288 ]
  ; line 17: f[i] = total
  %v422 = mul i64 %v13, 12
  %v423 = shufflevector <8 x float> %v416, <8 x float> %v417, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v424 = shufflevector <8 x float> %v418, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v425 = shufflevector <16 x float> %v423, <16 x float> %v424, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v426 = shufflevector <32 x float> %v425, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v429 = getelementptr i8, ptr %f.data.428, i64 %v422
  store <24 x float> %v426, ptr %v429, align 4
  %v430 = mul i64 %v13, 12
  %v431 = shufflevector <8 x float> %v419, <8 x float> %v420, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v432 = shufflevector <8 x float> %v421, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v433 = shufflevector <16 x float> %v431, <16 x float> %v432, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v434 = shufflevector <32 x float> %v433, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v435 = add i64 %v430, 96
  %v436 = getelementptr i8, ptr %f.data.428, i64 %v435
  store <24 x float> %v434, ptr %v436, align 4
  %v439 = and i32 %number.11, 1
  %early.440 = icmp ne i32 %v439, 1
  br i1 %early.440, label %on.438, label %due.437, !prof !1
due.437:
  %stop.443 = load volatile i32, ptr %stop
  %calm.444 = icmp eq i32 %stop.443, 0
  br i1 %calm.444, label %go.442, label %ask.441, !prof !1
ask.441:
  %v446 = sext i32 %gang.10 to i64
  store i64 %v446, ptr %v445
  %v447 = load ptr, ptr %v409
  %v448 = call i32 %v447(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v449 = icmp eq i32 %v448, 0
  br i1 %v449, label %go.442, label %stopped
go.442:
  br label %on.438
on.438:
  %v450 = add nsw i32 %gang.10, 16
  %v451 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.9, %gangs.end.5 ], [ %tid.next, %thread.end ]
  %more.452 = icmp slt i32 %tid, %high.2
  br i1 %more.452, label %thread, label %finish
thread:
  ; line 9: i = tid()
  %v453 = sext i32 %tid to i64
  ; line 10: a = bodies[i]
  %v454 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v453
  %v455 = getelementptr inbounds float, ptr %v454, i64 1
  %v456 = getelementptr inbounds float, ptr %v454, i64 2
  %a.pos.457 = load float, ptr %v454
  %a.pos.458 = load float, ptr %v455
  %a.pos.459 = load float, ptr %v456
  %v460 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.176, i64 %v453
  %a.mass.461 = load float, ptr %v460
  %v462 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.230, i64 %v453
  %a.id.463 = load i32, ptr %v462
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v464 = trunc i64 %bodies.pos.shape0.284 to i32
  %left.470 = sub i32 %v464, 0
  %few.471 = call i32 @llvm.umin.i32(i32 %left.470, i32 1024)
  %last.472 = add nsw i32 0, %few.471
  %more.473 = icmp slt i32 0, %v464
  br i1 %more.473, label %strip.465, label %endfor.469
strip.465:
  %j.474 = phi i32 [ 0, %thread ], [ %last.478, %go.524 ]
  %total.475 = phi float [ 0x0000000000000000, %thread ], [ %total.517, %go.524 ]
  %total.476 = phi float [ 0x0000000000000000, %thread ], [ %total.518, %go.524 ]
  %total.477 = phi float [ 0x0000000000000000, %thread ], [ %total.519, %go.524 ]
  %last.478 = phi i32 [ %last.472, %thread ], [ %last.532, %go.524 ]
  br label %body.466
body.466:
  %j.479 = phi i32 [ %j.474, %strip.465 ], [ %j.next.520, %endif.499 ]
  %total.480 = phi float [ %total.475, %strip.465 ], [ %total.517, %endif.499 ]
  %total.481 = phi float [ %total.476, %strip.465 ], [ %total.518, %endif.499 ]
  %total.482 = phi float [ %total.477, %strip.465 ], [ %total.519, %endif.499 ]
  ; line 13: b = bodies[j]
  %v483 = sext i32 %j.479 to i64
  %v484 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v483
  %v485 = getelementptr inbounds float, ptr %v484, i64 1
  %v486 = getelementptr inbounds float, ptr %v484, i64 2
  %b.pos.487 = load float, ptr %v484
  %b.pos.488 = load float, ptr %v485
  %b.pos.489 = load float, ptr %v486
  %v490 = sext i32 %j.479 to i64
  %v491 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.176, i64 %v490
  %b.mass.492 = load float, ptr %v491
  %v493 = sext i32 %j.479 to i64
  %v494 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.230, i64 %v493
  %b.id.495 = load i32, ptr %v494
  ; line 14: if b.id != a.id:
  %v496 = icmp ne i32 %b.id.495, %a.id.463
  br i1 %v496, label %then.497, label %else.498
then.497:
  ; line 15: d = b.pos - a.pos
  %v500 = fsub float %b.pos.487, %a.pos.457
  %v501 = fsub float %b.pos.488, %a.pos.458
  %v502 = fsub float %b.pos.489, %a.pos.459
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v503 = fmul float %a.mass.461, %b.mass.492
  %v504 = fmul float %v500, %v500
  %v505 = fmul float %v501, %v501
  %v506 = fmul float %v502, %v502
  %v507 = fadd float %v504, %v505
  %v508 = fadd float %v507, %v506
  %v509 = fadd float %v508, 0x3F847AE140000000
  %v510 = fdiv float %v503, %v509
  %v511 = fmul float %v500, %v510
  %v512 = fmul float %v501, %v510
  %v513 = fmul float %v502, %v510
  %v514 = fadd float %total.480, %v511
  %v515 = fadd float %total.481, %v512
  %v516 = fadd float %total.482, %v513
  ; line 14: if b.id != a.id:
  br label %endif.499
else.498:
  br label %endif.499
endif.499:
  %total.517 = phi float [ %v514, %then.497 ], [ %total.480, %else.498 ]
  %total.518 = phi float [ %v515, %then.497 ], [ %total.481, %else.498 ]
  %total.519 = phi float [ %v516, %then.497 ], [ %total.482, %else.498 ]
  ; line 12: for j in range(len(bodies)):
  %j.next.520 = add nsw i32 %j.479, 1
  %more.521 = icmp ne i32 %j.next.520, %last.478
  br i1 %more.521, label %body.466, label %stripped.467
stripped.467:
  %over.522 = icmp eq i32 %last.478, %v464
  br i1 %over.522, label %endfor.469, label %again.468, !prof !1
again.468:
  %stop.525 = load volatile i32, ptr %stop
  %calm.526 = icmp eq i32 %stop.525, 0
  br i1 %calm.526, label %go.524, label %ask.523, !prof !1
ask.523:
  %v527 = load ptr, ptr %v409
  %v528 = call i32 %v527(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v529 = icmp eq i32 %v528, 0
  br i1 %v529, label %go.524, label %stopped
go.524:
  %left.530 = sub i32 %v464, %last.478
  %few.531 = call i32 @llvm.umin.i32(i32 %left.530, i32 1024)
  %last.532 = add nsw i32 %last.478, %few.531
  br label %strip.465
endfor.469:
  %v533 = phi float [ 0x0000000000000000, %thread ], [ %total.517, %stripped.467 ]
  %v534 = phi float [ 0x0000000000000000, %thread ], [ %total.518, %stripped.467 ]
  %v535 = phi float [ 0x0000000000000000, %thread ], [ %total.519, %stripped.467 ]
  ; line 17: f[i] = total
  %v536 = getelementptr inbounds [3 x float], ptr %f.data.428, i64 %v453
  %v537 = getelementptr inbounds float, ptr %v536, i64 1
  %v538 = getelementptr inbounds float, ptr %v536, i64 2
  store float %v533, ptr %v536
  store float %v534, ptr %v537
  store float %v535, ptr %v538
  %v541 = and i32 %tid, 31
  %early.542 = icmp ne i32 %v541, 31
  br i1 %early.542, label %on.540, label %due.539, !prof !1
due.539:
  %stop.545 = load volatile i32, ptr %stop
  %calm.546 = icmp eq i32 %stop.545, 0
  br i1 %calm.546, label %go.544, label %ask.543, !prof !1
ask.543:
  %v547 = sext i32 %tid to i64
  store i64 %v547, ptr %v445
  %v548 = load ptr, ptr %v409
  %v549 = call i32 %v548(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v550 = icmp eq i32 %v549, 0
  br i1 %v550, label %go.544, label %stopped
go.544:
  br label %on.540
on.540:
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !3
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
declare <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float>)
declare i32 @llvm.vector.reduce.or.v8i32(<8 x i32>)
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
