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
  %v273 = getelementptr inbounds i8, ptr %stop, i64 16
  %nowhere.583 = alloca [64 x i8], align 64
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v278, %on.266 ]
  %number.11 = phi i32 [ 0, %start ], [ %v279, %on.266 ]
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
  %v258 = mul i64 %i.13, 12
  %v259 = shufflevector <8 x float> %v247, <8 x float> %v248, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v260 = shufflevector <8 x float> %v249, <8 x float> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v261 = shufflevector <16 x float> %v259, <16 x float> %v260, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %v262 = shufflevector <32 x float> %v261, <32 x float> poison, <24 x i32> <i32 0, i32 8, i32 16, i32 1, i32 9, i32 17, i32 2, i32 10, i32 18, i32 3, i32 11, i32 19, i32 4, i32 12, i32 20, i32 5, i32 13, i32 21, i32 6, i32 14, i32 22, i32 7, i32 15, i32 23>
  %v263 = add i64 %v258, 96
  %v264 = getelementptr i8, ptr %f.data.256, i64 %v263
  store <24 x float> %v262, ptr %v264, align 4
  %v267 = and i32 %number.11, 1
  %early.268 = icmp ne i32 %v267, 1
  br i1 %early.268, label %on.266, label %due.265, !prof !1
due.265:
  %stop.271 = load volatile i32, ptr %stop
  %calm.272 = icmp eq i32 %stop.271, 0
  br i1 %calm.272, label %go.270, label %ask.269, !prof !1
