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
  %result.shape1.at.96 = getelementptr inbounds i8, ptr %params, i64 88
  %result.shape1.97 = load i64, ptr %result.shape1.at.96, !range !0
  %result.at.101 = getelementptr inbounds i8, ptr %params, i64 72
  %result.data.102 = load ptr, ptr %result.at.101
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
  %gang.21 = phi i32 [ %low.11, %row ], [ %v118, %endfor.27 ]
  %number.22 = phi i32 [ 0, %row ], [ %v119, %endfor.27 ]
  %more.23 = icmp slt i32 %gang.21, %gangs.20
  br i1 %more.23, label %gang.15, label %gangs.end.16
gang.15:
  ; line 2: i, j = tid()
  %j.24 = sext i32 %gang.21 to i64
  ; line 4: for dy in range(-1, 2):
  br label %for.25
for.25:
  %dy.28 = phi i32 [ -1, %gang.15 ], [ %dy.next.94, %body.26 ]
  %total.29 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.86, %body.26 ]
  %total.30 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.87, %body.26 ]
  %total.31 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.88, %body.26 ]
  %total.32 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.89, %body.26 ]
  %total.33 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.90, %body.26 ]
  %total.34 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.91, %body.26 ]
  %total.35 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.92, %body.26 ]
  %total.36 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.15 ], [ %total.93, %body.26 ]
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
  %v57 = add i64 %v52, 32
  %v58 = getelementptr i8, ptr %source.data.54, i64 %v57
  %source.59 = load <8 x float>, ptr %v58, align 4
  %v60 = add i64 %v52, 64
  %v61 = getelementptr i8, ptr %source.data.54, i64 %v60
  %source.62 = load <8 x float>, ptr %v61, align 4
  %v63 = add i64 %v52, 96
  %v64 = getelementptr i8, ptr %source.data.54, i64 %v63
  %source.65 = load <8 x float>, ptr %v64, align 4
  %v66 = add i64 %v52, 128
  %v67 = getelementptr i8, ptr %source.data.54, i64 %v66
  %source.68 = load <8 x float>, ptr %v67, align 4
  %v69 = add i64 %v52, 160
  %v70 = getelementptr i8, ptr %source.data.54, i64 %v69
  %source.71 = load <8 x float>, ptr %v70, align 4
  %v72 = add i64 %v52, 192
  %v73 = getelementptr i8, ptr %source.data.54, i64 %v72
  %source.74 = load <8 x float>, ptr %v73, align 4
  %v75 = add i64 %v52, 224
  %v76 = getelementptr i8, ptr %source.data.54, i64 %v75
  %source.77 = load <8 x float>, ptr %v76, align 4
  %v78 = fdiv <8 x float> %source.56, splat (float 0x4008000000000000)
  %v79 = fdiv <8 x float> %source.59, splat (float 0x4008000000000000)
  %v80 = fdiv <8 x float> %source.62, splat (float 0x4008000000000000)
  %v81 = fdiv <8 x float> %source.65, splat (float 0x4008000000000000)
  %v82 = fdiv <8 x float> %source.68, splat (float 0x4008000000000000)
  %v83 = fdiv <8 x float> %source.71, splat (float 0x4008000000000000)
  %v84 = fdiv <8 x float> %source.74, splat (float 0x4008000000000000)
  %v85 = fdiv <8 x float> %source.77, splat (float 0x4008000000000000)
  %total.86 = fadd <8 x float> %total.29, %v78
  %total.87 = fadd <8 x float> %total.30, %v79
  %total.88 = fadd <8 x float> %total.31, %v80
  %total.89 = fadd <8 x float> %total.32, %v81
  %total.90 = fadd <8 x float> %total.33, %v82
  %total.91 = fadd <8 x float> %total.34, %v83
  %total.92 = fadd <8 x float> %total.35, %v84
  %total.93 = fadd <8 x float> %total.36, %v85
  ; line 4: for dy in range(-1, 2):
  %dy.next.94 = add nsw i32 %dy.28, 1
  br label %for.25
