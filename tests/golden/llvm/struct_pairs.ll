define i32 @wb_struct_pairs(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %bodies.pos.at.15 = getelementptr inbounds i8, ptr %params, i64 32
  %bodies.pos.data.16 = load ptr, ptr %bodies.pos.at.15
  %bodies.pos.shape0.at.109 = getelementptr inbounds i8, ptr %params, i64 40
  %bodies.pos.shape0.110 = load i64, ptr %bodies.pos.shape0.at.109, !range !0
  %bodies.mass.data.144 = getelementptr inbounds i8, ptr %bodies.pos.data.16, i64 24
  %bodies.id.data.148 = getelementptr inbounds i8, ptr %bodies.pos.data.16, i64 28
  %v237 = getelementptr inbounds i8, ptr %stop, i64 8
  %f.at.255 = getelementptr inbounds i8, ptr %params, i64 128
  %f.data.256 = load ptr, ptr %f.at.255
  %v272 = getelementptr inbounds i8, ptr %stop, i64 16
  %nowhere.582 = alloca [64 x i8], align 64
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v277, %on.265 ]
  %number.11 = phi i32 [ 0, %start ], [ %v278, %on.265 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 9: i = tid()
  %i.13 = sext i32 %gang.10 to i64
  ; line 10: a = bodies[i]
  %v14 = mul i64 %i.13, 32
  %v17 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v14
  %v18 = getelementptr i8, ptr %v17, i64 0
  %v19 = getelementptr i8, ptr %v17, i64 32
  %v20 = getelementptr i8, ptr %v17, i64 64
  %v21 = getelementptr i8, ptr %v17, i64 96
  %v22 = getelementptr i8, ptr %v17, i64 128
  %v23 = getelementptr i8, ptr %v17, i64 160
  %v24 = getelementptr i8, ptr %v17, i64 192
  %v25 = getelementptr i8, ptr %v17, i64 224
  %bodies.pos.26 = load <8 x i32>, ptr %v18, align 4
  %bodies.pos.27 = load <8 x i32>, ptr %v19, align 4
  %bodies.pos.28 = load <8 x i32>, ptr %v20, align 4
  %bodies.pos.29 = load <8 x i32>, ptr %v21, align 4
  %bodies.pos.30 = load <8 x i32>, ptr %v22, align 4
  %bodies.pos.31 = load <8 x i32>, ptr %v23, align 4
  %bodies.pos.32 = load <8 x i32>, ptr %v24, align 4
  %bodies.pos.33 = load <8 x i32>, ptr %v25, align 4
  %v34 = shufflevector <8 x i32> %bodies.pos.26, <8 x i32> %bodies.pos.27, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v35 = shufflevector <8 x i32> %bodies.pos.26, <8 x i32> %bodies.pos.27, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v36 = shufflevector <8 x i32> %bodies.pos.28, <8 x i32> %bodies.pos.29, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v37 = shufflevector <8 x i32> %bodies.pos.28, <8 x i32> %bodies.pos.29, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v38 = shufflevector <8 x i32> %bodies.pos.30, <8 x i32> %bodies.pos.31, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v39 = shufflevector <8 x i32> %bodies.pos.30, <8 x i32> %bodies.pos.31, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v40 = shufflevector <8 x i32> %bodies.pos.32, <8 x i32> %bodies.pos.33, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v41 = shufflevector <8 x i32> %bodies.pos.32, <8 x i32> %bodies.pos.33, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v42 = shufflevector <8 x i32> %v34, <8 x i32> %v36, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v43 = shufflevector <8 x i32> %v34, <8 x i32> %v36, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v44 = shufflevector <8 x i32> %v35, <8 x i32> %v37, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v45 = shufflevector <8 x i32> %v35, <8 x i32> %v37, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v46 = shufflevector <8 x i32> %v38, <8 x i32> %v40, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v47 = shufflevector <8 x i32> %v38, <8 x i32> %v40, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v48 = shufflevector <8 x i32> %v39, <8 x i32> %v41, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v49 = shufflevector <8 x i32> %v39, <8 x i32> %v41, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v50 = shufflevector <8 x i32> %v42, <8 x i32> %v46, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v51 = shufflevector <8 x i32> %v43, <8 x i32> %v47, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v52 = shufflevector <8 x i32> %v44, <8 x i32> %v48, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v53 = shufflevector <8 x i32> %v45, <8 x i32> %v49, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v54 = shufflevector <8 x i32> %v42, <8 x i32> %v46, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v55 = shufflevector <8 x i32> %v43, <8 x i32> %v47, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v56 = shufflevector <8 x i32> %v44, <8 x i32> %v48, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v57 = shufflevector <8 x i32> %v45, <8 x i32> %v49, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %a.pos.58 = bitcast <8 x i32> %v50 to <8 x float>
  %a.pos.59 = bitcast <8 x i32> %v51 to <8 x float>
  %a.pos.60 = bitcast <8 x i32> %v52 to <8 x float>
  %a.mass.61 = bitcast <8 x i32> %v56 to <8 x float>
  %v62 = mul i64 %i.13, 32
  %v63 = add i64 %v62, 256
  %v64 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v63
  %v65 = getelementptr i8, ptr %v64, i64 0
  %v66 = getelementptr i8, ptr %v64, i64 32
  %v67 = getelementptr i8, ptr %v64, i64 64
  %v68 = getelementptr i8, ptr %v64, i64 96
  %v69 = getelementptr i8, ptr %v64, i64 128
  %v70 = getelementptr i8, ptr %v64, i64 160
  %v71 = getelementptr i8, ptr %v64, i64 192
  %v72 = getelementptr i8, ptr %v64, i64 224
  %bodies.pos.73 = load <8 x i32>, ptr %v65, align 4
  %bodies.pos.74 = load <8 x i32>, ptr %v66, align 4
  %bodies.pos.75 = load <8 x i32>, ptr %v67, align 4
  %bodies.pos.76 = load <8 x i32>, ptr %v68, align 4
  %bodies.pos.77 = load <8 x i32>, ptr %v69, align 4
  %bodies.pos.78 = load <8 x i32>, ptr %v70, align 4
  %bodies.pos.79 = load <8 x i32>, ptr %v71, align 4
  %bodies.pos.80 = load <8 x i32>, ptr %v72, align 4
  %v81 = shufflevector <8 x i32> %bodies.pos.73, <8 x i32> %bodies.pos.74, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v82 = shufflevector <8 x i32> %bodies.pos.73, <8 x i32> %bodies.pos.74, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v83 = shufflevector <8 x i32> %bodies.pos.75, <8 x i32> %bodies.pos.76, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v84 = shufflevector <8 x i32> %bodies.pos.75, <8 x i32> %bodies.pos.76, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v85 = shufflevector <8 x i32> %bodies.pos.77, <8 x i32> %bodies.pos.78, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v86 = shufflevector <8 x i32> %bodies.pos.77, <8 x i32> %bodies.pos.78, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v87 = shufflevector <8 x i32> %bodies.pos.79, <8 x i32> %bodies.pos.80, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v88 = shufflevector <8 x i32> %bodies.pos.79, <8 x i32> %bodies.pos.80, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v89 = shufflevector <8 x i32> %v81, <8 x i32> %v83, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v90 = shufflevector <8 x i32> %v81, <8 x i32> %v83, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v91 = shufflevector <8 x i32> %v82, <8 x i32> %v84, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v92 = shufflevector <8 x i32> %v82, <8 x i32> %v84, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v93 = shufflevector <8 x i32> %v85, <8 x i32> %v87, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v94 = shufflevector <8 x i32> %v85, <8 x i32> %v87, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v95 = shufflevector <8 x i32> %v86, <8 x i32> %v88, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v96 = shufflevector <8 x i32> %v86, <8 x i32> %v88, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v97 = shufflevector <8 x i32> %v89, <8 x i32> %v93, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v98 = shufflevector <8 x i32> %v90, <8 x i32> %v94, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v99 = shufflevector <8 x i32> %v91, <8 x i32> %v95, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v100 = shufflevector <8 x i32> %v92, <8 x i32> %v96, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v101 = shufflevector <8 x i32> %v89, <8 x i32> %v93, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v102 = shufflevector <8 x i32> %v90, <8 x i32> %v94, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v103 = shufflevector <8 x i32> %v91, <8 x i32> %v95, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v104 = shufflevector <8 x i32> %v92, <8 x i32> %v96, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %a.pos.105 = bitcast <8 x i32> %v97 to <8 x float>
  %a.pos.106 = bitcast <8 x i32> %v98 to <8 x float>
  %a.pos.107 = bitcast <8 x i32> %v99 to <8 x float>
  %a.mass.108 = bitcast <8 x i32> %v103 to <8 x float>
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v111 = trunc i64 %bodies.pos.shape0.110 to i32
  %left.117 = sub i32 %v111, 0
  %few.118 = call i32 @llvm.umin.i32(i32 %left.117, i32 1024)
  %last.119 = add nsw i32 0, %few.118
  %more.120 = icmp slt i32 0, %v111
  br i1 %more.120, label %strip.112, label %endfor.116
strip.112:
  %j.121 = phi i32 [ 0, %gang.4 ], [ %last.128, %go.234 ]
  %total.122 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v218, %go.234 ]
  %total.123 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v220, %go.234 ]
  %total.124 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v222, %go.234 ]
  %total.125 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v225, %go.234 ]
  %total.126 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v227, %go.234 ]
  %total.127 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v229, %go.234 ]
  %last.128 = phi i32 [ %last.119, %gang.4 ], [ %last.243, %go.234 ]
  br label %body.113