ask.269:
  %v274 = sext i32 %gang.10 to i64
  store i64 %v274, ptr %v273
  %v275 = load ptr, ptr %v237
  %v276 = call i32 %v275(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v277 = icmp eq i32 %v276, 0
  br i1 %v277, label %go.270, label %stopped
go.270:
  br label %on.266
on.266:
  %v278 = add nsw i32 %gang.10, 16
  %v279 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %left.280 = sub nsw i32 %high.2, %gangs.9
  %several.283 = icmp sge i32 %left.280, 4
  br i1 %several.283, label %rest.281, label %rest.end.282
rest.281:
  %v284 = insertelement <8 x i32> poison, i32 %left.280, i64 0
  %v285 = shufflevector <8 x i32> %v284, <8 x i32> poison, <8 x i32> zeroinitializer
  %v286 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v285
  %v287 = sext <8 x i1> %v286 to <8 x i32>
  %v288 = bitcast <8 x i32> %v287 to <8 x float>
  %v289 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v288)
  %v290 = bitcast <8 x float> %v289 to <8 x i32>
  %v291 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v285
  %v292 = sext <8 x i1> %v291 to <8 x i32>
  %v293 = bitcast <8 x i32> %v292 to <8 x float>
  %v294 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v293)
  %v295 = bitcast <8 x float> %v294 to <8 x i32>
  ; line 9: i = tid()
  %i.296 = sext i32 %gangs.9 to i64
  ; line 10: a = bodies[i]
  %v297 = mul i64 %i.296, 32
  %v298 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v299 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v297
  %v300 = bitcast <8 x i1> %v286 to i8
  %v301 = getelementptr i8, ptr %v299, i64 0
  %v302 = and i8 %v300, 1
  %on.303 = icmp ne i8 %v302, 0
  %v304 = select i1 %on.303, ptr %v301, ptr %v298
  %v305 = getelementptr i8, ptr %v299, i64 32
  %v306 = and i8 %v300, 2
  %on.307 = icmp ne i8 %v306, 0
  %v308 = select i1 %on.307, ptr %v305, ptr %v298
  %v309 = getelementptr i8, ptr %v299, i64 64
  %v310 = and i8 %v300, 4
  %on.311 = icmp ne i8 %v310, 0
  %v312 = select i1 %on.311, ptr %v309, ptr %v298
  %v313 = getelementptr i8, ptr %v299, i64 96
  %v314 = and i8 %v300, 8
  %on.315 = icmp ne i8 %v314, 0
  %v316 = select i1 %on.315, ptr %v313, ptr %v298
  %v317 = getelementptr i8, ptr %v299, i64 128
  %v318 = and i8 %v300, 16
  %on.319 = icmp ne i8 %v318, 0
  %v320 = select i1 %on.319, ptr %v317, ptr %v298
  %v321 = getelementptr i8, ptr %v299, i64 160
  %v322 = and i8 %v300, 32
  %on.323 = icmp ne i8 %v322, 0
  %v324 = select i1 %on.323, ptr %v321, ptr %v298
  %v325 = getelementptr i8, ptr %v299, i64 192
  %v326 = and i8 %v300, 64
  %on.327 = icmp ne i8 %v326, 0
  %v328 = select i1 %on.327, ptr %v325, ptr %v298
  %v329 = getelementptr i8, ptr %v299, i64 224
  %v330 = and i8 %v300, 128
  %on.331 = icmp ne i8 %v330, 0
  %v332 = select i1 %on.331, ptr %v329, ptr %v298
  %bodies.pos.333 = load <8 x i32>, ptr %v304, align 4
  %bodies.pos.334 = load <8 x i32>, ptr %v308, align 4
  %bodies.pos.335 = load <8 x i32>, ptr %v312, align 4
  %bodies.pos.336 = load <8 x i32>, ptr %v316, align 4
  %bodies.pos.337 = load <8 x i32>, ptr %v320, align 4
  %bodies.pos.338 = load <8 x i32>, ptr %v324, align 4
  %bodies.pos.339 = load <8 x i32>, ptr %v328, align 4
  %bodies.pos.340 = load <8 x i32>, ptr %v332, align 4
  %v341 = shufflevector <8 x i32> %bodies.pos.333, <8 x i32> %bodies.pos.334, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v342 = shufflevector <8 x i32> %bodies.pos.333, <8 x i32> %bodies.pos.334, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v343 = shufflevector <8 x i32> %bodies.pos.335, <8 x i32> %bodies.pos.336, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v344 = shufflevector <8 x i32> %bodies.pos.335, <8 x i32> %bodies.pos.336, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v345 = shufflevector <8 x i32> %bodies.pos.337, <8 x i32> %bodies.pos.338, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v346 = shufflevector <8 x i32> %bodies.pos.337, <8 x i32> %bodies.pos.338, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v347 = shufflevector <8 x i32> %bodies.pos.339, <8 x i32> %bodies.pos.340, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v348 = shufflevector <8 x i32> %bodies.pos.339, <8 x i32> %bodies.pos.340, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v349 = shufflevector <8 x i32> %v341, <8 x i32> %v343, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v350 = shufflevector <8 x i32> %v341, <8 x i32> %v343, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v351 = shufflevector <8 x i32> %v342, <8 x i32> %v344, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v352 = shufflevector <8 x i32> %v342, <8 x i32> %v344, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v353 = shufflevector <8 x i32> %v345, <8 x i32> %v347, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v354 = shufflevector <8 x i32> %v345, <8 x i32> %v347, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v355 = shufflevector <8 x i32> %v346, <8 x i32> %v348, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v356 = shufflevector <8 x i32> %v346, <8 x i32> %v348, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v357 = shufflevector <8 x i32> %v349, <8 x i32> %v353, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v358 = shufflevector <8 x i32> %v350, <8 x i32> %v354, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v359 = shufflevector <8 x i32> %v351, <8 x i32> %v355, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v360 = shufflevector <8 x i32> %v352, <8 x i32> %v356, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v361 = shufflevector <8 x i32> %v349, <8 x i32> %v353, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v362 = shufflevector <8 x i32> %v350, <8 x i32> %v354, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v363 = shufflevector <8 x i32> %v351, <8 x i32> %v355, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v364 = shufflevector <8 x i32> %v352, <8 x i32> %v356, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %a.pos.365 = bitcast <8 x i32> %v357 to <8 x float>
  %a.pos.366 = bitcast <8 x i32> %v358 to <8 x float>
  %a.pos.367 = bitcast <8 x i32> %v359 to <8 x float>
  %a.mass.368 = bitcast <8 x i32> %v363 to <8 x float>
  %v369 = mul i64 %i.296, 32
  %v370 = getelementptr i8, ptr @wb.nowhere64, i64 0
  %v371 = add i64 %v369, 256
  %v372 = getelementptr i8, ptr %bodies.pos.data.16, i64 %v371
  %v373 = bitcast <8 x i1> %v291 to i8
  %v374 = getelementptr i8, ptr %v372, i64 0
  %v375 = and i8 %v373, 1
  %on.376 = icmp ne i8 %v375, 0
  %v377 = select i1 %on.376, ptr %v374, ptr %v370
  %v378 = getelementptr i8, ptr %v372, i64 32
  %v379 = and i8 %v373, 2
  %on.380 = icmp ne i8 %v379, 0
  %v381 = select i1 %on.380, ptr %v378, ptr %v370
  %v382 = getelementptr i8, ptr %v372, i64 64
  %v383 = and i8 %v373, 4
  %on.384 = icmp ne i8 %v383, 0
  %v385 = select i1 %on.384, ptr %v382, ptr %v370
  %v386 = getelementptr i8, ptr %v372, i64 96
  %v387 = and i8 %v373, 8
  %on.388 = icmp ne i8 %v387, 0
  %v389 = select i1 %on.388, ptr %v386, ptr %v370
  %v390 = getelementptr i8, ptr %v372, i64 128
  %v391 = and i8 %v373, 16
  %on.392 = icmp ne i8 %v391, 0
  %v393 = select i1 %on.392, ptr %v390, ptr %v370
  %v394 = getelementptr i8, ptr %v372, i64 160
  %v395 = and i8 %v373, 32
  %on.396 = icmp ne i8 %v395, 0
  %v397 = select i1 %on.396, ptr %v394, ptr %v370
  %v398 = getelementptr i8, ptr %v372, i64 192
  %v399 = and i8 %v373, 64
  %on.400 = icmp ne i8 %v399, 0
  %v401 = select i1 %on.400, ptr %v398, ptr %v370
  %v402 = getelementptr i8, ptr %v372, i64 224
  %v403 = and i8 %v373, 128
  %on.404 = icmp ne i8 %v403, 0
  %v405 = select i1 %on.404, ptr %v402, ptr %v370
  %bodies.pos.406 = load <8 x i32>, ptr %v377, align 4
  %bodies.pos.407 = load <8 x i32>, ptr %v381, align 4
  %bodies.pos.408 = load <8 x i32>, ptr %v385, align 4
  %bodies.pos.409 = load <8 x i32>, ptr %v389, align 4
  %bodies.pos.410 = load <8 x i32>, ptr %v393, align 4
  %bodies.pos.411 = load <8 x i32>, ptr %v397, align 4
  %bodies.pos.412 = load <8 x i32>, ptr %v401, align 4
  %bodies.pos.413 = load <8 x i32>, ptr %v405, align 4
  %v414 = shufflevector <8 x i32> %bodies.pos.406, <8 x i32> %bodies.pos.407, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v415 = shufflevector <8 x i32> %bodies.pos.406, <8 x i32> %bodies.pos.407, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v416 = shufflevector <8 x i32> %bodies.pos.408, <8 x i32> %bodies.pos.409, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v417 = shufflevector <8 x i32> %bodies.pos.408, <8 x i32> %bodies.pos.409, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v418 = shufflevector <8 x i32> %bodies.pos.410, <8 x i32> %bodies.pos.411, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v419 = shufflevector <8 x i32> %bodies.pos.410, <8 x i32> %bodies.pos.411, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v420 = shufflevector <8 x i32> %bodies.pos.412, <8 x i32> %bodies.pos.413, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 4, i32 12, i32 5, i32 13>
  %v421 = shufflevector <8 x i32> %bodies.pos.412, <8 x i32> %bodies.pos.413, <8 x i32> <i32 2, i32 10, i32 3, i32 11, i32 6, i32 14, i32 7, i32 15>
  %v422 = shufflevector <8 x i32> %v414, <8 x i32> %v416, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v423 = shufflevector <8 x i32> %v414, <8 x i32> %v416, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v424 = shufflevector <8 x i32> %v415, <8 x i32> %v417, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v425 = shufflevector <8 x i32> %v415, <8 x i32> %v417, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v426 = shufflevector <8 x i32> %v418, <8 x i32> %v420, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v427 = shufflevector <8 x i32> %v418, <8 x i32> %v420, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v428 = shufflevector <8 x i32> %v419, <8 x i32> %v421, <8 x i32> <i32 0, i32 1, i32 8, i32 9, i32 4, i32 5, i32 12, i32 13>
  %v429 = shufflevector <8 x i32> %v419, <8 x i32> %v421, <8 x i32> <i32 2, i32 3, i32 10, i32 11, i32 6, i32 7, i32 14, i32 15>
  %v430 = shufflevector <8 x i32> %v422, <8 x i32> %v426, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v431 = shufflevector <8 x i32> %v423, <8 x i32> %v427, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v432 = shufflevector <8 x i32> %v424, <8 x i32> %v428, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v433 = shufflevector <8 x i32> %v425, <8 x i32> %v429, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 8, i32 9, i32 10, i32 11>
  %v434 = shufflevector <8 x i32> %v422, <8 x i32> %v426, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v435 = shufflevector <8 x i32> %v423, <8 x i32> %v427, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v436 = shufflevector <8 x i32> %v424, <8 x i32> %v428, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %v437 = shufflevector <8 x i32> %v425, <8 x i32> %v429, <8 x i32> <i32 4, i32 5, i32 6, i32 7, i32 12, i32 13, i32 14, i32 15>
  %a.pos.438 = bitcast <8 x i32> %v430 to <8 x float>
  %a.pos.439 = bitcast <8 x i32> %v431 to <8 x float>
  %a.pos.440 = bitcast <8 x i32> %v432 to <8 x float>
  %a.mass.441 = bitcast <8 x i32> %v436 to <8 x float>
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v442 = trunc i64 %bodies.pos.shape0.110 to i32
  %left.448 = sub i32 %v442, 0
  %few.449 = call i32 @llvm.umin.i32(i32 %left.448, i32 1024)
  %last.450 = add nsw i32 0, %few.449
  %more.451 = icmp slt i32 0, %v442
  br i1 %more.451, label %strip.443, label %endfor.447
