define i32 @wb_recurrence(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
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
  %v13 = sext i32 %gang.10 to i64
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
  %v56 = mul i64 %v13, 4
  %v57 = insertelement <8 x float> poison, float %v55, i64 0
  %v58 = shufflevector <8 x float> %v57, <8 x float> poison, <8 x i32> zeroinitializer
  %v61 = getelementptr i8, ptr %y.data.60, i64 %v56
  store <8 x float> %v58, ptr %v61, align 4
  %v62 = mul i64 %v13, 4
  %v63 = add i64 %v62, 32
  %v64 = getelementptr i8, ptr %y.data.60, i64 %v63
  store <8 x float> %v58, ptr %v64, align 4
  %v65 = mul i64 %v13, 4
  %v66 = add i64 %v65, 64
  %v67 = getelementptr i8, ptr %y.data.60, i64 %v66
  store <8 x float> %v58, ptr %v67, align 4
  %v68 = mul i64 %v13, 4
  %v69 = add i64 %v68, 96
  %v70 = getelementptr i8, ptr %y.data.60, i64 %v69
  store <8 x float> %v58, ptr %v70, align 4
  %v71 = mul i64 %v13, 4
  %v72 = add i64 %v71, 128
  %v73 = getelementptr i8, ptr %y.data.60, i64 %v72
  store <8 x float> %v58, ptr %v73, align 4
  %v74 = mul i64 %v13, 4
  %v75 = add i64 %v74, 160
  %v76 = getelementptr i8, ptr %y.data.60, i64 %v75
  store <8 x float> %v58, ptr %v76, align 4
  %v77 = mul i64 %v13, 4
  %v78 = add i64 %v77, 192
  %v79 = getelementptr i8, ptr %y.data.60, i64 %v78
  store <8 x float> %v58, ptr %v79, align 4
  %v80 = mul i64 %v13, 4
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
  %v104 = sext i32 %gang.101 to i64
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
  %v140 = mul i64 %v104, 4
  %v141 = insertelement <8 x float> poison, float %v139, i64 0
  %v142 = shufflevector <8 x float> %v141, <8 x float> poison, <8 x i32> zeroinitializer
  %v143 = getelementptr i8, ptr %y.data.60, i64 %v140
  store <8 x float> %v142, ptr %v143, align 4
  %v144 = mul i64 %v104, 4
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
  br label %threads
threads:
  %tid = phi i32 [ %gangs.100, %gangs.end.96 ], [ %tid.next, %thread.end ]
  %more.161 = icmp slt i32 %tid, %high.2
  br i1 %more.161, label %thread, label %finish
thread:
  ; line 2: i = tid()
  %v162 = sext i32 %tid to i64
  ; line 4: for q in range(len(x)):
  %v163 = trunc i64 %x.shape0.15 to i32
  %left.169 = sub i32 %v163, 0
  %few.170 = call i32 @llvm.umin.i32(i32 %left.169, i32 8192)
  %last.171 = add nsw i32 0, %few.170
  %more.172 = icmp slt i32 0, %v163
  br i1 %more.172, label %strip.164, label %endfor.168
strip.164:
  %q.173 = phi i32 [ 0, %thread ], [ %last.175, %go.188 ]
  %s.174 = phi float [ 0x0000000000000000, %thread ], [ %s.183, %go.188 ]
  %last.175 = phi i32 [ %last.171, %thread ], [ %last.196, %go.188 ]
  br label %body.165
body.165:
  %q.176 = phi i32 [ %q.173, %strip.164 ], [ %q.next.184, %body.165 ]
  %s.177 = phi float [ %s.174, %strip.164 ], [ %s.183, %body.165 ]
  ; line 5: s = 0.5 * s + x[q] * decay
  %v178 = fmul float 0x3FE0000000000000, %s.177
  %v179 = sext i32 %q.176 to i64
  %v180 = getelementptr inbounds float, ptr %x.data.34, i64 %v179
  %v181 = load float, ptr %v180
  %v182 = fmul float %v181, %decay.38
  %s.183 = fadd float %v178, %v182
  ; line 4: for q in range(len(x)):
  %q.next.184 = add nsw i32 %q.176, 1
  %more.185 = icmp ne i32 %q.next.184, %last.175
  br i1 %more.185, label %body.165, label %stripped.166
stripped.166:
  %over.186 = icmp eq i32 %last.175, %v163
  br i1 %over.186, label %endfor.168, label %again.167, !prof !1
again.167:
  %stop.189 = load volatile i32, ptr %stop
  %calm.190 = icmp eq i32 %stop.189, 0
  br i1 %calm.190, label %go.188, label %ask.187, !prof !1
ask.187:
  %v191 = load ptr, ptr %v48
  %v192 = call i32 %v191(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v193 = icmp eq i32 %v192, 0
  br i1 %v193, label %go.188, label %stopped
go.188:
  %left.194 = sub i32 %v163, %last.175
  %few.195 = call i32 @llvm.umin.i32(i32 %left.194, i32 8192)
  %last.196 = add nsw i32 %last.175, %few.195
  br label %strip.164
endfor.168:
  %v197 = phi float [ 0x0000000000000000, %thread ], [ %s.183, %stripped.166 ]
  ; line 6: y[i] = s
  %v198 = getelementptr inbounds float, ptr %y.data.60, i64 %v162
  store float %v197, ptr %v198
  %v201 = and i32 %tid, 31
  %early.202 = icmp ne i32 %v201, 31
  br i1 %early.202, label %on.200, label %due.199, !prof !1
due.199:
  %stop.205 = load volatile i32, ptr %stop
  %calm.206 = icmp eq i32 %stop.205, 0
  br i1 %calm.206, label %go.204, label %ask.203, !prof !1
ask.203:
  %v207 = sext i32 %tid to i64
  store i64 %v207, ptr %v87
  %v208 = load ptr, ptr %v48
  %v209 = call i32 %v208(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v210 = icmp eq i32 %v209, 0
  br i1 %v210, label %go.204, label %stopped
go.204:
  br label %on.200
on.200:
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
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
