define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %p.shape0.at.14 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.15 = load i64, ptr %p.shape0.at.14, !range !0
  %p.at.42 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.43 = load ptr, ptr %p.at.42
  %v105 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.123 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.124 = load ptr, ptr %f.at.123
  %v140 = getelementptr inbounds i8, ptr %stop, i64 16
  %nowhere.454 = alloca [64 x i8], align 64
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v145, %on.133 ]
  %number.11 = phi i32 [ 0, %start ], [ %v146, %on.133 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 6: i = tid()
  %i.13 = sext i32 %gang.10 to i64
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v16 = trunc i64 %p.shape0.15 to i32
  %left.22 = sub i32 %v16, 0
  %few.23 = call i32 @llvm.umin.i32(i32 %left.22, i32 1024)
  %last.24 = add nsw i32 0, %few.23
  %more.25 = icmp slt i32 0, %v16
  br i1 %more.25, label %strip.17, label %endfor.21
strip.17:
  %j.26 = phi i32 [ 0, %gang.4 ], [ %last.33, %go.102 ]
  %total.27 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v92, %go.102 ]
  %total.28 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v94, %go.102 ]
  %total.29 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v96, %go.102 ]
  %total.30 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v93, %go.102 ]
  %total.31 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v95, %go.102 ]
  %total.32 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v97, %go.102 ]
  %last.33 = phi i32 [ %last.24, %gang.4 ], [ %last.111, %go.102 ]
  br label %body.18
body.18:
  %j.34 = phi i32 [ %j.26, %strip.17 ], [ %j.next.98, %body.18 ]
  %total.35 = phi <8 x float> [ %total.27, %strip.17 ], [ %v92, %body.18 ]
  %total.36 = phi <8 x float> [ %total.28, %strip.17 ], [ %v94, %body.18 ]
  %total.37 = phi <8 x float> [ %total.29, %strip.17 ], [ %v96, %body.18 ]
  %total.38 = phi <8 x float> [ %total.30, %strip.17 ], [ %v93, %body.18 ]
  %total.39 = phi <8 x float> [ %total.31, %strip.17 ], [ %v95, %body.18 ]
  %total.40 = phi <8 x float> [ %total.32, %strip.17 ], [ %v97, %body.18 ]
  ; line 9: total += force(p[i], p[j])
  %v41 = mul i64 %i.13, 12
  %v44 = getelementptr i8, ptr %p.data.43, i64 %v41
  %p.45 = load <24 x float>, ptr %v44, align 4
  %v46 = shufflevector <24 x float> %p.45, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v47 = shufflevector <24 x float> %p.45, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v48 = shufflevector <24 x float> %p.45, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %v49 = add i64 %v41, 96
  %v50 = getelementptr i8, ptr %p.data.43, i64 %v49
  %p.51 = load <24 x float>, ptr %v50, align 4
  %v52 = shufflevector <24 x float> %p.51, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v53 = shufflevector <24 x float> %p.51, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v54 = shufflevector <24 x float> %p.51, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %v55 = sext i32 %j.34 to i64
  %v56 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v55
  %v57 = getelementptr inbounds float, ptr %v56, i64 1
  %v58 = getelementptr inbounds float, ptr %v56, i64 2
  %v59 = load float, ptr %v56
  %v60 = load float, ptr %v57
  %v61 = load float, ptr %v58
  ; line 2: d = b - a
  %v62 = insertelement <8 x float> poison, float %v59, i64 0
  %v63 = shufflevector <8 x float> %v62, <8 x float> poison, <8 x i32> zeroinitializer
  %v64 = fsub <8 x float> %v63, %v46
  %v65 = fsub <8 x float> %v63, %v52
  %v66 = insertelement <8 x float> poison, float %v60, i64 0
  %v67 = shufflevector <8 x float> %v66, <8 x float> poison, <8 x i32> zeroinitializer
  %v68 = fsub <8 x float> %v67, %v47
  %v69 = fsub <8 x float> %v67, %v53
  %v70 = insertelement <8 x float> poison, float %v61, i64 0
  %v71 = shufflevector <8 x float> %v70, <8 x float> poison, <8 x i32> zeroinitializer
  %v72 = fsub <8 x float> %v71, %v48
  %v73 = fsub <8 x float> %v71, %v54
  ; line 3: return d / (length_sq(d) + 0.01)
  %v74 = fmul <8 x float> %v64, %v64
  %v75 = fmul <8 x float> %v65, %v65
  %v76 = fmul <8 x float> %v68, %v68
  %v77 = fmul <8 x float> %v69, %v69
  %v78 = fmul <8 x float> %v72, %v72
  %v79 = fmul <8 x float> %v73, %v73
  %v80 = fadd <8 x float> %v74, %v76
  %v81 = fadd <8 x float> %v75, %v77
  %v82 = fadd <8 x float> %v80, %v78
  %v83 = fadd <8 x float> %v81, %v79
  %v84 = fadd <8 x float> %v82, splat (float 0x3F847AE140000000)
  %v85 = fadd <8 x float> %v83, splat (float 0x3F847AE140000000)
  %v86 = fdiv <8 x float> %v64, %v84
  %v87 = fdiv <8 x float> %v65, %v85
  %v88 = fdiv <8 x float> %v68, %v84
  %v89 = fdiv <8 x float> %v69, %v85
  %v90 = fdiv <8 x float> %v72, %v84
  %v91 = fdiv <8 x float> %v73, %v85
  ; line 9: total += force(p[i], p[j])
  %v92 = fadd <8 x float> %total.35, %v86
  %v93 = fadd <8 x float> %total.38, %v87
  %v94 = fadd <8 x float> %total.36, %v88
  %v95 = fadd <8 x float> %total.39, %v89
  %v96 = fadd <8 x float> %total.37, %v90
  %v97 = fadd <8 x float> %total.40, %v91
  ; line 8: for j in range(len(p)):
  %j.next.98 = add nsw i32 %j.34, 1
  %more.99 = icmp ne i32 %j.next.98, %last.33
  br i1 %more.99, label %body.18, label %stripped.19, !llvm.loop !2