strip.443:
  %j.452 = phi i32 [ 0, %rest.281 ], [ %last.459, %go.567 ]
  %total.453 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v551, %go.567 ]
  %total.454 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v553, %go.567 ]
  %total.455 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v555, %go.567 ]
  %total.456 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v558, %go.567 ]
  %total.457 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v560, %go.567 ]
  %total.458 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v562, %go.567 ]
  %last.459 = phi i32 [ %last.450, %rest.281 ], [ %last.575, %go.567 ]
  br label %body.444
body.444:
  %j.460 = phi i32 [ %j.452, %strip.443 ], [ %j.next.563, %side.end.497 ]
  %total.461 = phi <8 x float> [ %total.453, %strip.443 ], [ %v551, %side.end.497 ]
  %total.462 = phi <8 x float> [ %total.454, %strip.443 ], [ %v553, %side.end.497 ]
  %total.463 = phi <8 x float> [ %total.455, %strip.443 ], [ %v555, %side.end.497 ]
  %total.464 = phi <8 x float> [ %total.456, %strip.443 ], [ %v558, %side.end.497 ]
  %total.465 = phi <8 x float> [ %total.457, %strip.443 ], [ %v560, %side.end.497 ]
  %total.466 = phi <8 x float> [ %total.458, %strip.443 ], [ %v562, %side.end.497 ]
  ; line 13: b = bodies[j]
  %v467 = sext i32 %j.460 to i64
  %v468 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v467
  %v469 = getelementptr inbounds float, ptr %v468, i64 1
  %v470 = getelementptr inbounds float, ptr %v468, i64 2
  %b.pos.471 = load float, ptr %v468
  %b.pos.472 = load float, ptr %v469
  %b.pos.473 = load float, ptr %v470
  %v474 = sext i32 %j.460 to i64
  %v475 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.144, i64 %v474
  %b.mass.476 = load float, ptr %v475
  %v477 = sext i32 %j.460 to i64
  %v478 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.148, i64 %v477
  %b.id.479 = load i32, ptr %v478
  ; line 14: if b.id != a.id:
  %v480 = insertelement <8 x i32> poison, i32 %b.id.479, i64 0
  %v481 = shufflevector <8 x i32> %v480, <8 x i32> poison, <8 x i32> zeroinitializer
  %v482 = icmp ne <8 x i32> %v481, %v364
  %v483 = freeze <8 x i1> %v482
  %v484 = sext <8 x i1> %v483 to <8 x i32>
  %v485 = bitcast <8 x i32> %v484 to <8 x float>
  %v486 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v485)
  %v487 = bitcast <8 x float> %v486 to <8 x i32>
  %v488 = icmp ne <8 x i32> %v481, %v437
  %v489 = freeze <8 x i1> %v488
  %v490 = sext <8 x i1> %v489 to <8 x i32>
  %v491 = bitcast <8 x i32> %v490 to <8 x float>
  %v492 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v491)
  %v493 = bitcast <8 x float> %v492 to <8 x i32>
  %mask.494 = and <8 x i32> %v290, %v487
  %mask.495 = and <8 x i32> %v295, %v493
  %v498 = or <8 x i32> %mask.494, %mask.495
  %v499 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v498)
  %v500 = icmp ne i32 %v499, 0
  br i1 %v500, label %side.496, label %side.end.497
