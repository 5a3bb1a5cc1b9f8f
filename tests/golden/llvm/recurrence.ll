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
  %v80 = getelementptr inbounds i8, ptr %stop, i64 16
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v85, %go.77 ]
  %number.11 = phi i32 [ 0, %start ], [ %v86, %go.77 ]
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
  %v62 = add i64 %v56, 32
  %v63 = getelementptr i8, ptr %y.data.60, i64 %v62
  store <8 x float> %v58, ptr %v63, align 4
  %v64 = add i64 %v56, 64
  %v65 = getelementptr i8, ptr %y.data.60, i64 %v64
  store <8 x float> %v58, ptr %v65, align 4
  %v66 = add i64 %v56, 96
  %v67 = getelementptr i8, ptr %y.data.60, i64 %v66
  store <8 x float> %v58, ptr %v67, align 4
  %v68 = add i64 %v56, 128
  %v69 = getelementptr i8, ptr %y.data.60, i64 %v68
  store <8 x float> %v58, ptr %v69, align 4
  %v70 = add i64 %v56, 160
  %v71 = getelementptr i8, ptr %y.data.60, i64 %v70
  store <8 x float> %v58, ptr %v71, align 4
  %v72 = add i64 %v56, 192
  %v73 = getelementptr i8, ptr %y.data.60, i64 %v72
  store <8 x float> %v58, ptr %v73, align 4
  %v74 = add i64 %v56, 224
  %v75 = getelementptr i8, ptr %y.data.60, i64 %v74
  store <8 x float> %v58, ptr %v75, align 4
  %stop.78 = load volatile i32, ptr %stop
  %calm.79 = icmp eq i32 %stop.78, 0
  br i1 %calm.79, label %go.77, label %ask.76, !prof !1
