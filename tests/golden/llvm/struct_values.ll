define i32 @wb_struct_values(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %x.at.15 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.16 = load ptr, ptr %x.at.15
  %b.vel.at.38 = getelementptr inbounds i8, ptr %params, i64 72
  %b.vel.39 = load float, ptr %b.vel.at.38
  %b.vel.at.40 = getelementptr inbounds i8, ptr %params, i64 76
  %b.vel.41 = load float, ptr %b.vel.at.40
  %b.vel.at.42 = getelementptr inbounds i8, ptr %params, i64 80
  %b.vel.43 = load float, ptr %b.vel.at.42
  %dt.at.48 = getelementptr inbounds i8, ptr %params, i64 104
  %dt.49 = load float, ptr %dt.at.48
  %b.mass.at.66 = getelementptr inbounds i8, ptr %params, i64 88
  %b.mass.67 = load float, ptr %b.mass.at.66
  %nowhere.346 = alloca [64 x i8], align 64
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v88, %endfor.30 ]
  %number.11 = phi i32 [ 0, %start ], [ %v89, %endfor.30 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 14: i = tid()
  %i.13 = sext i32 %gang.10 to i64
  ; line 16: c.pos = x[i]
  %v14 = mul i64 %i.13, 12
  %v17 = getelementptr i8, ptr %x.data.16, i64 %v14
  %x.18 = load <24 x float>, ptr %v17, align 4
  %v19 = shufflevector <24 x float> %x.18, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v20 = shufflevector <24 x float> %x.18, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v21 = shufflevector <24 x float> %x.18, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %v22 = add i64 %v14, 96
  %v23 = getelementptr i8, ptr %x.data.16, i64 %v22
  %x.24 = load <24 x float>, ptr %v23, align 4
  %v25 = shufflevector <24 x float> %x.24, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v26 = shufflevector <24 x float> %x.24, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v27 = shufflevector <24 x float> %x.24, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  ; line 17: for k in range(4):
  br label %for.28
for.28:
  %k.31 = phi i32 [ 0, %gang.4 ], [ %k.next.65, %body.29 ]
  %c.pos.32 = phi <8 x float> [ %v19, %gang.4 ], [ %v55, %body.29 ]
  %c.pos.33 = phi <8 x float> [ %v20, %gang.4 ], [ %v59, %body.29 ]
  %c.pos.34 = phi <8 x float> [ %v21, %gang.4 ], [ %v63, %body.29 ]
  %c.pos.35 = phi <8 x float> [ %v25, %gang.4 ], [ %v56, %body.29 ]
  %c.pos.36 = phi <8 x float> [ %v26, %gang.4 ], [ %v60, %body.29 ]
  %c.pos.37 = phi <8 x float> [ %v27, %gang.4 ], [ %v64, %body.29 ]
  %c.vel.44 = phi float [ %b.vel.39, %gang.4 ], [ %c.vel.44, %body.29 ]
  %c.vel.45 = phi float [ %b.vel.41, %gang.4 ], [ %c.vel.45, %body.29 ]
  %c.vel.46 = phi float [ %b.vel.43, %gang.4 ], [ %c.vel.46, %body.29 ]
  %more.47 = icmp slt i32 %k.31, 4
  br i1 %more.47, label %body.29, label %endfor.30
body.29:
  ; line 10: b.pos += b.vel * dt
  %v50 = fmul float %c.vel.44, %dt.49
  %v51 = fmul float %c.vel.45, %dt.49
  %v52 = fmul float %c.vel.46, %dt.49
  %v53 = insertelement <8 x float> poison, float %v50, i64 0
  %v54 = shufflevector <8 x float> %v53, <8 x float> poison, <8 x i32> zeroinitializer
  %v55 = fadd <8 x float> %c.pos.32, %v54
  %v56 = fadd <8 x float> %c.pos.35, %v54
  %v57 = insertelement <8 x float> poison, float %v51, i64 0
  %v58 = shufflevector <8 x float> %v57, <8 x float> poison, <8 x i32> zeroinitializer
  %v59 = fadd <8 x float> %c.pos.33, %v58
  %v60 = fadd <8 x float> %c.pos.36, %v58
  %v61 = insertelement <8 x float> poison, float %v52, i64 0
  %v62 = shufflevector <8 x float> %v61, <8 x float> poison, <8 x i32> zeroinitializer
  %v63 = fadd <8 x float> %c.pos.34, %v62
  %v64 = fadd <8 x float> %c.pos.37, %v62
  ; line 17: for k in range(4):
  %k.next.65 = add nsw i32 %k.31, 1
  br label %for.28
endfor.30:
  ; line 19: x[i] = c.pos * b.mass
  %v68 = insertelement <8 x float> poison, float %b.mass.67, i64 0
  %v69 = shufflevector <8 x float> %v68, <8 x float> poison, <8 x i32> zeroinitializer
  %v70 = fmul <8 x float> %c.pos.32, %v69
  %v71 = fmul <8 x float> %c.pos.35, %v69
  %v72 = fmul <8 x float> %c.pos.33, %v69
  %v73 = fmul <8 x float> %c.pos.36, %v69
  %v74 = fmul <8 x float> %c.pos.34, %v69
  %v75 = fmul <8 x float> %c.pos.37, %v69
  %v76 = mul i64 %i.13, 12
  %v77 = shufflevector <8 x float> %v70, <8 x float> %v72, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v78 = shufflevector <8 x float> %v74, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v79 = shufflevector <16 x float> %v77, <16 x float> %v78, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v80 = shufflevector <32 x float> %v79, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v81 = getelementptr i8, ptr %x.data.16, i64 %v76
  store <24 x float> %v80, ptr %v81, align 4
  %v82 = shufflevector <8 x float> %v71, <8 x float> %v73, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v83 = shufflevector <8 x float> %v75, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v84 = shufflevector <16 x float> %v82, <16 x float> %v83, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v85 = shufflevector <32 x float> %v84, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v86 = add i64 %v76, 96
  %v87 = getelementptr i8, ptr %x.data.16, i64 %v86
  store <24 x float> %v85, ptr %v87, align 4
  %v88 = add nsw i32 %gang.10, 16
  %v89 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %left.90 = sub nsw i32 %high.2, %gangs.9
  %several.93 = icmp sge i32 %left.90, 4
  br i1 %several.93, label %rest.91, label %rest.end.92
rest.91:
  %v94 = insertelement <8 x i32> poison, i32 %left.90, i64 0
  %v95 = shufflevector <8 x i32> %v94, <8 x i32> poison, <8 x i32> zeroinitializer
  %v96 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v95
  %v97 = sext <8 x i1> %v96 to <8 x i32>
  %v98 = bitcast <8 x i32> %v97 to <8 x float>
  %v99 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v98)
  %v100 = bitcast <8 x float> %v99 to <8 x i32>
  %v101 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v95
  %v102 = sext <8 x i1> %v101 to <8 x i32>
  %v103 = bitcast <8 x i32> %v102 to <8 x float>
  %v104 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v103)
  %v105 = bitcast <8 x float> %v104 to <8 x i32>
  ; line 14: i = tid()
  %i.106 = sext i32 %gangs.9 to i64
  ; line 16: c.pos = x[i]
  %v107 = mul i64 %i.106, 12
  %v108 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v109 = getelementptr i8, ptr %x.data.16, i64 %v107
  %v110 = bitcast <8 x i1> %v96 to i8
  %v111 = getelementptr i8, ptr %v109, i64 0
  %v112 = and i8 %v110, 1
  %on.113 = icmp ne i8 %v112, 0
  %v114 = select i1 %on.113, ptr %v111, ptr %v108
  %v115 = load float, ptr %v114, align 4
  %x.116 = insertelement <8 x float> poison, float %v115, i64 0
  %v117 = getelementptr float, ptr %v114, i64 1
  %v118 = load float, ptr %v117, align 4
  %x.119 = insertelement <8 x float> poison, float %v118, i64 0
  %v120 = getelementptr float, ptr %v114, i64 2
  %v121 = load float, ptr %v120, align 4
  %x.122 = insertelement <8 x float> poison, float %v121, i64 0
  %v123 = getelementptr i8, ptr %v109, i64 12
  %v124 = and i8 %v110, 2
  %on.125 = icmp ne i8 %v124, 0
  %v126 = select i1 %on.125, ptr %v123, ptr %v108
  %v127 = load float, ptr %v126, align 4
  %x.128 = insertelement <8 x float> %x.116, float %v127, i64 1
  %v129 = getelementptr float, ptr %v126, i64 1
  %v130 = load float, ptr %v129, align 4
  %x.131 = insertelement <8 x float> %x.119, float %v130, i64 1
  %v132 = getelementptr float, ptr %v126, i64 2
  %v133 = load float, ptr %v132, align 4
  %x.134 = insertelement <8 x float> %x.122, float %v133, i64 1
  %v135 = getelementptr i8, ptr %v109, i64 24
  %v136 = and i8 %v110, 4
  %on.137 = icmp ne i8 %v136, 0
  %v138 = select i1 %on.137, ptr %v135, ptr %v108
  %v139 = load float, ptr %v138, align 4
  %x.140 = insertelement <8 x float> %x.128, float %v139, i64 2
  %v141 = getelementptr float, ptr %v138, i64 1
  %v142 = load float, ptr %v141, align 4
  %x.143 = insertelement <8 x float> %x.131, float %v142, i64 2
  %v144 = getelementptr float, ptr %v138, i64 2
  %v145 = load float, ptr %v144, align 4
  %x.146 = insertelement <8 x float> %x.134, float %v145, i64 2
  %v147 = getelementptr i8, ptr %v109, i64 36
  %v148 = and i8 %v110, 8
  %on.149 = icmp ne i8 %v148, 0
  %v150 = select i1 %on.149, ptr %v147, ptr %v108
  %v151 = load float, ptr %v150, align 4
  %x.152 = insertelement <8 x float> %x.140, float %v151, i64 3
  %v153 = getelementptr float, ptr %v150, i64 1
  %v154 = load float, ptr %v153, align 4
  %x.155 = insertelement <8 x float> %x.143, float %v154, i64 3
  %v156 = getelementptr float, ptr %v150, i64 2
  %v157 = load float, ptr %v156, align 4
  %x.158 = insertelement <8 x float> %x.146, float %v157, i64 3
  %v159 = getelementptr i8, ptr %v109, i64 48
  %v160 = and i8 %v110, 16
  %on.161 = icmp ne i8 %v160, 0
  %v162 = select i1 %on.161, ptr %v159, ptr %v108
  %v163 = load float, ptr %v162, align 4
  %x.164 = insertelement <8 x float> %x.152, float %v163, i64 4
  %v165 = getelementptr float, ptr %v162, i64 1
  %v166 = load float, ptr %v165, align 4
  %x.167 = insertelement <8 x float> %x.155, float %v166, i64 4
  %v168 = getelementptr float, ptr %v162, i64 2
  %v169 = load float, ptr %v168, align 4
  %x.170 = insertelement <8 x float> %x.158, float %v169, i64 4
  %v171 = getelementptr i8, ptr %v109, i64 60
  %v172 = and i8 %v110, 32
  %on.173 = icmp ne i8 %v172, 0
  %v174 = select i1 %on.173, ptr %v171, ptr %v108
  %v175 = load float, ptr %v174, align 4
  %x.176 = insertelement <8 x float> %x.164, float %v175, i64 5
  %v177 = getelementptr float, ptr %v174, i64 1
  %v178 = load float, ptr %v177, align 4
  %x.179 = insertelement <8 x float> %x.167, float %v178, i64 5
  %v180 = getelementptr float, ptr %v174, i64 2
  %v181 = load float, ptr %v180, align 4
  %x.182 = insertelement <8 x float> %x.170, float %v181, i64 5
  %v183 = getelementptr i8, ptr %v109, i64 72
  %v184 = and i8 %v110, 64
  %on.185 = icmp ne i8 %v184, 0
  %v186 = select i1 %on.185, ptr %v183, ptr %v108
  %v187 = load float, ptr %v186, align 4
  %x.188 = insertelement <8 x float> %x.176, float %v187, i64 6
  %v189 = getelementptr float, ptr %v186, i64 1
  %v190 = load float, ptr %v189, align 4
  %x.191 = insertelement <8 x float> %x.179, float %v190, i64 6
  %v192 = getelementptr float, ptr %v186, i64 2
  %v193 = load float, ptr %v192, align 4
  %x.194 = insertelement <8 x float> %x.182, float %v193, i64 6
  %v195 = getelementptr i8, ptr %v109, i64 84
  %v196 = and i8 %v110, 128
  %on.197 = icmp ne i8 %v196, 0
  %v198 = select i1 %on.197, ptr %v195, ptr %v108
  %v199 = load float, ptr %v198, align 4
  %x.200 = insertelement <8 x float> %x.188, float %v199, i64 7
  %v201 = getelementptr float, ptr %v198, i64 1
  %v202 = load float, ptr %v201, align 4
  %x.203 = insertelement <8 x float> %x.191, float %v202, i64 7
  %v204 = getelementptr float, ptr %v198, i64 2
  %v205 = load float, ptr %v204, align 4
  %x.206 = insertelement <8 x float> %x.194, float %v205, i64 7
  %v207 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v208 = add i64 %v107, 96
  %v209 = getelementptr i8, ptr %x.data.16, i64 %v208
  %v210 = bitcast <8 x i1> %v101 to i8
  %v211 = getelementptr i8, ptr %v209, i64 0
  %v212 = and i8 %v210, 1
  %on.213 = icmp ne i8 %v212, 0
  %v214 = select i1 %on.213, ptr %v211, ptr %v207
  %v215 = load float, ptr %v214, align 4
  %x.216 = insertelement <8 x float> poison, float %v215, i64 0
  %v217 = getelementptr float, ptr %v214, i64 1
  %v218 = load float, ptr %v217, align 4
  %x.219 = insertelement <8 x float> poison, float %v218, i64 0
  %v220 = getelementptr float, ptr %v214, i64 2
  %v221 = load float, ptr %v220, align 4
  %x.222 = insertelement <8 x float> poison, float %v221, i64 0
  %v223 = getelementptr i8, ptr %v209, i64 12
  %v224 = and i8 %v210, 2
  %on.225 = icmp ne i8 %v224, 0
  %v226 = select i1 %on.225, ptr %v223, ptr %v207
  %v227 = load float, ptr %v226, align 4
  %x.228 = insertelement <8 x float> %x.216, float %v227, i64 1
  %v229 = getelementptr float, ptr %v226, i64 1
  %v230 = load float, ptr %v229, align 4
  %x.231 = insertelement <8 x float> %x.219, float %v230, i64 1
  %v232 = getelementptr float, ptr %v226, i64 2
  %v233 = load float, ptr %v232, align 4
  %x.234 = insertelement <8 x float> %x.222, float %v233, i64 1
  %v235 = getelementptr i8, ptr %v209, i64 24
  %v236 = and i8 %v210, 4
  %on.237 = icmp ne i8 %v236, 0
  %v238 = select i1 %on.237, ptr %v235, ptr %v207
  %v239 = load float, ptr %v238, align 4
  %x.240 = insertelement <8 x float> %x.228, float %v239, i64 2
  %v241 = getelementptr float, ptr %v238, i64 1
  %v242 = load float, ptr %v241, align 4
  %x.243 = insertelement <8 x float> %x.231, float %v242, i64 2
  %v244 = getelementptr float, ptr %v238, i64 2
  %v245 = load float, ptr %v244, align 4
  %x.246 = insertelement <8 x float> %x.234, float %v245, i64 2
  %v247 = getelementptr i8, ptr %v209, i64 36
  %v248 = and i8 %v210, 8
  %on.249 = icmp ne i8 %v248, 0
  %v250 = select i1 %on.249, ptr %v247, ptr %v207
  %v251 = load float, ptr %v250, align 4
  %x.252 = insertelement <8 x float> %x.240, float %v251, i64 3
  %v253 = getelementptr float, ptr %v250, i64 1
  %v254 = load float, ptr %v253, align 4
  %x.255 = insertelement <8 x float> %x.243, float %v254, i64 3
  %v256 = getelementptr float, ptr %v250, i64 2
  %v257 = load float, ptr %v256, align 4
  %x.258 = insertelement <8 x float> %x.246, float %v257, i64 3
  %v259 = getelementptr i8, ptr %v209, i64 48
  %v260 = and i8 %v210, 16
  %on.261 = icmp ne i8 %v260, 0
  %v262 = select i1 %on.261, ptr %v259, ptr %v207
  %v263 = load float, ptr %v262, align 4
  %x.264 = insertelement <8 x float> %x.252, float %v263, i64 4
  %v265 = getelementptr float, ptr %v262, i64 1
  %v266 = load float, ptr %v265, align 4
  %x.267 = insertelement <8 x float> %x.255, float %v266, i64 4
  %v268 = getelementptr float, ptr %v262, i64 2
  %v269 = load float, ptr %v268, align 4
  %x.270 = insertelement <8 x float> %x.258, float %v269, i64 4
  %v271 = getelementptr i8, ptr %v209, i64 60
  %v272 = and i8 %v210, 32
  %on.273 = icmp ne i8 %v272, 0
  %v274 = select i1 %on.273, ptr %v271, ptr %v207
  %v275 = load float, ptr %v274, align 4
  %x.276 = insertelement <8 x float> %x.264, float %v275, i64 5
  %v277 = getelementptr float, ptr %v274, i64 1
  %v278 = load float, ptr %v277, align 4
  %x.279 = insertelement <8 x float> %x.267, float %v278, i64 5
  %v280 = getelementptr float, ptr %v274, i64 2
  %v281 = load float, ptr %v280, align 4
  %x.282 = insertelement <8 x float> %x.270, float %v281, i64 5
  %v283 = getelementptr i8, ptr %v209, i64 72
  %v284 = and i8 %v210, 64
  %on.285 = icmp ne i8 %v284, 0
  %v286 = select i1 %on.285, ptr %v283, ptr %v207
  %v287 = load float, ptr %v286, align 4
  %x.288 = insertelement <8 x float> %x.276, float %v287, i64 6
  %v289 = getelementptr float, ptr %v286, i64 1
  %v290 = load float, ptr %v289, align 4
  %x.291 = insertelement <8 x float> %x.279, float %v290, i64 6
  %v292 = getelementptr float, ptr %v286, i64 2
  %v293 = load float, ptr %v292, align 4
  %x.294 = insertelement <8 x float> %x.282, float %v293, i64 6
  %v295 = getelementptr i8, ptr %v209, i64 84
  %v296 = and i8 %v210, 128
  %on.297 = icmp ne i8 %v296, 0
  %v298 = select i1 %on.297, ptr %v295, ptr %v207
  %v299 = load float, ptr %v298, align 4
  %x.300 = insertelement <8 x float> %x.288, float %v299, i64 7
  %v301 = getelementptr float, ptr %v298, i64 1
  %v302 = load float, ptr %v301, align 4
  %x.303 = insertelement <8 x float> %x.291, float %v302, i64 7
  %v304 = getelementptr float, ptr %v298, i64 2
  %v305 = load float, ptr %v304, align 4
  %x.306 = insertelement <8 x float> %x.294, float %v305, i64 7
  ; line 17: for k in range(4):
  br label %for.307