side.496:
  ; line 15: d = b.pos - a.pos
  %v501 = insertelement <8 x float> poison, float %b.pos.471, i64 0
  %v502 = shufflevector <8 x float> %v501, <8 x float> poison, <8 x i32> zeroinitializer
  %v503 = fsub <8 x float> %v502, %a.pos.365
  %v504 = fsub <8 x float> %v502, %a.pos.438
  %v505 = insertelement <8 x float> poison, float %b.pos.472, i64 0
  %v506 = shufflevector <8 x float> %v505, <8 x float> poison, <8 x i32> zeroinitializer
  %v507 = fsub <8 x float> %v506, %a.pos.366
  %v508 = fsub <8 x float> %v506, %a.pos.439
  %v509 = insertelement <8 x float> poison, float %b.pos.473, i64 0
  %v510 = shufflevector <8 x float> %v509, <8 x float> poison, <8 x i32> zeroinitializer
  %v511 = fsub <8 x float> %v510, %a.pos.367
  %v512 = fsub <8 x float> %v510, %a.pos.440
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v513 = insertelement <8 x float> poison, float %b.mass.476, i64 0
  %v514 = shufflevector <8 x float> %v513, <8 x float> poison, <8 x i32> zeroinitializer
  %v515 = fmul <8 x float> %a.mass.368, %v514
  %v516 = fmul <8 x float> %a.mass.441, %v514
  %v517 = fmul <8 x float> %v503, %v503
  %v518 = fmul <8 x float> %v504, %v504
  %v519 = fmul <8 x float> %v507, %v507
  %v520 = fmul <8 x float> %v508, %v508
  %v521 = fmul <8 x float> %v511, %v511
  %v522 = fmul <8 x float> %v512, %v512
  %v523 = fadd <8 x float> %v517, %v519
  %v524 = fadd <8 x float> %v518, %v520
  %v525 = fadd <8 x float> %v523, %v521
  %v526 = fadd <8 x float> %v524, %v522
  %v527 = fadd <8 x float> %v525, splat (float 0x3F847AE140000000)
  %v528 = fadd <8 x float> %v526, splat (float 0x3F847AE140000000)
  %v529 = fdiv <8 x float> %v515, %v527
  %v530 = fdiv <8 x float> %v516, %v528
  %v531 = fmul <8 x float> %v503, %v529
  %v532 = fmul <8 x float> %v504, %v530
  %v533 = fmul <8 x float> %v507, %v529
  %v534 = fmul <8 x float> %v508, %v530
  %v535 = fmul <8 x float> %v511, %v529
  %v536 = fmul <8 x float> %v512, %v530
  %v537 = fadd <8 x float> %total.461, %v531
  %v538 = fadd <8 x float> %total.464, %v532
  %v539 = fadd <8 x float> %total.462, %v533
  %v540 = fadd <8 x float> %total.465, %v534
  %v541 = fadd <8 x float> %total.463, %v535
  %v542 = fadd <8 x float> %total.466, %v536
  ; line 14: if b.id != a.id:
  br label %side.end.497
