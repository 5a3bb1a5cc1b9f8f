define i32 @wb_struct_values(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %x.at.15 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.16 = load ptr, ptr %x.at.15
  %b.vel.at.39 = getelementptr inbounds i8, ptr %params, i64 72
  %b.vel.40 = load float, ptr %b.vel.at.39
  %b.vel.at.41 = getelementptr inbounds i8, ptr %params, i64 76
  %b.vel.42 = load float, ptr %b.vel.at.41
  %b.vel.at.43 = getelementptr inbounds i8, ptr %params, i64 80
  %b.vel.44 = load float, ptr %b.vel.at.43
  %dt.at.49 = getelementptr inbounds i8, ptr %params, i64 104
  %dt.50 = load float, ptr %dt.at.49
  %b.mass.at.67 = getelementptr inbounds i8, ptr %params, i64 88
  %b.mass.68 = load float, ptr %b.mass.at.67
  %nowhere.349 = alloca [64 x i8], align 64
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v90, %endfor.31 ]
  %number.11 = phi i32 [ 0, %start ], [ %v91, %endfor.31 ]
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
  %v22 = mul i64 %i.13, 12
  %v23 = add i64 %v22, 96
  %v24 = getelementptr i8, ptr %x.data.16, i64 %v23
  %x.25 = load <24 x float>, ptr %v24, align 4
  %v26 = shufflevector <24 x float> %x.25, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v27 = shufflevector <24 x float> %x.25, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v28 = shufflevector <24 x float> %x.25, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  ; line 17: for k in range(4):
  br label %for.29
for.29:
  %k.32 = phi i32 [ 0, %gang.4 ], [ %k.next.66, %body.30 ]
  %c.pos.33 = phi <8 x float> [ %v19, %gang.4 ], [ %v56, %body.30 ]
  %c.pos.34 = phi <8 x float> [ %v20, %gang.4 ], [ %v60, %body.30 ]
  %c.pos.35 = phi <8 x float> [ %v21, %gang.4 ], [ %v64, %body.30 ]
  %c.pos.36 = phi <8 x float> [ %v26, %gang.4 ], [ %v57, %body.30 ]
  %c.pos.37 = phi <8 x float> [ %v27, %gang.4 ], [ %v61, %body.30 ]
  %c.pos.38 = phi <8 x float> [ %v28, %gang.4 ], [ %v65, %body.30 ]
  %c.vel.45 = phi float [ %b.vel.40, %gang.4 ], [ %c.vel.45, %body.30 ]
  %c.vel.46 = phi float [ %b.vel.42, %gang.4 ], [ %c.vel.46, %body.30 ]
  %c.vel.47 = phi float [ %b.vel.44, %gang.4 ], [ %c.vel.47, %body.30 ]
  %more.48 = icmp slt i32 %k.32, 4
  br i1 %more.48, label %body.30, label %endfor.31
body.30:
  ; line 10: b.pos += b.vel * dt
  %v51 = fmul float %c.vel.45, %dt.50
  %v52 = fmul float %c.vel.46, %dt.50
  %v53 = fmul float %c.vel.47, %dt.50
  %v54 = insertelement <8 x float> poison, float %v51, i64 0
  %v55 = shufflevector <8 x float> %v54, <8 x float> poison, <8 x i32> zeroinitializer
  %v56 = fadd <8 x float> %c.pos.33, %v55
  %v57 = fadd <8 x float> %c.pos.36, %v55
  %v58 = insertelement <8 x float> poison, float %v52, i64 0
  %v59 = shufflevector <8 x float> %v58, <8 x float> poison, <8 x i32> zeroinitializer
  %v60 = fadd <8 x float> %c.pos.34, %v59
  %v61 = fadd <8 x float> %c.pos.37, %v59
  %v62 = insertelement <8 x float> poison, float %v53, i64 0
  %v63 = shufflevector <8 x float> %v62, <8 x float> poison, <8 x i32> zeroinitializer
  %v64 = fadd <8 x float> %c.pos.35, %v63
  %v65 = fadd <8 x float> %c.pos.38, %v63
  ; line 17: for k in range(4):
  %k.next.66 = add nsw i32 %k.32, 1
  br label %for.29
