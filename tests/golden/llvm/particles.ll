define i32 @wb_particles(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %p.shape0.at.14 = getelementptr inbounds i8, ptr %params, i64 40
  %p.shape0.15 = load i64, ptr %p.shape0.at.14, !range !0
  %p.at.42 = getelementptr inbounds i8, ptr %params, i64 32
  %p.data.43 = load ptr, ptr %p.at.42
  %v106 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.124 = getelementptr inbounds i8, ptr %params, i64 56
  %f.data.125 = load ptr, ptr %f.at.124
  %v142 = getelementptr inbounds i8, ptr %stop, i64 16
  %nowhere.457 = alloca [64 x i8], align 64
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v147, %on.135 ]
  %number.11 = phi i32 [ 0, %start ], [ %v148, %on.135 ]
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
  %j.26 = phi i32 [ 0, %gang.4 ], [ %last.33, %go.103 ]
  %total.27 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v93, %go.103 ]
  %total.28 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v95, %go.103 ]
  %total.29 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v97, %go.103 ]
  %total.30 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v94, %go.103 ]
  %total.31 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v96, %go.103 ]
  %total.32 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v98, %go.103 ]
  %last.33 = phi i32 [ %last.24, %gang.4 ], [ %last.112, %go.103 ]
  br label %body.18
body.18:
  %j.34 = phi i32 [ %j.26, %strip.17 ], [ %j.next.99, %body.18 ]
  %total.35 = phi <8 x float> [ %total.27, %strip.17 ], [ %v93, %body.18 ]
  %total.36 = phi <8 x float> [ %total.28, %strip.17 ], [ %v95, %body.18 ]
  %total.37 = phi <8 x float> [ %total.29, %strip.17 ], [ %v97, %body.18 ]
  %total.38 = phi <8 x float> [ %total.30, %strip.17 ], [ %v94, %body.18 ]
  %total.39 = phi <8 x float> [ %total.31, %strip.17 ], [ %v96, %body.18 ]
  %total.40 = phi <8 x float> [ %total.32, %strip.17 ], [ %v98, %body.18 ]
  ; line 9: total += force(p[i], p[j])
  %v41 = mul i64 %i.13, 12
  %v44 = getelementptr i8, ptr %p.data.43, i64 %v41
  %p.45 = load <24 x float>, ptr %v44, align 4
  %v46 = shufflevector <24 x float> %p.45, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v47 = shufflevector <24 x float> %p.45, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v48 = shufflevector <24 x float> %p.45, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %v49 = mul i64 %i.13, 12
  %v50 = add i64 %v49, 96
  %v51 = getelementptr i8, ptr %p.data.43, i64 %v50
  %p.52 = load <24 x float>, ptr %v51, align 4
  %v53 = shufflevector <24 x float> %p.52, <24 x float> poison, <8 x i32> <i32 0, i32 3, i32 6, i32 9, i32 12, i32 15, i32 18, i32 21>
  %v54 = shufflevector <24 x float> %p.52, <24 x float> poison, <8 x i32> <i32 1, i32 4, i32 7, i32 10, i32 13, i32 16, i32 19, i32 22>
  %v55 = shufflevector <24 x float> %p.52, <24 x float> poison, <8 x i32> <i32 2, i32 5, i32 8, i32 11, i32 14, i32 17, i32 20, i32 23>
  %v56 = sext i32 %j.34 to i64
  %v57 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v56
  %v58 = getelementptr inbounds float, ptr %v57, i64 1
  %v59 = getelementptr inbounds float, ptr %v57, i64 2
  %v60 = load float, ptr %v57
  %v61 = load float, ptr %v58
  %v62 = load float, ptr %v59
  ; line 2: d = b - a
  %v63 = insertelement <8 x float> poison, float %v60, i64 0
  %v64 = shufflevector <8 x float> %v63, <8 x float> poison, <8 x i32> zeroinitializer
  %v65 = fsub <8 x float> %v64, %v46
  %v66 = fsub <8 x float> %v64, %v53
  %v67 = insertelement <8 x float> poison, float %v61, i64 0
  %v68 = shufflevector <8 x float> %v67, <8 x float> poison, <8 x i32> zeroinitializer
  %v69 = fsub <8 x float> %v68, %v47
  %v70 = fsub <8 x float> %v68, %v54
  %v71 = insertelement <8 x float> poison, float %v62, i64 0
  %v72 = shufflevector <8 x float> %v71, <8 x float> poison, <8 x i32> zeroinitializer
  %v73 = fsub <8 x float> %v72, %v48
  %v74 = fsub <8 x float> %v72, %v55
  ; line 3: return d / (length_sq(d) + 0.01)
  %v75 = fmul <8 x float> %v65, %v65
  %v76 = fmul <8 x float> %v66, %v66
  %v77 = fmul <8 x float> %v69, %v69
  %v78 = fmul <8 x float> %v70, %v70
  %v79 = fmul <8 x float> %v73, %v73
  %v80 = fmul <8 x float> %v74, %v74
  %v81 = fadd <8 x float> %v75, %v77
  %v82 = fadd <8 x float> %v76, %v78
  %v83 = fadd <8 x float> %v81, %v79
  %v84 = fadd <8 x float> %v82, %v80
  %v85 = fadd <8 x float> %v83, splat (float 0x3F847AE140000000)
  %v86 = fadd <8 x float> %v84, splat (float 0x3F847AE140000000)
  %v87 = fdiv <8 x float> %v65, %v85
  %v88 = fdiv <8 x float> %v66, %v86
  %v89 = fdiv <8 x float> %v69, %v85
  %v90 = fdiv <8 x float> %v70, %v86
  %v91 = fdiv <8 x float> %v73, %v85
  %v92 = fdiv <8 x float> %v74, %v86
  ; line 9: total += force(p[i], p[j])
  %v93 = fadd <8 x float> %total.35, %v87
  %v94 = fadd <8 x float> %total.38, %v88
  %v95 = fadd <8 x float> %total.36, %v89
  %v96 = fadd <8 x float> %total.39, %v90
  %v97 = fadd <8 x float> %total.37, %v91
  %v98 = fadd <8 x float> %total.40, %v92
  ; line 8: for j in range(len(p)):
  %j.next.99 = add nsw i32 %j.34, 1
  %more.100 = icmp ne i32 %j.next.99, %last.33
  br i1 %more.100, label %body.18, label %stripped.19, !llvm.loop !2