stripped.19:
  %over.100 = icmp eq i32 %last.33, %v16
  br i1 %over.100, label %endfor.21, label %again.20, !prof !1
again.20:
  %stop.103 = load volatile i32, ptr %stop
  %calm.104 = icmp eq i32 %stop.103, 0
  br i1 %calm.104, label %go.102, label %ask.101, !prof !1
ask.101:
  %v106 = load ptr, ptr %v105
  %v107 = call i32 %v106(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v108 = icmp eq i32 %v107, 0
  br i1 %v108, label %go.102, label %stopped
go.102:
  %left.109 = sub i32 %v16, %last.33
  %few.110 = call i32 @llvm.umin.i32(i32 %left.109, i32 1024)
  %last.111 = add nsw i32 %last.33, %few.110
  br label %strip.17
endfor.21:
  %v112 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v92, %stripped.19 ]
  %v113 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v94, %stripped.19 ]
  %v114 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v96, %stripped.19 ]
  %v115 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v93, %stripped.19 ]
  %v116 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v95, %stripped.19 ]
  %v117 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v97, %stripped.19 ]
  ; line 10: f[i] = total
  %v118 = mul i64 %i.13, 12
  %v119 = shufflevector <8 x float> %v112, <8 x float> %v113, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v120 = shufflevector <8 x float> %v114, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v121 = shufflevector <16 x float> %v119, <16 x float> %v120, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v122 = shufflevector <32 x float> %v121, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v125 = getelementptr i8, ptr %f.data.124, i64 %v118
  store <24 x float> %v122, ptr %v125, align 4
  %v126 = shufflevector <8 x float> %v115, <8 x float> %v116, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v127 = shufflevector <8 x float> %v117, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v128 = shufflevector <16 x float> %v126, <16 x float> %v127, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v129 = shufflevector <32 x float> %v128, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v130 = add i64 %v118, 96
  %v131 = getelementptr i8, ptr %f.data.124, i64 %v130
  store <24 x float> %v129, ptr %v131, align 4
  %v134 = and i32 %number.11, 1
  %early.135 = icmp ne i32 %v134, 1
  br i1 %early.135, label %on.133, label %due.132, !prof !1
due.132:
  %stop.138 = load volatile i32, ptr %stop
  %calm.139 = icmp eq i32 %stop.138, 0
  br i1 %calm.139, label %go.137, label %ask.136, !prof !1
ask.136:
  %v141 = sext i32 %gang.10 to i64
  store i64 %v141, ptr %v140
  %v142 = load ptr, ptr %v105
  %v143 = call i32 %v142(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v144 = icmp eq i32 %v143, 0
  br i1 %v144, label %go.137, label %stopped
go.137:
  br label %on.133
on.133:
  %v145 = add nsw i32 %gang.10, 16
  %v146 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !3
gangs.end.5:
  %left.147 = sub nsw i32 %high.2, %gangs.9
  %several.150 = icmp sge i32 %left.147, 4
  br i1 %several.150, label %rest.148, label %rest.end.149
rest.148:
  %v151 = insertelement <8 x i32> poison, i32 %left.147, i64 0
  %v152 = shufflevector <8 x i32> %v151, <8 x i32> poison, <8 x i32> zeroinitializer
  %v153 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v152
  %v154 = sext <8 x i1> %v153 to <8 x i32>
  %v155 = bitcast <8 x i32> %v154 to <8 x float>
  %v156 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v155)
  %v157 = bitcast <8 x float> %v156 to <8 x i32>
  %v158 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v152
  %v159 = sext <8 x i1> %v158 to <8 x i32>
  %v160 = bitcast <8 x i32> %v159 to <8 x float>
  %v161 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v160)
  %v162 = bitcast <8 x float> %v161 to <8 x i32>
  ; line 6: i = tid()
  %i.163 = sext i32 %gangs.9 to i64
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v164 = trunc i64 %p.shape0.15 to i32
  %left.170 = sub i32 %v164, 0
  %few.171 = call i32 @llvm.umin.i32(i32 %left.170, i32 1024)
  %last.172 = add nsw i32 0, %few.171
  %more.173 = icmp slt i32 0, %v164
  br i1 %more.173, label %strip.165, label %endfor.169
strip.165:
  %j.174 = phi i32 [ 0, %rest.148 ], [ %last.181, %go.438 ]
  %total.175 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v428, %go.438 ]
  %total.176 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v430, %go.438 ]
  %total.177 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v432, %go.438 ]
  %total.178 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v429, %go.438 ]
  %total.179 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v431, %go.438 ]
  %total.180 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v433, %go.438 ]
  %last.181 = phi i32 [ %last.172, %rest.148 ], [ %last.446, %go.438 ]
  br label %body.166