endfor.31:
  ; line 19: x[i] = c.pos * b.mass
  %v69 = insertelement <8 x float> poison, float %b.mass.68, i64 0
  %v70 = shufflevector <8 x float> %v69, <8 x float> poison, <8 x i32> zeroinitializer
  %v71 = fmul <8 x float> %c.pos.33, %v70
  %v72 = fmul <8 x float> %c.pos.36, %v70
  %v73 = fmul <8 x float> %c.pos.34, %v70
  %v74 = fmul <8 x float> %c.pos.37, %v70
  %v75 = fmul <8 x float> %c.pos.35, %v70
  %v76 = fmul <8 x float> %c.pos.38, %v70
  %v77 = mul i64 %i.13, 12
  %v78 = shufflevector <8 x float> %v71, <8 x float> %v73, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v79 = shufflevector <8 x float> %v75, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v80 = shufflevector <16 x float> %v78, <16 x float> %v79, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v81 = shufflevector <32 x float> %v80, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v82 = getelementptr i8, ptr %x.data.16, i64 %v77
  store <24 x float> %v81, ptr %v82, align 4
  %v83 = mul i64 %i.13, 12
  %v84 = shufflevector <8 x float> %v72, <8 x float> %v74, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v85 = shufflevector <8 x float> %v76, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v86 = shufflevector <16 x float> %v84, <16 x float> %v85, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v87 = shufflevector <32 x float> %v86, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v88 = add i64 %v83, 96
  %v89 = getelementptr i8, ptr %x.data.16, i64 %v88
  store <24 x float> %v87, ptr %v89, align 4
  %v90 = add nsw i32 %gang.10, 16
  %v91 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %left.92 = sub nsw i32 %high.2, %gangs.9
  %several.95 = icmp sge i32 %left.92, 4
  br i1 %several.95, label %rest.93, label %rest.end.94