stripped.19:
  %over.101 = icmp eq i32 %last.33, %v16
  br i1 %over.101, label %endfor.21, label %again.20, !prof !1
again.20:
  %stop.104 = load volatile i32, ptr %stop
  %calm.105 = icmp eq i32 %stop.104, 0
  br i1 %calm.105, label %go.103, label %ask.102, !prof !1
ask.102:
  %v107 = load ptr, ptr %v106
  %v108 = call i32 %v107(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v109 = icmp eq i32 %v108, 0
  br i1 %v109, label %go.103, label %stopped
go.103:
  %left.110 = sub i32 %v16, %last.33
  %few.111 = call i32 @llvm.umin.i32(i32 %left.110, i32 1024)
  %last.112 = add nsw i32 %last.33, %few.111
  br label %strip.17
endfor.21:
  %v113 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v93, %stripped.19 ]
  %v114 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v95, %stripped.19 ]
  %v115 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v97, %stripped.19 ]
  %v116 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v94, %stripped.19 ]
  %v117 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v96, %stripped.19 ]
  %v118 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v98, %stripped.19 ]
  ; line 10: f[i] = total
  %v119 = mul i64 %i.13, 12
  %v120 = shufflevector <8 x float> %v113, <8 x float> %v114, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v121 = shufflevector <8 x float> %v115, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v122 = shufflevector <16 x float> %v120, <16 x float> %v121, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v123 = shufflevector <32 x float> %v122, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v126 = getelementptr i8, ptr %f.data.125, i64 %v119
  store <24 x float> %v123, ptr %v126, align 4
  %v127 = mul i64 %i.13, 12
  %v128 = shufflevector <8 x float> %v116, <8 x float> %v117, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v129 = shufflevector <8 x float> %v118, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v130 = shufflevector <16 x float> %v128, <16 x float> %v129, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v131 = shufflevector <32 x float> %v130, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v132 = add i64 %v127, 96
  %v133 = getelementptr i8, ptr %f.data.125, i64 %v132
  store <24 x float> %v131, ptr %v133, align 4
  %v136 = and i32 %number.11, 1
  %early.137 = icmp ne i32 %v136, 1
  br i1 %early.137, label %on.135, label %due.134, !prof !1
due.134:
  %stop.140 = load volatile i32, ptr %stop
  %calm.141 = icmp eq i32 %stop.140, 0
  br i1 %calm.141, label %go.139, label %ask.138, !prof !1
ask.138:
  %v143 = sext i32 %gang.10 to i64
  store i64 %v143, ptr %v142
  %v144 = load ptr, ptr %v106
  %v145 = call i32 %v144(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v146 = icmp eq i32 %v145, 0
  br i1 %v146, label %go.139, label %stopped
go.139:
  br label %on.135
on.135:
  %v147 = add nsw i32 %gang.10, 16
  %v148 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !3
gangs.end.5:
  %left.149 = sub nsw i32 %high.2, %gangs.9
  %several.152 = icmp sge i32 %left.149, 4
  br i1 %several.152, label %rest.150, label %rest.end.151
rest.150:
  %v153 = insertelement <8 x i32> poison, i32 %left.149, i64 0
  %v154 = shufflevector <8 x i32> %v153, <8 x i32> poison, <8 x i32> zeroinitializer
  %v155 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v154
  %v156 = sext <8 x i1> %v155 to <8 x i32>
  %v157 = bitcast <8 x i32> %v156 to <8 x float>
  %v158 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v157)
  %v159 = bitcast <8 x float> %v158 to <8 x i32>
  %v160 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v154
  %v161 = sext <8 x i1> %v160 to <8 x i32>
  %v162 = bitcast <8 x i32> %v161 to <8 x float>
  %v163 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v162)
  %v164 = bitcast <8 x float> %v163 to <8 x i32>
  ; line 6: i = tid()
  %i.165 = sext i32 %gangs.9 to i64
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v166 = trunc i64 %p.shape0.15 to i32
  %left.172 = sub i32 %v166, 0
  %few.173 = call i32 @llvm.umin.i32(i32 %left.172, i32 1024)
  %last.174 = add nsw i32 0, %few.173
  %more.175 = icmp slt i32 0, %v166
  br i1 %more.175, label %strip.167, label %endfor.171
strip.167:
  %j.176 = phi i32 [ 0, %rest.150 ], [ %last.183, %go.441 ]
  %total.177 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v431, %go.441 ]
  %total.178 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v433, %go.441 ]
  %total.179 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v435, %go.441 ]
  %total.180 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v432, %go.441 ]
  %total.181 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v434, %go.441 ]
  %total.182 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v436, %go.441 ]
  %last.183 = phi i32 [ %last.174, %rest.150 ], [ %last.449, %go.441 ]
  br label %body.168