body.166:
  %j.182 = phi i32 [ %j.174, %strip.165 ], [ %j.next.434, %body.166 ]
  %total.183 = phi <8 x float> [ %total.175, %strip.165 ], [ %v428, %body.166 ]
  %total.184 = phi <8 x float> [ %total.176, %strip.165 ], [ %v430, %body.166 ]
  %total.185 = phi <8 x float> [ %total.177, %strip.165 ], [ %v432, %body.166 ]
  %total.186 = phi <8 x float> [ %total.178, %strip.165 ], [ %v429, %body.166 ]
  %total.187 = phi <8 x float> [ %total.179, %strip.165 ], [ %v431, %body.166 ]
  %total.188 = phi <8 x float> [ %total.180, %strip.165 ], [ %v433, %body.166 ]
  ; line 9: total += force(p[i], p[j])
  %v189 = mul i64 %i.163, 12
  %v190 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v191 = getelementptr i8, ptr %p.data.43, i64 %v189
  %flags.192 = icmp slt <8 x i32> %v157, zeroinitializer
  %v193 = bitcast <8 x i1> %flags.192 to i8
  %v194 = getelementptr i8, ptr %v191, i64 0
  %v195 = and i8 %v193, 1
  %on.196 = icmp ne i8 %v195, 0
  %v197 = select i1 %on.196, ptr %v194, ptr %v190
  %v198 = load float, ptr %v197, align 4
  %p.199 = insertelement <8 x float> poison, float %v198, i64 0
  %v200 = getelementptr float, ptr %v197, i64 1
  %v201 = load float, ptr %v200, align 4
  %p.202 = insertelement <8 x float> poison, float %v201, i64 0
  %v203 = getelementptr float, ptr %v197, i64 2
  %v204 = load float, ptr %v203, align 4
  %p.205 = insertelement <8 x float> poison, float %v204, i64 0
  %v206 = getelementptr i8, ptr %v191, i64 12
  %v207 = and i8 %v193, 2
  %on.208 = icmp ne i8 %v207, 0
  %v209 = select i1 %on.208, ptr %v206, ptr %v190
  %v210 = load float, ptr %v209, align 4
  %p.211 = insertelement <8 x float> %p.199, float %v210, i64 1
  %v212 = getelementptr float, ptr %v209, i64 1
  %v213 = load float, ptr %v212, align 4
  %p.214 = insertelement <8 x float> %p.202, float %v213, i64 1
  %v215 = getelementptr float, ptr %v209, i64 2
  %v216 = load float, ptr %v215, align 4
  %p.217 = insertelement <8 x float> %p.205, float %v216, i64 1
  %v218 = getelementptr i8, ptr %v191, i64 24
  %v219 = and i8 %v193, 4
  %on.220 = icmp ne i8 %v219, 0
  %v221 = select i1 %on.220, ptr %v218, ptr %v190
  %v222 = load float, ptr %v221, align 4
  %p.223 = insertelement <8 x float> %p.211, float %v222, i64 2
  %v224 = getelementptr float, ptr %v221, i64 1
  %v225 = load float, ptr %v224, align 4
  %p.226 = insertelement <8 x float> %p.214, float %v225, i64 2
  %v227 = getelementptr float, ptr %v221, i64 2
  %v228 = load float, ptr %v227, align 4
  %p.229 = insertelement <8 x float> %p.217, float %v228, i64 2
  %v230 = getelementptr i8, ptr %v191, i64 36
  %v231 = and i8 %v193, 8
  %on.232 = icmp ne i8 %v231, 0
  %v233 = select i1 %on.232, ptr %v230, ptr %v190
  %v234 = load float, ptr %v233, align 4
  %p.235 = insertelement <8 x float> %p.223, float %v234, i64 3
  %v236 = getelementptr float, ptr %v233, i64 1
  %v237 = load float, ptr %v236, align 4
  %p.238 = insertelement <8 x float> %p.226, float %v237, i64 3
  %v239 = getelementptr float, ptr %v233, i64 2
  %v240 = load float, ptr %v239, align 4
  %p.241 = insertelement <8 x float> %p.229, float %v240, i64 3
  %v242 = getelementptr i8, ptr %v191, i64 48
  %v243 = and i8 %v193, 16
  %on.244 = icmp ne i8 %v243, 0
  %v245 = select i1 %on.244, ptr %v242, ptr %v190
  %v246 = load float, ptr %v245, align 4
  %p.247 = insertelement <8 x float> %p.235, float %v246, i64 4
  %v248 = getelementptr float, ptr %v245, i64 1
  %v249 = load float, ptr %v248, align 4
  %p.250 = insertelement <8 x float> %p.238, float %v249, i64 4
  %v251 = getelementptr float, ptr %v245, i64 2
  %v252 = load float, ptr %v251, align 4
  %p.253 = insertelement <8 x float> %p.241, float %v252, i64 4
  %v254 = getelementptr i8, ptr %v191, i64 60
  %v255 = and i8 %v193, 32
  %on.256 = icmp ne i8 %v255, 0
  %v257 = select i1 %on.256, ptr %v254, ptr %v190
  %v258 = load float, ptr %v257, align 4
  %p.259 = insertelement <8 x float> %p.247, float %v258, i64 5
  %v260 = getelementptr float, ptr %v257, i64 1
  %v261 = load float, ptr %v260, align 4
  %p.262 = insertelement <8 x float> %p.250, float %v261, i64 5
  %v263 = getelementptr float, ptr %v257, i64 2
  %v264 = load float, ptr %v263, align 4
  %p.265 = insertelement <8 x float> %p.253, float %v264, i64 5
  %v266 = getelementptr i8, ptr %v191, i64 72
  %v267 = and i8 %v193, 64
  %on.268 = icmp ne i8 %v267, 0
  %v269 = select i1 %on.268, ptr %v266, ptr %v190
  %v270 = load float, ptr %v269, align 4
  %p.271 = insertelement <8 x float> %p.259, float %v270, i64 6
  %v272 = getelementptr float, ptr %v269, i64 1
  %v273 = load float, ptr %v272, align 4
  %p.274 = insertelement <8 x float> %p.262, float %v273, i64 6
  %v275 = getelementptr float, ptr %v269, i64 2
  %v276 = load float, ptr %v275, align 4
  %p.277 = insertelement <8 x float> %p.265, float %v276, i64 6
  %v278 = getelementptr i8, ptr %v191, i64 84
  %v279 = and i8 %v193, 128
  %on.280 = icmp ne i8 %v279, 0
  %v281 = select i1 %on.280, ptr %v278, ptr %v190
  %v282 = load float, ptr %v281, align 4
  %p.283 = insertelement <8 x float> %p.271, float %v282, i64 7
  %v284 = getelementptr float, ptr %v281, i64 1
  %v285 = load float, ptr %v284, align 4
  %p.286 = insertelement <8 x float> %p.274, float %v285, i64 7
  %v287 = getelementptr float, ptr %v281, i64 2
  %v288 = load float, ptr %v287, align 4
  %p.289 = insertelement <8 x float> %p.277, float %v288, i64 7
  %v290 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v291 = add i64 %v189, 96
  %v292 = getelementptr i8, ptr %p.data.43, i64 %v291
  %flags.293 = icmp slt <8 x i32> %v162, zeroinitializer
  %v294 = bitcast <8 x i1> %flags.293 to i8
  %v295 = getelementptr i8, ptr %v292, i64 0
  %v296 = and i8 %v294, 1
  %on.297 = icmp ne i8 %v296, 0
  %v298 = select i1 %on.297, ptr %v295, ptr %v290
  %v299 = load float, ptr %v298, align 4
  %p.300 = insertelement <8 x float> poison, float %v299, i64 0
  %v301 = getelementptr float, ptr %v298, i64 1
  %v302 = load float, ptr %v301, align 4
  %p.303 = insertelement <8 x float> poison, float %v302, i64 0
  %v304 = getelementptr float, ptr %v298, i64 2
  %v305 = load float, ptr %v304, align 4
  %p.306 = insertelement <8 x float> poison, float %v305, i64 0
  %v307 = getelementptr i8, ptr %v292, i64 12
  %v308 = and i8 %v294, 2
  %on.309 = icmp ne i8 %v308, 0
  %v310 = select i1 %on.309, ptr %v307, ptr %v290
  %v311 = load float, ptr %v310, align 4
  %p.312 = insertelement <8 x float> %p.300, float %v311, i64 1
  %v313 = getelementptr float, ptr %v310, i64 1
  %v314 = load float, ptr %v313, align 4
  %p.315 = insertelement <8 x float> %p.303, float %v314, i64 1
  %v316 = getelementptr float, ptr %v310, i64 2
  %v317 = load float, ptr %v316, align 4
  %p.318 = insertelement <8 x float> %p.306, float %v317, i64 1
  %v319 = getelementptr i8, ptr %v292, i64 24
  %v320 = and i8 %v294, 4
  %on.321 = icmp ne i8 %v320, 0
  %v322 = select i1 %on.321, ptr %v319, ptr %v290
  %v323 = load float, ptr %v322, align 4
  %p.324 = insertelement <8 x float> %p.312, float %v323, i64 2
  %v325 = getelementptr float, ptr %v322, i64 1
  %v326 = load float, ptr %v325, align 4
  %p.327 = insertelement <8 x float> %p.315, float %v326, i64 2
  %v328 = getelementptr float, ptr %v322, i64 2
  %v329 = load float, ptr %v328, align 4
  %p.330 = insertelement <8 x float> %p.318, float %v329, i64 2
  %v331 = getelementptr i8, ptr %v292, i64 36
  %v332 = and i8 %v294, 8
  %on.333 = icmp ne i8 %v332, 0
  %v334 = select i1 %on.333, ptr %v331, ptr %v290
  %v335 = load float, ptr %v334, align 4
  %p.336 = insertelement <8 x float> %p.324, float %v335, i64 3
  %v337 = getelementptr float, ptr %v334, i64 1
  %v338 = load float, ptr %v337, align 4
  %p.339 = insertelement <8 x float> %p.327, float %v338, i64 3
  %v340 = getelementptr float, ptr %v334, i64 2
  %v341 = load float, ptr %v340, align 4
  %p.342 = insertelement <8 x float> %p.330, float %v341, i64 3
  %v343 = getelementptr i8, ptr %v292, i64 48
  %v344 = and i8 %v294, 16
  %on.345 = icmp ne i8 %v344, 0
  %v346 = select i1 %on.345, ptr %v343, ptr %v290
  %v347 = load float, ptr %v346, align 4
  %p.348 = insertelement <8 x float> %p.336, float %v347, i64 4
  %v349 = getelementptr float, ptr %v346, i64 1
  %v350 = load float, ptr %v349, align 4
  %p.351 = insertelement <8 x float> %p.339, float %v350, i64 4
  %v352 = getelementptr float, ptr %v346, i64 2
  %v353 = load float, ptr %v352, align 4
  %p.354 = insertelement <8 x float> %p.342, float %v353, i64 4
  %v355 = getelementptr i8, ptr %v292, i64 60
  %v356 = and i8 %v294, 32
  %on.357 = icmp ne i8 %v356, 0
  %v358 = select i1 %on.357, ptr %v355, ptr %v290
  %v359 = load float, ptr %v358, align 4
  %p.360 = insertelement <8 x float> %p.348, float %v359, i64 5
  %v361 = getelementptr float, ptr %v358, i64 1
  %v362 = load float, ptr %v361, align 4
  %p.363 = insertelement <8 x float> %p.351, float %v362, i64 5
  %v364 = getelementptr float, ptr %v358, i64 2
  %v365 = load float, ptr %v364, align 4
  %p.366 = insertelement <8 x float> %p.354, float %v365, i64 5
  %v367 = getelementptr i8, ptr %v292, i64 72
  %v368 = and i8 %v294, 64
  %on.369 = icmp ne i8 %v368, 0
  %v370 = select i1 %on.369, ptr %v367, ptr %v290
  %v371 = load float, ptr %v370, align 4
  %p.372 = insertelement <8 x float> %p.360, float %v371, i64 6
  %v373 = getelementptr float, ptr %v370, i64 1
  %v374 = load float, ptr %v373, align 4
  %p.375 = insertelement <8 x float> %p.363, float %v374, i64 6
  %v376 = getelementptr float, ptr %v370, i64 2
  %v377 = load float, ptr %v376, align 4
  %p.378 = insertelement <8 x float> %p.366, float %v377, i64 6
  %v379 = getelementptr i8, ptr %v292, i64 84
  %v380 = and i8 %v294, 128
  %on.381 = icmp ne i8 %v380, 0
  %v382 = select i1 %on.381, ptr %v379, ptr %v290
  %v383 = load float, ptr %v382, align 4
  %p.384 = insertelement <8 x float> %p.372, float %v383, i64 7
  %v385 = getelementptr float, ptr %v382, i64 1
  %v386 = load float, ptr %v385, align 4
  %p.387 = insertelement <8 x float> %p.375, float %v386, i64 7
  %v388 = getelementptr float, ptr %v382, i64 2
  %v389 = load float, ptr %v388, align 4
  %p.390 = insertelement <8 x float> %p.378, float %v389, i64 7
  %v391 = sext i32 %j.182 to i64
  %v392 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v391
  %v393 = getelementptr inbounds float, ptr %v392, i64 1
  %v394 = getelementptr inbounds float, ptr %v392, i64 2
  %v395 = load float, ptr %v392
  %v396 = load float, ptr %v393
  %v397 = load float, ptr %v394
  ; line 2: d = b - a
  %v398 = insertelement <8 x float> poison, float %v395, i64 0
  %v399 = shufflevector <8 x float> %v398, <8 x float> poison, <8 x i32> zeroinitializer
  %v400 = fsub <8 x float> %v399, %p.283
  %v401 = fsub <8 x float> %v399, %p.384
  %v402 = insertelement <8 x float> poison, float %v396, i64 0
  %v403 = shufflevector <8 x float> %v402, <8 x float> poison, <8 x i32> zeroinitializer
  %v404 = fsub <8 x float> %v403, %p.286
  %v405 = fsub <8 x float> %v403, %p.387
  %v406 = insertelement <8 x float> poison, float %v397, i64 0
  %v407 = shufflevector <8 x float> %v406, <8 x float> poison, <8 x i32> zeroinitializer
  %v408 = fsub <8 x float> %v407, %p.289
  %v409 = fsub <8 x float> %v407, %p.390
  ; line 3: return d / (length_sq(d) + 0.01)
  %v410 = fmul <8 x float> %v400, %v400
  %v411 = fmul <8 x float> %v401, %v401
  %v412 = fmul <8 x float> %v404, %v404
  %v413 = fmul <8 x float> %v405, %v405
  %v414 = fmul <8 x float> %v408, %v408
  %v415 = fmul <8 x float> %v409, %v409
  %v416 = fadd <8 x float> %v410, %v412
  %v417 = fadd <8 x float> %v411, %v413
  %v418 = fadd <8 x float> %v416, %v414
  %v419 = fadd <8 x float> %v417, %v415
  %v420 = fadd <8 x float> %v418, splat (float 0x3F847AE140000000)
  %v421 = fadd <8 x float> %v419, splat (float 0x3F847AE140000000)
  %v422 = fdiv <8 x float> %v400, %v420
  %v423 = fdiv <8 x float> %v401, %v421
  %v424 = fdiv <8 x float> %v404, %v420
  %v425 = fdiv <8 x float> %v405, %v421
  %v426 = fdiv <8 x float> %v408, %v420
  %v427 = fdiv <8 x float> %v409, %v421
  ; line 9: total += force(p[i], p[j])
  %v428 = fadd <8 x float> %total.183, %v422
  %v429 = fadd <8 x float> %total.186, %v423
  %v430 = fadd <8 x float> %total.184, %v424
  %v431 = fadd <8 x float> %total.187, %v425
  %v432 = fadd <8 x float> %total.185, %v426
  %v433 = fadd <8 x float> %total.188, %v427
  ; line 8: for j in range(len(p)):
  %j.next.434 = add nsw i32 %j.182, 1
  %more.435 = icmp ne i32 %j.next.434, %last.181
  br i1 %more.435, label %body.166, label %stripped.167, !llvm.loop !4