body.113:
  %j.129 = phi i32 [ %j.121, %strip.112 ], [ %j.next.230, %side.end.164 ]
  %total.130 = phi <8 x float> [ %total.122, %strip.112 ], [ %v218, %side.end.164 ]
  %total.131 = phi <8 x float> [ %total.123, %strip.112 ], [ %v220, %side.end.164 ]
  %total.132 = phi <8 x float> [ %total.124, %strip.112 ], [ %v222, %side.end.164 ]
  %total.133 = phi <8 x float> [ %total.125, %strip.112 ], [ %v225, %side.end.164 ]
  %total.134 = phi <8 x float> [ %total.126, %strip.112 ], [ %v227, %side.end.164 ]
  %total.135 = phi <8 x float> [ %total.127, %strip.112 ], [ %v229, %side.end.164 ]
  ; line 13: b = bodies[j]
  %v136 = sext i32 %j.129 to i64
  %v137 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v136
  %v138 = getelementptr inbounds float, ptr %v137, i64 1
  %v139 = getelementptr inbounds float, ptr %v137, i64 2
  %b.pos.140 = load float, ptr %v137
  %b.pos.141 = load float, ptr %v138
  %b.pos.142 = load float, ptr %v139
  %v143 = sext i32 %j.129 to i64
  %v145 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.144, i64 %v143
  %b.mass.146 = load float, ptr %v145
  %v147 = sext i32 %j.129 to i64
  %v149 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.148, i64 %v147
  %b.id.150 = load i32, ptr %v149
  ; line 14: if b.id != a.id:
  %v151 = insertelement <8 x i32> poison, i32 %b.id.150, i64 0
  %v152 = shufflevector <8 x i32> %v151, <8 x i32> poison, <8 x i32> zeroinitializer
  %v153 = icmp ne <8 x i32> %v152, %v57
  %v154 = sext <8 x i1> %v153 to <8 x i32>
  %v155 = bitcast <8 x i32> %v154 to <8 x float>
  %v156 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v155)
  %v157 = bitcast <8 x float> %v156 to <8 x i32>
  %v158 = icmp ne <8 x i32> %v152, %v104
  %v159 = sext <8 x i1> %v158 to <8 x i32>
  %v160 = bitcast <8 x i32> %v159 to <8 x float>
  %v161 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v160)
  %v162 = bitcast <8 x float> %v161 to <8 x i32>
  %v165 = or <8 x i32> %v157, %v162
  %v166 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v165)
  %v167 = icmp ne i32 %v166, 0
  br i1 %v167, label %side.163, label %side.end.164
side.163:
  ; line 15: d = b.pos - a.pos
  %v168 = insertelement <8 x float> poison, float %b.pos.140, i64 0
  %v169 = shufflevector <8 x float> %v168, <8 x float> poison, <8 x i32> zeroinitializer
  %v170 = fsub <8 x float> %v169, %a.pos.58
  %v171 = fsub <8 x float> %v169, %a.pos.105
  %v172 = insertelement <8 x float> poison, float %b.pos.141, i64 0
  %v173 = shufflevector <8 x float> %v172, <8 x float> poison, <8 x i32> zeroinitializer
  %v174 = fsub <8 x float> %v173, %a.pos.59
  %v175 = fsub <8 x float> %v173, %a.pos.106
  %v176 = insertelement <8 x float> poison, float %b.pos.142, i64 0
  %v177 = shufflevector <8 x float> %v176, <8 x float> poison, <8 x i32> zeroinitializer
  %v178 = fsub <8 x float> %v177, %a.pos.60
  %v179 = fsub <8 x float> %v177, %a.pos.107
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v180 = insertelement <8 x float> poison, float %b.mass.146, i64 0
  %v181 = shufflevector <8 x float> %v180, <8 x float> poison, <8 x i32> zeroinitializer
  %v182 = fmul <8 x float> %a.mass.61, %v181
  %v183 = fmul <8 x float> %a.mass.108, %v181
  %v184 = fmul <8 x float> %v170, %v170
  %v185 = fmul <8 x float> %v171, %v171
  %v186 = fmul <8 x float> %v174, %v174
  %v187 = fmul <8 x float> %v175, %v175
  %v188 = fmul <8 x float> %v178, %v178
  %v189 = fmul <8 x float> %v179, %v179
  %v190 = fadd <8 x float> %v184, %v186
  %v191 = fadd <8 x float> %v185, %v187
  %v192 = fadd <8 x float> %v190, %v188
  %v193 = fadd <8 x float> %v191, %v189
  %v194 = fadd <8 x float> %v192, splat (float 0x3F847AE140000000)
  %v195 = fadd <8 x float> %v193, splat (float 0x3F847AE140000000)
  %v196 = fdiv <8 x float> %v182, %v194
  %v197 = fdiv <8 x float> %v183, %v195
  %v198 = fmul <8 x float> %v170, %v196
  %v199 = fmul <8 x float> %v171, %v197
  %v200 = fmul <8 x float> %v174, %v196
  %v201 = fmul <8 x float> %v175, %v197
  %v202 = fmul <8 x float> %v178, %v196
  %v203 = fmul <8 x float> %v179, %v197
  %v204 = fadd <8 x float> %total.130, %v198
  %v205 = fadd <8 x float> %total.133, %v199
  %v206 = fadd <8 x float> %total.131, %v200
  %v207 = fadd <8 x float> %total.134, %v201
  %v208 = fadd <8 x float> %total.132, %v202
  %v209 = fadd <8 x float> %total.135, %v203
  ; line 14: if b.id != a.id:
  br label %side.end.164