body.168:
  %j.184 = phi i32 [ %j.176, %strip.167 ], [ %j.next.437, %body.168 ]
  %total.185 = phi <8 x float> [ %total.177, %strip.167 ], [ %v431, %body.168 ]
  %total.186 = phi <8 x float> [ %total.178, %strip.167 ], [ %v433, %body.168 ]
  %total.187 = phi <8 x float> [ %total.179, %strip.167 ], [ %v435, %body.168 ]
  %total.188 = phi <8 x float> [ %total.180, %strip.167 ], [ %v432, %body.168 ]
  %total.189 = phi <8 x float> [ %total.181, %strip.167 ], [ %v434, %body.168 ]
  %total.190 = phi <8 x float> [ %total.182, %strip.167 ], [ %v436, %body.168 ]
  ; line 9: total += force(p[i], p[j])
  %v191 = mul i64 %i.165, 12
  %v192 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v193 = getelementptr i8, ptr %p.data.43, i64 %v191
  %flags.194 = icmp slt <8 x i32> %v159, zeroinitializer
  %v195 = bitcast <8 x i1> %flags.194 to i8
  %v196 = getelementptr i8, ptr %v193, i64 0
  %v197 = and i8 %v195, 1
  %on.198 = icmp ne i8 %v197, 0
  %v199 = select i1 %on.198, ptr %v196, ptr %v192
  %v200 = load float, ptr %v199, align 4
  %p.201 = insertelement <8 x float> poison, float %v200, i64 0
  %v202 = getelementptr float, ptr %v199, i64 1
  %v203 = load float, ptr %v202, align 4
  %p.204 = insertelement <8 x float> poison, float %v203, i64 0
  %v205 = getelementptr float, ptr %v199, i64 2
  %v206 = load float, ptr %v205, align 4
  %p.207 = insertelement <8 x float> poison, float %v206, i64 0
  %v208 = getelementptr i8, ptr %v193, i64 12
  %v209 = and i8 %v195, 2
  %on.210 = icmp ne i8 %v209, 0
  %v211 = select i1 %on.210, ptr %v208, ptr %v192
  %v212 = load float, ptr %v211, align 4
  %p.213 = insertelement <8 x float> %p.201, float %v212, i64 1
  %v214 = getelementptr float, ptr %v211, i64 1
  %v215 = load float, ptr %v214, align 4
  %p.216 = insertelement <8 x float> %p.204, float %v215, i64 1
  %v217 = getelementptr float, ptr %v211, i64 2
  %v218 = load float, ptr %v217, align 4
  %p.219 = insertelement <8 x float> %p.207, float %v218, i64 1
  %v220 = getelementptr i8, ptr %v193, i64 24
  %v221 = and i8 %v195, 4
  %on.222 = icmp ne i8 %v221, 0
  %v223 = select i1 %on.222, ptr %v220, ptr %v192
  %v224 = load float, ptr %v223, align 4
  %p.225 = insertelement <8 x float> %p.213, float %v224, i64 2
  %v226 = getelementptr float, ptr %v223, i64 1
  %v227 = load float, ptr %v226, align 4
  %p.228 = insertelement <8 x float> %p.216, float %v227, i64 2
  %v229 = getelementptr float, ptr %v223, i64 2
  %v230 = load float, ptr %v229, align 4
  %p.231 = insertelement <8 x float> %p.219, float %v230, i64 2
  %v232 = getelementptr i8, ptr %v193, i64 36
  %v233 = and i8 %v195, 8
  %on.234 = icmp ne i8 %v233, 0
  %v235 = select i1 %on.234, ptr %v232, ptr %v192
  %v236 = load float, ptr %v235, align 4
  %p.237 = insertelement <8 x float> %p.225, float %v236, i64 3
  %v238 = getelementptr float, ptr %v235, i64 1
  %v239 = load float, ptr %v238, align 4
  %p.240 = insertelement <8 x float> %p.228, float %v239, i64 3
  %v241 = getelementptr float, ptr %v235, i64 2
  %v242 = load float, ptr %v241, align 4
  %p.243 = insertelement <8 x float> %p.231, float %v242, i64 3
  %v244 = getelementptr i8, ptr %v193, i64 48
  %v245 = and i8 %v195, 16
  %on.246 = icmp ne i8 %v245, 0
  %v247 = select i1 %on.246, ptr %v244, ptr %v192
  %v248 = load float, ptr %v247, align 4
  %p.249 = insertelement <8 x float> %p.237, float %v248, i64 4
  %v250 = getelementptr float, ptr %v247, i64 1
  %v251 = load float, ptr %v250, align 4
  %p.252 = insertelement <8 x float> %p.240, float %v251, i64 4
  %v253 = getelementptr float, ptr %v247, i64 2
  %v254 = load float, ptr %v253, align 4
  %p.255 = insertelement <8 x float> %p.243, float %v254, i64 4
  %v256 = getelementptr i8, ptr %v193, i64 60
  %v257 = and i8 %v195, 32
  %on.258 = icmp ne i8 %v257, 0
  %v259 = select i1 %on.258, ptr %v256, ptr %v192
  %v260 = load float, ptr %v259, align 4
  %p.261 = insertelement <8 x float> %p.249, float %v260, i64 5
  %v262 = getelementptr float, ptr %v259, i64 1
  %v263 = load float, ptr %v262, align 4
  %p.264 = insertelement <8 x float> %p.252, float %v263, i64 5
  %v265 = getelementptr float, ptr %v259, i64 2
  %v266 = load float, ptr %v265, align 4
  %p.267 = insertelement <8 x float> %p.255, float %v266, i64 5
  %v268 = getelementptr i8, ptr %v193, i64 72
  %v269 = and i8 %v195, 64
  %on.270 = icmp ne i8 %v269, 0
  %v271 = select i1 %on.270, ptr %v268, ptr %v192
  %v272 = load float, ptr %v271, align 4
  %p.273 = insertelement <8 x float> %p.261, float %v272, i64 6
  %v274 = getelementptr float, ptr %v271, i64 1
  %v275 = load float, ptr %v274, align 4
  %p.276 = insertelement <8 x float> %p.264, float %v275, i64 6
  %v277 = getelementptr float, ptr %v271, i64 2
  %v278 = load float, ptr %v277, align 4
  %p.279 = insertelement <8 x float> %p.267, float %v278, i64 6
  %v280 = getelementptr i8, ptr %v193, i64 84
  %v281 = and i8 %v195, 128
  %on.282 = icmp ne i8 %v281, 0
  %v283 = select i1 %on.282, ptr %v280, ptr %v192
  %v284 = load float, ptr %v283, align 4
  %p.285 = insertelement <8 x float> %p.273, float %v284, i64 7
  %v286 = getelementptr float, ptr %v283, i64 1
  %v287 = load float, ptr %v286, align 4
  %p.288 = insertelement <8 x float> %p.276, float %v287, i64 7
  %v289 = getelementptr float, ptr %v283, i64 2
  %v290 = load float, ptr %v289, align 4
  %p.291 = insertelement <8 x float> %p.279, float %v290, i64 7
  %v292 = mul i64 %i.165, 12
  %v293 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v294 = add i64 %v292, 96
  %v295 = getelementptr i8, ptr %p.data.43, i64 %v294
  %flags.296 = icmp slt <8 x i32> %v164, zeroinitializer
  %v297 = bitcast <8 x i1> %flags.296 to i8
  %v298 = getelementptr i8, ptr %v295, i64 0
  %v299 = and i8 %v297, 1
  %on.300 = icmp ne i8 %v299, 0
  %v301 = select i1 %on.300, ptr %v298, ptr %v293
  %v302 = load float, ptr %v301, align 4
  %p.303 = insertelement <8 x float> poison, float %v302, i64 0
  %v304 = getelementptr float, ptr %v301, i64 1
  %v305 = load float, ptr %v304, align 4
  %p.306 = insertelement <8 x float> poison, float %v305, i64 0
  %v307 = getelementptr float, ptr %v301, i64 2
  %v308 = load float, ptr %v307, align 4
  %p.309 = insertelement <8 x float> poison, float %v308, i64 0
  %v310 = getelementptr i8, ptr %v295, i64 12
  %v311 = and i8 %v297, 2
  %on.312 = icmp ne i8 %v311, 0
  %v313 = select i1 %on.312, ptr %v310, ptr %v293
  %v314 = load float, ptr %v313, align 4
  %p.315 = insertelement <8 x float> %p.303, float %v314, i64 1
  %v316 = getelementptr float, ptr %v313, i64 1
  %v317 = load float, ptr %v316, align 4
  %p.318 = insertelement <8 x float> %p.306, float %v317, i64 1
  %v319 = getelementptr float, ptr %v313, i64 2
  %v320 = load float, ptr %v319, align 4
  %p.321 = insertelement <8 x float> %p.309, float %v320, i64 1
  %v322 = getelementptr i8, ptr %v295, i64 24
  %v323 = and i8 %v297, 4
  %on.324 = icmp ne i8 %v323, 0
  %v325 = select i1 %on.324, ptr %v322, ptr %v293
  %v326 = load float, ptr %v325, align 4
  %p.327 = insertelement <8 x float> %p.315, float %v326, i64 2
  %v328 = getelementptr float, ptr %v325, i64 1
  %v329 = load float, ptr %v328, align 4
  %p.330 = insertelement <8 x float> %p.318, float %v329, i64 2
  %v331 = getelementptr float, ptr %v325, i64 2
  %v332 = load float, ptr %v331, align 4
  %p.333 = insertelement <8 x float> %p.321, float %v332, i64 2
  %v334 = getelementptr i8, ptr %v295, i64 36
  %v335 = and i8 %v297, 8
  %on.336 = icmp ne i8 %v335, 0
  %v337 = select i1 %on.336, ptr %v334, ptr %v293
  %v338 = load float, ptr %v337, align 4
  %p.339 = insertelement <8 x float> %p.327, float %v338, i64 3
  %v340 = getelementptr float, ptr %v337, i64 1
  %v341 = load float, ptr %v340, align 4
  %p.342 = insertelement <8 x float> %p.330, float %v341, i64 3
  %v343 = getelementptr float, ptr %v337, i64 2
  %v344 = load float, ptr %v343, align 4
  %p.345 = insertelement <8 x float> %p.333, float %v344, i64 3
  %v346 = getelementptr i8, ptr %v295, i64 48
  %v347 = and i8 %v297, 16
  %on.348 = icmp ne i8 %v347, 0
  %v349 = select i1 %on.348, ptr %v346, ptr %v293
  %v350 = load float, ptr %v349, align 4
  %p.351 = insertelement <8 x float> %p.339, float %v350, i64 4
  %v352 = getelementptr float, ptr %v349, i64 1
  %v353 = load float, ptr %v352, align 4
  %p.354 = insertelement <8 x float> %p.342, float %v353, i64 4
  %v355 = getelementptr float, ptr %v349, i64 2
  %v356 = load float, ptr %v355, align 4
  %p.357 = insertelement <8 x float> %p.345, float %v356, i64 4
  %v358 = getelementptr i8, ptr %v295, i64 60
  %v359 = and i8 %v297, 32
  %on.360 = icmp ne i8 %v359, 0
  %v361 = select i1 %on.360, ptr %v358, ptr %v293
  %v362 = load float, ptr %v361, align 4
  %p.363 = insertelement <8 x float> %p.351, float %v362, i64 5
  %v364 = getelementptr float, ptr %v361, i64 1
  %v365 = load float, ptr %v364, align 4
  %p.366 = insertelement <8 x float> %p.354, float %v365, i64 5
  %v367 = getelementptr float, ptr %v361, i64 2
  %v368 = load float, ptr %v367, align 4
  %p.369 = insertelement <8 x float> %p.357, float %v368, i64 5
  %v370 = getelementptr i8, ptr %v295, i64 72
  %v371 = and i8 %v297, 64
  %on.372 = icmp ne i8 %v371, 0
  %v373 = select i1 %on.372, ptr %v370, ptr %v293
  %v374 = load float, ptr %v373, align 4
  %p.375 = insertelement <8 x float> %p.363, float %v374, i64 6
  %v376 = getelementptr float, ptr %v373, i64 1
  %v377 = load float, ptr %v376, align 4
  %p.378 = insertelement <8 x float> %p.366, float %v377, i64 6
  %v379 = getelementptr float, ptr %v373, i64 2
  %v380 = load float, ptr %v379, align 4
  %p.381 = insertelement <8 x float> %p.369, float %v380, i64 6
  %v382 = getelementptr i8, ptr %v295, i64 84
  %v383 = and i8 %v297, 128
  %on.384 = icmp ne i8 %v383, 0
  %v385 = select i1 %on.384, ptr %v382, ptr %v293
  %v386 = load float, ptr %v385, align 4
  %p.387 = insertelement <8 x float> %p.375, float %v386, i64 7
  %v388 = getelementptr float, ptr %v385, i64 1
  %v389 = load float, ptr %v388, align 4
  %p.390 = insertelement <8 x float> %p.378, float %v389, i64 7
  %v391 = getelementptr float, ptr %v385, i64 2
  %v392 = load float, ptr %v391, align 4
  %p.393 = insertelement <8 x float> %p.381, float %v392, i64 7
  %v394 = sext i32 %j.184 to i64
  %v395 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v394
  %v396 = getelementptr inbounds float, ptr %v395, i64 1
  %v397 = getelementptr inbounds float, ptr %v395, i64 2
  %v398 = load float, ptr %v395
  %v399 = load float, ptr %v396
  %v400 = load float, ptr %v397
  ; line 2: d = b - a
  %v401 = insertelement <8 x float> poison, float %v398, i64 0
  %v402 = shufflevector <8 x float> %v401, <8 x float> poison, <8 x i32> zeroinitializer
  %v403 = fsub <8 x float> %v402, %p.285
  %v404 = fsub <8 x float> %v402, %p.387
  %v405 = insertelement <8 x float> poison, float %v399, i64 0
  %v406 = shufflevector <8 x float> %v405, <8 x float> poison, <8 x i32> zeroinitializer
  %v407 = fsub <8 x float> %v406, %p.288
  %v408 = fsub <8 x float> %v406, %p.390
  %v409 = insertelement <8 x float> poison, float %v400, i64 0
  %v410 = shufflevector <8 x float> %v409, <8 x float> poison, <8 x i32> zeroinitializer
  %v411 = fsub <8 x float> %v410, %p.291
  %v412 = fsub <8 x float> %v410, %p.393
  ; line 3: return d / (length_sq(d) + 0.01)
  %v413 = fmul <8 x float> %v403, %v403
  %v414 = fmul <8 x float> %v404, %v404
  %v415 = fmul <8 x float> %v407, %v407
  %v416 = fmul <8 x float> %v408, %v408
  %v417 = fmul <8 x float> %v411, %v411
  %v418 = fmul <8 x float> %v412, %v412
  %v419 = fadd <8 x float> %v413, %v415
  %v420 = fadd <8 x float> %v414, %v416
  %v421 = fadd <8 x float> %v419, %v417
  %v422 = fadd <8 x float> %v420, %v418
  %v423 = fadd <8 x float> %v421, splat (float 0x3F847AE140000000)
  %v424 = fadd <8 x float> %v422, splat (float 0x3F847AE140000000)
  %v425 = fdiv <8 x float> %v403, %v423
  %v426 = fdiv <8 x float> %v404, %v424
  %v427 = fdiv <8 x float> %v407, %v423
  %v428 = fdiv <8 x float> %v408, %v424
  %v429 = fdiv <8 x float> %v411, %v423
  %v430 = fdiv <8 x float> %v412, %v424
  ; line 9: total += force(p[i], p[j])
  %v431 = fadd <8 x float> %total.185, %v425
  %v432 = fadd <8 x float> %total.188, %v426
  %v433 = fadd <8 x float> %total.186, %v427
  %v434 = fadd <8 x float> %total.189, %v428
  %v435 = fadd <8 x float> %total.187, %v429
  %v436 = fadd <8 x float> %total.190, %v430
  ; line 8: for j in range(len(p)):
  %j.next.437 = add nsw i32 %j.184, 1
  %more.438 = icmp ne i32 %j.next.437, %last.183
  br i1 %more.438, label %body.168, label %stripped.169, !llvm.loop !4