for.307:
  %k.310 = phi i32 [ 0, %rest.91 ], [ %k.next.336, %body.308 ]
  %c.pos.311 = phi <8 x float> [ %x.200, %rest.91 ], [ %v326, %body.308 ]
  %c.pos.312 = phi <8 x float> [ %x.203, %rest.91 ], [ %v330, %body.308 ]
  %c.pos.313 = phi <8 x float> [ %x.206, %rest.91 ], [ %v334, %body.308 ]
  %c.pos.314 = phi <8 x float> [ %x.300, %rest.91 ], [ %v327, %body.308 ]
  %c.pos.315 = phi <8 x float> [ %x.303, %rest.91 ], [ %v331, %body.308 ]
  %c.pos.316 = phi <8 x float> [ %x.306, %rest.91 ], [ %v335, %body.308 ]
  %c.vel.317 = phi float [ %b.vel.39, %rest.91 ], [ %c.vel.317, %body.308 ]
  %c.vel.318 = phi float [ %b.vel.41, %rest.91 ], [ %c.vel.318, %body.308 ]
  %c.vel.319 = phi float [ %b.vel.43, %rest.91 ], [ %c.vel.319, %body.308 ]
  %more.320 = icmp slt i32 %k.310, 4
  br i1 %more.320, label %body.308, label %endfor.309