side.end.164:
  %total.210 = phi <8 x float> [ zeroinitializer, %body.113 ], [ %v204, %side.163 ]
  %total.211 = phi <8 x float> [ zeroinitializer, %body.113 ], [ %v206, %side.163 ]
  %total.212 = phi <8 x float> [ zeroinitializer, %body.113 ], [ %v208, %side.163 ]
  %total.213 = phi <8 x float> [ zeroinitializer, %body.113 ], [ %v205, %side.163 ]
  %total.214 = phi <8 x float> [ zeroinitializer, %body.113 ], [ %v207, %side.163 ]
  %total.215 = phi <8 x float> [ zeroinitializer, %body.113 ], [ %v209, %side.163 ]
  %flags.216 = icmp slt <8 x i32> %v157, zeroinitializer
  %v217 = select <8 x i1> %flags.216, <8 x float> %total.210, <8 x float> %total.130
  %v218 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v217)
  %v219 = select <8 x i1> %flags.216, <8 x float> %total.211, <8 x float> %total.131
  %v220 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v219)
  %v221 = select <8 x i1> %flags.216, <8 x float> %total.212, <8 x float> %total.132
  %v222 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v221)
  %flags.223 = icmp slt <8 x i32> %v162, zeroinitializer
  %v224 = select <8 x i1> %flags.223, <8 x float> %total.213, <8 x float> %total.133
  %v225 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v224)
  %v226 = select <8 x i1> %flags.223, <8 x float> %total.214, <8 x float> %total.134
  %v227 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v226)
  %v228 = select <8 x i1> %flags.223, <8 x float> %total.215, <8 x float> %total.135
  %v229 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v228)
  ; line 12: for j in range(len(bodies)):
  %j.next.230 = add nsw i32 %j.129, 1
  %more.231 = icmp ne i32 %j.next.230, %last.128
  br i1 %more.231, label %body.113, label %stripped.114
stripped.114:
  %over.232 = icmp eq i32 %last.128, %v111
  br i1 %over.232, label %endfor.116, label %again.115, !prof !1
again.115:
  %stop.235 = load volatile i32, ptr %stop
  %calm.236 = icmp eq i32 %stop.235, 0
  br i1 %calm.236, label %go.234, label %ask.233, !prof !1
ask.233:
  %v238 = load ptr, ptr %v237
  %v239 = call i32 %v238(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v240 = icmp eq i32 %v239, 0
  br i1 %v240, label %go.234, label %stopped
go.234:
  %left.241 = sub i32 %v111, %last.128
  %few.242 = call i32 @llvm.umin.i32(i32 %left.241, i32 1024)
  %last.243 = add nsw i32 %last.128, %few.242
  br label %strip.112
endfor.116:
  %v244 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v218, %stripped.114 ]
  %v245 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v220, %stripped.114 ]
  %v246 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v222, %stripped.114 ]
  %v247 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v225, %stripped.114 ]
  %v248 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v227, %stripped.114 ]
  %v249 = phi <8 x float> [ splat (float 0x0000000000000000), %gang.4 ], [ %v229, %stripped.114 ]
  ; line 17: f[i] = total
  %v250 = mul i64 %i.13, 12
  %v251 = shufflevector <8 x float> %v244, <8 x float> %v245, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v252 = shufflevector <8 x float> %v246, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v253 = shufflevector <16 x float> %v251, <16 x float> %v252, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v254 = shufflevector <32 x float> %v253, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v257 = getelementptr i8, ptr %f.data.256, i64 %v250
  store <24 x float> %v254, ptr %v257, align 4
  %v258 = shufflevector <8 x float> %v247, <8 x float> %v248, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v259 = shufflevector <8 x float> %v249, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v260 = shufflevector <16 x float> %v258, <16 x float> %v259, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v261 = shufflevector <32 x float> %v260, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v262 = add i64 %v250, 96
  %v263 = getelementptr i8, ptr %f.data.256, i64 %v262
  store <24 x float> %v261, ptr %v263, align 4
  %v266 = and i32 %number.11, 1
  %early.267 = icmp ne i32 %v266, 1
  br i1 %early.267, label %on.265, label %due.264, !prof !1
due.264:
  %stop.270 = load volatile i32, ptr %stop
  %calm.271 = icmp eq i32 %stop.270, 0
  br i1 %calm.271, label %go.269, label %ask.268, !prof !1