stripped.167:
  %over.436 = icmp eq i32 %last.181, %v164
  br i1 %over.436, label %endfor.169, label %again.168, !prof !1
again.168:
  %stop.439 = load volatile i32, ptr %stop
  %calm.440 = icmp eq i32 %stop.439, 0
  br i1 %calm.440, label %go.438, label %ask.437, !prof !1
ask.437:
  %v441 = load ptr, ptr %v105
  %v442 = call i32 %v441(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v443 = icmp eq i32 %v442, 0
  br i1 %v443, label %go.438, label %stopped
go.438:
  %left.444 = sub i32 %v164, %last.181
  %few.445 = call i32 @llvm.umin.i32(i32 %left.444, i32 1024)
  %last.446 = add nsw i32 %last.181, %few.445
  br label %strip.165
endfor.169:
  %v447 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v428, %stripped.167 ]
  %v448 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v430, %stripped.167 ]
  %v449 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v432, %stripped.167 ]
  %v450 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v429, %stripped.167 ]
  %v451 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v431, %stripped.167 ]
  %v452 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.148 ], [ %v433, %stripped.167 ]
  ; line 10: f[i] = total
  %v453 = mul i64 %i.163, 12
  %v455 = getelementptr i8, ptr %nowhere.454, i64 0
  %v456 = getelementptr i8, ptr %f.data.124, i64 %v453
  %flags.457 = icmp slt <8 x i32> %v157, zeroinitializer
  %v458 = bitcast <8 x i1> %flags.457 to i8
  %v459 = getelementptr i8, ptr %v456, i64 0
  %v460 = and i8 %v458, 1
  %on.461 = icmp ne i8 %v460, 0
  %v462 = select i1 %on.461, ptr %v459, ptr %v455
  %v463 = extractelement <8 x float> %v447, i64 0
  store float %v463, ptr %v462, align 4
  %v464 = extractelement <8 x float> %v448, i64 0
  %v465 = getelementptr float, ptr %v462, i64 1
  store float %v464, ptr %v465, align 4
  %v466 = extractelement <8 x float> %v449, i64 0
  %v467 = getelementptr float, ptr %v462, i64 2
  store float %v466, ptr %v467, align 4
  %v468 = getelementptr i8, ptr %v456, i64 12
  %v469 = and i8 %v458, 2
  %on.470 = icmp ne i8 %v469, 0
  %v471 = select i1 %on.470, ptr %v468, ptr %v455
  %v472 = extractelement <8 x float> %v447, i64 1
  store float %v472, ptr %v471, align 4
  %v473 = extractelement <8 x float> %v448, i64 1
  %v474 = getelementptr float, ptr %v471, i64 1
  store float %v473, ptr %v474, align 4
  %v475 = extractelement <8 x float> %v449, i64 1
  %v476 = getelementptr float, ptr %v471, i64 2
  store float %v475, ptr %v476, align 4
  %v477 = getelementptr i8, ptr %v456, i64 24
  %v478 = and i8 %v458, 4
  %on.479 = icmp ne i8 %v478, 0
  %v480 = select i1 %on.479, ptr %v477, ptr %v455
  %v481 = extractelement <8 x float> %v447, i64 2
  store float %v481, ptr %v480, align 4
  %v482 = extractelement <8 x float> %v448, i64 2
  %v483 = getelementptr float, ptr %v480, i64 1
  store float %v482, ptr %v483, align 4
  %v484 = extractelement <8 x float> %v449, i64 2
  %v485 = getelementptr float, ptr %v480, i64 2
  store float %v484, ptr %v485, align 4
  %v486 = getelementptr i8, ptr %v456, i64 36
  %v487 = and i8 %v458, 8
  %on.488 = icmp ne i8 %v487, 0
  %v489 = select i1 %on.488, ptr %v486, ptr %v455
  %v490 = extractelement <8 x float> %v447, i64 3
  store float %v490, ptr %v489, align 4
  %v491 = extractelement <8 x float> %v448, i64 3
  %v492 = getelementptr float, ptr %v489, i64 1
  store float %v491, ptr %v492, align 4
  %v493 = extractelement <8 x float> %v449, i64 3
  %v494 = getelementptr float, ptr %v489, i64 2
  store float %v493, ptr %v494, align 4
  %v495 = getelementptr i8, ptr %v456, i64 48
  %v496 = and i8 %v458, 16
  %on.497 = icmp ne i8 %v496, 0
  %v498 = select i1 %on.497, ptr %v495, ptr %v455
  %v499 = extractelement <8 x float> %v447, i64 4
  store float %v499, ptr %v498, align 4
  %v500 = extractelement <8 x float> %v448, i64 4
  %v501 = getelementptr float, ptr %v498, i64 1
  store float %v500, ptr %v501, align 4
  %v502 = extractelement <8 x float> %v449, i64 4
  %v503 = getelementptr float, ptr %v498, i64 2
  store float %v502, ptr %v503, align 4
  %v504 = getelementptr i8, ptr %v456, i64 60
  %v505 = and i8 %v458, 32
  %on.506 = icmp ne i8 %v505, 0
  %v507 = select i1 %on.506, ptr %v504, ptr %v455
  %v508 = extractelement <8 x float> %v447, i64 5
  store float %v508, ptr %v507, align 4
  %v509 = extractelement <8 x float> %v448, i64 5
  %v510 = getelementptr float, ptr %v507, i64 1
  store float %v509, ptr %v510, align 4
  %v511 = extractelement <8 x float> %v449, i64 5
  %v512 = getelementptr float, ptr %v507, i64 2
  store float %v511, ptr %v512, align 4
  %v513 = getelementptr i8, ptr %v456, i64 72
  %v514 = and i8 %v458, 64
  %on.515 = icmp ne i8 %v514, 0
  %v516 = select i1 %on.515, ptr %v513, ptr %v455
  %v517 = extractelement <8 x float> %v447, i64 6
  store float %v517, ptr %v516, align 4
  %v518 = extractelement <8 x float> %v448, i64 6
  %v519 = getelementptr float, ptr %v516, i64 1
  store float %v518, ptr %v519, align 4
  %v520 = extractelement <8 x float> %v449, i64 6
  %v521 = getelementptr float, ptr %v516, i64 2
  store float %v520, ptr %v521, align 4
  %v522 = getelementptr i8, ptr %v456, i64 84
  %v523 = and i8 %v458, 128
  %on.524 = icmp ne i8 %v523, 0
  %v525 = select i1 %on.524, ptr %v522, ptr %v455
  %v526 = extractelement <8 x float> %v447, i64 7
  store float %v526, ptr %v525, align 4
  %v527 = extractelement <8 x float> %v448, i64 7
  %v528 = getelementptr float, ptr %v525, i64 1
  store float %v527, ptr %v528, align 4
  %v529 = extractelement <8 x float> %v449, i64 7
  %v530 = getelementptr float, ptr %v525, i64 2
  store float %v529, ptr %v530, align 4
  %v531 = getelementptr i8, ptr %nowhere.454, i64 0
  %v532 = add i64 %v453, 96
  %v533 = getelementptr i8, ptr %f.data.124, i64 %v532
  %flags.534 = icmp slt <8 x i32> %v162, zeroinitializer
  %v535 = bitcast <8 x i1> %flags.534 to i8
  %v536 = getelementptr i8, ptr %v533, i64 0
  %v537 = and i8 %v535, 1
  %on.538 = icmp ne i8 %v537, 0
  %v539 = select i1 %on.538, ptr %v536, ptr %v531
  %v540 = extractelement <8 x float> %v450, i64 0
  store float %v540, ptr %v539, align 4
  %v541 = extractelement <8 x float> %v451, i64 0
  %v542 = getelementptr float, ptr %v539, i64 1
  store float %v541, ptr %v542, align 4
  %v543 = extractelement <8 x float> %v452, i64 0
  %v544 = getelementptr float, ptr %v539, i64 2
  store float %v543, ptr %v544, align 4
  %v545 = getelementptr i8, ptr %v533, i64 12
  %v546 = and i8 %v535, 2
  %on.547 = icmp ne i8 %v546, 0
  %v548 = select i1 %on.547, ptr %v545, ptr %v531
  %v549 = extractelement <8 x float> %v450, i64 1
  store float %v549, ptr %v548, align 4
  %v550 = extractelement <8 x float> %v451, i64 1
  %v551 = getelementptr float, ptr %v548, i64 1
  store float %v550, ptr %v551, align 4
  %v552 = extractelement <8 x float> %v452, i64 1
  %v553 = getelementptr float, ptr %v548, i64 2
  store float %v552, ptr %v553, align 4
  %v554 = getelementptr i8, ptr %v533, i64 24
  %v555 = and i8 %v535, 4
  %on.556 = icmp ne i8 %v555, 0
  %v557 = select i1 %on.556, ptr %v554, ptr %v531
  %v558 = extractelement <8 x float> %v450, i64 2
  store float %v558, ptr %v557, align 4
  %v559 = extractelement <8 x float> %v451, i64 2
  %v560 = getelementptr float, ptr %v557, i64 1
  store float %v559, ptr %v560, align 4
  %v561 = extractelement <8 x float> %v452, i64 2
  %v562 = getelementptr float, ptr %v557, i64 2
  store float %v561, ptr %v562, align 4
  %v563 = getelementptr i8, ptr %v533, i64 36
  %v564 = and i8 %v535, 8
  %on.565 = icmp ne i8 %v564, 0
  %v566 = select i1 %on.565, ptr %v563, ptr %v531
  %v567 = extractelement <8 x float> %v450, i64 3
  store float %v567, ptr %v566, align 4
  %v568 = extractelement <8 x float> %v451, i64 3
  %v569 = getelementptr float, ptr %v566, i64 1
  store float %v568, ptr %v569, align 4
  %v570 = extractelement <8 x float> %v452, i64 3
  %v571 = getelementptr float, ptr %v566, i64 2
  store float %v570, ptr %v571, align 4
  %v572 = getelementptr i8, ptr %v533, i64 48
  %v573 = and i8 %v535, 16
  %on.574 = icmp ne i8 %v573, 0
  %v575 = select i1 %on.574, ptr %v572, ptr %v531
  %v576 = extractelement <8 x float> %v450, i64 4
  store float %v576, ptr %v575, align 4
  %v577 = extractelement <8 x float> %v451, i64 4
  %v578 = getelementptr float, ptr %v575, i64 1
  store float %v577, ptr %v578, align 4
  %v579 = extractelement <8 x float> %v452, i64 4
  %v580 = getelementptr float, ptr %v575, i64 2
  store float %v579, ptr %v580, align 4
  %v581 = getelementptr i8, ptr %v533, i64 60
  %v582 = and i8 %v535, 32
  %on.583 = icmp ne i8 %v582, 0
  %v584 = select i1 %on.583, ptr %v581, ptr %v531
  %v585 = extractelement <8 x float> %v450, i64 5
  store float %v585, ptr %v584, align 4
  %v586 = extractelement <8 x float> %v451, i64 5
  %v587 = getelementptr float, ptr %v584, i64 1
  store float %v586, ptr %v587, align 4
  %v588 = extractelement <8 x float> %v452, i64 5
  %v589 = getelementptr float, ptr %v584, i64 2
  store float %v588, ptr %v589, align 4
  %v590 = getelementptr i8, ptr %v533, i64 72
  %v591 = and i8 %v535, 64
  %on.592 = icmp ne i8 %v591, 0
  %v593 = select i1 %on.592, ptr %v590, ptr %v531
  %v594 = extractelement <8 x float> %v450, i64 6
  store float %v594, ptr %v593, align 4
  %v595 = extractelement <8 x float> %v451, i64 6
  %v596 = getelementptr float, ptr %v593, i64 1
  store float %v595, ptr %v596, align 4
  %v597 = extractelement <8 x float> %v452, i64 6
  %v598 = getelementptr float, ptr %v593, i64 2
  store float %v597, ptr %v598, align 4
  %v599 = getelementptr i8, ptr %v533, i64 84
  %v600 = and i8 %v535, 128
  %on.601 = icmp ne i8 %v600, 0
  %v602 = select i1 %on.601, ptr %v599, ptr %v531
  %v603 = extractelement <8 x float> %v450, i64 7
  store float %v603, ptr %v602, align 4
  %v604 = extractelement <8 x float> %v451, i64 7
  %v605 = getelementptr float, ptr %v602, i64 1
  store float %v604, ptr %v605, align 4
  %v606 = extractelement <8 x float> %v452, i64 7
  %v607 = getelementptr float, ptr %v602, i64 2
  store float %v606, ptr %v607, align 4
  br label %rest.end.149