rest.93:
  %v96 = insertelement <8 x i32> poison, i32 %left.92, i64 0
  %v97 = shufflevector <8 x i32> %v96, <8 x i32> poison, <8 x i32> zeroinitializer
  %v98 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v97
  %v99 = sext <8 x i1> %v98 to <8 x i32>
  %v100 = bitcast <8 x i32> %v99 to <8 x float>
  %v101 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v100)
  %v102 = bitcast <8 x float> %v101 to <8 x i32>
  %v103 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v97
  %v104 = sext <8 x i1> %v103 to <8 x i32>
  %v105 = bitcast <8 x i32> %v104 to <8 x float>
  %v106 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v105)
  %v107 = bitcast <8 x float> %v106 to <8 x i32>
  ; line 14: i = tid()
  %i.108 = sext i32 %gangs.9 to i64
  ; line 16: c.pos = x[i]
  %v109 = mul i64 %i.108, 12
  %v110 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v111 = getelementptr i8, ptr %x.data.16, i64 %v109
  %v112 = bitcast <8 x i1> %v98 to i8
  %v113 = getelementptr i8, ptr %v111, i64 0
  %v114 = and i8 %v112, 1
  %on.115 = icmp ne i8 %v114, 0
  %v116 = select i1 %on.115, ptr %v113, ptr %v110
  %v117 = load float, ptr %v116, align 4
  %x.118 = insertelement <8 x float> poison, float %v117, i64 0
  %v119 = getelementptr float, ptr %v116, i64 1
  %v120 = load float, ptr %v119, align 4
  %x.121 = insertelement <8 x float> poison, float %v120, i64 0
  %v122 = getelementptr float, ptr %v116, i64 2
  %v123 = load float, ptr %v122, align 4
  %x.124 = insertelement <8 x float> poison, float %v123, i64 0
  %v125 = getelementptr i8, ptr %v111, i64 12
  %v126 = and i8 %v112, 2
  %on.127 = icmp ne i8 %v126, 0
  %v128 = select i1 %on.127, ptr %v125, ptr %v110
  %v129 = load float, ptr %v128, align 4
  %x.130 = insertelement <8 x float> %x.118, float %v129, i64 1
  %v131 = getelementptr float, ptr %v128, i64 1
  %v132 = load float, ptr %v131, align 4
  %x.133 = insertelement <8 x float> %x.121, float %v132, i64 1
  %v134 = getelementptr float, ptr %v128, i64 2
  %v135 = load float, ptr %v134, align 4
  %x.136 = insertelement <8 x float> %x.124, float %v135, i64 1
  %v137 = getelementptr i8, ptr %v111, i64 24
  %v138 = and i8 %v112, 4
  %on.139 = icmp ne i8 %v138, 0
  %v140 = select i1 %on.139, ptr %v137, ptr %v110
  %v141 = load float, ptr %v140, align 4
  %x.142 = insertelement <8 x float> %x.130, float %v141, i64 2
  %v143 = getelementptr float, ptr %v140, i64 1
  %v144 = load float, ptr %v143, align 4
  %x.145 = insertelement <8 x float> %x.133, float %v144, i64 2
  %v146 = getelementptr float, ptr %v140, i64 2
  %v147 = load float, ptr %v146, align 4
  %x.148 = insertelement <8 x float> %x.136, float %v147, i64 2
  %v149 = getelementptr i8, ptr %v111, i64 36
  %v150 = and i8 %v112, 8
  %on.151 = icmp ne i8 %v150, 0
  %v152 = select i1 %on.151, ptr %v149, ptr %v110
  %v153 = load float, ptr %v152, align 4
  %x.154 = insertelement <8 x float> %x.142, float %v153, i64 3
  %v155 = getelementptr float, ptr %v152, i64 1
  %v156 = load float, ptr %v155, align 4
  %x.157 = insertelement <8 x float> %x.145, float %v156, i64 3
  %v158 = getelementptr float, ptr %v152, i64 2
  %v159 = load float, ptr %v158, align 4
  %x.160 = insertelement <8 x float> %x.148, float %v159, i64 3
  %v161 = getelementptr i8, ptr %v111, i64 48
  %v162 = and i8 %v112, 16
  %on.163 = icmp ne i8 %v162, 0
  %v164 = select i1 %on.163, ptr %v161, ptr %v110
  %v165 = load float, ptr %v164, align 4
  %x.166 = insertelement <8 x float> %x.154, float %v165, i64 4
  %v167 = getelementptr float, ptr %v164, i64 1
  %v168 = load float, ptr %v167, align 4
  %x.169 = insertelement <8 x float> %x.157, float %v168, i64 4
  %v170 = getelementptr float, ptr %v164, i64 2
  %v171 = load float, ptr %v170, align 4
  %x.172 = insertelement <8 x float> %x.160, float %v171, i64 4
  %v173 = getelementptr i8, ptr %v111, i64 60
  %v174 = and i8 %v112, 32
  %on.175 = icmp ne i8 %v174, 0
  %v176 = select i1 %on.175, ptr %v173, ptr %v110
  %v177 = load float, ptr %v176, align 4
  %x.178 = insertelement <8 x float> %x.166, float %v177, i64 5
  %v179 = getelementptr float, ptr %v176, i64 1
  %v180 = load float, ptr %v179, align 4
  %x.181 = insertelement <8 x float> %x.169, float %v180, i64 5
  %v182 = getelementptr float, ptr %v176, i64 2
  %v183 = load float, ptr %v182, align 4
  %x.184 = insertelement <8 x float> %x.172, float %v183, i64 5
  %v185 = getelementptr i8, ptr %v111, i64 72
  %v186 = and i8 %v112, 64
  %on.187 = icmp ne i8 %v186, 0
  %v188 = select i1 %on.187, ptr %v185, ptr %v110
  %v189 = load float, ptr %v188, align 4
  %x.190 = insertelement <8 x float> %x.178, float %v189, i64 6
  %v191 = getelementptr float, ptr %v188, i64 1
  %v192 = load float, ptr %v191, align 4
  %x.193 = insertelement <8 x float> %x.181, float %v192, i64 6
  %v194 = getelementptr float, ptr %v188, i64 2
  %v195 = load float, ptr %v194, align 4
  %x.196 = insertelement <8 x float> %x.184, float %v195, i64 6
  %v197 = getelementptr i8, ptr %v111, i64 84
  %v198 = and i8 %v112, 128
  %on.199 = icmp ne i8 %v198, 0
  %v200 = select i1 %on.199, ptr %v197, ptr %v110
  %v201 = load float, ptr %v200, align 4
  %x.202 = insertelement <8 x float> %x.190, float %v201, i64 7
  %v203 = getelementptr float, ptr %v200, i64 1
  %v204 = load float, ptr %v203, align 4
  %x.205 = insertelement <8 x float> %x.193, float %v204, i64 7
  %v206 = getelementptr float, ptr %v200, i64 2
  %v207 = load float, ptr %v206, align 4
  %x.208 = insertelement <8 x float> %x.196, float %v207, i64 7
  %v209 = mul i64 %i.108, 12
  %v210 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v211 = add i64 %v209, 96
  %v212 = getelementptr i8, ptr %x.data.16, i64 %v211
  %v213 = bitcast <8 x i1> %v103 to i8
  %v214 = getelementptr i8, ptr %v212, i64 0
  %v215 = and i8 %v213, 1
  %on.216 = icmp ne i8 %v215, 0
  %v217 = select i1 %on.216, ptr %v214, ptr %v210
  %v218 = load float, ptr %v217, align 4
  %x.219 = insertelement <8 x float> poison, float %v218, i64 0
  %v220 = getelementptr float, ptr %v217, i64 1
  %v221 = load float, ptr %v220, align 4
  %x.222 = insertelement <8 x float> poison, float %v221, i64 0
  %v223 = getelementptr float, ptr %v217, i64 2
  %v224 = load float, ptr %v223, align 4
  %x.225 = insertelement <8 x float> poison, float %v224, i64 0
  %v226 = getelementptr i8, ptr %v212, i64 12
  %v227 = and i8 %v213, 2
  %on.228 = icmp ne i8 %v227, 0
  %v229 = select i1 %on.228, ptr %v226, ptr %v210
  %v230 = load float, ptr %v229, align 4
  %x.231 = insertelement <8 x float> %x.219, float %v230, i64 1
  %v232 = getelementptr float, ptr %v229, i64 1
  %v233 = load float, ptr %v232, align 4
  %x.234 = insertelement <8 x float> %x.222, float %v233, i64 1
  %v235 = getelementptr float, ptr %v229, i64 2
  %v236 = load float, ptr %v235, align 4
  %x.237 = insertelement <8 x float> %x.225, float %v236, i64 1
  %v238 = getelementptr i8, ptr %v212, i64 24
  %v239 = and i8 %v213, 4
  %on.240 = icmp ne i8 %v239, 0
  %v241 = select i1 %on.240, ptr %v238, ptr %v210
  %v242 = load float, ptr %v241, align 4
  %x.243 = insertelement <8 x float> %x.231, float %v242, i64 2
  %v244 = getelementptr float, ptr %v241, i64 1
  %v245 = load float, ptr %v244, align 4
  %x.246 = insertelement <8 x float> %x.234, float %v245, i64 2
  %v247 = getelementptr float, ptr %v241, i64 2
  %v248 = load float, ptr %v247, align 4
  %x.249 = insertelement <8 x float> %x.237, float %v248, i64 2
  %v250 = getelementptr i8, ptr %v212, i64 36
  %v251 = and i8 %v213, 8
  %on.252 = icmp ne i8 %v251, 0
  %v253 = select i1 %on.252, ptr %v250, ptr %v210
  %v254 = load float, ptr %v253, align 4
  %x.255 = insertelement <8 x float> %x.243, float %v254, i64 3
  %v256 = getelementptr float, ptr %v253, i64 1
  %v257 = load float, ptr %v256, align 4
  %x.258 = insertelement <8 x float> %x.246, float %v257, i64 3
  %v259 = getelementptr float, ptr %v253, i64 2
  %v260 = load float, ptr %v259, align 4
  %x.261 = insertelement <8 x float> %x.249, float %v260, i64 3
  %v262 = getelementptr i8, ptr %v212, i64 48
  %v263 = and i8 %v213, 16
  %on.264 = icmp ne i8 %v263, 0
  %v265 = select i1 %on.264, ptr %v262, ptr %v210
  %v266 = load float, ptr %v265, align 4
  %x.267 = insertelement <8 x float> %x.255, float %v266, i64 4
  %v268 = getelementptr float, ptr %v265, i64 1
  %v269 = load float, ptr %v268, align 4
  %x.270 = insertelement <8 x float> %x.258, float %v269, i64 4
  %v271 = getelementptr float, ptr %v265, i64 2
  %v272 = load float, ptr %v271, align 4
  %x.273 = insertelement <8 x float> %x.261, float %v272, i64 4
  %v274 = getelementptr i8, ptr %v212, i64 60
  %v275 = and i8 %v213, 32
  %on.276 = icmp ne i8 %v275, 0
  %v277 = select i1 %on.276, ptr %v274, ptr %v210
  %v278 = load float, ptr %v277, align 4
  %x.279 = insertelement <8 x float> %x.267, float %v278, i64 5
  %v280 = getelementptr float, ptr %v277, i64 1
  %v281 = load float, ptr %v280, align 4
  %x.282 = insertelement <8 x float> %x.270, float %v281, i64 5
  %v283 = getelementptr float, ptr %v277, i64 2
  %v284 = load float, ptr %v283, align 4
  %x.285 = insertelement <8 x float> %x.273, float %v284, i64 5
  %v286 = getelementptr i8, ptr %v212, i64 72
  %v287 = and i8 %v213, 64
  %on.288 = icmp ne i8 %v287, 0
  %v289 = select i1 %on.288, ptr %v286, ptr %v210
  %v290 = load float, ptr %v289, align 4
  %x.291 = insertelement <8 x float> %x.279, float %v290, i64 6
  %v292 = getelementptr float, ptr %v289, i64 1
  %v293 = load float, ptr %v292, align 4
  %x.294 = insertelement <8 x float> %x.282, float %v293, i64 6
  %v295 = getelementptr float, ptr %v289, i64 2
  %v296 = load float, ptr %v295, align 4
  %x.297 = insertelement <8 x float> %x.285, float %v296, i64 6
  %v298 = getelementptr i8, ptr %v212, i64 84
  %v299 = and i8 %v213, 128
  %on.300 = icmp ne i8 %v299, 0
  %v301 = select i1 %on.300, ptr %v298, ptr %v210
  %v302 = load float, ptr %v301, align 4
  %x.303 = insertelement <8 x float> %x.291, float %v302, i64 7
  %v304 = getelementptr float, ptr %v301, i64 1
  %v305 = load float, ptr %v304, align 4
  %x.306 = insertelement <8 x float> %x.294, float %v305, i64 7
  %v307 = getelementptr float, ptr %v301, i64 2
  %v308 = load float, ptr %v307, align 4
  %x.309 = insertelement <8 x float> %x.297, float %v308, i64 7
  ; line 17: for k in range(4):
  br label %for.310