ask.268:
  %v273 = sext i32 %gang.10 to i64
  store i64 %v273, ptr %v272
  %v274 = load ptr, ptr %v237
  %v275 = call i32 %v274(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v276 = icmp eq i32 %v275, 0
  br i1 %v276, label %go.269, label %stopped
go.269:
  br label %on.265
on.265:
  %v277 = add nsw i32 %gang.10, 16
  %v278 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %left.279 = sub nsw i32 %high.2, %gangs.9
  %several.282 = icmp sge i32 %left.279, 4
  br i1 %several.282, label %rest.280, label %rest.end.281
rest.280:
  %v283 = insertelement <8 x i32> poison, i32 %left.279, i64 0
  %v284 = shufflevector <8 x i32> %v283, <8 x i32> poison, <8 x i32> zeroinitializer
  %v285 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v284
  %v286 = sext <8 x i1> %v285 to <8 x i32>
  %v287 = bitcast <8 x i32> %v286 to <8 x float>
  %v288 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v287)
  %v289 = bitcast <8 x float> %v288 to <8 x i32>
  %v290 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v284
  %v291 = sext <8 x i1> %v290 to <8 x i32>
  %v292 = bitcast <8 x i32> %v291 to <8 x float>
  %v293 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v292)
  %v294 = bitcast <8 x float> %v293 to <8 x i32>
  ; line 9: i = tid()
  %i.295 = sext i32 %gangs.9 to i64
  ; line 10: a = bodies[i]
  %v296 = mul i64 %i.295, 32
  %v297 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v298 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v296
  %v299 = bitcast <8 x i1> %v285 to i8
  %v300 = getelementptr i8, ptr %v298, i64 0
  %v301 = and i8 %v299, 1
  %on.302 = icmp ne i8 %v301, 0
  %v303 = select i1 %on.302, ptr %v300, ptr %v297
  %v304 = getelementptr i8, ptr %v298, i64 32
  %v305 = and i8 %v299, 2
  %on.306 = icmp ne i8 %v305, 0
  %v307 = select i1 %on.306, ptr %v304, ptr %v297
  %v308 = getelementptr i8, ptr %v298, i64 64
  %v309 = and i8 %v299, 4
  %on.310 = icmp ne i8 %v309, 0
  %v311 = select i1 %on.310, ptr %v308, ptr %v297
  %v312 = getelementptr i8, ptr %v298, i64 96
  %v313 = and i8 %v299, 8
  %on.314 = icmp ne i8 %v313, 0
  %v315 = select i1 %on.314, ptr %v312, ptr %v297
  %v316 = getelementptr i8, ptr %v298, i64 128
  %v317 = and i8 %v299, 16
  %on.318 = icmp ne i8 %v317, 0
  %v319 = select i1 %on.318, ptr %v316, ptr %v297
  %v320 = getelementptr i8, ptr %v298, i64 160
  %v321 = and i8 %v299, 32
  %on.322 = icmp ne i8 %v321, 0
  %v323 = select i1 %on.322, ptr %v320, ptr %v297
  %v324 = getelementptr i8, ptr %v298, i64 192
  %v325 = and i8 %v299, 64
  %on.326 = icmp ne i8 %v325, 0
  %v327 = select i1 %on.326, ptr %v324, ptr %v297
  %v328 = getelementptr i8, ptr %v298, i64 224
  %v329 = and i8 %v299, 128
  %on.330 = icmp ne i8 %v329, 0
  %v331 = select i1 %on.330, ptr %v328, ptr %v297
  %bodies.pos.332 = load <8 x i32>, ptr %v303, align 4
  %bodies.pos.333 = load <8 x i32>, ptr %v307, align 4
  %bodies.pos.334 = load <8 x i32>, ptr %v311, align 4
  %bodies.pos.335 = load <8 x i32>, ptr %v315, align 4
  %bodies.pos.336 = load <8 x i32>, ptr %v319, align 4
  %bodies.pos.337 = load <8 x i32>, ptr %v323, align 4
  %bodies.pos.338 = load <8 x i32>, ptr %v327, align 4
  %bodies.pos.339 = load <8 x i32>, ptr %v331, align 4
  %v340 = shufflevector <8 x i32> %bodies.pos.332, <8 x i32> %bodies.pos.333, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v341 = shufflevector <8 x i32> %bodies.pos.332, <8 x i32> %bodies.pos.333, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v342 = shufflevector <8 x i32> %bodies.pos.334, <8 x i32> %bodies.pos.335, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v343 = shufflevector <8 x i32> %bodies.pos.334, <8 x i32> %bodies.pos.335, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v344 = shufflevector <8 x i32> %bodies.pos.336, <8 x i32> %bodies.pos.337, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v345 = shufflevector <8 x i32> %bodies.pos.336, <8 x i32> %bodies.pos.337, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v346 = shufflevector <8 x i32> %bodies.pos.338, <8 x i32> %bodies.pos.339, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v347 = shufflevector <8 x i32> %bodies.pos.338, <8 x i32> %bodies.pos.339, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v348 = shufflevector <8 x i32> %v340, <8 x i32> %v342, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v349 = shufflevector <8 x i32> %v340, <8 x i32> %v342, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v350 = shufflevector <8 x i32> %v341, <8 x i32> %v343, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v351 = shufflevector <8 x i32> %v341, <8 x i32> %v343, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v352 = shufflevector <8 x i32> %v344, <8 x i32> %v346, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v353 = shufflevector <8 x i32> %v344, <8 x i32> %v346, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v354 = shufflevector <8 x i32> %v345, <8 x i32> %v347, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v355 = shufflevector <8 x i32> %v345, <8 x i32> %v347, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v356 = shufflevector <8 x i32> %v348, <8 x i32> %v352, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v357 = shufflevector <8 x i32> %v349, <8 x i32> %v353, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v358 = shufflevector <8 x i32> %v350, <8 x i32> %v354, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v359 = shufflevector <8 x i32> %v351, <8 x i32> %v355, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v360 = shufflevector <8 x i32> %v348, <8 x i32> %v352, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v361 = shufflevector <8 x i32> %v349, <8 x i32> %v353, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v362 = shufflevector <8 x i32> %v350, <8 x i32> %v354, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v363 = shufflevector <8 x i32> %v351, <8 x i32> %v355, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %a.pos.364 = bitcast <8 x i32> %v356 to <8 x float>
  %a.pos.365 = bitcast <8 x i32> %v357 to <8 x float>
  %a.pos.366 = bitcast <8 x i32> %v358 to <8 x float>
  %a.mass.367 = bitcast <8 x i32> %v362 to <8 x float>
  %v368 = mul i64 %i.295, 32
  %v369 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v370 = add i64 %v368, 256
  %v371 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v370
  %v372 = bitcast <8 x i1> %v290 to i8
  %v373 = getelementptr i8, ptr %v371, i64 0
  %v374 = and i8 %v372, 1
  %on.375 = icmp ne i8 %v374, 0
  %v376 = select i1 %on.375, ptr %v373, ptr %v369
  %v377 = getelementptr i8, ptr %v371, i64 32
  %v378 = and i8 %v372, 2
  %on.379 = icmp ne i8 %v378, 0
  %v380 = select i1 %on.379, ptr %v377, ptr %v369
  %v381 = getelementptr i8, ptr %v371, i64 64
  %v382 = and i8 %v372, 4
  %on.383 = icmp ne i8 %v382, 0
  %v384 = select i1 %on.383, ptr %v381, ptr %v369
  %v385 = getelementptr i8, ptr %v371, i64 96
  %v386 = and i8 %v372, 8
  %on.387 = icmp ne i8 %v386, 0
  %v388 = select i1 %on.387, ptr %v385, ptr %v369
  %v389 = getelementptr i8, ptr %v371, i64 128
  %v390 = and i8 %v372, 16
  %on.391 = icmp ne i8 %v390, 0
  %v392 = select i1 %on.391, ptr %v389, ptr %v369
  %v393 = getelementptr i8, ptr %v371, i64 160
  %v394 = and i8 %v372, 32
  %on.395 = icmp ne i8 %v394, 0
  %v396 = select i1 %on.395, ptr %v393, ptr %v369
  %v397 = getelementptr i8, ptr %v371, i64 192
  %v398 = and i8 %v372, 64
  %on.399 = icmp ne i8 %v398, 0
  %v400 = select i1 %on.399, ptr %v397, ptr %v369
  %v401 = getelementptr i8, ptr %v371, i64 224
  %v402 = and i8 %v372, 128
  %on.403 = icmp ne i8 %v402, 0
  %v404 = select i1 %on.403, ptr %v401, ptr %v369
  %bodies.pos.405 = load <8 x i32>, ptr %v376, align 4
  %bodies.pos.406 = load <8 x i32>, ptr %v380, align 4
  %bodies.pos.407 = load <8 x i32>, ptr %v384, align 4
  %bodies.pos.408 = load <8 x i32>, ptr %v388, align 4
  %bodies.pos.409 = load <8 x i32>, ptr %v392, align 4
  %bodies.pos.410 = load <8 x i32>, ptr %v396, align 4
  %bodies.pos.411 = load <8 x i32>, ptr %v400, align 4
  %bodies.pos.412 = load <8 x i32>, ptr %v404, align 4
  %v413 = shufflevector <8 x i32> %bodies.pos.405, <8 x i32> %bodies.pos.406, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v414 = shufflevector <8 x i32> %bodies.pos.405, <8 x i32> %bodies.pos.406, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v415 = shufflevector <8 x i32> %bodies.pos.407, <8 x i32> %bodies.pos.408, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v416 = shufflevector <8 x i32> %bodies.pos.407, <8 x i32> %bodies.pos.408, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v417 = shufflevector <8 x i32> %bodies.pos.409, <8 x i32> %bodies.pos.410, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v418 = shufflevector <8 x i32> %bodies.pos.409, <8 x i32> %bodies.pos.410, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v419 = shufflevector <8 x i32> %bodies.pos.411, <8 x i32> %bodies.pos.412, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v420 = shufflevector <8 x i32> %bodies.pos.411, <8 x i32> %bodies.pos.412, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v421 = shufflevector <8 x i32> %v413, <8 x i32> %v415, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v422 = shufflevector <8 x i32> %v413, <8 x i32> %v415, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v423 = shufflevector <8 x i32> %v414, <8 x i32> %v416, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v424 = shufflevector <8 x i32> %v414, <8 x i32> %v416, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v425 = shufflevector <8 x i32> %v417, <8 x i32> %v419, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v426 = shufflevector <8 x i32> %v417, <8 x i32> %v419, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v427 = shufflevector <8 x i32> %v418, <8 x i32> %v420, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v428 = shufflevector <8 x i32> %v418, <8 x i32> %v420, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v429 = shufflevector <8 x i32> %v421, <8 x i32> %v425, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v430 = shufflevector <8 x i32> %v422, <8 x i32> %v426, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v431 = shufflevector <8 x i32> %v423, <8 x i32> %v427, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v432 = shufflevector <8 x i32> %v424, <8 x i32> %v428, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v433 = shufflevector <8 x i32> %v421, <8 x i32> %v425, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v434 = shufflevector <8 x i32> %v422, <8 x i32> %v426, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v435 = shufflevector <8 x i32> %v423, <8 x i32> %v427, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v436 = shufflevector <8 x i32> %v424, <8 x i32> %v428, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %a.pos.437 = bitcast <8 x i32> %v429 to <8 x float>
  %a.pos.438 = bitcast <8 x i32> %v430 to <8 x float>
  %a.pos.439 = bitcast <8 x i32> %v431 to <8 x float>
  %a.mass.440 = bitcast <8 x i32> %v435 to <8 x float>
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v441 = trunc i64 %bodies.pos.shape0.110 to i32
  %left.447 = sub i32 %v441, 0
  %few.448 = call i32 @llvm.umin.i32(i32 %left.447, i32 1024)
  %last.449 = add nsw i32 0, %few.448
  %more.450 = icmp slt i32 0, %v441
  br i1 %more.450, label %strip.442, label %endfor.446
