define i32 @wb_recurrence(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %slots.5 = alloca [64 x float], align 64
  %x.shape0.at.6 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.7 = load i64, ptr %x.shape0.at.6, !range !0
  %x.at.36 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.37 = load ptr, ptr %x.at.36
  %decay.at.40 = getelementptr inbounds i8, ptr %params, i64 56
  %decay.41 = load float, ptr %decay.at.40
  %v68 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.88 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.89 = load ptr, ptr %y.at.88
  %v101 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.107 = alloca [64 x float], align 64
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br label %groups
groups:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %group.end ]
  %left.3 = sub nsw i32 %high.2, %tid
  %full.4 = icmp sge i32 %left.3, 64
  br i1 %full.4, label %group, label %few
group:
  ; line 4: for q in range(len(x)):
  %v8 = trunc i64 %x.shape0.7 to i32
  ; line 2: i = tid()
  br label %for.9
for.9:
  %place.12 = phi i32 [ 0, %group ], [ %place.next.22, %body.10 ]
  %more.13 = icmp slt i32 %place.12, 64
  br i1 %more.13, label %body.10, label %endfor.11
body.10:
  %thread.14 = add nsw i32 %tid, %place.12
  %v15 = add i32 %tid, %place.12
  %v16 = sext i32 %tid to i64
  %v17 = sext i32 %place.12 to i64
  %v18 = add i64 %v16, %v17
  %v19 = sext i32 %v15 to i64
  %v20 = sext i32 %place.12 to i64
  %v21 = getelementptr inbounds float, ptr %slots.5, i64 %v20
  store float 0x0000000000000000, ptr %v21
  %place.next.22 = add nsw i32 %place.12, 1
  br label %for.9
endfor.11:
  ; line 5: s = 0.5 * s + x[q] * decay
  %left.28 = sub i32 %v8, 0
  %few.29 = call i32 @llvm.umin.i32(i32 %left.28, i32 64)
  %last.30 = add nsw i32 0, %few.29
  %more.31 = icmp slt i32 0, %v8
  br i1 %more.31, label %strip.23, label %endfor.27
strip.23:
  %q.32 = phi i32 [ 0, %endfor.11 ], [ %last.33, %go.65 ]
  %last.33 = phi i32 [ %last.30, %endfor.11 ], [ %last.74, %go.65 ]
  br label %body.24
body.24:
  %q.34 = phi i32 [ %q.32, %strip.23 ], [ %q.next.61, %endfor.45 ]
  %v35 = sext i32 %q.34 to i64
  %v38 = getelementptr inbounds float, ptr %x.data.37, i64 %v35
  %v39 = load float, ptr %v38
  %v42 = fmul float %v39, %decay.41
  br label %for.43
for.43:
  %place.46 = phi i32 [ 0, %body.24 ], [ %place.next.60, %body.44 ]
  %more.47 = icmp slt i32 %place.46, 64
  br i1 %more.47, label %body.44, label %endfor.45
body.44:
  %thread.48 = add nsw i32 %tid, %place.46
  ; line 4: for q in range(len(x)):
  %v49 = add i32 %tid, %place.46
  %v50 = sext i32 %tid to i64
  %v51 = sext i32 %place.46 to i64
  %v52 = add i64 %v50, %v51
  %v53 = sext i32 %place.46 to i64
  %v54 = getelementptr inbounds float, ptr %slots.5, i64 %v53
  %v55 = load float, ptr %v54
  ; line 5: s = 0.5 * s + x[q] * decay
  %v56 = fmul float 0x3FE0000000000000, %v55
  %s.57 = fadd float %v56, %v42
  %v58 = sext i32 %place.46 to i64
  %v59 = getelementptr inbounds float, ptr %slots.5, i64 %v58
  store float %s.57, ptr %v59
  %place.next.60 = add nsw i32 %place.46, 1
  br label %for.43
endfor.45:
  %q.next.61 = add nsw i32 %q.34, 1
  %more.62 = icmp ne i32 %q.next.61, %last.33
  br i1 %more.62, label %body.24, label %stripped.25