rest.end.149:
  %first.608 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %high.2, %endfor.169 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.608, %rest.end.149 ], [ %tid.next, %thread.end ]
  %more.609 = icmp slt i32 %tid, %high.2
  br i1 %more.609, label %thread, label %finish
thread:
  ; line 6: i = tid()
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v610 = trunc i64 %p.shape0.15 to i32
  %left.616 = sub i32 %v610, 0
  %few.617 = call i32 @llvm.umin.i32(i32 %left.616, i32 1024)
  %last.618 = add nsw i32 0, %few.617
  %more.619 = icmp slt i32 0, %v610
  br i1 %more.619, label %strip.611, label %endfor.615
strip.611:
  %j.620 = phi i32 [ 0, %thread ], [ %last.624, %go.665 ]
  %total.621 = phi float [ 0x0000000000000000, %thread ], [ %v658, %go.665 ]
  %total.622 = phi float [ 0x0000000000000000, %thread ], [ %v659, %go.665 ]
  %total.623 = phi float [ 0x0000000000000000, %thread ], [ %v660, %go.665 ]
  %last.624 = phi i32 [ %last.618, %thread ], [ %last.673, %go.665 ]
  br label %body.612
body.612:
  %j.625 = phi i32 [ %j.620, %strip.611 ], [ %j.next.661, %body.612 ]
  %total.626 = phi float [ %total.621, %strip.611 ], [ %v658, %body.612 ]
  %total.627 = phi float [ %total.622, %strip.611 ], [ %v659, %body.612 ]
  %total.628 = phi float [ %total.623, %strip.611 ], [ %v660, %body.612 ]
  ; line 9: total += force(p[i], p[j])
  %v629 = sext i32 %tid to i64
  %v630 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v629
  %v631 = getelementptr inbounds float, ptr %v630, i64 1
  %v632 = getelementptr inbounds float, ptr %v630, i64 2
  %v633 = load float, ptr %v630
  %v634 = freeze float %v633
  %v635 = load float, ptr %v631
  %v636 = freeze float %v635
  %v637 = load float, ptr %v632
  %v638 = freeze float %v637
  %v639 = sext i32 %j.625 to i64
  %v640 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v639
  %v641 = getelementptr inbounds float, ptr %v640, i64 1
  %v642 = getelementptr inbounds float, ptr %v640, i64 2
  %v643 = load float, ptr %v640
  %v644 = load float, ptr %v641
  %v645 = load float, ptr %v642
  ; line 2: d = b - a
  %v646 = fsub float %v643, %v634
  %v647 = fsub float %v644, %v636
  %v648 = fsub float %v645, %v638
  ; line 3: return d / (length_sq(d) + 0.01)
  %v649 = fmul float %v646, %v646
  %v650 = fmul float %v647, %v647
  %v651 = fmul float %v648, %v648
  %v652 = fadd float %v649, %v650
  %v653 = fadd float %v652, %v651
  %v654 = fadd float %v653, 0x3F847AE140000000
  %v655 = fdiv float %v646, %v654
  %v656 = fdiv float %v647, %v654
  %v657 = fdiv float %v648, %v654
  ; line 9: total += force(p[i], p[j])
  %v658 = fadd float %total.626, %v655
  %v659 = fadd float %total.627, %v656
  %v660 = fadd float %total.628, %v657
  ; line 8: for j in range(len(p)):
  %j.next.661 = add nsw i32 %j.625, 1
  %more.662 = icmp ne i32 %j.next.661, %last.624
  br i1 %more.662, label %body.612, label %stripped.613, !llvm.loop !5