endfor.27:
  ; line 7: result[i, j] = total
  %v95 = sext i32 %tid0.13 to i64
  %v98 = mul i64 %v95, %result.shape1.97
  %v99 = add i64 %v98, %j.24
  %v100 = mul i64 %v99, 4
  %v103 = getelementptr i8, ptr %result.data.102, i64 %v100
  store <8 x float> %total.29, ptr %v103, align 4
  %v104 = add i64 %v100, 32
  %v105 = getelementptr i8, ptr %result.data.102, i64 %v104
  store <8 x float> %total.30, ptr %v105, align 4
  %v106 = add i64 %v100, 64
  %v107 = getelementptr i8, ptr %result.data.102, i64 %v106
  store <8 x float> %total.31, ptr %v107, align 4
  %v108 = add i64 %v100, 96
  %v109 = getelementptr i8, ptr %result.data.102, i64 %v108
  store <8 x float> %total.32, ptr %v109, align 4
  %v110 = add i64 %v100, 128
  %v111 = getelementptr i8, ptr %result.data.102, i64 %v110
  store <8 x float> %total.33, ptr %v111, align 4
  %v112 = add i64 %v100, 160
  %v113 = getelementptr i8, ptr %result.data.102, i64 %v112
  store <8 x float> %total.34, ptr %v113, align 4
  %v114 = add i64 %v100, 192
  %v115 = getelementptr i8, ptr %result.data.102, i64 %v114
  store <8 x float> %total.35, ptr %v115, align 4
  %v116 = add i64 %v100, 224
  %v117 = getelementptr i8, ptr %result.data.102, i64 %v116
  store <8 x float> %total.36, ptr %v117, align 4
  %v118 = add nsw i32 %gang.21, 64
  %v119 = add nsw i32 %number.22, 1
  br label %gangs.14, !llvm.loop !2
gangs.end.16:
  %v123 = sub nsw i32 %high.12, %gangs.20
  %v124 = call i32 @llvm.smax.i32(i32 %v123, i32 0)
  %v125 = and i32 %v124, -16
  %gangs.126 = add nsw i32 %gangs.20, %v125
  br label %gangs.120
gangs.120:
  %gang.127 = phi i32 [ %gangs.20, %gangs.end.16 ], [ %v166, %endfor.133 ]
  %number.128 = phi i32 [ 0, %gangs.end.16 ], [ %v167, %endfor.133 ]
  %more.129 = icmp slt i32 %gang.127, %gangs.126
  br i1 %more.129, label %gang.121, label %gangs.end.122
gang.121:
  ; line 2: i, j = tid()
  %j.130 = sext i32 %gang.127 to i64
  ; line 4: for dy in range(-1, 2):
  br label %for.131
for.131:
  %dy.134 = phi i32 [ -1, %gang.121 ], [ %dy.next.158, %body.132 ]
  %total.135 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.121 ], [ %total.156, %body.132 ]
  %total.136 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.121 ], [ %total.157, %body.132 ]
  %more.137 = icmp slt i32 %dy.134, 2
  br i1 %more.137, label %body.132, label %endfor.133
body.132:
  ; line 5: y = clamp(i + dy, 0, source.shape[0] - 1)
  %v138 = add i32 %tid0.13, %dy.134
  %v139 = trunc i64 %source.shape0.40 to i32
  %v140 = sub i32 %v139, 1
  %v141 = icmp sgt i32 0, %v138
  %v142 = select i1 %v141, i32 0, i32 %v138
  %v143 = icmp slt i32 %v142, %v140
  %y.144 = select i1 %v143, i32 %v142, i32 %v140
  ; line 6: total += source[y, j] / 3
  %v145 = sext i32 %y.144 to i64
  %v146 = mul i64 %v145, %source.shape1.49
  %v147 = add i64 %v146, %j.130
  %v148 = mul i64 %v147, 4
  %v149 = getelementptr i8, ptr %source.data.54, i64 %v148
  %source.150 = load <8 x float>, ptr %v149, align 4
  %v151 = add i64 %v148, 32
  %v152 = getelementptr i8, ptr %source.data.54, i64 %v151
  %source.153 = load <8 x float>, ptr %v152, align 4
  %v154 = fdiv <8 x float> %source.150, splat (float 0x4008000000000000)
  %v155 = fdiv <8 x float> %source.153, splat (float 0x4008000000000000)
  %total.156 = fadd <8 x float> %total.135, %v154
  %total.157 = fadd <8 x float> %total.136, %v155
  ; line 4: for dy in range(-1, 2):
  %dy.next.158 = add nsw i32 %dy.134, 1
  br label %for.131