body.308:
  ; line 10: b.pos += b.vel * dt
  %v321 = fmul float %c.vel.317, %dt.49
  %v322 = fmul float %c.vel.318, %dt.49
  %v323 = fmul float %c.vel.319, %dt.49
  %v324 = insertelement <8 x float> poison, float %v321, i64 0
  %v325 = shufflevector <8 x float> %v324, <8 x float> poison, <8 x i32> zeroinitializer
  %v326 = fadd <8 x float> %c.pos.311, %v325
  %v327 = fadd <8 x float> %c.pos.314, %v325
  %v328 = insertelement <8 x float> poison, float %v322, i64 0
  %v329 = shufflevector <8 x float> %v328, <8 x float> poison, <8 x i32> zeroinitializer
  %v330 = fadd <8 x float> %c.pos.312, %v329
  %v331 = fadd <8 x float> %c.pos.315, %v329
  %v332 = insertelement <8 x float> poison, float %v323, i64 0
  %v333 = shufflevector <8 x float> %v332, <8 x float> poison, <8 x i32> zeroinitializer
  %v334 = fadd <8 x float> %c.pos.313, %v333
  %v335 = fadd <8 x float> %c.pos.316, %v333
  ; line 17: for k in range(4):
  %k.next.336 = add nsw i32 %k.310, 1
  br label %for.307
