define i32 @wb_recurrence(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %slots.6 = alloca [64 x float], align 64
  %x.shape0.at.7 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.8 = load i64, ptr %x.shape0.at.7, !range !0
  %x.at.32 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.33 = load ptr, ptr %x.at.32
  %decay.at.36 = getelementptr inbounds i8, ptr %params, i64 56
  %decay.37 = load float, ptr %decay.at.36
  %v60 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.77 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.78 = load ptr, ptr %y.at.77
  %v90 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.96 = alloca [64 x float], align 64
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
  %group_end.5 = add nsw i32 %tid, 64
  ; line 4: for q in range(len(x)):
  %v9 = trunc i64 %x.shape0.8 to i32
  ; line 2: i = tid()
  br label %for.10
for.10:
  %thread.13 = phi i32 [ %tid, %group ], [ %thread.next.18, %body.11 ]
  %more.14 = icmp slt i32 %thread.13, %group_end.5
  br i1 %more.14, label %body.11, label %endfor.12
body.11:
  %v15 = sub i32 %thread.13, %tid
  %v16 = sext i32 %v15 to i64
  %v17 = getelementptr inbounds float, ptr %slots.6, i64 %v16
  store float 0x0000000000000000, ptr %v17
  %thread.next.18 = add nsw i32 %thread.13, 1
  br label %for.10
endfor.12:
  ; line 5: s = 0.5 * s + x[q] * decay
  %left.24 = sub i32 %v9, 0
  %few.25 = call i32 @llvm.umin.i32(i32 %left.24, i32 128)
  %last.26 = add nsw i32 0, %few.25
  %more.27 = icmp slt i32 0, %v9
  br i1 %more.27, label %strip.19, label %endfor.23
strip.19:
  %q.28 = phi i32 [ 0, %endfor.12 ], [ %last.29, %go.57 ]
  %last.29 = phi i32 [ %last.26, %endfor.12 ], [ %last.66, %go.57 ]
  br label %body.20
body.20:
  %q.30 = phi i32 [ %q.28, %strip.19 ], [ %q.next.53, %endfor.41 ]
  %v31 = sext i32 %q.30 to i64
  %v34 = getelementptr inbounds float, ptr %x.data.33, i64 %v31
  %v35 = load float, ptr %v34
  %v38 = fmul float %v35, %decay.37
  br label %for.39
for.39:
  %thread.42 = phi i32 [ %tid, %body.20 ], [ %thread.next.52, %body.40 ]
  %more.43 = icmp slt i32 %thread.42, %group_end.5
  br i1 %more.43, label %body.40, label %endfor.41
body.40:
  ; line 4: for q in range(len(x)):
  %v44 = sub i32 %thread.42, %tid
  %v45 = sext i32 %v44 to i64
  %v46 = getelementptr inbounds float, ptr %slots.6, i64 %v45
  %v47 = load float, ptr %v46
  ; line 5: s = 0.5 * s + x[q] * decay
  %v48 = fmul float 0x3FE0000000000000, %v47
  %s.49 = fadd float %v48, %v38
  %v50 = sext i32 %v44 to i64
  %v51 = getelementptr inbounds float, ptr %slots.6, i64 %v50
  store float %s.49, ptr %v51
  %thread.next.52 = add nsw i32 %thread.42, 1
  br label %for.39
endfor.41:
  %q.next.53 = add nsw i32 %q.30, 1
  %more.54 = icmp ne i32 %q.next.53, %last.29
  br i1 %more.54, label %body.20, label %stripped.21
stripped.21:
  %over.55 = icmp eq i32 %last.29, %v9
  br i1 %over.55, label %endfor.23, label %again.22, !prof !1
again.22:
  %stop.58 = load volatile i32, ptr %stop
  %calm.59 = icmp eq i32 %stop.58, 0
  br i1 %calm.59, label %go.57, label %ask.56, !prof !1
ask.56:
  %v61 = load ptr, ptr %v60
  %v62 = call i32 %v61(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v63 = icmp eq i32 %v62, 0
  br i1 %v63, label %go.57, label %stopped
go.57:
  %left.64 = sub i32 %v9, %last.29
  %few.65 = call i32 @llvm.umin.i32(i32 %left.64, i32 128)
  %last.66 = add nsw i32 %last.29, %few.65
  br label %strip.19
endfor.23:
  ; line 6: y[i] = s
  br label %for.67
for.67:
  %thread.70 = phi i32 [ %tid, %endfor.23 ], [ %thread.next.80, %body.68 ]
  %more.71 = icmp slt i32 %thread.70, %group_end.5
  br i1 %more.71, label %body.68, label %endfor.69
body.68:
  ; line 5: s = 0.5 * s + x[q] * decay
  %v72 = sub i32 %thread.70, %tid
  %v73 = sext i32 %v72 to i64
  %v74 = getelementptr inbounds float, ptr %slots.6, i64 %v73
  %v75 = load float, ptr %v74
  ; line 6: y[i] = s
  %v76 = sext i32 %thread.70 to i64
  %v79 = getelementptr inbounds float, ptr %y.data.78, i64 %v76
  store float %v75, ptr %v79
  %thread.next.80 = add nsw i32 %thread.70, 1
  br label %for.67
endfor.69:
  %v81 = udiv i32 %tid, 64
  %v84 = and i32 %v81, 15
  %early.85 = icmp ne i32 %v84, 15
  br i1 %early.85, label %on.83, label %due.82, !prof !1
due.82:
  %stop.88 = load volatile i32, ptr %stop
  %calm.89 = icmp eq i32 %stop.88, 0
  br i1 %calm.89, label %go.87, label %ask.86, !prof !1
ask.86:
  %v91 = sext i32 %tid to i64
  store i64 %v91, ptr %v90
  %v92 = load ptr, ptr %v60
  %v93 = call i32 %v92(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v94 = icmp eq i32 %v93, 0
  br i1 %v94, label %go.87, label %stopped
go.87:
  br label %on.83
on.83:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 64
  br label %groups
few:
  %some.95 = icmp sgt i32 %left.3, 0
  br i1 %some.95, label %group.rest, label %finish
group.rest:
  ; line 4: for q in range(len(x)):
  %v97 = trunc i64 %x.shape0.8 to i32
  ; line 2: i = tid()
  br label %for.98
for.98:
  %thread.101 = phi i32 [ %tid, %group.rest ], [ %thread.next.106, %body.99 ]
  %more.102 = icmp slt i32 %thread.101, %high.2
  br i1 %more.102, label %body.99, label %endfor.100
body.99:
  %v103 = sub i32 %thread.101, %tid
  %v104 = sext i32 %v103 to i64
  %v105 = getelementptr inbounds float, ptr %slots.96, i64 %v104
  store float 0x0000000000000000, ptr %v105
  %thread.next.106 = add nsw i32 %thread.101, 1
  br label %for.98
endfor.100:
  ; line 5: s = 0.5 * s + x[q] * decay
  %left.112 = sub i32 %v97, 0
  %few.113 = call i32 @llvm.umin.i32(i32 %left.112, i32 128)
  %last.114 = add nsw i32 0, %few.113
  %more.115 = icmp slt i32 0, %v97
  br i1 %more.115, label %strip.107, label %endfor.111
strip.107:
  %q.116 = phi i32 [ 0, %endfor.100 ], [ %last.117, %go.141 ]
  %last.117 = phi i32 [ %last.114, %endfor.100 ], [ %last.149, %go.141 ]
  br label %body.108
body.108:
  %q.118 = phi i32 [ %q.116, %strip.107 ], [ %q.next.137, %endfor.125 ]
  %v119 = sext i32 %q.118 to i64
  %v120 = getelementptr inbounds float, ptr %x.data.33, i64 %v119
  %v121 = load float, ptr %v120
  %v122 = fmul float %v121, %decay.37
  br label %for.123
for.123:
  %thread.126 = phi i32 [ %tid, %body.108 ], [ %thread.next.136, %body.124 ]
  %more.127 = icmp slt i32 %thread.126, %high.2
  br i1 %more.127, label %body.124, label %endfor.125
body.124:
  ; line 4: for q in range(len(x)):
  %v128 = sub i32 %thread.126, %tid
  %v129 = sext i32 %v128 to i64
  %v130 = getelementptr inbounds float, ptr %slots.96, i64 %v129
  %v131 = load float, ptr %v130
  ; line 5: s = 0.5 * s + x[q] * decay
  %v132 = fmul float 0x3FE0000000000000, %v131
  %s.133 = fadd float %v132, %v122
  %v134 = sext i32 %v128 to i64
  %v135 = getelementptr inbounds float, ptr %slots.96, i64 %v134
  store float %s.133, ptr %v135
  %thread.next.136 = add nsw i32 %thread.126, 1
  br label %for.123
endfor.125:
  %q.next.137 = add nsw i32 %q.118, 1
  %more.138 = icmp ne i32 %q.next.137, %last.117
  br i1 %more.138, label %body.108, label %stripped.109
stripped.109:
  %over.139 = icmp eq i32 %last.117, %v97
  br i1 %over.139, label %endfor.111, label %again.110, !prof !1
again.110:
  %stop.142 = load volatile i32, ptr %stop
  %calm.143 = icmp eq i32 %stop.142, 0
  br i1 %calm.143, label %go.141, label %ask.140, !prof !1
ask.140:
  %v144 = load ptr, ptr %v60
  %v145 = call i32 %v144(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v146 = icmp eq i32 %v145, 0
  br i1 %v146, label %go.141, label %stopped
go.141:
  %left.147 = sub i32 %v97, %last.117
  %few.148 = call i32 @llvm.umin.i32(i32 %left.147, i32 128)
  %last.149 = add nsw i32 %last.117, %few.148
  br label %strip.107
endfor.111:
  ; line 6: y[i] = s
  br label %for.150
for.150:
  %thread.153 = phi i32 [ %tid, %endfor.111 ], [ %thread.next.161, %body.151 ]
  %more.154 = icmp slt i32 %thread.153, %high.2
  br i1 %more.154, label %body.151, label %endfor.152
body.151:
  ; line 5: s = 0.5 * s + x[q] * decay
  %v155 = sub i32 %thread.153, %tid
  %v156 = sext i32 %v155 to i64
  %v157 = getelementptr inbounds float, ptr %slots.96, i64 %v156
  %v158 = load float, ptr %v157
  ; line 6: y[i] = s
  %v159 = sext i32 %thread.153 to i64
  %v160 = getelementptr inbounds float, ptr %y.data.78, i64 %v159
  store float %v158, ptr %v160
  %thread.next.161 = add nsw i32 %thread.153, 1
  br label %for.150
endfor.152:
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