strip.442:
  %j.451 = phi i32 [ 0, %rest.280 ], [ %last.458, %go.566 ]
  %total.452 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v550, %go.566 ]
  %total.453 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v552, %go.566 ]
  %total.454 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v554, %go.566 ]
  %total.455 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v557, %go.566 ]
  %total.456 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v559, %go.566 ]
  %total.457 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v561, %go.566 ]
  %last.458 = phi i32 [ %last.449, %rest.280 ], [ %last.574, %go.566 ]
  br label %body.443
body.443:
  %j.459 = phi i32 [ %j.451, %strip.442 ], [ %j.next.562, %side.end.496 ]
  %total.460 = phi <8 x float> [ %total.452, %strip.442 ], [ %v550, %side.end.496 ]
  %total.461 = phi <8 x float> [ %total.453, %strip.442 ], [ %v552, %side.end.496 ]
  %total.462 = phi <8 x float> [ %total.454, %strip.442 ], [ %v554, %side.end.496 ]
  %total.463 = phi <8 x float> [ %total.455, %strip.442 ], [ %v557, %side.end.496 ]
  %total.464 = phi <8 x float> [ %total.456, %strip.442 ], [ %v559, %side.end.496 ]
  %total.465 = phi <8 x float> [ %total.457, %strip.442 ], [ %v561, %side.end.496 ]
  ; line 13: b = bodies[j]
  %v466 = sext i32 %j.459 to i64
  %v467 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v466
  %v468 = getelementptr inbounds float, ptr %v467, i64 1
  %v469 = getelementptr inbounds float, ptr %v467, i64 2
  %b.pos.470 = load float, ptr %v467
  %b.pos.471 = load float, ptr %v468
  %b.pos.472 = load float, ptr %v469
  %v473 = sext i32 %j.459 to i64
  %v474 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.144, i64 %v473
  %b.mass.475 = load float, ptr %v474
  %v476 = sext i32 %j.459 to i64
  %v477 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.148, i64 %v476
  %b.id.478 = load i32, ptr %v477
  ; line 14: if b.id != a.id:
  %v479 = insertelement <8 x i32> poison, i32 %b.id.478, i64 0
  %v480 = shufflevector <8 x i32> %v479, <8 x i32> poison, <8 x i32> zeroinitializer
  %v481 = icmp ne <8 x i32> %v480, %v363
  %v482 = freeze <8 x i1> %v481
  %v483 = sext <8 x i1> %v482 to <8 x i32>
  %v484 = bitcast <8 x i32> %v483 to <8 x float>
  %v485 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v484)
  %v486 = bitcast <8 x float> %v485 to <8 x i32>
  %v487 = icmp ne <8 x i32> %v480, %v436
  %v488 = freeze <8 x i1> %v487
  %v489 = sext <8 x i1> %v488 to <8 x i32>
  %v490 = bitcast <8 x i32> %v489 to <8 x float>
  %v491 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v490)
  %v492 = bitcast <8 x float> %v491 to <8 x i32>
  %mask.493 = and <8 x i32> %v289, %v486
  %mask.494 = and <8 x i32> %v294, %v492
  %v497 = or <8 x i32> %mask.493, %mask.494
  %v498 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v497)
  %v499 = icmp ne i32 %v498, 0
  br i1 %v499, label %side.495, label %side.end.496
side.495:
  ; line 15: d = b.pos - a.pos
  %v500 = insertelement <8 x float> poison, float %b.pos.470, i64 0
  %v501 = shufflevector <8 x float> %v500, <8 x float> poison, <8 x i32> zeroinitializer
  %v502 = fsub <8 x float> %v501, %a.pos.364
  %v503 = fsub <8 x float> %v501, %a.pos.437
  %v504 = insertelement <8 x float> poison, float %b.pos.471, i64 0
  %v505 = shufflevector <8 x float> %v504, <8 x float> poison, <8 x i32> zeroinitializer
  %v506 = fsub <8 x float> %v505, %a.pos.365
  %v507 = fsub <8 x float> %v505, %a.pos.438
  %v508 = insertelement <8 x float> poison, float %b.pos.472, i64 0
  %v509 = shufflevector <8 x float> %v508, <8 x float> poison, <8 x i32> zeroinitializer
  %v510 = fsub <8 x float> %v509, %a.pos.366
  %v511 = fsub <8 x float> %v509, %a.pos.439
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v512 = insertelement <8 x float> poison, float %b.mass.475, i64 0
  %v513 = shufflevector <8 x float> %v512, <8 x float> poison, <8 x i32> zeroinitializer
  %v514 = fmul <8 x float> %a.mass.367, %v513
  %v515 = fmul <8 x float> %a.mass.440, %v513
  %v516 = fmul <8 x float> %v502, %v502
  %v517 = fmul <8 x float> %v503, %v503
  %v518 = fmul <8 x float> %v506, %v506
  %v519 = fmul <8 x float> %v507, %v507
  %v520 = fmul <8 x float> %v510, %v510
  %v521 = fmul <8 x float> %v511, %v511
  %v522 = fadd <8 x float> %v516, %v518
  %v523 = fadd <8 x float> %v517, %v519
  %v524 = fadd <8 x float> %v522, %v520
  %v525 = fadd <8 x float> %v523, %v521
  %v526 = fadd <8 x float> %v524, splat (float 0x3F847AE140000000)
  %v527 = fadd <8 x float> %v525, splat (float 0x3F847AE140000000)
  %v528 = fdiv <8 x float> %v514, %v526
  %v529 = fdiv <8 x float> %v515, %v527
  %v530 = fmul <8 x float> %v502, %v528
  %v531 = fmul <8 x float> %v503, %v529
  %v532 = fmul <8 x float> %v506, %v528
  %v533 = fmul <8 x float> %v507, %v529
  %v534 = fmul <8 x float> %v510, %v528
  %v535 = fmul <8 x float> %v511, %v529
  %v536 = fadd <8 x float> %total.460, %v530
  %v537 = fadd <8 x float> %total.463, %v531
  %v538 = fadd <8 x float> %total.461, %v532
  %v539 = fadd <8 x float> %total.464, %v533
  %v540 = fadd <8 x float> %total.462, %v534
  %v541 = fadd <8 x float> %total.465, %v535
  ; line 14: if b.id != a.id:
  br label %side.end.496