endfor.309:
  ; line 19: x[i] = c.pos * b.mass
  %v337 = insertelement <8 x float> poison, float %b.mass.67, i64 0
  %v338 = shufflevector <8 x float> %v337, <8 x float> poison, <8 x i32> zeroinitializer
  %v339 = fmul <8 x float> %c.pos.311, %v338
  %v340 = fmul <8 x float> %c.pos.314, %v338
  %v341 = fmul <8 x float> %c.pos.312, %v338
  %v342 = fmul <8 x float> %c.pos.315, %v338
  %v343 = fmul <8 x float> %c.pos.313, %v338
  %v344 = fmul <8 x float> %c.pos.316, %v338
  %v345 = mul i64 %i.106, 12
  %v347 = getelementptr i8, ptr %nowhere.346, i64 0
  %v348 = getelementptr i8, ptr %x.data.16, i64 %v345
  %flags.349 = icmp slt <8 x i32> %v100, zeroinitializer
  %v350 = bitcast <8 x i1> %flags.349 to i8
  %v351 = getelementptr i8, ptr %v348, i64 0
  %v352 = and i8 %v350, 1
  %on.353 = icmp ne i8 %v352, 0
  %v354 = select i1 %on.353, ptr %v351, ptr %v347
  %v355 = extractelement <8 x float> %v339, i64 0
  store float %v355, ptr %v354, align 4
  %v356 = extractelement <8 x float> %v341, i64 0
  %v357 = getelementptr float, ptr %v354, i64 1
  store float %v356, ptr %v357, align 4
  %v358 = extractelement <8 x float> %v343, i64 0
  %v359 = getelementptr float, ptr %v354, i64 2
  store float %v358, ptr %v359, align 4
  %v360 = getelementptr i8, ptr %v348, i64 12
  %v361 = and i8 %v350, 2
  %on.362 = icmp ne i8 %v361, 0
  %v363 = select i1 %on.362, ptr %v360, ptr %v347
  %v364 = extractelement <8 x float> %v339, i64 1
  store float %v364, ptr %v363, align 4
  %v365 = extractelement <8 x float> %v341, i64 1
  %v366 = getelementptr float, ptr %v363, i64 1
  store float %v365, ptr %v366, align 4
  %v367 = extractelement <8 x float> %v343, i64 1
  %v368 = getelementptr float, ptr %v363, i64 2
  store float %v367, ptr %v368, align 4
  %v369 = getelementptr i8, ptr %v348, i64 24
  %v370 = and i8 %v350, 4
  %on.371 = icmp ne i8 %v370, 0
  %v372 = select i1 %on.371, ptr %v369, ptr %v347
  %v373 = extractelement <8 x float> %v339, i64 2
  store float %v373, ptr %v372, align 4
  %v374 = extractelement <8 x float> %v341, i64 2
  %v375 = getelementptr float, ptr %v372, i64 1
  store float %v374, ptr %v375, align 4
  %v376 = extractelement <8 x float> %v343, i64 2
  %v377 = getelementptr float, ptr %v372, i64 2
  store float %v376, ptr %v377, align 4
  %v378 = getelementptr i8, ptr %v348, i64 36
  %v379 = and i8 %v350, 8
  %on.380 = icmp ne i8 %v379, 0
  %v381 = select i1 %on.380, ptr %v378, ptr %v347
  %v382 = extractelement <8 x float> %v339, i64 3
  store float %v382, ptr %v381, align 4
  %v383 = extractelement <8 x float> %v341, i64 3
  %v384 = getelementptr float, ptr %v381, i64 1
  store float %v383, ptr %v384, align 4
  %v385 = extractelement <8 x float> %v343, i64 3
  %v386 = getelementptr float, ptr %v381, i64 2
  store float %v385, ptr %v386, align 4
  %v387 = getelementptr i8, ptr %v348, i64 48
  %v388 = and i8 %v350, 16
  %on.389 = icmp ne i8 %v388, 0
  %v390 = select i1 %on.389, ptr %v387, ptr %v347
  %v391 = extractelement <8 x float> %v339, i64 4
  store float %v391, ptr %v390, align 4
  %v392 = extractelement <8 x float> %v341, i64 4
  %v393 = getelementptr float, ptr %v390, i64 1
  store float %v392, ptr %v393, align 4
  %v394 = extractelement <8 x float> %v343, i64 4
  %v395 = getelementptr float, ptr %v390, i64 2
  store float %v394, ptr %v395, align 4
  %v396 = getelementptr i8, ptr %v348, i64 60
  %v397 = and i8 %v350, 32
  %on.398 = icmp ne i8 %v397, 0
  %v399 = select i1 %on.398, ptr %v396, ptr %v347
  %v400 = extractelement <8 x float> %v339, i64 5
  store float %v400, ptr %v399, align 4
  %v401 = extractelement <8 x float> %v341, i64 5
  %v402 = getelementptr float, ptr %v399, i64 1
  store float %v401, ptr %v402, align 4
  %v403 = extractelement <8 x float> %v343, i64 5
  %v404 = getelementptr float, ptr %v399, i64 2
  store float %v403, ptr %v404, align 4
  %v405 = getelementptr i8, ptr %v348, i64 72
  %v406 = and i8 %v350, 64
  %on.407 = icmp ne i8 %v406, 0
  %v408 = select i1 %on.407, ptr %v405, ptr %v347
  %v409 = extractelement <8 x float> %v339, i64 6
  store float %v409, ptr %v408, align 4
  %v410 = extractelement <8 x float> %v341, i64 6
  %v411 = getelementptr float, ptr %v408, i64 1
  store float %v410, ptr %v411, align 4
  %v412 = extractelement <8 x float> %v343, i64 6
  %v413 = getelementptr float, ptr %v408, i64 2
  store float %v412, ptr %v413, align 4
  %v414 = getelementptr i8, ptr %v348, i64 84
  %v415 = and i8 %v350, 128
  %on.416 = icmp ne i8 %v415, 0
  %v417 = select i1 %on.416, ptr %v414, ptr %v347
  %v418 = extractelement <8 x float> %v339, i64 7
  store float %v418, ptr %v417, align 4
  %v419 = extractelement <8 x float> %v341, i64 7
  %v420 = getelementptr float, ptr %v417, i64 1
  store float %v419, ptr %v420, align 4
  %v421 = extractelement <8 x float> %v343, i64 7
  %v422 = getelementptr float, ptr %v417, i64 2
  store float %v421, ptr %v422, align 4
  %v423 = getelementptr i8, ptr %nowhere.346, i64 0
  %v424 = add i64 %v345, 96
  %v425 = getelementptr i8, ptr %x.data.16, i64 %v424
  %flags.426 = icmp slt <8 x i32> %v105, zeroinitializer
  %v427 = bitcast <8 x i1> %flags.426 to i8
  %v428 = getelementptr i8, ptr %v425, i64 0
  %v429 = and i8 %v427, 1
  %on.430 = icmp ne i8 %v429, 0
  %v431 = select i1 %on.430, ptr %v428, ptr %v423
  %v432 = extractelement <8 x float> %v340, i64 0
  store float %v432, ptr %v431, align 4
  %v433 = extractelement <8 x float> %v342, i64 0
  %v434 = getelementptr float, ptr %v431, i64 1
  store float %v433, ptr %v434, align 4
  %v435 = extractelement <8 x float> %v344, i64 0
  %v436 = getelementptr float, ptr %v431, i64 2
  store float %v435, ptr %v436, align 4
  %v437 = getelementptr i8, ptr %v425, i64 12
  %v438 = and i8 %v427, 2
  %on.439 = icmp ne i8 %v438, 0
  %v440 = select i1 %on.439, ptr %v437, ptr %v423
  %v441 = extractelement <8 x float> %v340, i64 1
  store float %v441, ptr %v440, align 4
  %v442 = extractelement <8 x float> %v342, i64 1
  %v443 = getelementptr float, ptr %v440, i64 1
  store float %v442, ptr %v443, align 4
  %v444 = extractelement <8 x float> %v344, i64 1
  %v445 = getelementptr float, ptr %v440, i64 2
  store float %v444, ptr %v445, align 4
  %v446 = getelementptr i8, ptr %v425, i64 24
  %v447 = and i8 %v427, 4
  %on.448 = icmp ne i8 %v447, 0
  %v449 = select i1 %on.448, ptr %v446, ptr %v423
  %v450 = extractelement <8 x float> %v340, i64 2
  store float %v450, ptr %v449, align 4
  %v451 = extractelement <8 x float> %v342, i64 2
  %v452 = getelementptr float, ptr %v449, i64 1
  store float %v451, ptr %v452, align 4
  %v453 = extractelement <8 x float> %v344, i64 2
  %v454 = getelementptr float, ptr %v449, i64 2
  store float %v453, ptr %v454, align 4
  %v455 = getelementptr i8, ptr %v425, i64 36
  %v456 = and i8 %v427, 8
  %on.457 = icmp ne i8 %v456, 0
  %v458 = select i1 %on.457, ptr %v455, ptr %v423
  %v459 = extractelement <8 x float> %v340, i64 3
  store float %v459, ptr %v458, align 4
  %v460 = extractelement <8 x float> %v342, i64 3
  %v461 = getelementptr float, ptr %v458, i64 1
  store float %v460, ptr %v461, align 4
  %v462 = extractelement <8 x float> %v344, i64 3
  %v463 = getelementptr float, ptr %v458, i64 2
  store float %v462, ptr %v463, align 4
  %v464 = getelementptr i8, ptr %v425, i64 48
  %v465 = and i8 %v427, 16
  %on.466 = icmp ne i8 %v465, 0
  %v467 = select i1 %on.466, ptr %v464, ptr %v423
  %v468 = extractelement <8 x float> %v340, i64 4
  store float %v468, ptr %v467, align 4
  %v469 = extractelement <8 x float> %v342, i64 4
  %v470 = getelementptr float, ptr %v467, i64 1
  store float %v469, ptr %v470, align 4
  %v471 = extractelement <8 x float> %v344, i64 4
  %v472 = getelementptr float, ptr %v467, i64 2
  store float %v471, ptr %v472, align 4
  %v473 = getelementptr i8, ptr %v425, i64 60
  %v474 = and i8 %v427, 32
  %on.475 = icmp ne i8 %v474, 0
  %v476 = select i1 %on.475, ptr %v473, ptr %v423
  %v477 = extractelement <8 x float> %v340, i64 5
  store float %v477, ptr %v476, align 4
  %v478 = extractelement <8 x float> %v342, i64 5
  %v479 = getelementptr float, ptr %v476, i64 1
  store float %v478, ptr %v479, align 4
  %v480 = extractelement <8 x float> %v344, i64 5
  %v481 = getelementptr float, ptr %v476, i64 2
  store float %v480, ptr %v481, align 4
  %v482 = getelementptr i8, ptr %v425, i64 72
  %v483 = and i8 %v427, 64
  %on.484 = icmp ne i8 %v483, 0
  %v485 = select i1 %on.484, ptr %v482, ptr %v423
  %v486 = extractelement <8 x float> %v340, i64 6
  store float %v486, ptr %v485, align 4
  %v487 = extractelement <8 x float> %v342, i64 6
  %v488 = getelementptr float, ptr %v485, i64 1
  store float %v487, ptr %v488, align 4
  %v489 = extractelement <8 x float> %v344, i64 6
  %v490 = getelementptr float, ptr %v485, i64 2
  store float %v489, ptr %v490, align 4
  %v491 = getelementptr i8, ptr %v425, i64 84
  %v492 = and i8 %v427, 128
  %on.493 = icmp ne i8 %v492, 0
  %v494 = select i1 %on.493, ptr %v491, ptr %v423
  %v495 = extractelement <8 x float> %v340, i64 7
  store float %v495, ptr %v494, align 4
  %v496 = extractelement <8 x float> %v342, i64 7
  %v497 = getelementptr float, ptr %v494, i64 1
  store float %v496, ptr %v497, align 4
  %v498 = extractelement <8 x float> %v344, i64 7
  %v499 = getelementptr float, ptr %v494, i64 2
  store float %v498, ptr %v499, align 4
  br label %rest.end.92