for.310:
  %k.313 = phi i32 [ 0, %rest.93 ], [ %k.next.339, %body.311 ]
  %c.pos.314 = phi <8 x float> [ %x.202, %rest.93 ], [ %v329, %body.311 ]
  %c.pos.315 = phi <8 x float> [ %x.205, %rest.93 ], [ %v333, %body.311 ]
  %c.pos.316 = phi <8 x float> [ %x.208, %rest.93 ], [ %v337, %body.311 ]
  %c.pos.317 = phi <8 x float> [ %x.303, %rest.93 ], [ %v330, %body.311 ]
  %c.pos.318 = phi <8 x float> [ %x.306, %rest.93 ], [ %v334, %body.311 ]
  %c.pos.319 = phi <8 x float> [ %x.309, %rest.93 ], [ %v338, %body.311 ]
  %c.vel.320 = phi float [ %b.vel.40, %rest.93 ], [ %c.vel.320, %body.311 ]
  %c.vel.321 = phi float [ %b.vel.42, %rest.93 ], [ %c.vel.321, %body.311 ]
  %c.vel.322 = phi float [ %b.vel.44, %rest.93 ], [ %c.vel.322, %body.311 ]
  %more.323 = icmp slt i32 %k.313, 4
  br i1 %more.323, label %body.311, label %endfor.312