endfor.133:
  ; line 7: result[i, j] = total
  %v159 = sext i32 %tid0.13 to i64
  %v160 = mul i64 %v159, %result.shape1.97
  %v161 = add i64 %v160, %j.130
  %v162 = mul i64 %v161, 4
  %v163 = getelementptr i8, ptr %result.data.102, i64 %v162
  store <8 x float> %total.135, ptr %v163, align 4
  %v164 = add i64 %v162, 32
  %v165 = getelementptr i8, ptr %result.data.102, i64 %v164
  store <8 x float> %total.136, ptr %v165, align 4
  %v166 = add nsw i32 %gang.127, 16
  %v167 = add nsw i32 %number.128, 1
  br label %gangs.120, !llvm.loop !3
gangs.end.122:
  %left.168 = sub nsw i32 %high.12, %gangs.126
  %several.171 = icmp sge i32 %left.168, 4
  br i1 %several.171, label %rest.169, label %rest.end.170
rest.169:
  %v172 = insertelement <8 x i32> poison, i32 %left.168, i64 0
  %v173 = shufflevector <8 x i32> %v172, <8 x i32> poison, <8 x i32> zeroinitializer
  %v174 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v173
  %v175 = sext <8 x i1> %v174 to <8 x i32>
  %v176 = bitcast <8 x i32> %v175 to <8 x float>
  %v177 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v176)
  %v178 = bitcast <8 x float> %v177 to <8 x i32>
  %v179 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v173
  %v180 = sext <8 x i1> %v179 to <8 x i32>
  %v181 = bitcast <8 x i32> %v180 to <8 x float>
  %v182 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v181)
  %v183 = bitcast <8 x float> %v182 to <8 x i32>
  ; line 2: i, j = tid()
  %j.184 = sext i32 %gangs.126 to i64
  ; line 4: for dy in range(-1, 2):
  br label %for.185
for.185:
  %dy.188 = phi i32 [ -1, %rest.169 ], [ %dy.next.216, %body.186 ]
  %total.189 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.169 ], [ %total.214, %body.186 ]
  %total.190 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.169 ], [ %total.215, %body.186 ]
  %more.191 = icmp slt i32 %dy.188, 2
  br i1 %more.191, label %body.186, label %endfor.187
body.186:
  ; line 5: y = clamp(i + dy, 0, source.shape[0] - 1)
  %v192 = add i32 %tid0.13, %dy.188
  %v193 = trunc i64 %source.shape0.40 to i32
  %v194 = sub i32 %v193, 1
  %v195 = icmp sgt i32 0, %v192
  %v196 = select i1 %v195, i32 0, i32 %v192
  %v197 = icmp slt i32 %v196, %v194
  %y.198 = select i1 %v197, i32 %v196, i32 %v194
  ; line 6: total += source[y, j] / 3
  %v199 = sext i32 %y.198 to i64
  %v200 = mul i64 %v199, %source.shape1.49
  %v201 = add i64 %v200, %j.184
  %v202 = mul i64 %v201, 4
  %v203 = getelementptr i8, ptr %source.data.54, i64 %v202
  %flags.204 = icmp slt <8 x i32> %v178, zeroinitializer
  %v205 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v203, i32 4, <8 x i1> %flags.204, <8 x float> zeroinitializer)
  %source.206 = freeze <8 x float> %v205
  %v207 = add i64 %v202, 32
  %v208 = getelementptr i8, ptr %source.data.54, i64 %v207
  %flags.209 = icmp slt <8 x i32> %v183, zeroinitializer
  %v210 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v208, i32 4, <8 x i1> %flags.209, <8 x float> zeroinitializer)
  %source.211 = freeze <8 x float> %v210
  %v212 = fdiv <8 x float> %source.206, splat (float 0x4008000000000000)
  %v213 = fdiv <8 x float> %source.211, splat (float 0x4008000000000000)
  %total.214 = fadd <8 x float> %total.189, %v212
  %total.215 = fadd <8 x float> %total.190, %v213
  ; line 4: for dy in range(-1, 2):
  %dy.next.216 = add nsw i32 %dy.188, 1
  br label %for.185