stripped.169:
  %over.439 = icmp eq i32 %last.183, %v166
  br i1 %over.439, label %endfor.171, label %again.170, !prof !1
again.170:
  %stop.442 = load volatile i32, ptr %stop
  %calm.443 = icmp eq i32 %stop.442, 0
  br i1 %calm.443, label %go.441, label %ask.440, !prof !1
ask.440:
  %v444 = load ptr, ptr %v106
  %v445 = call i32 %v444(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v446 = icmp eq i32 %v445, 0
  br i1 %v446, label %go.441, label %stopped
go.441:
  %left.447 = sub i32 %v166, %last.183
  %few.448 = call i32 @llvm.umin.i32(i32 %left.447, i32 1024)
  %last.449 = add nsw i32 %last.183, %few.448
  br label %strip.167
endfor.171:
  %v450 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v431, %stripped.169 ]
  %v451 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v433, %stripped.169 ]
  %v452 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v435, %stripped.169 ]
  %v453 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v432, %stripped.169 ]
  %v454 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v434, %stripped.169 ]
  %v455 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.150 ], [ %v436, %stripped.169 ]
  ; line 10: f[i] = total
  %v456 = mul i64 %i.165, 12
  %v458 = getelementptr i8, ptr %nowhere.457, i64 0
  %v459 = getelementptr i8, ptr %f.data.125, i64 %v456
  %flags.460 = icmp slt <8 x i32> %v159, zeroinitializer
  %v461 = bitcast <8 x i1> %flags.460 to i8
  %v462 = getelementptr i8, ptr %v459, i64 0
  %v463 = and i8 %v461, 1
  %on.464 = icmp ne i8 %v463, 0
  %v465 = select i1 %on.464, ptr %v462, ptr %v458
  %v466 = extractelement <8 x float> %v450, i64 0
  store float %v466, ptr %v465, align 4
  %v467 = extractelement <8 x float> %v451, i64 0
  %v468 = getelementptr float, ptr %v465, i64 1
  store float %v467, ptr %v468, align 4
  %v469 = extractelement <8 x float> %v452, i64 0
  %v470 = getelementptr float, ptr %v465, i64 2
  store float %v469, ptr %v470, align 4
  %v471 = getelementptr i8, ptr %v459, i64 12
  %v472 = and i8 %v461, 2
  %on.473 = icmp ne i8 %v472, 0
  %v474 = select i1 %on.473, ptr %v471, ptr %v458
  %v475 = extractelement <8 x float> %v450, i64 1
  store float %v475, ptr %v474, align 4
  %v476 = extractelement <8 x float> %v451, i64 1
  %v477 = getelementptr float, ptr %v474, i64 1
  store float %v476, ptr %v477, align 4
  %v478 = extractelement <8 x float> %v452, i64 1
  %v479 = getelementptr float, ptr %v474, i64 2
  store float %v478, ptr %v479, align 4
  %v480 = getelementptr i8, ptr %v459, i64 24
  %v481 = and i8 %v461, 4
  %on.482 = icmp ne i8 %v481, 0
  %v483 = select i1 %on.482, ptr %v480, ptr %v458
  %v484 = extractelement <8 x float> %v450, i64 2
  store float %v484, ptr %v483, align 4
  %v485 = extractelement <8 x float> %v451, i64 2
  %v486 = getelementptr float, ptr %v483, i64 1
  store float %v485, ptr %v486, align 4
  %v487 = extractelement <8 x float> %v452, i64 2
  %v488 = getelementptr float, ptr %v483, i64 2
  store float %v487, ptr %v488, align 4
  %v489 = getelementptr i8, ptr %v459, i64 36
  %v490 = and i8 %v461, 8
  %on.491 = icmp ne i8 %v490, 0
  %v492 = select i1 %on.491, ptr %v489, ptr %v458
  %v493 = extractelement <8 x float> %v450, i64 3
  store float %v493, ptr %v492, align 4
  %v494 = extractelement <8 x float> %v451, i64 3
  %v495 = getelementptr float, ptr %v492, i64 1
  store float %v494, ptr %v495, align 4
  %v496 = extractelement <8 x float> %v452, i64 3
  %v497 = getelementptr float, ptr %v492, i64 2
  store float %v496, ptr %v497, align 4
  %v498 = getelementptr i8, ptr %v459, i64 48
  %v499 = and i8 %v461, 16
  %on.500 = icmp ne i8 %v499, 0
  %v501 = select i1 %on.500, ptr %v498, ptr %v458
  %v502 = extractelement <8 x float> %v450, i64 4
  store float %v502, ptr %v501, align 4
  %v503 = extractelement <8 x float> %v451, i64 4
  %v504 = getelementptr float, ptr %v501, i64 1
  store float %v503, ptr %v504, align 4
  %v505 = extractelement <8 x float> %v452, i64 4
  %v506 = getelementptr float, ptr %v501, i64 2
  store float %v505, ptr %v506, align 4
  %v507 = getelementptr i8, ptr %v459, i64 60
  %v508 = and i8 %v461, 32
  %on.509 = icmp ne i8 %v508, 0
  %v510 = select i1 %on.509, ptr %v507, ptr %v458
  %v511 = extractelement <8 x float> %v450, i64 5
  store float %v511, ptr %v510, align 4
  %v512 = extractelement <8 x float> %v451, i64 5
  %v513 = getelementptr float, ptr %v510, i64 1
  store float %v512, ptr %v513, align 4
  %v514 = extractelement <8 x float> %v452, i64 5
  %v515 = getelementptr float, ptr %v510, i64 2
  store float %v514, ptr %v515, align 4
  %v516 = getelementptr i8, ptr %v459, i64 72
  %v517 = and i8 %v461, 64
  %on.518 = icmp ne i8 %v517, 0
  %v519 = select i1 %on.518, ptr %v516, ptr %v458
  %v520 = extractelement <8 x float> %v450, i64 6
  store float %v520, ptr %v519, align 4
  %v521 = extractelement <8 x float> %v451, i64 6
  %v522 = getelementptr float, ptr %v519, i64 1
  store float %v521, ptr %v522, align 4
  %v523 = extractelement <8 x float> %v452, i64 6
  %v524 = getelementptr float, ptr %v519, i64 2
  store float %v523, ptr %v524, align 4
  %v525 = getelementptr i8, ptr %v459, i64 84
  %v526 = and i8 %v461, 128
  %on.527 = icmp ne i8 %v526, 0
  %v528 = select i1 %on.527, ptr %v525, ptr %v458
  %v529 = extractelement <8 x float> %v450, i64 7
  store float %v529, ptr %v528, align 4
  %v530 = extractelement <8 x float> %v451, i64 7
  %v531 = getelementptr float, ptr %v528, i64 1
  store float %v530, ptr %v531, align 4
  %v532 = extractelement <8 x float> %v452, i64 7
  %v533 = getelementptr float, ptr %v528, i64 2
  store float %v532, ptr %v533, align 4
  %v534 = mul i64 %i.165, 12
  %v535 = getelementptr i8, ptr %nowhere.457, i64 0
  %v536 = add i64 %v534, 96
  %v537 = getelementptr i8, ptr %f.data.125, i64 %v536
  %flags.538 = icmp slt <8 x i32> %v164, zeroinitializer
  %v539 = bitcast <8 x i1> %flags.538 to i8
  %v540 = getelementptr i8, ptr %v537, i64 0
  %v541 = and i8 %v539, 1
  %on.542 = icmp ne i8 %v541, 0
  %v543 = select i1 %on.542, ptr %v540, ptr %v535
  %v544 = extractelement <8 x float> %v453, i64 0
  store float %v544, ptr %v543, align 4
  %v545 = extractelement <8 x float> %v454, i64 0
  %v546 = getelementptr float, ptr %v543, i64 1
  store float %v545, ptr %v546, align 4
  %v547 = extractelement <8 x float> %v455, i64 0
  %v548 = getelementptr float, ptr %v543, i64 2
  store float %v547, ptr %v548, align 4
  %v549 = getelementptr i8, ptr %v537, i64 12
  %v550 = and i8 %v539, 2
  %on.551 = icmp ne i8 %v550, 0
  %v552 = select i1 %on.551, ptr %v549, ptr %v535
  %v553 = extractelement <8 x float> %v453, i64 1
  store float %v553, ptr %v552, align 4
  %v554 = extractelement <8 x float> %v454, i64 1
  %v555 = getelementptr float, ptr %v552, i64 1
  store float %v554, ptr %v555, align 4
  %v556 = extractelement <8 x float> %v455, i64 1
  %v557 = getelementptr float, ptr %v552, i64 2
  store float %v556, ptr %v557, align 4
  %v558 = getelementptr i8, ptr %v537, i64 24
  %v559 = and i8 %v539, 4
  %on.560 = icmp ne i8 %v559, 0
  %v561 = select i1 %on.560, ptr %v558, ptr %v535
  %v562 = extractelement <8 x float> %v453, i64 2
  store float %v562, ptr %v561, align 4
  %v563 = extractelement <8 x float> %v454, i64 2
  %v564 = getelementptr float, ptr %v561, i64 1
  store float %v563, ptr %v564, align 4
  %v565 = extractelement <8 x float> %v455, i64 2
  %v566 = getelementptr float, ptr %v561, i64 2
  store float %v565, ptr %v566, align 4
  %v567 = getelementptr i8, ptr %v537, i64 36
  %v568 = and i8 %v539, 8
  %on.569 = icmp ne i8 %v568, 0
  %v570 = select i1 %on.569, ptr %v567, ptr %v535
  %v571 = extractelement <8 x float> %v453, i64 3
  store float %v571, ptr %v570, align 4
  %v572 = extractelement <8 x float> %v454, i64 3
  %v573 = getelementptr float, ptr %v570, i64 1
  store float %v572, ptr %v573, align 4
  %v574 = extractelement <8 x float> %v455, i64 3
  %v575 = getelementptr float, ptr %v570, i64 2
  store float %v574, ptr %v575, align 4
  %v576 = getelementptr i8, ptr %v537, i64 48
  %v577 = and i8 %v539, 16
  %on.578 = icmp ne i8 %v577, 0
  %v579 = select i1 %on.578, ptr %v576, ptr %v535
  %v580 = extractelement <8 x float> %v453, i64 4
  store float %v580, ptr %v579, align 4
  %v581 = extractelement <8 x float> %v454, i64 4
  %v582 = getelementptr float, ptr %v579, i64 1
  store float %v581, ptr %v582, align 4
  %v583 = extractelement <8 x float> %v455, i64 4
  %v584 = getelementptr float, ptr %v579, i64 2
  store float %v583, ptr %v584, align 4
  %v585 = getelementptr i8, ptr %v537, i64 60
  %v586 = and i8 %v539, 32
  %on.587 = icmp ne i8 %v586, 0
  %v588 = select i1 %on.587, ptr %v585, ptr %v535
  %v589 = extractelement <8 x float> %v453, i64 5
  store float %v589, ptr %v588, align 4
  %v590 = extractelement <8 x float> %v454, i64 5
  %v591 = getelementptr float, ptr %v588, i64 1
  store float %v590, ptr %v591, align 4
  %v592 = extractelement <8 x float> %v455, i64 5
  %v593 = getelementptr float, ptr %v588, i64 2
  store float %v592, ptr %v593, align 4
  %v594 = getelementptr i8, ptr %v537, i64 72
  %v595 = and i8 %v539, 64
  %on.596 = icmp ne i8 %v595, 0
  %v597 = select i1 %on.596, ptr %v594, ptr %v535
  %v598 = extractelement <8 x float> %v453, i64 6
  store float %v598, ptr %v597, align 4
  %v599 = extractelement <8 x float> %v454, i64 6
  %v600 = getelementptr float, ptr %v597, i64 1
  store float %v599, ptr %v600, align 4
  %v601 = extractelement <8 x float> %v455, i64 6
  %v602 = getelementptr float, ptr %v597, i64 2
  store float %v601, ptr %v602, align 4
  %v603 = getelementptr i8, ptr %v537, i64 84
  %v604 = and i8 %v539, 128
  %on.605 = icmp ne i8 %v604, 0
  %v606 = select i1 %on.605, ptr %v603, ptr %v535
  %v607 = extractelement <8 x float> %v453, i64 7
  store float %v607, ptr %v606, align 4
  %v608 = extractelement <8 x float> %v454, i64 7
  %v609 = getelementptr float, ptr %v606, i64 1
  store float %v608, ptr %v609, align 4
  %v610 = extractelement <8 x float> %v455, i64 7
  %v611 = getelementptr float, ptr %v606, i64 2
  store float %v610, ptr %v611, align 4
  br label %rest.end.151