rest.end.92:
  %first.500 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %high.2, %endfor.309 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.500, %rest.end.92 ], [ %tid.next, %thread.end ]
  %more.501 = icmp slt i32 %tid, %high.2
  br i1 %more.501, label %thread, label %finish
thread:
  ; line 14: i = tid()
  ; line 16: c.pos = x[i]
  %v502 = sext i32 %tid to i64
  %v503 = getelementptr inbounds [3 x float], ptr %x.data.16, i64 %v502
  %v504 = getelementptr inbounds float, ptr %v503, i64 1
  %v505 = getelementptr inbounds float, ptr %v503, i64 2
  %c.pos.506 = load float, ptr %v503
  %c.pos.507 = load float, ptr %v504
  %c.pos.508 = load float, ptr %v505
  ; line 17: for k in range(4):
  br label %for.509
for.509:
  %k.512 = phi i32 [ 0, %thread ], [ %k.next.526, %body.510 ]
  %c.pos.513 = phi float [ %c.pos.506, %thread ], [ %v523, %body.510 ]
  %c.pos.514 = phi float [ %c.pos.507, %thread ], [ %v524, %body.510 ]
  %c.pos.515 = phi float [ %c.pos.508, %thread ], [ %v525, %body.510 ]
  %c.vel.516 = phi float [ %b.vel.39, %thread ], [ %c.vel.516, %body.510 ]
  %c.vel.517 = phi float [ %b.vel.41, %thread ], [ %c.vel.517, %body.510 ]
  %c.vel.518 = phi float [ %b.vel.43, %thread ], [ %c.vel.518, %body.510 ]
  %more.519 = icmp slt i32 %k.512, 4
  br i1 %more.519, label %body.510, label %endfor.511