body.311:
  ; line 10: b.pos += b.vel * dt
  %v324 = fmul float %c.vel.320, %dt.50
  %v325 = fmul float %c.vel.321, %dt.50
  %v326 = fmul float %c.vel.322, %dt.50
  %v327 = insertelement <8 x float> poison, float %v324, i64 0
  %v328 = shufflevector <8 x float> %v327, <8 x float> poison, <8 x i32> zeroinitializer
  %v329 = fadd <8 x float> %c.pos.314, %v328
  %v330 = fadd <8 x float> %c.pos.317, %v328
  %v331 = insertelement <8 x float> poison, float %v325, i64 0
  %v332 = shufflevector <8 x float> %v331, <8 x float> poison, <8 x i32> zeroinitializer
  %v333 = fadd <8 x float> %c.pos.315, %v332
  %v334 = fadd <8 x float> %c.pos.318, %v332
  %v335 = insertelement <8 x float> poison, float %v326, i64 0
  %v336 = shufflevector <8 x float> %v335, <8 x float> poison, <8 x i32> zeroinitializer
  %v337 = fadd <8 x float> %c.pos.316, %v336
  %v338 = fadd <8 x float> %c.pos.319, %v336
  ; line 17: for k in range(4):
  %k.next.339 = add nsw i32 %k.313, 1
  br label %for.310