side.end.496:
  %total.542 = phi <8 x float> [ zeroinitializer, %body.443 ], [ %v536, %side.495 ]
  %total.543 = phi <8 x float> [ zeroinitializer, %body.443 ], [ %v538, %side.495 ]
  %total.544 = phi <8 x float> [ zeroinitializer, %body.443 ], [ %v540, %side.495 ]
  %total.545 = phi <8 x float> [ zeroinitializer, %body.443 ], [ %v537, %side.495 ]
  %total.546 = phi <8 x float> [ zeroinitializer, %body.443 ], [ %v539, %side.495 ]
  %total.547 = phi <8 x float> [ zeroinitializer, %body.443 ], [ %v541, %side.495 ]
  %flags.548 = icmp slt <8 x i32> %mask.493, zeroinitializer
  %v549 = select <8 x i1> %flags.548, <8 x float> %total.542, <8 x float> %total.460
  %v550 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v549)
  %v551 = select <8 x i1> %flags.548, <8 x float> %total.543, <8 x float> %total.461
  %v552 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v551)
  %v553 = select <8 x i1> %flags.548, <8 x float> %total.544, <8 x float> %total.462
  %v554 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v553)
  %flags.555 = icmp slt <8 x i32> %mask.494, zeroinitializer
  %v556 = select <8 x i1> %flags.555, <8 x float> %total.545, <8 x float> %total.463
  %v557 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v556)
  %v558 = select <8 x i1> %flags.555, <8 x float> %total.546, <8 x float> %total.464
  %v559 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v558)
  %v560 = select <8 x i1> %flags.555, <8 x float> %total.547, <8 x float> %total.465
  %v561 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v560)
  ; line 12: for j in range(len(bodies)):
  %j.next.562 = add nsw i32 %j.459, 1
  %more.563 = icmp ne i32 %j.next.562, %last.458
  br i1 %more.563, label %body.443, label %stripped.444
stripped.444:
  %over.564 = icmp eq i32 %last.458, %v441
  br i1 %over.564, label %endfor.446, label %again.445, !prof !1
again.445:
  %stop.567 = load volatile i32, ptr %stop
  %calm.568 = icmp eq i32 %stop.567, 0
  br i1 %calm.568, label %go.566, label %ask.565, !prof !1