body.510:
  ; line 10: b.pos += b.vel * dt
  %v520 = fmul float %c.vel.516, %dt.49
  %v521 = fmul float %c.vel.517, %dt.49
  %v522 = fmul float %c.vel.518, %dt.49
  %v523 = fadd float %c.pos.513, %v520
  %v524 = fadd float %c.pos.514, %v521
  %v525 = fadd float %c.pos.515, %v522
  ; line 17: for k in range(4):
  %k.next.526 = add nsw i32 %k.512, 1
  br label %for.509
endfor.511:
  ; line 19: x[i] = c.pos * b.mass
  %v527 = fmul float %c.pos.513, %b.mass.67
  %v528 = fmul float %c.pos.514, %b.mass.67
  %v529 = fmul float %c.pos.515, %b.mass.67
  %v530 = sext i32 %tid to i64
  %v531 = getelementptr inbounds [3 x float], ptr %x.data.16, i64 %v530
  %v532 = getelementptr inbounds float, ptr %v531, i64 1
  %v533 = getelementptr inbounds float, ptr %v531, i64 2
  store float %v527, ptr %v531
  store float %v528, ptr %v532
  store float %v529, ptr %v533
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
declare <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float>)
@wb.nowhere64 = internal constant [64 x i8] zeroinitializer, align 64
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