endfor.312:
  ; line 19: x[i] = c.pos * b.mass
  %v340 = insertelement <8 x float> poison, float %b.mass.68, i64 0
  %v341 = shufflevector <8 x float> %v340, <8 x float> poison, <8 x i32> zeroinitializer
  %v342 = fmul <8 x float> %c.pos.314, %v341
  %v343 = fmul <8 x float> %c.pos.317, %v341
  %v344 = fmul <8 x float> %c.pos.315, %v341
  %v345 = fmul <8 x float> %c.pos.318, %v341
  %v346 = fmul <8 x float> %c.pos.316, %v341
  %v347 = fmul <8 x float> %c.pos.319, %v341
  %v348 = mul i64 %i.108, 12
  %v350 = getelementptr i8, ptr %nowhere.349, i64 0
  %v351 = getelementptr i8, ptr %x.data.16, i64 %v348
  %flags.352 = icmp slt <8 x i32> %v102, zeroinitializer
  %v353 = bitcast <8 x i1> %flags.352 to i8
  %v354 = getelementptr i8, ptr %v351, i64 0
  %v355 = and i8 %v353, 1
  %on.356 = icmp ne i8 %v355, 0
  %v357 = select i1 %on.356, ptr %v354, ptr %v350
  %v358 = extractelement <8 x float> %v342, i64 0
  store float %v358, ptr %v357, align 4
  %v359 = extractelement <8 x float> %v344, i64 0
  %v360 = getelementptr float, ptr %v357, i64 1
  store float %v359, ptr %v360, align 4
  %v361 = extractelement <8 x float> %v346, i64 0
  %v362 = getelementptr float, ptr %v357, i64 2
  store float %v361, ptr %v362, align 4
  %v363 = getelementptr i8, ptr %v351, i64 12
  %v364 = and i8 %v353, 2
  %on.365 = icmp ne i8 %v364, 0
  %v366 = select i1 %on.365, ptr %v363, ptr %v350
  %v367 = extractelement <8 x float> %v342, i64 1
  store float %v367, ptr %v366, align 4
  %v368 = extractelement <8 x float> %v344, i64 1
  %v369 = getelementptr float, ptr %v366, i64 1
  store float %v368, ptr %v369, align 4
  %v370 = extractelement <8 x float> %v346, i64 1
  %v371 = getelementptr float, ptr %v366, i64 2
  store float %v370, ptr %v371, align 4
  %v372 = getelementptr i8, ptr %v351, i64 24
  %v373 = and i8 %v353, 4
  %on.374 = icmp ne i8 %v373, 0
  %v375 = select i1 %on.374, ptr %v372, ptr %v350
  %v376 = extractelement <8 x float> %v342, i64 2
  store float %v376, ptr %v375, align 4
  %v377 = extractelement <8 x float> %v344, i64 2
  %v378 = getelementptr float, ptr %v375, i64 1
  store float %v377, ptr %v378, align 4
  %v379 = extractelement <8 x float> %v346, i64 2
  %v380 = getelementptr float, ptr %v375, i64 2
  store float %v379, ptr %v380, align 4
  %v381 = getelementptr i8, ptr %v351, i64 36
  %v382 = and i8 %v353, 8
  %on.383 = icmp ne i8 %v382, 0
  %v384 = select i1 %on.383, ptr %v381, ptr %v350
  %v385 = extractelement <8 x float> %v342, i64 3
  store float %v385, ptr %v384, align 4
  %v386 = extractelement <8 x float> %v344, i64 3
  %v387 = getelementptr float, ptr %v384, i64 1
  store float %v386, ptr %v387, align 4
  %v388 = extractelement <8 x float> %v346, i64 3
  %v389 = getelementptr float, ptr %v384, i64 2
  store float %v388, ptr %v389, align 4
  %v390 = getelementptr i8, ptr %v351, i64 48
  %v391 = and i8 %v353, 16
  %on.392 = icmp ne i8 %v391, 0
  %v393 = select i1 %on.392, ptr %v390, ptr %v350
  %v394 = extractelement <8 x float> %v342, i64 4
  store float %v394, ptr %v393, align 4
  %v395 = extractelement <8 x float> %v344, i64 4
  %v396 = getelementptr float, ptr %v393, i64 1
  store float %v395, ptr %v396, align 4
  %v397 = extractelement <8 x float> %v346, i64 4
  %v398 = getelementptr float, ptr %v393, i64 2
  store float %v397, ptr %v398, align 4
  %v399 = getelementptr i8, ptr %v351, i64 60
  %v400 = and i8 %v353, 32
  %on.401 = icmp ne i8 %v400, 0
  %v402 = select i1 %on.401, ptr %v399, ptr %v350
  %v403 = extractelement <8 x float> %v342, i64 5
  store float %v403, ptr %v402, align 4
  %v404 = extractelement <8 x float> %v344, i64 5
  %v405 = getelementptr float, ptr %v402, i64 1
  store float %v404, ptr %v405, align 4
  %v406 = extractelement <8 x float> %v346, i64 5
  %v407 = getelementptr float, ptr %v402, i64 2
  store float %v406, ptr %v407, align 4
  %v408 = getelementptr i8, ptr %v351, i64 72
  %v409 = and i8 %v353, 64
  %on.410 = icmp ne i8 %v409, 0
  %v411 = select i1 %on.410, ptr %v408, ptr %v350
  %v412 = extractelement <8 x float> %v342, i64 6
  store float %v412, ptr %v411, align 4
  %v413 = extractelement <8 x float> %v344, i64 6
  %v414 = getelementptr float, ptr %v411, i64 1
  store float %v413, ptr %v414, align 4
  %v415 = extractelement <8 x float> %v346, i64 6
  %v416 = getelementptr float, ptr %v411, i64 2
  store float %v415, ptr %v416, align 4
  %v417 = getelementptr i8, ptr %v351, i64 84
  %v418 = and i8 %v353, 128
  %on.419 = icmp ne i8 %v418, 0
  %v420 = select i1 %on.419, ptr %v417, ptr %v350
  %v421 = extractelement <8 x float> %v342, i64 7
  store float %v421, ptr %v420, align 4
  %v422 = extractelement <8 x float> %v344, i64 7
  %v423 = getelementptr float, ptr %v420, i64 1
  store float %v422, ptr %v423, align 4
  %v424 = extractelement <8 x float> %v346, i64 7
  %v425 = getelementptr float, ptr %v420, i64 2
  store float %v424, ptr %v425, align 4
  %v426 = mul i64 %i.108, 12
  %v427 = getelementptr i8, ptr %nowhere.349, i64 0
  %v428 = add i64 %v426, 96
  %v429 = getelementptr i8, ptr %x.data.16, i64 %v428
  %flags.430 = icmp slt <8 x i32> %v107, zeroinitializer
  %v431 = bitcast <8 x i1> %flags.430 to i8
  %v432 = getelementptr i8, ptr %v429, i64 0
  %v433 = and i8 %v431, 1
  %on.434 = icmp ne i8 %v433, 0
  %v435 = select i1 %on.434, ptr %v432, ptr %v427
  %v436 = extractelement <8 x float> %v343, i64 0
  store float %v436, ptr %v435, align 4
  %v437 = extractelement <8 x float> %v345, i64 0
  %v438 = getelementptr float, ptr %v435, i64 1
  store float %v437, ptr %v438, align 4
  %v439 = extractelement <8 x float> %v347, i64 0
  %v440 = getelementptr float, ptr %v435, i64 2
  store float %v439, ptr %v440, align 4
  %v441 = getelementptr i8, ptr %v429, i64 12
  %v442 = and i8 %v431, 2
  %on.443 = icmp ne i8 %v442, 0
  %v444 = select i1 %on.443, ptr %v441, ptr %v427
  %v445 = extractelement <8 x float> %v343, i64 1
  store float %v445, ptr %v444, align 4
  %v446 = extractelement <8 x float> %v345, i64 1
  %v447 = getelementptr float, ptr %v444, i64 1
  store float %v446, ptr %v447, align 4
  %v448 = extractelement <8 x float> %v347, i64 1
  %v449 = getelementptr float, ptr %v444, i64 2
  store float %v448, ptr %v449, align 4
  %v450 = getelementptr i8, ptr %v429, i64 24
  %v451 = and i8 %v431, 4
  %on.452 = icmp ne i8 %v451, 0
  %v453 = select i1 %on.452, ptr %v450, ptr %v427
  %v454 = extractelement <8 x float> %v343, i64 2
  store float %v454, ptr %v453, align 4
  %v455 = extractelement <8 x float> %v345, i64 2
  %v456 = getelementptr float, ptr %v453, i64 1
  store float %v455, ptr %v456, align 4
  %v457 = extractelement <8 x float> %v347, i64 2
  %v458 = getelementptr float, ptr %v453, i64 2
  store float %v457, ptr %v458, align 4
  %v459 = getelementptr i8, ptr %v429, i64 36
  %v460 = and i8 %v431, 8
  %on.461 = icmp ne i8 %v460, 0
  %v462 = select i1 %on.461, ptr %v459, ptr %v427
  %v463 = extractelement <8 x float> %v343, i64 3
  store float %v463, ptr %v462, align 4
  %v464 = extractelement <8 x float> %v345, i64 3
  %v465 = getelementptr float, ptr %v462, i64 1
  store float %v464, ptr %v465, align 4
  %v466 = extractelement <8 x float> %v347, i64 3
  %v467 = getelementptr float, ptr %v462, i64 2
  store float %v466, ptr %v467, align 4
  %v468 = getelementptr i8, ptr %v429, i64 48
  %v469 = and i8 %v431, 16
  %on.470 = icmp ne i8 %v469, 0
  %v471 = select i1 %on.470, ptr %v468, ptr %v427
  %v472 = extractelement <8 x float> %v343, i64 4
  store float %v472, ptr %v471, align 4
  %v473 = extractelement <8 x float> %v345, i64 4
  %v474 = getelementptr float, ptr %v471, i64 1
  store float %v473, ptr %v474, align 4
  %v475 = extractelement <8 x float> %v347, i64 4
  %v476 = getelementptr float, ptr %v471, i64 2
  store float %v475, ptr %v476, align 4
  %v477 = getelementptr i8, ptr %v429, i64 60
  %v478 = and i8 %v431, 32
  %on.479 = icmp ne i8 %v478, 0
  %v480 = select i1 %on.479, ptr %v477, ptr %v427
  %v481 = extractelement <8 x float> %v343, i64 5
  store float %v481, ptr %v480, align 4
  %v482 = extractelement <8 x float> %v345, i64 5
  %v483 = getelementptr float, ptr %v480, i64 1
  store float %v482, ptr %v483, align 4
  %v484 = extractelement <8 x float> %v347, i64 5
  %v485 = getelementptr float, ptr %v480, i64 2
  store float %v484, ptr %v485, align 4
  %v486 = getelementptr i8, ptr %v429, i64 72
  %v487 = and i8 %v431, 64
  %on.488 = icmp ne i8 %v487, 0
  %v489 = select i1 %on.488, ptr %v486, ptr %v427
  %v490 = extractelement <8 x float> %v343, i64 6
  store float %v490, ptr %v489, align 4
  %v491 = extractelement <8 x float> %v345, i64 6
  %v492 = getelementptr float, ptr %v489, i64 1
  store float %v491, ptr %v492, align 4
  %v493 = extractelement <8 x float> %v347, i64 6
  %v494 = getelementptr float, ptr %v489, i64 2
  store float %v493, ptr %v494, align 4
  %v495 = getelementptr i8, ptr %v429, i64 84
  %v496 = and i8 %v431, 128
  %on.497 = icmp ne i8 %v496, 0
  %v498 = select i1 %on.497, ptr %v495, ptr %v427
  %v499 = extractelement <8 x float> %v343, i64 7
  store float %v499, ptr %v498, align 4
  %v500 = extractelement <8 x float> %v345, i64 7
  %v501 = getelementptr float, ptr %v498, i64 1
  store float %v500, ptr %v501, align 4
  %v502 = extractelement <8 x float> %v347, i64 7
  %v503 = getelementptr float, ptr %v498, i64 2
  store float %v502, ptr %v503, align 4
  br label %rest.end.94