ask.565:
  %v569 = load ptr, ptr %v237
  %v570 = call i32 %v569(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v571 = icmp eq i32 %v570, 0
  br i1 %v571, label %go.566, label %stopped
go.566:
  %left.572 = sub i32 %v441, %last.458
  %few.573 = call i32 @llvm.umin.i32(i32 %left.572, i32 1024)
  %last.574 = add nsw i32 %last.458, %few.573
  br label %strip.442
endfor.446:
  %v575 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v550, %stripped.444 ]
  %v576 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v552, %stripped.444 ]
  %v577 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v554, %stripped.444 ]
  %v578 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v557, %stripped.444 ]
  %v579 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v559, %stripped.444 ]
  %v580 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.280 ], [ %v561, %stripped.444 ]
  ; line 17: f[i] = total
  %v581 = mul i64 %i.295, 12
  %v583 = getelementptr i8, ptr %nowhere.582, i64 0
  %v584 = getelementptr i8, ptr %f.data.256, i64 %v581
  %flags.585 = icmp slt <8 x i32> %v289, zeroinitializer
  %v586 = bitcast <8 x i1> %flags.585 to i8
  %v587 = getelementptr i8, ptr %v584, i64 0
  %v588 = and i8 %v586, 1
  %on.589 = icmp ne i8 %v588, 0
  %v590 = select i1 %on.589, ptr %v587, ptr %v583
  %v591 = extractelement <8 x float> %v575, i64 0
  store float %v591, ptr %v590, align 4
  %v592 = extractelement <8 x float> %v576, i64 0
  %v593 = getelementptr float, ptr %v590, i64 1
  store float %v592, ptr %v593, align 4
  %v594 = extractelement <8 x float> %v577, i64 0
  %v595 = getelementptr float, ptr %v590, i64 2
  store float %v594, ptr %v595, align 4
  %v596 = getelementptr i8, ptr %v584, i64 12
  %v597 = and i8 %v586, 2
  %on.598 = icmp ne i8 %v597, 0
  %v599 = select i1 %on.598, ptr %v596, ptr %v583
  %v600 = extractelement <8 x float> %v575, i64 1
  store float %v600, ptr %v599, align 4
  %v601 = extractelement <8 x float> %v576, i64 1
  %v602 = getelementptr float, ptr %v599, i64 1
  store float %v601, ptr %v602, align 4
  %v603 = extractelement <8 x float> %v577, i64 1
  %v604 = getelementptr float, ptr %v599, i64 2
  store float %v603, ptr %v604, align 4
  %v605 = getelementptr i8, ptr %v584, i64 24
  %v606 = and i8 %v586, 4
  %on.607 = icmp ne i8 %v606, 0
  %v608 = select i1 %on.607, ptr %v605, ptr %v583
  %v609 = extractelement <8 x float> %v575, i64 2
  store float %v609, ptr %v608, align 4
  %v610 = extractelement <8 x float> %v576, i64 2
  %v611 = getelementptr float, ptr %v608, i64 1
  store float %v610, ptr %v611, align 4
  %v612 = extractelement <8 x float> %v577, i64 2
  %v613 = getelementptr float, ptr %v608, i64 2
  store float %v612, ptr %v613, align 4
  %v614 = getelementptr i8, ptr %v584, i64 36
  %v615 = and i8 %v586, 8
  %on.616 = icmp ne i8 %v615, 0
  %v617 = select i1 %on.616, ptr %v614, ptr %v583
  %v618 = extractelement <8 x float> %v575, i64 3
  store float %v618, ptr %v617, align 4
  %v619 = extractelement <8 x float> %v576, i64 3
  %v620 = getelementptr float, ptr %v617, i64 1
  store float %v619, ptr %v620, align 4
  %v621 = extractelement <8 x float> %v577, i64 3
  %v622 = getelementptr float, ptr %v617, i64 2
  store float %v621, ptr %v622, align 4
  %v623 = getelementptr i8, ptr %v584, i64 48
  %v624 = and i8 %v586, 16
  %on.625 = icmp ne i8 %v624, 0
  %v626 = select i1 %on.625, ptr %v623, ptr %v583
  %v627 = extractelement <8 x float> %v575, i64 4
  store float %v627, ptr %v626, align 4
  %v628 = extractelement <8 x float> %v576, i64 4
  %v629 = getelementptr float, ptr %v626, i64 1
  store float %v628, ptr %v629, align 4
  %v630 = extractelement <8 x float> %v577, i64 4
  %v631 = getelementptr float, ptr %v626, i64 2
  store float %v630, ptr %v631, align 4
  %v632 = getelementptr i8, ptr %v584, i64 60
  %v633 = and i8 %v586, 32
  %on.634 = icmp ne i8 %v633, 0
  %v635 = select i1 %on.634, ptr %v632, ptr %v583
  %v636 = extractelement <8 x float> %v575, i64 5
  store float %v636, ptr %v635, align 4
  %v637 = extractelement <8 x float> %v576, i64 5
  %v638 = getelementptr float, ptr %v635, i64 1
  store float %v637, ptr %v638, align 4
  %v639 = extractelement <8 x float> %v577, i64 5
  %v640 = getelementptr float, ptr %v635, i64 2
  store float %v639, ptr %v640, align 4
  %v641 = getelementptr i8, ptr %v584, i64 72
  %v642 = and i8 %v586, 64
  %on.643 = icmp ne i8 %v642, 0
  %v644 = select i1 %on.643, ptr %v641, ptr %v583
  %v645 = extractelement <8 x float> %v575, i64 6
  store float %v645, ptr %v644, align 4
  %v646 = extractelement <8 x float> %v576, i64 6
  %v647 = getelementptr float, ptr %v644, i64 1
  store float %v646, ptr %v647, align 4
  %v648 = extractelement <8 x float> %v577, i64 6
  %v649 = getelementptr float, ptr %v644, i64 2
  store float %v648, ptr %v649, align 4
  %v650 = getelementptr i8, ptr %v584, i64 84
  %v651 = and i8 %v586, 128
  %on.652 = icmp ne i8 %v651, 0
  %v653 = select i1 %on.652, ptr %v650, ptr %v583
  %v654 = extractelement <8 x float> %v575, i64 7
  store float %v654, ptr %v653, align 4
  %v655 = extractelement <8 x float> %v576, i64 7
  %v656 = getelementptr float, ptr %v653, i64 1
  store float %v655, ptr %v656, align 4
  %v657 = extractelement <8 x float> %v577, i64 7
  %v658 = getelementptr float, ptr %v653, i64 2
  store float %v657, ptr %v658, align 4
  %v659 = getelementptr i8, ptr %nowhere.582, i64 0
  %v660 = add i64 %v581, 96
  %v661 = getelementptr i8, ptr %f.data.256, i64 %v660
  %flags.662 = icmp slt <8 x i32> %v294, zeroinitializer
  %v663 = bitcast <8 x i1> %flags.662 to i8
  %v664 = getelementptr i8, ptr %v661, i64 0
  %v665 = and i8 %v663, 1
  %on.666 = icmp ne i8 %v665, 0
  %v667 = select i1 %on.666, ptr %v664, ptr %v659
  %v668 = extractelement <8 x float> %v578, i64 0
  store float %v668, ptr %v667, align 4
  %v669 = extractelement <8 x float> %v579, i64 0
  %v670 = getelementptr float, ptr %v667, i64 1
  store float %v669, ptr %v670, align 4
  %v671 = extractelement <8 x float> %v580, i64 0
  %v672 = getelementptr float, ptr %v667, i64 2
  store float %v671, ptr %v672, align 4
  %v673 = getelementptr i8, ptr %v661, i64 12
  %v674 = and i8 %v663, 2
  %on.675 = icmp ne i8 %v674, 0
  %v676 = select i1 %on.675, ptr %v673, ptr %v659
  %v677 = extractelement <8 x float> %v578, i64 1
  store float %v677, ptr %v676, align 4
  %v678 = extractelement <8 x float> %v579, i64 1
  %v679 = getelementptr float, ptr %v676, i64 1
  store float %v678, ptr %v679, align 4
  %v680 = extractelement <8 x float> %v580, i64 1
  %v681 = getelementptr float, ptr %v676, i64 2
  store float %v680, ptr %v681, align 4
  %v682 = getelementptr i8, ptr %v661, i64 24
  %v683 = and i8 %v663, 4
  %on.684 = icmp ne i8 %v683, 0
  %v685 = select i1 %on.684, ptr %v682, ptr %v659
  %v686 = extractelement <8 x float> %v578, i64 2
  store float %v686, ptr %v685, align 4
  %v687 = extractelement <8 x float> %v579, i64 2
  %v688 = getelementptr float, ptr %v685, i64 1
  store float %v687, ptr %v688, align 4
  %v689 = extractelement <8 x float> %v580, i64 2
  %v690 = getelementptr float, ptr %v685, i64 2
  store float %v689, ptr %v690, align 4
  %v691 = getelementptr i8, ptr %v661, i64 36
  %v692 = and i8 %v663, 8
  %on.693 = icmp ne i8 %v692, 0
  %v694 = select i1 %on.693, ptr %v691, ptr %v659
  %v695 = extractelement <8 x float> %v578, i64 3
  store float %v695, ptr %v694, align 4
  %v696 = extractelement <8 x float> %v579, i64 3
  %v697 = getelementptr float, ptr %v694, i64 1
  store float %v696, ptr %v697, align 4
  %v698 = extractelement <8 x float> %v580, i64 3
  %v699 = getelementptr float, ptr %v694, i64 2
  store float %v698, ptr %v699, align 4
  %v700 = getelementptr i8, ptr %v661, i64 48
  %v701 = and i8 %v663, 16
  %on.702 = icmp ne i8 %v701, 0
  %v703 = select i1 %on.702, ptr %v700, ptr %v659
  %v704 = extractelement <8 x float> %v578, i64 4
  store float %v704, ptr %v703, align 4
  %v705 = extractelement <8 x float> %v579, i64 4
  %v706 = getelementptr float, ptr %v703, i64 1
  store float %v705, ptr %v706, align 4
  %v707 = extractelement <8 x float> %v580, i64 4
  %v708 = getelementptr float, ptr %v703, i64 2
  store float %v707, ptr %v708, align 4
  %v709 = getelementptr i8, ptr %v661, i64 60
  %v710 = and i8 %v663, 32
  %on.711 = icmp ne i8 %v710, 0
  %v712 = select i1 %on.711, ptr %v709, ptr %v659
  %v713 = extractelement <8 x float> %v578, i64 5
  store float %v713, ptr %v712, align 4
  %v714 = extractelement <8 x float> %v579, i64 5
  %v715 = getelementptr float, ptr %v712, i64 1
  store float %v714, ptr %v715, align 4
  %v716 = extractelement <8 x float> %v580, i64 5
  %v717 = getelementptr float, ptr %v712, i64 2
  store float %v716, ptr %v717, align 4
  %v718 = getelementptr i8, ptr %v661, i64 72
  %v719 = and i8 %v663, 64
  %on.720 = icmp ne i8 %v719, 0
  %v721 = select i1 %on.720, ptr %v718, ptr %v659
  %v722 = extractelement <8 x float> %v578, i64 6
  store float %v722, ptr %v721, align 4
  %v723 = extractelement <8 x float> %v579, i64 6
  %v724 = getelementptr float, ptr %v721, i64 1
  store float %v723, ptr %v724, align 4
  %v725 = extractelement <8 x float> %v580, i64 6
  %v726 = getelementptr float, ptr %v721, i64 2
  store float %v725, ptr %v726, align 4
  %v727 = getelementptr i8, ptr %v661, i64 84
  %v728 = and i8 %v663, 128
  %on.729 = icmp ne i8 %v728, 0
  %v730 = select i1 %on.729, ptr %v727, ptr %v659
  %v731 = extractelement <8 x float> %v578, i64 7
  store float %v731, ptr %v730, align 4
  %v732 = extractelement <8 x float> %v579, i64 7
  %v733 = getelementptr float, ptr %v730, i64 1
  store float %v732, ptr %v733, align 4
  %v734 = extractelement <8 x float> %v580, i64 7
  %v735 = getelementptr float, ptr %v730, i64 2
  store float %v734, ptr %v735, align 4
  br label %rest.end.281