rest.end.151:
  %first.612 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %high.2, %endfor.171 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.612, %rest.end.151 ], [ %tid.next, %thread.end ]
  %more.613 = icmp slt i32 %tid, %high.2
  br i1 %more.613, label %thread, label %finish
thread:
  ; line 6: i = tid()
  ; line 7: total = vec3()
  ; line 8: for j in range(len(p)):
  %v614 = trunc i64 %p.shape0.15 to i32
  %left.620 = sub i32 %v614, 0
  %few.621 = call i32 @llvm.umin.i32(i32 %left.620, i32 1024)
  %last.622 = add nsw i32 0, %few.621
  %more.623 = icmp slt i32 0, %v614
  br i1 %more.623, label %strip.615, label %endfor.619
strip.615:
  %j.624 = phi i32 [ 0, %thread ], [ %last.628, %go.669 ]
  %total.625 = phi float [ 0x0000000000000000, %thread ], [ %v662, %go.669 ]
  %total.626 = phi float [ 0x0000000000000000, %thread ], [ %v663, %go.669 ]
  %total.627 = phi float [ 0x0000000000000000, %thread ], [ %v664, %go.669 ]
  %last.628 = phi i32 [ %last.622, %thread ], [ %last.677, %go.669 ]
  br label %body.616
body.616:
  %j.629 = phi i32 [ %j.624, %strip.615 ], [ %j.next.665, %body.616 ]
  %total.630 = phi float [ %total.625, %strip.615 ], [ %v662, %body.616 ]
  %total.631 = phi float [ %total.626, %strip.615 ], [ %v663, %body.616 ]
  %total.632 = phi float [ %total.627, %strip.615 ], [ %v664, %body.616 ]
  ; line 9: total += force(p[i], p[j])
  %v633 = sext i32 %tid to i64
  %v634 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v633
  %v635 = getelementptr inbounds float, ptr %v634, i64 1
  %v636 = getelementptr inbounds float, ptr %v634, i64 2
  %v637 = load float, ptr %v634
  %v638 = freeze float %v637
  %v639 = load float, ptr %v635
  %v640 = freeze float %v639
  %v641 = load float, ptr %v636
  %v642 = freeze float %v641
  %v643 = sext i32 %j.629 to i64
  %v644 = getelementptr inbounds [3 x float], ptr %p.data.43, i64 %v643
  %v645 = getelementptr inbounds float, ptr %v644, i64 1
  %v646 = getelementptr inbounds float, ptr %v644, i64 2
  %v647 = load float, ptr %v644
  %v648 = load float, ptr %v645
  %v649 = load float, ptr %v646
  ; line 2: d = b - a
  %v650 = fsub float %v647, %v638
  %v651 = fsub float %v648, %v640
  %v652 = fsub float %v649, %v642
  ; line 3: return d / (length_sq(d) + 0.01)
  %v653 = fmul float %v650, %v650
  %v654 = fmul float %v651, %v651
  %v655 = fmul float %v652, %v652
  %v656 = fadd float %v653, %v654
  %v657 = fadd float %v656, %v655
  %v658 = fadd float %v657, 0x3F847AE140000000
  %v659 = fdiv float %v650, %v658
  %v660 = fdiv float %v651, %v658
  %v661 = fdiv float %v652, %v658
  ; line 9: total += force(p[i], p[j])
  %v662 = fadd float %total.630, %v659
  %v663 = fadd float %total.631, %v660
  %v664 = fadd float %total.632, %v661
  ; line 8: for j in range(len(p)):
  %j.next.665 = add nsw i32 %j.629, 1
  %more.666 = icmp ne i32 %j.next.665, %last.628
  br i1 %more.666, label %body.616, label %stripped.617, !llvm.loop !5