side.end.497:
  %total.543 = phi <8 x float> [ zeroinitializer, %body.444 ], [ %v537, %side.496 ]
  %total.544 = phi <8 x float> [ zeroinitializer, %body.444 ], [ %v539, %side.496 ]
  %total.545 = phi <8 x float> [ zeroinitializer, %body.444 ], [ %v541, %side.496 ]
  %total.546 = phi <8 x float> [ zeroinitializer, %body.444 ], [ %v538, %side.496 ]
  %total.547 = phi <8 x float> [ zeroinitializer, %body.444 ], [ %v540, %side.496 ]
  %total.548 = phi <8 x float> [ zeroinitializer, %body.444 ], [ %v542, %side.496 ]
  %flags.549 = icmp slt <8 x i32> %mask.494, zeroinitializer
  %v550 = select <8 x i1> %flags.549, <8 x float> %total.543, <8 x float> %total.461
  %v551 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v550)
  %v552 = select <8 x i1> %flags.549, <8 x float> %total.544, <8 x float> %total.462
  %v553 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v552)
  %v554 = select <8 x i1> %flags.549, <8 x float> %total.545, <8 x float> %total.463
  %v555 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v554)
  %flags.556 = icmp slt <8 x i32> %mask.495, zeroinitializer
  %v557 = select <8 x i1> %flags.556, <8 x float> %total.546, <8 x float> %total.464
  %v558 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v557)
  %v559 = select <8 x i1> %flags.556, <8 x float> %total.547, <8 x float> %total.465
  %v560 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v559)
  %v561 = select <8 x i1> %flags.556, <8 x float> %total.548, <8 x float> %total.466
  %v562 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v561)
  ; line 12: for j in range(len(bodies)):
  %j.next.563 = add nsw i32 %j.460, 1
  %more.564 = icmp ne i32 %j.next.563, %last.459
  br i1 %more.564, label %body.444, label %stripped.445
stripped.445:
  %over.565 = icmp eq i32 %last.459, %v442
  br i1 %over.565, label %endfor.447, label %again.446, !prof !1
again.446:
  %stop.568 = load volatile i32, ptr %stop
  %calm.569 = icmp eq i32 %stop.568, 0
  br i1 %calm.569, label %go.567, label %ask.566, !prof !1