rest.end.94:
  %first.504 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %high.2, %endfor.312 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.504, %rest.end.94 ], [ %tid.next, %thread.end ]
  %more.505 = icmp slt i32 %tid, %high.2
  br i1 %more.505, label %thread, label %finish
thread:
  ; line 14: i = tid()
  ; line 16: c.pos = x[i]
  %v506 = sext i32 %tid to i64
  %v507 = getelementptr inbounds [3 x float], ptr %x.data.16, i64 %v506
  %v508 = getelementptr inbounds float, ptr %v507, i64 1
  %v509 = getelementptr inbounds float, ptr %v507, i64 2
  %c.pos.510 = load float, ptr %v507
  %c.pos.511 = load float, ptr %v508
  %c.pos.512 = load float, ptr %v509
  ; line 17: for k in range(4):
  br label %for.513
for.513:
  %k.516 = phi i32 [ 0, %thread ], [ %k.next.530, %body.514 ]
  %c.pos.517 = phi float [ %c.pos.510, %thread ], [ %v527, %body.514 ]
  %c.pos.518 = phi float [ %c.pos.511, %thread ], [ %v528, %body.514 ]
  %c.pos.519 = phi float [ %c.pos.512, %thread ], [ %v529, %body.514 ]
  %c.vel.520 = phi float [ %b.vel.40, %thread ], [ %c.vel.520, %body.514 ]
  %c.vel.521 = phi float [ %b.vel.42, %thread ], [ %c.vel.521, %body.514 ]
  %c.vel.522 = phi float [ %b.vel.44, %thread ], [ %c.vel.522, %body.514 ]
  %more.523 = icmp slt i32 %k.516, 4
  br i1 %more.523, label %body.514, label %endfor.515
body.514:
  ; line 10: b.pos += b.vel * dt
  %v524 = fmul float %c.vel.520, %dt.50
  %v525 = fmul float %c.vel.521, %dt.50
  %v526 = fmul float %c.vel.522, %dt.50
  %v527 = fadd float %c.pos.517, %v524
  %v528 = fadd float %c.pos.518, %v525
  %v529 = fadd float %c.pos.519, %v526
  ; line 17: for k in range(4):
  %k.next.530 = add nsw i32 %k.516, 1
  br label %for.513
endfor.515:
  ; line 19: x[i] = c.pos * b.mass
  %v531 = fmul float %c.pos.517, %b.mass.68
  %v532 = fmul float %c.pos.518, %b.mass.68
  %v533 = fmul float %c.pos.519, %b.mass.68
  %v534 = sext i32 %tid to i64
  %v535 = getelementptr inbounds [3 x float], ptr %x.data.16, i64 %v534
  %v536 = getelementptr inbounds float, ptr %v535, i64 1
  %v537 = getelementptr inbounds float, ptr %v535, i64 2
  store float %v531, ptr %v535
  store float %v532, ptr %v536
  store float %v533, ptr %v537
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