stripped.617:
  %over.667 = icmp eq i32 %last.628, %v614
  br i1 %over.667, label %endfor.619, label %again.618, !prof !1
again.618:
  %stop.670 = load volatile i32, ptr %stop
  %calm.671 = icmp eq i32 %stop.670, 0
  br i1 %calm.671, label %go.669, label %ask.668, !prof !1
ask.668:
  %v672 = load ptr, ptr %v106
  %v673 = call i32 %v672(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v674 = icmp eq i32 %v673, 0
  br i1 %v674, label %go.669, label %stopped
go.669:
  %left.675 = sub i32 %v614, %last.628
  %few.676 = call i32 @llvm.umin.i32(i32 %left.675, i32 1024)
  %last.677 = add nsw i32 %last.628, %few.676
  br label %strip.615
endfor.619:
  %v678 = phi float [ 0x0000000000000000, %thread ], [ %v662, %stripped.617 ]
  %v679 = phi float [ 0x0000000000000000, %thread ], [ %v663, %stripped.617 ]
  %v680 = phi float [ 0x0000000000000000, %thread ], [ %v664, %stripped.617 ]
  ; line 10: f[i] = total
  %v681 = sext i32 %tid to i64
  %v682 = getelementptr inbounds [3 x float], ptr %f.data.125, i64 %v681
  %v683 = getelementptr inbounds float, ptr %v682, i64 1
  %v684 = getelementptr inbounds float, ptr %v682, i64 2
  store float %v678, ptr %v682
  store float %v679, ptr %v683
  store float %v680, ptr %v684
  %v687 = and i32 %tid, 31
  %early.688 = icmp ne i32 %v687, 31
  br i1 %early.688, label %on.686, label %due.685, !prof !1
due.685:
  %stop.691 = load volatile i32, ptr %stop
  %calm.692 = icmp eq i32 %stop.691, 0
  br i1 %calm.692, label %go.690, label %ask.689, !prof !1
ask.689:
  %v693 = sext i32 %tid to i64
  store i64 %v693, ptr %v142
  %v694 = load ptr, ptr %v106
  %v695 = call i32 %v694(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v696 = icmp eq i32 %v695, 0
  br i1 %v696, label %go.690, label %stopped
go.690:
  br label %on.686
on.686:
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