ask.566:
  %v570 = load ptr, ptr %v237
  %v571 = call i32 %v570(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v572 = icmp eq i32 %v571, 0
  br i1 %v572, label %go.567, label %stopped
go.567:
  %left.573 = sub i32 %v442, %last.459
  %few.574 = call i32 @llvm.umin.i32(i32 %left.573, i32 1024)
  %last.575 = add nsw i32 %last.459, %few.574
  br label %strip.443
endfor.447:
  %v576 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v551, %stripped.445 ]
  %v577 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v553, %stripped.445 ]
  %v578 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v555, %stripped.445 ]
  %v579 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v558, %stripped.445 ]
  %v580 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v560, %stripped.445 ]
  %v581 = phi <8 x float> [ splat (float 0x0000000000000000), %rest.281 ], [ %v562, %stripped.445 ]
  ; line 17: f[i] = total
  %v582 = mul i64 %i.296, 12
  %v584 = getelementptr i8, ptr %nowhere.583, i64 0
  %v585 = getelementptr i8, ptr %f.data.256, i64 %v582
  %flags.586 = icmp slt <8 x i32> %v290, zeroinitializer
  %v587 = bitcast <8 x i1> %flags.586 to i8
  %v588 = getelementptr i8, ptr %v585, i64 0
  %v589 = and i8 %v587, 1
  %on.590 = icmp ne i8 %v589, 0
  %v591 = select i1 %on.590, ptr %v588, ptr %v584
  %v592 = extractelement <8 x float> %v576, i64 0
  store float %v592, ptr %v591, align 4
  %v593 = extractelement <8 x float> %v577, i64 0
  %v594 = getelementptr float, ptr %v591, i64 1
  store float %v593, ptr %v594, align 4
  %v595 = extractelement <8 x float> %v578, i64 0
  %v596 = getelementptr float, ptr %v591, i64 2
  store float %v595, ptr %v596, align 4
  %v597 = getelementptr i8, ptr %v585, i64 12
  %v598 = and i8 %v587, 2
  %on.599 = icmp ne i8 %v598, 0
  %v600 = select i1 %on.599, ptr %v597, ptr %v584
  %v601 = extractelement <8 x float> %v576, i64 1
  store float %v601, ptr %v600, align 4
  %v602 = extractelement <8 x float> %v577, i64 1
  %v603 = getelementptr float, ptr %v600, i64 1
  store float %v602, ptr %v603, align 4
  %v604 = extractelement <8 x float> %v578, i64 1
  %v605 = getelementptr float, ptr %v600, i64 2
  store float %v604, ptr %v605, align 4
  %v606 = getelementptr i8, ptr %v585, i64 24
  %v607 = and i8 %v587, 4
  %on.608 = icmp ne i8 %v607, 0
  %v609 = select i1 %on.608, ptr %v606, ptr %v584
  %v610 = extractelement <8 x float> %v576, i64 2
  store float %v610, ptr %v609, align 4
  %v611 = extractelement <8 x float> %v577, i64 2
  %v612 = getelementptr float, ptr %v609, i64 1
  store float %v611, ptr %v612, align 4
  %v613 = extractelement <8 x float> %v578, i64 2
  %v614 = getelementptr float, ptr %v609, i64 2
  store float %v613, ptr %v614, align 4
  %v615 = getelementptr i8, ptr %v585, i64 36
  %v616 = and i8 %v587, 8
  %on.617 = icmp ne i8 %v616, 0
  %v618 = select i1 %on.617, ptr %v615, ptr %v584
  %v619 = extractelement <8 x float> %v576, i64 3
  store float %v619, ptr %v618, align 4
  %v620 = extractelement <8 x float> %v577, i64 3
  %v621 = getelementptr float, ptr %v618, i64 1
  store float %v620, ptr %v621, align 4
  %v622 = extractelement <8 x float> %v578, i64 3
  %v623 = getelementptr float, ptr %v618, i64 2
  store float %v622, ptr %v623, align 4
  %v624 = getelementptr i8, ptr %v585, i64 48
  %v625 = and i8 %v587, 16
  %on.626 = icmp ne i8 %v625, 0
  %v627 = select i1 %on.626, ptr %v624, ptr %v584
  %v628 = extractelement <8 x float> %v576, i64 4
  store float %v628, ptr %v627, align 4
  %v629 = extractelement <8 x float> %v577, i64 4
  %v630 = getelementptr float, ptr %v627, i64 1
  store float %v629, ptr %v630, align 4
  %v631 = extractelement <8 x float> %v578, i64 4
  %v632 = getelementptr float, ptr %v627, i64 2
  store float %v631, ptr %v632, align 4
  %v633 = getelementptr i8, ptr %v585, i64 60
  %v634 = and i8 %v587, 32
  %on.635 = icmp ne i8 %v634, 0
  %v636 = select i1 %on.635, ptr %v633, ptr %v584
  %v637 = extractelement <8 x float> %v576, i64 5
  store float %v637, ptr %v636, align 4
  %v638 = extractelement <8 x float> %v577, i64 5
  %v639 = getelementptr float, ptr %v636, i64 1
  store float %v638, ptr %v639, align 4
  %v640 = extractelement <8 x float> %v578, i64 5
  %v641 = getelementptr float, ptr %v636, i64 2
  store float %v640, ptr %v641, align 4
  %v642 = getelementptr i8, ptr %v585, i64 72
  %v643 = and i8 %v587, 64
  %on.644 = icmp ne i8 %v643, 0
  %v645 = select i1 %on.644, ptr %v642, ptr %v584
  %v646 = extractelement <8 x float> %v576, i64 6
  store float %v646, ptr %v645, align 4
  %v647 = extractelement <8 x float> %v577, i64 6
  %v648 = getelementptr float, ptr %v645, i64 1
  store float %v647, ptr %v648, align 4
  %v649 = extractelement <8 x float> %v578, i64 6
  %v650 = getelementptr float, ptr %v645, i64 2
  store float %v649, ptr %v650, align 4
  %v651 = getelementptr i8, ptr %v585, i64 84
  %v652 = and i8 %v587, 128
  %on.653 = icmp ne i8 %v652, 0
  %v654 = select i1 %on.653, ptr %v651, ptr %v584
  %v655 = extractelement <8 x float> %v576, i64 7
  store float %v655, ptr %v654, align 4
  %v656 = extractelement <8 x float> %v577, i64 7
  %v657 = getelementptr float, ptr %v654, i64 1
  store float %v656, ptr %v657, align 4
  %v658 = extractelement <8 x float> %v578, i64 7
  %v659 = getelementptr float, ptr %v654, i64 2
  store float %v658, ptr %v659, align 4
  %v660 = mul i64 %i.296, 12
  %v661 = getelementptr i8, ptr %nowhere.583, i64 0
  %v662 = add i64 %v660, 96
  %v663 = getelementptr i8, ptr %f.data.256, i64 %v662
  %flags.664 = icmp slt <8 x i32> %v295, zeroinitializer
  %v665 = bitcast <8 x i1> %flags.664 to i8
  %v666 = getelementptr i8, ptr %v663, i64 0
  %v667 = and i8 %v665, 1
  %on.668 = icmp ne i8 %v667, 0
  %v669 = select i1 %on.668, ptr %v666, ptr %v661
  %v670 = extractelement <8 x float> %v579, i64 0
  store float %v670, ptr %v669, align 4
  %v671 = extractelement <8 x float> %v580, i64 0
  %v672 = getelementptr float, ptr %v669, i64 1
  store float %v671, ptr %v672, align 4
  %v673 = extractelement <8 x float> %v581, i64 0
  %v674 = getelementptr float, ptr %v669, i64 2
  store float %v673, ptr %v674, align 4
  %v675 = getelementptr i8, ptr %v663, i64 12
  %v676 = and i8 %v665, 2
  %on.677 = icmp ne i8 %v676, 0
  %v678 = select i1 %on.677, ptr %v675, ptr %v661
  %v679 = extractelement <8 x float> %v579, i64 1
  store float %v679, ptr %v678, align 4
  %v680 = extractelement <8 x float> %v580, i64 1
  %v681 = getelementptr float, ptr %v678, i64 1
  store float %v680, ptr %v681, align 4
  %v682 = extractelement <8 x float> %v581, i64 1
  %v683 = getelementptr float, ptr %v678, i64 2
  store float %v682, ptr %v683, align 4
  %v684 = getelementptr i8, ptr %v663, i64 24
  %v685 = and i8 %v665, 4
  %on.686 = icmp ne i8 %v685, 0
  %v687 = select i1 %on.686, ptr %v684, ptr %v661
  %v688 = extractelement <8 x float> %v579, i64 2
  store float %v688, ptr %v687, align 4
  %v689 = extractelement <8 x float> %v580, i64 2
  %v690 = getelementptr float, ptr %v687, i64 1
  store float %v689, ptr %v690, align 4
  %v691 = extractelement <8 x float> %v581, i64 2
  %v692 = getelementptr float, ptr %v687, i64 2
  store float %v691, ptr %v692, align 4
  %v693 = getelementptr i8, ptr %v663, i64 36
  %v694 = and i8 %v665, 8
  %on.695 = icmp ne i8 %v694, 0
  %v696 = select i1 %on.695, ptr %v693, ptr %v661
  %v697 = extractelement <8 x float> %v579, i64 3
  store float %v697, ptr %v696, align 4
  %v698 = extractelement <8 x float> %v580, i64 3
  %v699 = getelementptr float, ptr %v696, i64 1
  store float %v698, ptr %v699, align 4
  %v700 = extractelement <8 x float> %v581, i64 3
  %v701 = getelementptr float, ptr %v696, i64 2
  store float %v700, ptr %v701, align 4
  %v702 = getelementptr i8, ptr %v663, i64 48
  %v703 = and i8 %v665, 16
  %on.704 = icmp ne i8 %v703, 0
  %v705 = select i1 %on.704, ptr %v702, ptr %v661
  %v706 = extractelement <8 x float> %v579, i64 4
  store float %v706, ptr %v705, align 4
  %v707 = extractelement <8 x float> %v580, i64 4
  %v708 = getelementptr float, ptr %v705, i64 1
  store float %v707, ptr %v708, align 4
  %v709 = extractelement <8 x float> %v581, i64 4
  %v710 = getelementptr float, ptr %v705, i64 2
  store float %v709, ptr %v710, align 4
  %v711 = getelementptr i8, ptr %v663, i64 60
  %v712 = and i8 %v665, 32
  %on.713 = icmp ne i8 %v712, 0
  %v714 = select i1 %on.713, ptr %v711, ptr %v661
  %v715 = extractelement <8 x float> %v579, i64 5
  store float %v715, ptr %v714, align 4
  %v716 = extractelement <8 x float> %v580, i64 5
  %v717 = getelementptr float, ptr %v714, i64 1
  store float %v716, ptr %v717, align 4
  %v718 = extractelement <8 x float> %v581, i64 5
  %v719 = getelementptr float, ptr %v714, i64 2
  store float %v718, ptr %v719, align 4
  %v720 = getelementptr i8, ptr %v663, i64 72
  %v721 = and i8 %v665, 64
  %on.722 = icmp ne i8 %v721, 0
  %v723 = select i1 %on.722, ptr %v720, ptr %v661
  %v724 = extractelement <8 x float> %v579, i64 6
  store float %v724, ptr %v723, align 4
  %v725 = extractelement <8 x float> %v580, i64 6
  %v726 = getelementptr float, ptr %v723, i64 1
  store float %v725, ptr %v726, align 4
  %v727 = extractelement <8 x float> %v581, i64 6
  %v728 = getelementptr float, ptr %v723, i64 2
  store float %v727, ptr %v728, align 4
  %v729 = getelementptr i8, ptr %v663, i64 84
  %v730 = and i8 %v665, 128
  %on.731 = icmp ne i8 %v730, 0
  %v732 = select i1 %on.731, ptr %v729, ptr %v661
  %v733 = extractelement <8 x float> %v579, i64 7
  store float %v733, ptr %v732, align 4
  %v734 = extractelement <8 x float> %v580, i64 7
  %v735 = getelementptr float, ptr %v732, i64 1
  store float %v734, ptr %v735, align 4
  %v736 = extractelement <8 x float> %v581, i64 7
  %v737 = getelementptr float, ptr %v732, i64 2
  store float %v736, ptr %v737, align 4
  br label %rest.end.282