stripped.25:
  %over.63 = icmp eq i32 %last.33, %v8
  br i1 %over.63, label %endfor.27, label %again.26, !prof !1
again.26:
  %stop.66 = load volatile i32, ptr %stop
  %calm.67 = icmp eq i32 %stop.66, 0
  br i1 %calm.67, label %go.65, label %ask.64, !prof !1
ask.64:
  %v69 = load ptr, ptr %v68
  %v70 = call i32 %v69(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v71 = icmp eq i32 %v70, 0
  br i1 %v71, label %go.65, label %stopped
go.65:
  %left.72 = sub i32 %v8, %last.33
  %few.73 = call i32 @llvm.umin.i32(i32 %left.72, i32 64)
  %last.74 = add nsw i32 %last.33, %few.73
  br label %strip.23
endfor.27:
  ; line 6: y[i] = s
  br label %for.75
for.75:
  %place.78 = phi i32 [ 0, %endfor.27 ], [ %place.next.91, %body.76 ]
  %more.79 = icmp slt i32 %place.78, 64
  br i1 %more.79, label %body.76, label %endfor.77
body.76:
  %thread.80 = add nsw i32 %tid, %place.78
  ; line 5: s = 0.5 * s + x[q] * decay
  %v81 = add i32 %tid, %place.78
  %v82 = sext i32 %tid to i64
  %v83 = sext i32 %place.78 to i64
  %v84 = add i64 %v82, %v83
  %v85 = sext i32 %place.78 to i64
  %v86 = getelementptr inbounds float, ptr %slots.5, i64 %v85
  %v87 = load float, ptr %v86
  ; line 6: y[i] = s
  %v90 = getelementptr inbounds float, ptr %y.data.89, i64 %v84
  store float %v87, ptr %v90
  %place.next.91 = add nsw i32 %place.78, 1
  br label %for.75
endfor.77:
  %v92 = udiv i32 %tid, 64
  %v95 = and i32 %v92, 15
  %early.96 = icmp ne i32 %v95, 15
  br i1 %early.96, label %on.94, label %due.93, !prof !1
due.93:
  %stop.99 = load volatile i32, ptr %stop
  %calm.100 = icmp eq i32 %stop.99, 0
  br i1 %calm.100, label %go.98, label %ask.97, !prof !1
ask.97:
  %v102 = sext i32 %tid to i64
  store i64 %v102, ptr %v101
  %v103 = load ptr, ptr %v68
  %v104 = call i32 %v103(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v105 = icmp eq i32 %v104, 0
  br i1 %v105, label %go.98, label %stopped
go.98:
  br label %on.94
on.94:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 64
  br label %groups
few:
  %some.106 = icmp sgt i32 %left.3, 0
  br i1 %some.106, label %group.rest, label %finish
group.rest:
  ; line 4: for q in range(len(x)):
  %v108 = trunc i64 %x.shape0.7 to i32
  ; line 2: i = tid()
  br label %for.109
for.109:
  %place.112 = phi i32 [ 0, %group.rest ], [ %place.next.122, %body.110 ]
  %more.113 = icmp slt i32 %place.112, 64
  br i1 %more.113, label %body.110, label %endfor.111
body.110:
  %v114 = icmp slt i32 %place.112, %left.3
  %v115 = add i32 %tid, %place.112
  %v116 = sext i32 %tid to i64
  %v117 = sext i32 %place.112 to i64
  %v118 = add i64 %v116, %v117
  %v119 = sext i32 %v115 to i64
  %v120 = sext i32 %place.112 to i64
  %v121 = getelementptr inbounds float, ptr %slots.107, i64 %v120
  store float 0x0000000000000000, ptr %v121
  %place.next.122 = add nsw i32 %place.112, 1
  br label %for.109
endfor.111:
  ; line 5: s = 0.5 * s + x[q] * decay
  %left.128 = sub i32 %v108, 0
  %few.129 = call i32 @llvm.umin.i32(i32 %left.128, i32 64)
  %last.130 = add nsw i32 0, %few.129
  %more.131 = icmp slt i32 0, %v108
  br i1 %more.131, label %strip.123, label %endfor.127
strip.123:
  %q.132 = phi i32 [ 0, %endfor.111 ], [ %last.133, %go.161 ]
  %last.133 = phi i32 [ %last.130, %endfor.111 ], [ %last.169, %go.161 ]
  br label %body.124
body.124:
  %q.134 = phi i32 [ %q.132, %strip.123 ], [ %q.next.157, %endfor.141 ]
  %v135 = sext i32 %q.134 to i64
  %v136 = getelementptr inbounds float, ptr %x.data.37, i64 %v135
  %v137 = load float, ptr %v136
  %v138 = fmul float %v137, %decay.41
  br label %for.139
for.139:
  %place.142 = phi i32 [ 0, %body.124 ], [ %place.next.156, %body.140 ]
  %more.143 = icmp slt i32 %place.142, 64
  br i1 %more.143, label %body.140, label %endfor.141
body.140:
  ; line 4: for q in range(len(x)):
  %v144 = icmp slt i32 %place.142, %left.3
  %v145 = add i32 %tid, %place.142
  %v146 = sext i32 %tid to i64
  %v147 = sext i32 %place.142 to i64
  %v148 = add i64 %v146, %v147
  %v149 = sext i32 %place.142 to i64
  %v150 = getelementptr inbounds float, ptr %slots.107, i64 %v149
  %v151 = load float, ptr %v150
  ; line 5: s = 0.5 * s + x[q] * decay
  %v152 = fmul float 0x3FE0000000000000, %v151
  %s.153 = fadd float %v152, %v138
  %v154 = sext i32 %place.142 to i64
  %v155 = getelementptr inbounds float, ptr %slots.107, i64 %v154
  store float %s.153, ptr %v155
  %place.next.156 = add nsw i32 %place.142, 1
  br label %for.139
endfor.141:
  %q.next.157 = add nsw i32 %q.134, 1
  %more.158 = icmp ne i32 %q.next.157, %last.133
  br i1 %more.158, label %body.124, label %stripped.125
stripped.125:
  %over.159 = icmp eq i32 %last.133, %v108
  br i1 %over.159, label %endfor.127, label %again.126, !prof !1
again.126:
  %stop.162 = load volatile i32, ptr %stop
  %calm.163 = icmp eq i32 %stop.162, 0
  br i1 %calm.163, label %go.161, label %ask.160, !prof !1
ask.160:
  %v164 = load ptr, ptr %v68
  %v165 = call i32 %v164(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v166 = icmp eq i32 %v165, 0
  br i1 %v166, label %go.161, label %stopped
go.161:
  %left.167 = sub i32 %v108, %last.133
  %few.168 = call i32 @llvm.umin.i32(i32 %left.167, i32 64)
  %last.169 = add nsw i32 %last.133, %few.168
  br label %strip.123
endfor.127:
  ; line 6: y[i] = s
  br label %for.170
for.170:
  %place.173 = phi i32 [ 0, %endfor.127 ], [ %place.next.187, %endif.185 ]
  %more.174 = icmp slt i32 %place.173, 64
  br i1 %more.174, label %body.171, label %endfor.172
body.171:
  ; line 5: s = 0.5 * s + x[q] * decay
  %v175 = icmp slt i32 %place.173, %left.3
  %v176 = add i32 %tid, %place.173
  %v177 = sext i32 %tid to i64
  %v178 = sext i32 %place.173 to i64
  %v179 = add i64 %v177, %v178
  %v180 = sext i32 %place.173 to i64
  %v181 = getelementptr inbounds float, ptr %slots.107, i64 %v180
  %v182 = load float, ptr %v181
  ; line 6: y[i] = s
  br i1 %v175, label %then.183, label %else.184
then.183:
  %v186 = getelementptr inbounds float, ptr %y.data.89, i64 %v179
  store float %v182, ptr %v186
  br label %endif.185
else.184:
  br label %endif.185
endif.185:
  %place.next.187 = add nsw i32 %place.173, 1
  br label %for.170
endfor.172:
  br label %finish
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i32 @llvm.umin.i32(i32, i32)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