endfor.187:
  ; line 7: result[i, j] = total
  %v217 = sext i32 %tid0.13 to i64
  %v218 = mul i64 %v217, %result.shape1.97
  %v219 = add i64 %v218, %j.184
  %v220 = mul i64 %v219, 4
  %v221 = getelementptr i8, ptr %result.data.102, i64 %v220
  %flags.222 = icmp slt <8 x i32> %v178, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> %total.189, ptr %v221, i32 4, <8 x i1> %flags.222)
  %v223 = add i64 %v220, 32
  %v224 = getelementptr i8, ptr %result.data.102, i64 %v223
  %flags.225 = icmp slt <8 x i32> %v183, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> %total.190, ptr %v224, i32 4, <8 x i1> %flags.225)
  br label %rest.end.170
rest.end.170:
  %first.226 = phi i32 [ %gangs.126, %gangs.end.122 ], [ %high.12, %endfor.187 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.226, %rest.end.170 ], [ %tid.next, %thread.end ]
  %more.227 = icmp slt i32 %tid, %high.12
  br i1 %more.227, label %thread, label %row.end
thread:
  ; line 2: i, j = tid()
  ; line 4: for dy in range(-1, 2):
  br label %for.228
for.228:
  %dy.231 = phi i32 [ -1, %thread ], [ %dy.next.249, %body.229 ]
  %total.232 = phi float [ 0x0000000000000000, %thread ], [ %total.248, %body.229 ]
  %more.233 = icmp slt i32 %dy.231, 2
  br i1 %more.233, label %body.229, label %endfor.230
body.229:
  ; line 5: y = clamp(i + dy, 0, source.shape[0] - 1)
  %v234 = add i32 %tid0.13, %dy.231
  %v235 = trunc i64 %source.shape0.40 to i32
  %v236 = sub i32 %v235, 1
  %v237 = icmp sgt i32 0, %v234
  %v238 = select i1 %v237, i32 0, i32 %v234
  %v239 = icmp slt i32 %v238, %v236
  %y.240 = select i1 %v239, i32 %v238, i32 %v236
  ; line 6: total += source[y, j] / 3
  %v241 = sext i32 %y.240 to i64
  %v242 = sext i32 %tid to i64
  %v243 = mul nsw i64 %v241, %source.shape1.49
  %v244 = add nsw i64 %v243, %v242
  %v245 = getelementptr inbounds float, ptr %source.data.54, i64 %v244
  %v246 = load float, ptr %v245
  %v247 = fdiv float %v246, 0x4008000000000000
  %total.248 = fadd float %total.232, %v247
  ; line 4: for dy in range(-1, 2):
  %dy.next.249 = add nsw i32 %dy.231, 1
  br label %for.228
endfor.230:
  ; line 7: result[i, j] = total
  %v250 = sext i32 %tid0.13 to i64
  %v251 = sext i32 %tid to i64
  %v252 = mul nsw i64 %v250, %result.shape1.97
  %v253 = add nsw i64 %v252, %v251
  %v254 = getelementptr inbounds float, ptr %result.data.102, i64 %v253
  store float %total.232, ptr %v254
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !4
row.end:
  %row.next = add nuw nsw i64 %row.at, 1
  %v255 = icmp slt i64 %row.at, %last.5
  br i1 %v255, label %row, label %finish
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