rest.end.281:
  %first.736 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %high.2, %endfor.446 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.736, %rest.end.281 ], [ %tid.next, %thread.end ]
  %more.737 = icmp slt i32 %tid, %high.2
  br i1 %more.737, label %thread, label %finish
thread:
  ; line 9: i = tid()
  ; line 10: a = bodies[i]
  %v738 = sext i32 %tid to i64
  %v739 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v738
  %v740 = getelementptr inbounds float, ptr %v739, i64 1
  %v741 = getelementptr inbounds float, ptr %v739, i64 2
  %a.pos.742 = load float, ptr %v739
  %a.pos.743 = load float, ptr %v740
  %a.pos.744 = load float, ptr %v741
  %v745 = sext i32 %tid to i64
  %v746 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.144, i64 %v745
  %a.mass.747 = load float, ptr %v746
  %v748 = sext i32 %tid to i64
  %v749 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.148, i64 %v748
  %a.id.750 = load i32, ptr %v749
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v751 = trunc i64 %bodies.pos.shape0.110 to i32
  %left.757 = sub i32 %v751, 0
  %few.758 = call i32 @llvm.umin.i32(i32 %left.757, i32 1024)
  %last.759 = add nsw i32 0, %few.758
  %more.760 = icmp slt i32 0, %v751
  br i1 %more.760, label %strip.752, label %endfor.756
strip.752:
  %j.761 = phi i32 [ 0, %thread ], [ %last.765, %go.811 ]
  %total.762 = phi float [ 0x0000000000000000, %thread ], [ %total.804, %go.811 ]
  %total.763 = phi float [ 0x0000000000000000, %thread ], [ %total.805, %go.811 ]
  %total.764 = phi float [ 0x0000000000000000, %thread ], [ %total.806, %go.811 ]
  %last.765 = phi i32 [ %last.759, %thread ], [ %last.819, %go.811 ]
  br label %body.753
body.753:
  %j.766 = phi i32 [ %j.761, %strip.752 ], [ %j.next.807, %endif.786 ]
  %total.767 = phi float [ %total.762, %strip.752 ], [ %total.804, %endif.786 ]
  %total.768 = phi float [ %total.763, %strip.752 ], [ %total.805, %endif.786 ]
  %total.769 = phi float [ %total.764, %strip.752 ], [ %total.806, %endif.786 ]
  ; line 13: b = bodies[j]
  %v770 = sext i32 %j.766 to i64
  %v771 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v770
  %v772 = getelementptr inbounds float, ptr %v771, i64 1
  %v773 = getelementptr inbounds float, ptr %v771, i64 2
  %b.pos.774 = load float, ptr %v771
  %b.pos.775 = load float, ptr %v772
  %b.pos.776 = load float, ptr %v773
  %v777 = sext i32 %j.766 to i64
  %v778 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.144, i64 %v777
  %b.mass.779 = load float, ptr %v778
  %v780 = sext i32 %j.766 to i64
  %v781 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.148, i64 %v780
  %b.id.782 = load i32, ptr %v781
  ; line 14: if b.id != a.id:
  %v783 = icmp ne i32 %b.id.782, %a.id.750
  br i1 %v783, label %then.784, label %else.785
then.784:
  ; line 15: d = b.pos - a.pos
  %v787 = fsub float %b.pos.774, %a.pos.742
  %v788 = fsub float %b.pos.775, %a.pos.743
  %v789 = fsub float %b.pos.776, %a.pos.744
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v790 = fmul float %a.mass.747, %b.mass.779
  %v791 = fmul float %v787, %v787
  %v792 = fmul float %v788, %v788
  %v793 = fmul float %v789, %v789
  %v794 = fadd float %v791, %v792
  %v795 = fadd float %v794, %v793
  %v796 = fadd float %v795, 0x3F847AE140000000
  %v797 = fdiv float %v790, %v796
  %v798 = fmul float %v787, %v797
  %v799 = fmul float %v788, %v797
  %v800 = fmul float %v789, %v797
  %v801 = fadd float %total.767, %v798
  %v802 = fadd float %total.768, %v799
  %v803 = fadd float %total.769, %v800
  ; line 14: if b.id != a.id:
  br label %endif.786
else.785:
  br label %endif.786
endif.786:
  %total.804 = phi float [ %v801, %then.784 ], [ %total.767, %else.785 ]
  %total.805 = phi float [ %v802, %then.784 ], [ %total.768, %else.785 ]
  %total.806 = phi float [ %v803, %then.784 ], [ %total.769, %else.785 ]
  ; line 12: for j in range(len(bodies)):
  %j.next.807 = add nsw i32 %j.766, 1
  %more.808 = icmp ne i32 %j.next.807, %last.765
  br i1 %more.808, label %body.753, label %stripped.754
stripped.754:
  %over.809 = icmp eq i32 %last.765, %v751
  br i1 %over.809, label %endfor.756, label %again.755, !prof !1
again.755:
  %stop.812 = load volatile i32, ptr %stop
  %calm.813 = icmp eq i32 %stop.812, 0
  br i1 %calm.813, label %go.811, label %ask.810, !prof !1
ask.810:
  %v814 = load ptr, ptr %v237
  %v815 = call i32 %v814(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v816 = icmp eq i32 %v815, 0
  br i1 %v816, label %go.811, label %stopped
go.811:
  %left.817 = sub i32 %v751, %last.765
  %few.818 = call i32 @llvm.umin.i32(i32 %left.817, i32 1024)
  %last.819 = add nsw i32 %last.765, %few.818
  br label %strip.752
endfor.756:
  %v820 = phi float [ 0x0000000000000000, %thread ], [ %total.804, %stripped.754 ]
  %v821 = phi float [ 0x0000000000000000, %thread ], [ %total.805, %stripped.754 ]
  %v822 = phi float [ 0x0000000000000000, %thread ], [ %total.806, %stripped.754 ]
  ; line 17: f[i] = total
  %v823 = sext i32 %tid to i64
  %v824 = getelementptr inbounds [3 x float], ptr %f.data.256, i64 %v823
  %v825 = getelementptr inbounds float, ptr %v824, i64 1
  %v826 = getelementptr inbounds float, ptr %v824, i64 2
  store float %v820, ptr %v824
  store float %v821, ptr %v825
  store float %v822, ptr %v826
  %v829 = and i32 %tid, 31
  %early.830 = icmp ne i32 %v829, 31
  br i1 %early.830, label %on.828, label %due.827, !prof !1
due.827:
  %stop.833 = load volatile i32, ptr %stop
  %calm.834 = icmp eq i32 %stop.833, 0
  br i1 %calm.834, label %go.832, label %ask.831, !prof !1
ask.831:
  %v835 = sext i32 %tid to i64
  store i64 %v835, ptr %v272
  %v836 = load ptr, ptr %v237
  %v837 = call i32 %v836(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v838 = icmp eq i32 %v837, 0
  br i1 %v838, label %go.832, label %stopped
go.832:
  br label %on.828
on.828:
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
@wb.nowhere64 = internal constant [64 x i8] zeroinitializer, align 64
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