rest.end.282:
  %first.738 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %high.2, %endfor.447 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.738, %rest.end.282 ], [ %tid.next, %thread.end ]
  %more.739 = icmp slt i32 %tid, %high.2
  br i1 %more.739, label %thread, label %finish
thread:
  ; line 9: i = tid()
  ; line 10: a = bodies[i]
  %v740 = sext i32 %tid to i64
  %v741 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v740
  %v742 = getelementptr inbounds float, ptr %v741, i64 1
  %v743 = getelementptr inbounds float, ptr %v741, i64 2
  %a.pos.744 = load float, ptr %v741
  %a.pos.745 = load float, ptr %v742
  %a.pos.746 = load float, ptr %v743
  %v747 = sext i32 %tid to i64
  %v748 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.144, i64 %v747
  %a.mass.749 = load float, ptr %v748
  %v750 = sext i32 %tid to i64
  %v751 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.148, i64 %v750
  %a.id.752 = load i32, ptr %v751
  ; line 11: total = vec3()
  ; line 12: for j in range(len(bodies)):
  %v753 = trunc i64 %bodies.pos.shape0.110 to i32
  %left.759 = sub i32 %v753, 0
  %few.760 = call i32 @llvm.umin.i32(i32 %left.759, i32 1024)
  %last.761 = add nsw i32 0, %few.760
  %more.762 = icmp slt i32 0, %v753
  br i1 %more.762, label %strip.754, label %endfor.758
strip.754:
  %j.763 = phi i32 [ 0, %thread ], [ %last.767, %go.813 ]
  %total.764 = phi float [ 0x0000000000000000, %thread ], [ %total.806, %go.813 ]
  %total.765 = phi float [ 0x0000000000000000, %thread ], [ %total.807, %go.813 ]
  %total.766 = phi float [ 0x0000000000000000, %thread ], [ %total.808, %go.813 ]
  %last.767 = phi i32 [ %last.761, %thread ], [ %last.821, %go.813 ]
  br label %body.755