ask.76:
  %v81 = sext i32 %gang.10 to i64
  store i64 %v81, ptr %v80
  %v82 = load ptr, ptr %v48
  %v83 = call i32 %v82(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v84 = icmp eq i32 %v83, 0
  br i1 %v84, label %go.77, label %stopped
go.77:
  %v85 = add nsw i32 %gang.10, 64
  %v86 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  %v90 = sub nsw i32 %high.2, %gangs.9
  %v91 = call i32 @llvm.smax.i32(i32 %v90, i32 0)
  %v92 = and i32 %v91, -16
  %gangs.93 = add nsw i32 %gangs.9, %v92
  br label %gangs.87
gangs.87:
  %gang.94 = phi i32 [ %gangs.9, %gangs.end.5 ], [ %v151, %on.140 ]
  %number.95 = phi i32 [ 0, %gangs.end.5 ], [ %v152, %on.140 ]
  %more.96 = icmp slt i32 %gang.94, %gangs.93
  br i1 %more.96, label %gang.88, label %gangs.end.89
gang.88:
  ; line 2: i = tid()
  %i.97 = sext i32 %gang.94 to i64
  ; line 4: for q in range(len(x)):
  %v98 = trunc i64 %x.shape0.15 to i32
  %left.104 = sub i32 %v98, 0
  %few.105 = call i32 @llvm.umin.i32(i32 %left.104, i32 8192)
  %last.106 = add nsw i32 0, %few.105
  %more.107 = icmp slt i32 0, %v98
  br i1 %more.107, label %strip.99, label %endfor.103
strip.99:
  %q.108 = phi i32 [ 0, %gang.88 ], [ %last.110, %go.123 ]
  %s.109 = phi float [ 0x0000000000000000, %gang.88 ], [ %s.118, %go.123 ]
  %last.110 = phi i32 [ %last.106, %gang.88 ], [ %last.131, %go.123 ]
  br label %body.100
body.100:
  %q.111 = phi i32 [ %q.108, %strip.99 ], [ %q.next.119, %body.100 ]
  %s.112 = phi float [ %s.109, %strip.99 ], [ %s.118, %body.100 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v113 = fmul float 0x3FE0000000000000, %s.112
  %v114 = sext i32 %q.111 to i64
  %v115 = getelementptr inbounds float, ptr %x.data.34, i64 %v114
  %v116 = load float, ptr %v115
  %v117 = fmul float %v116, %decay.38
  %s.118 = fadd float %v113, %v117
  ; line 4: for q in range(len(x)):
  %q.next.119 = add nsw i32 %q.111, 1
  %more.120 = icmp ne i32 %q.next.119, %last.110
  br i1 %more.120, label %body.100, label %stripped.101
stripped.101:
  %over.121 = icmp eq i32 %last.110, %v98
  br i1 %over.121, label %endfor.103, label %again.102, !prof !1
again.102:
  %stop.124 = load volatile i32, ptr %stop
  %calm.125 = icmp eq i32 %stop.124, 0
  br i1 %calm.125, label %go.123, label %ask.122, !prof !1
ask.122:
  %v126 = load ptr, ptr %v48
  %v127 = call i32 %v126(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v128 = icmp eq i32 %v127, 0
  br i1 %v128, label %go.123, label %stopped
go.123:
  %left.129 = sub i32 %v98, %last.110
  %few.130 = call i32 @llvm.umin.i32(i32 %left.129, i32 8192)
  %last.131 = add nsw i32 %last.110, %few.130
  br label %strip.99
endfor.103:
  %v132 = phi float [ 0x0000000000000000, %gang.88 ], [ %s.118, %stripped.101 ]
  ; line 6: y[i] = s
  %v133 = mul i64 %i.97, 4
  %v134 = insertelement <8 x float> poison, float %v132, i64 0
  %v135 = shufflevector <8 x float> %v134, <8 x float> poison, <8 x i32> zeroinitializer
  %v136 = getelementptr i8, ptr %y.data.60, i64 %v133
  store <8 x float> %v135, ptr %v136, align 4
  %v137 = add i64 %v133, 32
  %v138 = getelementptr i8, ptr %y.data.60, i64 %v137
  store <8 x float> %v135, ptr %v138, align 4
  %v141 = and i32 %number.95, 1
  %early.142 = icmp ne i32 %v141, 1
  br i1 %early.142, label %on.140, label %due.139, !prof !1
due.139:
  %stop.145 = load volatile i32, ptr %stop
  %calm.146 = icmp eq i32 %stop.145, 0
  br i1 %calm.146, label %go.144, label %ask.143, !prof !1
ask.143:
  %v147 = sext i32 %gang.94 to i64
  store i64 %v147, ptr %v80
  %v148 = load ptr, ptr %v48
  %v149 = call i32 %v148(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v150 = icmp eq i32 %v149, 0
  br i1 %v150, label %go.144, label %stopped
go.144:
  br label %on.140
on.140:
  %v151 = add nsw i32 %gang.94, 16
  %v152 = add nsw i32 %number.95, 1
  br label %gangs.87, !llvm.loop !3
gangs.end.89:
  %left.153 = sub nsw i32 %high.2, %gangs.93
  %several.156 = icmp sge i32 %left.153, 4
  br i1 %several.156, label %rest.154, label %rest.end.155
rest.154:
  %v157 = insertelement <8 x i32> poison, i32 %left.153, i64 0
  %v158 = shufflevector <8 x i32> %v157, <8 x i32> poison, <8 x i32> zeroinitializer
  %v159 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v158
  %v160 = sext <8 x i1> %v159 to <8 x i32>
  %v161 = bitcast <8 x i32> %v160 to <8 x float>
  %v162 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v161)
  %v163 = bitcast <8 x float> %v162 to <8 x i32>
  %v164 = icmp slt <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %v158
  %v165 = sext <8 x i1> %v164 to <8 x i32>
  %v166 = bitcast <8 x i32> %v165 to <8 x float>
  %v167 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v166)
  %v168 = bitcast <8 x float> %v167 to <8 x i32>
  ; line 2: i = tid()
  %i.169 = sext i32 %gangs.93 to i64
  ; line 4: for q in range(len(x)):
  %v170 = trunc i64 %x.shape0.15 to i32
  %left.176 = sub i32 %v170, 0
  %few.177 = call i32 @llvm.umin.i32(i32 %left.176, i32 8192)
  %last.178 = add nsw i32 0, %few.177
  %more.179 = icmp slt i32 0, %v170
  br i1 %more.179, label %strip.171, label %endfor.175
strip.171:
  %q.180 = phi i32 [ 0, %rest.154 ], [ %last.182, %go.195 ]
  %s.181 = phi float [ 0x0000000000000000, %rest.154 ], [ %s.190, %go.195 ]
  %last.182 = phi i32 [ %last.178, %rest.154 ], [ %last.203, %go.195 ]
  br label %body.172
body.172:
  %q.183 = phi i32 [ %q.180, %strip.171 ], [ %q.next.191, %body.172 ]
  %s.184 = phi float [ %s.181, %strip.171 ], [ %s.190, %body.172 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v185 = fmul float 0x3FE0000000000000, %s.184
  %v186 = sext i32 %q.183 to i64
  %v187 = getelementptr inbounds float, ptr %x.data.34, i64 %v186
  %v188 = load float, ptr %v187
  %v189 = fmul float %v188, %decay.38
  %s.190 = fadd float %v185, %v189
  ; line 4: for q in range(len(x)):
  %q.next.191 = add nsw i32 %q.183, 1
  %more.192 = icmp ne i32 %q.next.191, %last.182
  br i1 %more.192, label %body.172, label %stripped.173
stripped.173:
  %over.193 = icmp eq i32 %last.182, %v170
  br i1 %over.193, label %endfor.175, label %again.174, !prof !1
again.174:
  %stop.196 = load volatile i32, ptr %stop
  %calm.197 = icmp eq i32 %stop.196, 0
  br i1 %calm.197, label %go.195, label %ask.194, !prof !1
ask.194:
  %v198 = load ptr, ptr %v48
  %v199 = call i32 %v198(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v200 = icmp eq i32 %v199, 0
  br i1 %v200, label %go.195, label %stopped
go.195:
  %left.201 = sub i32 %v170, %last.182
  %few.202 = call i32 @llvm.umin.i32(i32 %left.201, i32 8192)
  %last.203 = add nsw i32 %last.182, %few.202
  br label %strip.171
endfor.175:
  %v204 = phi float [ 0x0000000000000000, %rest.154 ], [ %s.190, %stripped.173 ]
  ; line 6: y[i] = s
  %v205 = mul i64 %i.169, 4
  %v206 = insertelement <8 x float> poison, float %v204, i64 0
  %v207 = shufflevector <8 x float> %v206, <8 x float> poison, <8 x i32> zeroinitializer
  %v208 = getelementptr i8, ptr %y.data.60, i64 %v205
  %flags.209 = icmp slt <8 x i32> %v163, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v207, ptr %v208, i32 4, <8 x i1> %flags.209)
  %v210 = add i64 %v205, 32
  %v211 = getelementptr i8, ptr %y.data.60, i64 %v210
  %flags.212 = icmp slt <8 x i32> %v168, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v207, ptr %v211, i32 4, <8 x i1> %flags.212)
  br label %rest.end.155
rest.end.155:
  %first.213 = phi i32 [ %gangs.93, %gangs.end.89 ], [ %high.2, %endfor.175 ]
  br label %threads
threads:
  %tid = phi i32 [ %first.213, %rest.end.155 ], [ %tid.next, %thread.end ]
  %more.214 = icmp slt i32 %tid, %high.2
  br i1 %more.214, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 4: for q in range(len(x)):
  %v215 = trunc i64 %x.shape0.15 to i32
  %left.221 = sub i32 %v215, 0
  %few.222 = call i32 @llvm.umin.i32(i32 %left.221, i32 8192)
  %last.223 = add nsw i32 0, %few.222
  %more.224 = icmp slt i32 0, %v215
  br i1 %more.224, label %strip.216, label %endfor.220
strip.216:
  %q.225 = phi i32 [ 0, %thread ], [ %last.227, %go.240 ]
  %s.226 = phi float [ 0x0000000000000000, %thread ], [ %s.235, %go.240 ]
  %last.227 = phi i32 [ %last.223, %thread ], [ %last.248, %go.240 ]
  br label %body.217
body.217:
  %q.228 = phi i32 [ %q.225, %strip.216 ], [ %q.next.236, %body.217 ]
  %s.229 = phi float [ %s.226, %strip.216 ], [ %s.235, %body.217 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v230 = fmul float 0x3FE0000000000000, %s.229
  %v231 = sext i32 %q.228 to i64
  %v232 = getelementptr inbounds float, ptr %x.data.34, i64 %v231
  %v233 = load float, ptr %v232
  %v234 = fmul float %v233, %decay.38
  %s.235 = fadd float %v230, %v234
  ; line 4: for q in range(len(x)):
  %q.next.236 = add nsw i32 %q.228, 1
  %more.237 = icmp ne i32 %q.next.236, %last.227
  br i1 %more.237, label %body.217, label %stripped.218
stripped.218:
  %over.238 = icmp eq i32 %last.227, %v215
  br i1 %over.238, label %endfor.220, label %again.219, !prof !1
again.219:
  %stop.241 = load volatile i32, ptr %stop
  %calm.242 = icmp eq i32 %stop.241, 0
  br i1 %calm.242, label %go.240, label %ask.239, !prof !1
ask.239:
  %v243 = load ptr, ptr %v48
  %v244 = call i32 %v243(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v245 = icmp eq i32 %v244, 0
  br i1 %v245, label %go.240, label %stopped
go.240:
  %left.246 = sub i32 %v215, %last.227
  %few.247 = call i32 @llvm.umin.i32(i32 %left.246, i32 8192)
  %last.248 = add nsw i32 %last.227, %few.247
  br label %strip.216
endfor.220:
  %v249 = phi float [ 0x0000000000000000, %thread ], [ %s.235, %stripped.218 ]
  ; line 6: y[i] = s
  %v250 = sext i32 %tid to i64
  %v251 = getelementptr inbounds float, ptr %y.data.60, i64 %v250
  store float %v249, ptr %v251
  %v254 = and i32 %tid, 31
  %early.255 = icmp ne i32 %v254, 31
  br i1 %early.255, label %on.253, label %due.252, !prof !1
due.252:
  %stop.258 = load volatile i32, ptr %stop
  %calm.259 = icmp eq i32 %stop.258, 0
  br i1 %calm.259, label %go.257, label %ask.256, !prof !1
ask.256:
  %v260 = sext i32 %tid to i64
  store i64 %v260, ptr %v80
  %v261 = load ptr, ptr %v48
  %v262 = call i32 %v261(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v263 = icmp eq i32 %v262, 0
  br i1 %v263, label %go.257, label %stopped
go.257:
  br label %on.253
on.253:
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