stripped.613:
  %over.663 = icmp eq i32 %last.624, %v610
  br i1 %over.663, label %endfor.615, label %again.614, !prof !1
again.614:
  %stop.666 = load volatile i32, ptr %stop
  %calm.667 = icmp eq i32 %stop.666, 0
  br i1 %calm.667, label %go.665, label %ask.664, !prof !1
ask.664:
  %v668 = load ptr, ptr %v105
  %v669 = call i32 %v668(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v670 = icmp eq i32 %v669, 0
  br i1 %v670, label %go.665, label %stopped
go.665:
  %left.671 = sub i32 %v610, %last.624
  %few.672 = call i32 @llvm.umin.i32(i32 %left.671, i32 1024)
  %last.673 = add nsw i32 %last.624, %few.672
  br label %strip.611
endfor.615:
  %v674 = phi float [ 0x0000000000000000, %thread ], [ %v658, %stripped.613 ]
  %v675 = phi float [ 0x0000000000000000, %thread ], [ %v659, %stripped.613 ]
  %v676 = phi float [ 0x0000000000000000, %thread ], [ %v660, %stripped.613 ]
  ; line 10: f[i] = total
  %v677 = sext i32 %tid to i64
  %v678 = getelementptr inbounds [3 x float], ptr %f.data.124, i64 %v677
  %v679 = getelementptr inbounds float, ptr %v678, i64 1
  %v680 = getelementptr inbounds float, ptr %v678, i64 2
  store float %v674, ptr %v678
  store float %v675, ptr %v679
  store float %v676, ptr %v680
  %v683 = and i32 %tid, 31
  %early.684 = icmp ne i32 %v683, 31
  br i1 %early.684, label %on.682, label %due.681, !prof !1
due.681:
  %stop.687 = load volatile i32, ptr %stop
  %calm.688 = icmp eq i32 %stop.687, 0
  br i1 %calm.688, label %go.686, label %ask.685, !prof !1
ask.685:
  %v689 = sext i32 %tid to i64
  store i64 %v689, ptr %v140
  %v690 = load ptr, ptr %v105
  %v691 = call i32 %v690(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v692 = icmp eq i32 %v691, 0
  br i1 %v692, label %go.686, label %stopped
go.686:
  br label %on.682
on.682:
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !6
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
@wb.nowhere64 = internal constant [64 x i8] zeroinitializer, align 64
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.interleave.count", i32 1}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.interleave.count", i32 1}}
!4 = distinct !{!4, !{!"llvm.loop.interleave.count", i32 1}}
!5 = distinct !{!5, !{!"llvm.loop.interleave.count", i32 1}}
!6 = distinct !{!6, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