body.755:
  %j.768 = phi i32 [ %j.763, %strip.754 ], [ %j.next.809, %endif.788 ]
  %total.769 = phi float [ %total.764, %strip.754 ], [ %total.806, %endif.788 ]
  %total.770 = phi float [ %total.765, %strip.754 ], [ %total.807, %endif.788 ]
  %total.771 = phi float [ %total.766, %strip.754 ], [ %total.808, %endif.788 ]
  ; line 13: b = bodies[j]
  %v772 = sext i32 %j.768 to i64
  %v773 = getelementptr inbounds [32 x i8], ptr %bodies.pos.data.16, i64 %v772
  %v774 = getelementptr inbounds float, ptr %v773, i64 1
  %v775 = getelementptr inbounds float, ptr %v773, i64 2
  %b.pos.776 = load float, ptr %v773
  %b.pos.777 = load float, ptr %v774
  %b.pos.778 = load float, ptr %v775
  %v779 = sext i32 %j.768 to i64
  %v780 = getelementptr inbounds [32 x i8], ptr %bodies.mass.data.144, i64 %v779
  %b.mass.781 = load float, ptr %v780
  %v782 = sext i32 %j.768 to i64
  %v783 = getelementptr inbounds [32 x i8], ptr %bodies.id.data.148, i64 %v782
  %b.id.784 = load i32, ptr %v783
  ; line 14: if b.id != a.id:
  %v785 = icmp ne i32 %b.id.784, %a.id.752
  br i1 %v785, label %then.786, label %else.787
then.786:
  ; line 15: d = b.pos - a.pos
  %v789 = fsub float %b.pos.776, %a.pos.744
  %v790 = fsub float %b.pos.777, %a.pos.745
  %v791 = fsub float %b.pos.778, %a.pos.746
  ; line 16: total += d * (a.mass * b.mass / (length_sq(d) + 0.01))
  %v792 = fmul float %a.mass.749, %b.mass.781
  %v793 = fmul float %v789, %v789
  %v794 = fmul float %v790, %v790
  %v795 = fmul float %v791, %v791
  %v796 = fadd float %v793, %v794
  %v797 = fadd float %v796, %v795
  %v798 = fadd float %v797, 0x3F847AE140000000
  %v799 = fdiv float %v792, %v798
  %v800 = fmul float %v789, %v799
  %v801 = fmul float %v790, %v799
  %v802 = fmul float %v791, %v799
  %v803 = fadd float %total.769, %v800
  %v804 = fadd float %total.770, %v801
  %v805 = fadd float %total.771, %v802
  ; line 14: if b.id != a.id:
  br label %endif.788
else.787:
  br label %endif.788
endif.788:
  %total.806 = phi float [ %v803, %then.786 ], [ %total.769, %else.787 ]
  %total.807 = phi float [ %v804, %then.786 ], [ %total.770, %else.787 ]
  %total.808 = phi float [ %v805, %then.786 ], [ %total.771, %else.787 ]
  ; line 12: for j in range(len(bodies)):
  %j.next.809 = add nsw i32 %j.768, 1
  %more.810 = icmp ne i32 %j.next.809, %last.767
  br i1 %more.810, label %body.755, label %stripped.756
stripped.756:
  %over.811 = icmp eq i32 %last.767, %v753
  br i1 %over.811, label %endfor.758, label %again.757, !prof !1
again.757:
  %stop.814 = load volatile i32, ptr %stop
  %calm.815 = icmp eq i32 %stop.814, 0
  br i1 %calm.815, label %go.813, label %ask.812, !prof !1
ask.812:
  %v816 = load ptr, ptr %v237
  %v817 = call i32 %v816(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v818 = icmp eq i32 %v817, 0
  br i1 %v818, label %go.813, label %stopped
go.813:
  %left.819 = sub i32 %v753, %last.767
  %few.820 = call i32 @llvm.umin.i32(i32 %left.819, i32 1024)
  %last.821 = add nsw i32 %last.767, %few.820
  br label %strip.754
endfor.758:
  %v822 = phi float [ 0x0000000000000000, %thread ], [ %total.806, %stripped.756 ]
  %v823 = phi float [ 0x0000000000000000, %thread ], [ %total.807, %stripped.756 ]
  %v824 = phi float [ 0x0000000000000000, %thread ], [ %total.808, %stripped.756 ]
  ; line 17: f[i] = total
  %v825 = sext i32 %tid to i64
  %v826 = getelementptr inbounds [3 x float], ptr %f.data.256, i64 %v825
  %v827 = getelementptr inbounds float, ptr %v826, i64 1
  %v828 = getelementptr inbounds float, ptr %v826, i64 2
  store float %v822, ptr %v826
  store float %v823, ptr %v827
  store float %v824, ptr %v828
  %v831 = and i32 %tid, 31
  %early.832 = icmp ne i32 %v831, 31
  br i1 %early.832, label %on.830, label %due.829, !prof !1
due.829:
  %stop.835 = load volatile i32, ptr %stop
  %calm.836 = icmp eq i32 %stop.835, 0
  br i1 %calm.836, label %go.834, label %ask.833, !prof !1
ask.833:
  %v837 = sext i32 %tid to i64
  store i64 %v837, ptr %v273
  %v838 = load ptr, ptr %v237
  %v839 = call i32 %v838(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v840 = icmp eq i32 %v839, 0
  br i1 %v840, label %go.834, label %stopped
go.834:
  br label %on.830
on.830:
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
