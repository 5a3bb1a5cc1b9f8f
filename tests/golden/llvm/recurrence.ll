define i32 @wb_recurrence(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %x.shape0.at.14 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.15 = load i64, ptr %x.shape0.at.14, !range !0
  %x.at.33 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.34 = load ptr, ptr %x.at.33
  %decay.at.37 = getelementptr inbounds i8, ptr %params, i64 56
  %decay.38 = load float, ptr %decay.at.37
  %v48 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.59 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.60 = load ptr, ptr %y.at.59
  %v87 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  %v6 = sub nsw i32 %high.2, %low.1
  %v7 = call i32 @llvm.smax.i32(i32 %v6, i32 0)
  %v8 = and i32 %v7, -64
  %gangs.9 = add nsw i32 %low.1, %v8
  br label %gangs.3
gangs.3:
  %gang.10 = phi i32 [ %low.1, %start ], [ %v92, %go.84 ]
  %number.11 = phi i32 [ 0, %start ], [ %v93, %go.84 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 2: i = tid()
  %i.13 = sext i32 %gang.10 to i64
  ; line 4: for q in range(len(x)):
  %v16 = trunc i64 %x.shape0.15 to i32
  %left.22 = sub i32 %v16, 0
  %few.23 = call i32 @llvm.umin.i32(i32 %left.22, i32 8192)
  %last.24 = add nsw i32 0, %few.23
  %more.25 = icmp slt i32 0, %v16
  br i1 %more.25, label %strip.17, label %endfor.21
strip.17:
  %q.26 = phi i32 [ 0, %gang.4 ], [ %last.28, %go.45 ]
  %s.27 = phi float [ 0x0000000000000000, %gang.4 ], [ %s.40, %go.45 ]
  %last.28 = phi i32 [ %last.24, %gang.4 ], [ %last.54, %go.45 ]
  br label %body.18
body.18:
  %q.29 = phi i32 [ %q.26, %strip.17 ], [ %q.next.41, %body.18 ]
  %s.30 = phi float [ %s.27, %strip.17 ], [ %s.40, %body.18 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v31 = fmul float 0x3FE0000000000000, %s.30
  %v32 = sext i32 %q.29 to i64
  %v35 = getelementptr inbounds float, ptr %x.data.34, i64 %v32
  %v36 = load float, ptr %v35
  %v39 = fmul float %v36, %decay.38
  %s.40 = fadd float %v31, %v39
  ; line 4: for q in range(len(x)):
  %q.next.41 = add nsw i32 %q.29, 1
  %more.42 = icmp ne i32 %q.next.41, %last.28
  br i1 %more.42, label %body.18, label %stripped.19
stripped.19:
  %over.43 = icmp eq i32 %last.28, %v16
  br i1 %over.43, label %endfor.21, label %again.20, !prof !1
again.20:
  %stop.46 = load volatile i32, ptr %stop
  %calm.47 = icmp eq i32 %stop.46, 0
  br i1 %calm.47, label %go.45, label %ask.44, !prof !1
ask.44:
  %v49 = load ptr, ptr %v48
  %v50 = call i32 %v49(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v51 = icmp eq i32 %v50, 0
  br i1 %v51, label %go.45, label %stopped
go.45:
  %left.52 = sub i32 %v16, %last.28
  %few.53 = call i32 @llvm.umin.i32(i32 %left.52, i32 8192)
  %last.54 = add nsw i32 %last.28, %few.53
  br label %strip.17
endfor.21:
  %v55 = phi float [ 0x0000000000000000, %gang.4 ], [ %s.40, %stripped.19 ]
  ; line 6: y[i] = s
  %v56 = mul i64 %i.13, 4
  %v57 = insertelement <8 x float> poison, float %v55, i64 0
  %v58 = shufflevector <8 x float> %v57, <8 x float> poison, <8 x i32> zeroinitializer
  %v61 = getelementptr i8, ptr %y.data.60, i64 %v56
  store <8 x float> %v58, ptr %v61, align 4
  %v62 = mul i64 %i.13, 4
  %v63 = add i64 %v62, 32
  %v64 = getelementptr i8, ptr %y.data.60, i64 %v63
  store <8 x float> %v58, ptr %v64, align 4
  %v65 = mul i64 %i.13, 4
  %v66 = add i64 %v65, 64
  %v67 = getelementptr i8, ptr %y.data.60, i64 %v66
  store <8 x float> %v58, ptr %v67, align 4
  %v68 = mul i64 %i.13, 4
  %v69 = add i64 %v68, 96
  %v70 = getelementptr i8, ptr %y.data.60, i64 %v69
  store <8 x float> %v58, ptr %v70, align 4
  %v71 = mul i64 %i.13, 4
  %v72 = add i64 %v71, 128
  %v73 = getelementptr i8, ptr %y.data.60, i64 %v72
  store <8 x float> %v58, ptr %v73, align 4
  %v74 = mul i64 %i.13, 4
  %v75 = add i64 %v74, 160
  %v76 = getelementptr i8, ptr %y.data.60, i64 %v75
  store <8 x float> %v58, ptr %v76, align 4
  %v77 = mul i64 %i.13, 4
  %v78 = add i64 %v77, 192
  %v79 = getelementptr i8, ptr %y.data.60, i64 %v78
  store <8 x float> %v58, ptr %v79, align 4
  %v80 = mul i64 %i.13, 4
  %v81 = add i64 %v80, 224
  %v82 = getelementptr i8, ptr %y.data.60, i64 %v81
  store <8 x float> %v58, ptr %v82, align 4
  %stop.85 = load volatile i32, ptr %stop
  %calm.86 = icmp eq i32 %stop.85, 0
  br i1 %calm.86, label %go.84, label %ask.83, !prof !1
ask.83:
  %v88 = sext i32 %gang.10 to i64
  store i64 %v88, ptr %v87
  %v89 = load ptr, ptr %v48
  %v90 = call i32 %v89(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v91 = icmp eq i32 %v90, 0
  br i1 %v91, label %go.84, label %stopped
go.84:
  %v92 = add nsw i32 %gang.10, 64
  %v93 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %v97 = sub nsw i32 %high.2, %gangs.9
  %v98 = call i32 @llvm.smax.i32(i32 %v97, i32 0)
  %v99 = and i32 %v98, -16
  %gangs.100 = add nsw i32 %gangs.9, %v99
  br label %gangs.94
gangs.94:
  %gang.101 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %v159, %on.148 ]
  %number.102 = phi i32 [ 0, %gangs.end.5 ], [ %v160, %on.148 ]
  %more.103 = icmp slt i32 %gang.101, %gangs.100
  br i1 %more.103, label %gang.95, label %gangs.end.96
gang.95:
  ; line 2: i = tid()
  %i.104 = sext i32 %gang.101 to i64
  ; line 4: for q in range(len(x)):
  %v105 = trunc i64 %x.shape0.15 to i32
  %left.111 = sub i32 %v105, 0
  %few.112 = call i32 @llvm.umin.i32(i32 %left.111, i32 8192)
  %last.113 = add nsw i32 0, %few.112
  %more.114 = icmp slt i32 0, %v105
  br i1 %more.114, label %strip.106, label %endfor.110
strip.106:
  %q.115 = phi i32 [ 0, %gang.95 ], [ %last.117, %go.130 ]
  %s.116 = phi float [ 0x0000000000000000, %gang.95 ], [ %s.125, %go.130 ]
  %last.117 = phi i32 [ %last.113, %gang.95 ], [ %last.138, %go.130 ]
  br label %body.107
body.107:
  %q.118 = phi i32 [ %q.115, %strip.106 ], [ %q.next.126, %body.107 ]
  %s.119 = phi float [ %s.116, %strip.106 ], [ %s.125, %body.107 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v120 = fmul float 0x3FE0000000000000, %s.119
  %v121 = sext i32 %q.118 to i64
  %v122 = getelementptr inbounds float, ptr %x.data.34, i64 %v121
  %v123 = load float, ptr %v122
  %v124 = fmul float %v123, %decay.38
  %s.125 = fadd float %v120, %v124
  ; line 4: for q in range(len(x)):
  %q.next.126 = add nsw i32 %q.118, 1
  %more.127 = icmp ne i32 %q.next.126, %last.117
  br i1 %more.127, label %body.107, label %stripped.108
stripped.108:
  %over.128 = icmp eq i32 %last.117, %v105
  br i1 %over.128, label %endfor.110, label %again.109, !prof !1
again.109:
  %stop.131 = load volatile i32, ptr %stop
  %calm.132 = icmp eq i32 %stop.131, 0
  br i1 %calm.132, label %go.130, label %ask.129, !prof !1
ask.129:
  %v133 = load ptr, ptr %v48
  %v134 = call i32 %v133(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v135 = icmp eq i32 %v134, 0
  br i1 %v135, label %go.130, label %stopped
go.130:
  %left.136 = sub i32 %v105, %last.117
  %few.137 = call i32 @llvm.umin.i32(i32 %left.136, i32 8192)
  %last.138 = add nsw i32 %last.117, %few.137
  br label %strip.106
endfor.110:
  %v139 = phi float [ 0x0000000000000000, %gang.95 ], [ %s.125, %stripped.108 ]
  ; line 6: y[i] = s
  %v140 = mul i64 %i.104, 4
  %v141 = insertelement <8 x float> poison, float %v139, i64 0
  %v142 = shufflevector <8 x float> %v141, <8 x float> poison, <8 x i32> zeroinitializer
  %v143 = getelementptr i8, ptr %y.data.60, i64 %v140
  store <8 x float> %v142, ptr %v143, align 4
  %v144 = mul i64 %i.104, 4
  %v145 = add i64 %v144, 32
  %v146 = getelementptr i8, ptr %y.data.60, i64 %v145
  store <8 x float> %v142, ptr %v146, align 4
  %v149 = and i32 %number.102, 1
  %early.150 = icmp ne i32 %v149, 1
  br i1 %early.150, label %on.148, label %due.147, !prof !1
due.147:
  %stop.153 = load volatile i32, ptr %stop
  %calm.154 = icmp eq i32 %stop.153, 0
  br i1 %calm.154, label %go.152, label %ask.151, !prof !1
ask.151:
  %v155 = sext i32 %gang.101 to i64
  store i64 %v155, ptr %v87
  %v156 = load ptr, ptr %v48
  %v157 = call i32 %v156(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v158 = icmp eq i32 %v157, 0
  br i1 %v158, label %go.152, label %stopped
go.152:
  br label %on.148
on.148:
  %v159 = add nsw i32 %gang.101, 16
  %v160 = add nsw i32 %number.102, 1
  br label %gangs.94, !llvm.loop !3
gangs.end.96:
  %left.161 = sub nsw i32 %high.2, %gangs.100
  %several.164 = icmp sge i32 %left.161, 4
  br i1 %several.164, label %rest.162, label %rest.end.163
rest.162:
  %v165 = insertelement <8 x i32> poison, i32 %left.161, i64 0
  %v166 = shufflevector <8 x i32> %v165, <8 x i32> poison, <8 x i32> zeroinitializer
  %v167 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v166
  %v168 = sext <8 x i1> %v167 to <8 x i32>
  %v169 = bitcast <8 x i32> %v168 to <8 x float>
  %v170 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v169)
  %v171 = bitcast <8 x float> %v170 to <8 x i32>
  %v172 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v166
  %v173 = sext <8 x i1> %v172 to <8 x i32>
  %v174 = bitcast <8 x i32> %v173 to <8 x float>
  %v175 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v174)
  %v176 = bitcast <8 x float> %v175 to <8 x i32>
  ; line 2: i = tid()
  %i.177 = sext i32 %gangs.100 to i64
  ; line 4: for q in range(len(x)):
  %v178 = trunc i64 %x.shape0.15 to i32
  %left.184 = sub i32 %v178, 0
  %few.185 = call i32 @llvm.umin.i32(i32 %left.184, i32 8192)
  %last.186 = add nsw i32 0, %few.185
  %more.187 = icmp slt i32 0, %v178
  br i1 %more.187, label %strip.179, label %endfor.183
strip.179:
  %q.188 = phi i32 [ 0, %rest.162 ], [ %last.190, %go.203 ]
  %s.189 = phi float [ 0x0000000000000000, %rest.162 ], [ %s.198, %go.203 ]
  %last.190 = phi i32 [ %last.186, %rest.162 ], [ %last.211, %go.203 ]
  br label %body.180
body.180:
  %q.191 = phi i32 [ %q.188, %strip.179 ], [ %q.next.199, %body.180 ]
  %s.192 = phi float [ %s.189, %strip.179 ], [ %s.198, %body.180 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v193 = fmul float 0x3FE0000000000000, %s.192
  %v194 = sext i32 %q.191 to i64
  %v195 = getelementptr inbounds float, ptr %x.data.34, i64 %v194
  %v196 = load float, ptr %v195
  %v197 = fmul float %v196, %decay.38
  %s.198 = fadd float %v193, %v197
  ; line 4: for q in range(len(x)):
  %q.next.199 = add nsw i32 %q.191, 1
  %more.200 = icmp ne i32 %q.next.199, %last.190
  br i1 %more.200, label %body.180, label %stripped.181
stripped.181:
  %over.201 = icmp eq i32 %last.190, %v178
  br i1 %over.201, label %endfor.183, label %again.182, !prof !1
again.182:
  %stop.204 = load volatile i32, ptr %stop
  %calm.205 = icmp eq i32 %stop.204, 0
  br i1 %calm.205, label %go.203, label %ask.202, !prof !1
ask.202:
  %v206 = load ptr, ptr %v48
  %v207 = call i32 %v206(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v208 = icmp eq i32 %v207, 0
  br i1 %v208, label %go.203, label %stopped
go.203:
  %left.209 = sub i32 %v178, %last.190
  %few.210 = call i32 @llvm.umin.i32(i32 %left.209, i32 8192)
  %last.211 = add nsw i32 %last.190, %few.210
  br label %strip.179
endfor.183:
  %v212 = phi float [ 0x0000000000000000, %rest.162 ], [ %s.198, %stripped.181 ]
  ; line 6: y[i] = s
  %v213 = mul i64 %i.177, 4
  %v214 = insertelement <8 x float> poison, float %v212, i64 0
  %v215 = shufflevector <8 x float> %v214, <8 x float> poison, <8 x i32> zeroinitializer
  %v216 = getelementptr i8, ptr %y.data.60, i64 %v213
  %flags.217 = icmp slt <8 x i32> %v171, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v215, ptr %v216, i32 4, <8 x i1> %flags.217)
  %v218 = mul i64 %i.177, 4
  %v219 = add i64 %v218, 32
  %v220 = getelementptr i8, ptr %y.data.60, i64 %v219
  %flags.221 = icmp slt <8 x i32> %v176, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v215, ptr %v220, i32 4, <8 x i1> %flags.221)
  br label %rest.end.163
rest.end.163:
  %first.222 = phi i32 [ %gangs.100, %gangs.end.96 ], [ %high.2, %endfor.183 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.222, %rest.end.163 ], [ %tid.next, %thread.end ]
  %more.223 = icmp slt i32 %tid, %high.2
  br i1 %more.223, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 4: for q in range(len(x)):
  %v224 = trunc i64 %x.shape0.15 to i32
  %left.230 = sub i32 %v224, 0
  %few.231 = call i32 @llvm.umin.i32(i32 %left.230, i32 8192)
  %last.232 = add nsw i32 0, %few.231
  %more.233 = icmp slt i32 0, %v224
  br i1 %more.233, label %strip.225, label %endfor.229
strip.225:
  %q.234 = phi i32 [ 0, %thread ], [ %last.236, %go.249 ]
  %s.235 = phi float [ 0x0000000000000000, %thread ], [ %s.244, %go.249 ]
  %last.236 = phi i32 [ %last.232, %thread ], [ %last.257, %go.249 ]
  br label %body.226
body.226:
  %q.237 = phi i32 [ %q.234, %strip.225 ], [ %q.next.245, %body.226 ]
  %s.238 = phi float [ %s.235, %strip.225 ], [ %s.244, %body.226 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v239 = fmul float 0x3FE0000000000000, %s.238
  %v240 = sext i32 %q.237 to i64
  %v241 = getelementptr inbounds float, ptr %x.data.34, i64 %v240
  %v242 = load float, ptr %v241
  %v243 = fmul float %v242, %decay.38
  %s.244 = fadd float %v239, %v243
  ; line 4: for q in range(len(x)):
  %q.next.245 = add nsw i32 %q.237, 1
  %more.246 = icmp ne i32 %q.next.245, %last.236
  br i1 %more.246, label %body.226, label %stripped.227
stripped.227:
  %over.247 = icmp eq i32 %last.236, %v224
  br i1 %over.247, label %endfor.229, label %again.228, !prof !1
again.228:
  %stop.250 = load volatile i32, ptr %stop
  %calm.251 = icmp eq i32 %stop.250, 0
  br i1 %calm.251, label %go.249, label %ask.248, !prof !1
ask.248:
  %v252 = load ptr, ptr %v48
  %v253 = call i32 %v252(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v254 = icmp eq i32 %v253, 0
  br i1 %v254, label %go.249, label %stopped
go.249:
  %left.255 = sub i32 %v224, %last.236
  %few.256 = call i32 @llvm.umin.i32(i32 %left.255, i32 8192)
  %last.257 = add nsw i32 %last.236, %few.256
  br label %strip.225
endfor.229:
  %v258 = phi float [ 0x0000000000000000, %thread ], [ %s.244, %stripped.227 ]
  ; line 6: y[i] = s
  %v259 = sext i32 %tid to i64
  %v260 = getelementptr inbounds float, ptr %y.data.60, i64 %v259
  store float %v258, ptr %v260
  %v263 = and i32 %tid, 31
  %early.264 = icmp ne i32 %v263, 31
  br i1 %early.264, label %on.262, label %due.261, !prof !1
due.261:
  %stop.267 = load volatile i32, ptr %stop
  %calm.268 = icmp eq i32 %stop.267, 0
  br i1 %calm.268, label %go.266, label %ask.265, !prof !1
ask.265:
  %v269 = sext i32 %tid to i64
  store i64 %v269, ptr %v87
  %v270 = load ptr, ptr %v48
  %v271 = call i32 %v270(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v272 = icmp eq i32 %v271, 0
  br i1 %v272, label %go.266, label %stopped
go.266:
  br label %on.262
on.262:
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !4
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
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
