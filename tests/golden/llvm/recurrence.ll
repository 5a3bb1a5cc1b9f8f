define i32 @wb_recurrence(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %y.at.3 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.4 = load ptr, ptr %y.at.3
  %x.shape0.at.5 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.6 = load i64, ptr %x.shape0.at.5, !range !0
  %v7 = mul i64 4, %x.shape0.6
  %x.at.8 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.9 = load ptr, ptr %x.at.8
  %v10 = getelementptr i8, ptr %x.data.9, i64 %v7
  %v11 = icmp uge ptr %y.data.4, %v10
  %y.shape0.at.12 = getelementptr inbounds i8, ptr %params, i64 72
  %y.shape0.13 = load i64, ptr %y.shape0.at.12, !range !0
  %v14 = mul i64 4, %y.shape0.13
  %v15 = getelementptr i8, ptr %y.data.4, i64 %v14
  %v16 = icmp uge ptr %x.data.9, %v15
  %v17 = or i1 %v11, %v16
  %apart.18 = and i1 true, %v17
  %slots.21 = alloca [64 x float], align 64
  %decay.at.52 = getelementptr inbounds i8, ptr %params, i64 56
  %decay.53 = load float, ptr %decay.at.52
  %v80 = getelementptr inbounds i8, ptr %stop, i64 8
  %v111 = getelementptr inbounds i8, ptr %stop, i64 16
  %slots.120 = alloca [64 x float], align 64
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br i1 %apart.18, label %groups, label %few
groups:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %group.end ]
  %left.19 = sub nsw i32 %high.2, %tid
  %full.20 = icmp sge i32 %left.19, 64
  br i1 %full.20, label %group, label %few
group:
  ; line 4: for q in range(len(x)):
  %v22 = trunc i64 %x.shape0.6 to i32
  ; line 2: i = tid()
  br label %for.23
for.23:
  %place.26 = phi i32 [ 0, %group ], [ %place.next.36, %body.24 ]
  %more.27 = icmp slt i32 %place.26, 64
  br i1 %more.27, label %body.24, label %endfor.25
body.24:
  %thread.28 = add nsw i32 %tid, %place.26
  %v29 = add i32 %tid, %place.26
  %v30 = sext i32 %tid to i64
  %v31 = sext i32 %place.26 to i64
  %v32 = add i64 %v30, %v31
  %v33 = sext i32 %v29 to i64
  %v34 = sext i32 %place.26 to i64
  %v35 = getelementptr inbounds float, ptr %slots.21, i64 %v34
  store float 0x0000000000000000, ptr %v35
  %place.next.36 = add nsw i32 %place.26, 1
  br label %for.23
endfor.25:
  ; line 5: s = 0.5 * s + x[q] * decay
  %left.42 = sub i32 %v22, 0
  %few.43 = call i32 @llvm.umin.i32(i32 %left.42, i32 64)
  %last.44 = add nsw i32 0, %few.43
  %more.45 = icmp slt i32 0, %v22
  br i1 %more.45, label %strip.37, label %endfor.41
strip.37:
  %q.46 = phi i32 [ 0, %endfor.25 ], [ %last.47, %go.77 ]
  %last.47 = phi i32 [ %last.44, %endfor.25 ], [ %last.86, %go.77 ]
  br label %body.38
body.38:
  %q.48 = phi i32 [ %q.46, %strip.37 ], [ %q.next.73, %endfor.57 ]
  %v49 = sext i32 %q.48 to i64
  %v50 = getelementptr inbounds float, ptr %x.data.9, i64 %v49
  %v51 = load float, ptr %v50, !alias.scope !5, !noalias !6
  %v54 = fmul float %v51, %decay.53
  br label %for.55
for.55:
  %place.58 = phi i32 [ 0, %body.38 ], [ %place.next.72, %body.56 ]
  %more.59 = icmp slt i32 %place.58, 64
  br i1 %more.59, label %body.56, label %endfor.57
body.56:
  %thread.60 = add nsw i32 %tid, %place.58
  ; line 4: for q in range(len(x)):
  %v61 = add i32 %tid, %place.58
  %v62 = sext i32 %tid to i64
  %v63 = sext i32 %place.58 to i64
  %v64 = add i64 %v62, %v63
  %v65 = sext i32 %place.58 to i64
  %v66 = getelementptr inbounds float, ptr %slots.21, i64 %v65
  %v67 = load float, ptr %v66
  ; line 5: s = 0.5 * s + x[q] * decay
  %v68 = fmul float 0x3FE0000000000000, %v67
  %s.69 = fadd float %v68, %v54
  %v70 = sext i32 %place.58 to i64
  %v71 = getelementptr inbounds float, ptr %slots.21, i64 %v70
  store float %s.69, ptr %v71
  %place.next.72 = add nsw i32 %place.58, 1
  br label %for.55
endfor.57:
  %q.next.73 = add nsw i32 %q.48, 1
  %more.74 = icmp ne i32 %q.next.73, %last.47
  br i1 %more.74, label %body.38, label %stripped.39
stripped.39:
  %over.75 = icmp eq i32 %last.47, %v22
  br i1 %over.75, label %endfor.41, label %again.40, !prof !1
again.40:
  %stop.78 = load volatile i32, ptr %stop
  %calm.79 = icmp eq i32 %stop.78, 0
  br i1 %calm.79, label %go.77, label %ask.76, !prof !1
ask.76:
  %v81 = load ptr, ptr %v80
  %v82 = call i32 %v81(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v83 = icmp eq i32 %v82, 0
  br i1 %v83, label %go.77, label %stopped
go.77:
  %left.84 = sub i32 %v22, %last.47
  %few.85 = call i32 @llvm.umin.i32(i32 %left.84, i32 64)
  %last.86 = add nsw i32 %last.47, %few.85
  br label %strip.37
endfor.41:
  ; line 6: y[i] = s
  br label %for.87
for.87:
  %place.90 = phi i32 [ 0, %endfor.41 ], [ %place.next.101, %body.88 ]
  %more.91 = icmp slt i32 %place.90, 64
  br i1 %more.91, label %body.88, label %endfor.89
body.88:
  %thread.92 = add nsw i32 %tid, %place.90
  ; line 5: s = 0.5 * s + x[q] * decay
  %v93 = add i32 %tid, %place.90
  %v94 = sext i32 %tid to i64
  %v95 = sext i32 %place.90 to i64
  %v96 = add i64 %v94, %v95
  %v97 = sext i32 %place.90 to i64
  %v98 = getelementptr inbounds float, ptr %slots.21, i64 %v97
  %v99 = load float, ptr %v98
  ; line 6: y[i] = s
  %v100 = getelementptr inbounds float, ptr %y.data.4, i64 %v96
  store float %v99, ptr %v100, !alias.scope !7, !noalias !8
  %place.next.101 = add nsw i32 %place.90, 1
  br label %for.87
endfor.89:
  %v102 = udiv i32 %tid, 64
  %v105 = and i32 %v102, 15
  %early.106 = icmp ne i32 %v105, 15
  br i1 %early.106, label %on.104, label %due.103, !prof !1
due.103:
  %stop.109 = load volatile i32, ptr %stop
  %calm.110 = icmp eq i32 %stop.109, 0
  br i1 %calm.110, label %go.108, label %ask.107, !prof !1
ask.107:
  %v112 = sext i32 %tid to i64
  store i64 %v112, ptr %v111
  %v113 = load ptr, ptr %v80
  %v114 = call i32 %v113(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v115 = icmp eq i32 %v114, 0
  br i1 %v115, label %go.108, label %stopped
go.108:
  br label %on.104
on.104:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 64
  br label %groups
few:
  %few.tid = phi i32 [ %tid, %groups ], [ %low.1, %start ], [ %few.next, %few.more ]
  %left.116 = sub nsw i32 %high.2, %few.tid
  %some.117 = icmp sgt i32 %left.116, 0
  br i1 %some.117, label %group.rest, label %finish
group.rest:
  %few.next = add i32 %few.tid, 64
  %more.118 = icmp sgt i32 %left.116, 64
  %v119 = select i1 %more.118, i32 64, i32 %left.116
  ; line 4: for q in range(len(x)):
  %v121 = trunc i64 %x.shape0.6 to i32
  ; line 2: i = tid()
  br label %for.122
for.122:
  %place.125 = phi i32 [ 0, %group.rest ], [ %place.next.135, %body.123 ]
  %more.126 = icmp slt i32 %place.125, 64
  br i1 %more.126, label %body.123, label %endfor.124
body.123:
  %v127 = icmp slt i32 %place.125, %v119
  %v128 = add i32 %few.tid, %place.125
  %v129 = sext i32 %few.tid to i64
  %v130 = sext i32 %place.125 to i64
  %v131 = add i64 %v129, %v130
  %v132 = sext i32 %v128 to i64
  %v133 = sext i32 %place.125 to i64
  %v134 = getelementptr inbounds float, ptr %slots.120, i64 %v133
  store float 0x0000000000000000, ptr %v134
  %place.next.135 = add nsw i32 %place.125, 1
  br label %for.122
endfor.124:
  ; line 5: s = 0.5 * s + x[q] * decay
  %left.141 = sub i32 %v121, 0
  %few.142 = call i32 @llvm.umin.i32(i32 %left.141, i32 64)
  %last.143 = add nsw i32 0, %few.142
  %more.144 = icmp slt i32 0, %v121
  br i1 %more.144, label %strip.136, label %endfor.140
strip.136:
  %q.145 = phi i32 [ 0, %endfor.124 ], [ %last.146, %go.174 ]
  %last.146 = phi i32 [ %last.143, %endfor.124 ], [ %last.182, %go.174 ]
  br label %body.137
body.137:
  %q.147 = phi i32 [ %q.145, %strip.136 ], [ %q.next.170, %endfor.154 ]
  %v148 = sext i32 %q.147 to i64
  %v149 = getelementptr inbounds float, ptr %x.data.9, i64 %v148
  %v150 = load float, ptr %v149
  %v151 = fmul float %v150, %decay.53
  br label %for.152
for.152:
  %place.155 = phi i32 [ 0, %body.137 ], [ %place.next.169, %body.153 ]
  %more.156 = icmp slt i32 %place.155, 64
  br i1 %more.156, label %body.153, label %endfor.154
body.153:
  ; line 4: for q in range(len(x)):
  %v157 = icmp slt i32 %place.155, %v119
  %v158 = add i32 %few.tid, %place.155
  %v159 = sext i32 %few.tid to i64
  %v160 = sext i32 %place.155 to i64
  %v161 = add i64 %v159, %v160
  %v162 = sext i32 %place.155 to i64
  %v163 = getelementptr inbounds float, ptr %slots.120, i64 %v162
  %v164 = load float, ptr %v163
  ; line 5: s = 0.5 * s + x[q] * decay
  %v165 = fmul float 0x3FE0000000000000, %v164
  %s.166 = fadd float %v165, %v151
  %v167 = sext i32 %place.155 to i64
  %v168 = getelementptr inbounds float, ptr %slots.120, i64 %v167
  store float %s.166, ptr %v168
  %place.next.169 = add nsw i32 %place.155, 1
  br label %for.152
endfor.154:
  %q.next.170 = add nsw i32 %q.147, 1
  %more.171 = icmp ne i32 %q.next.170, %last.146
  br i1 %more.171, label %body.137, label %stripped.138
stripped.138:
  %over.172 = icmp eq i32 %last.146, %v121
  br i1 %over.172, label %endfor.140, label %again.139, !prof !1
again.139:
  %stop.175 = load volatile i32, ptr %stop
  %calm.176 = icmp eq i32 %stop.175, 0
  br i1 %calm.176, label %go.174, label %ask.173, !prof !1
ask.173:
  %v177 = load ptr, ptr %v80
  %v178 = call i32 %v177(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v179 = icmp eq i32 %v178, 0
  br i1 %v179, label %go.174, label %stopped
go.174:
  %left.180 = sub i32 %v121, %last.146
  %few.181 = call i32 @llvm.umin.i32(i32 %left.180, i32 64)
  %last.182 = add nsw i32 %last.146, %few.181
  br label %strip.136
endfor.140:
  ; line 6: y[i] = s
  br label %for.183
for.183:
  %place.186 = phi i32 [ 0, %endfor.140 ], [ %place.next.200, %endif.198 ]
  %more.187 = icmp slt i32 %place.186, 64
  br i1 %more.187, label %body.184, label %endfor.185
body.184:
  ; line 5: s = 0.5 * s + x[q] * decay
  %v188 = icmp slt i32 %place.186, %v119
  %v189 = add i32 %few.tid, %place.186
  %v190 = sext i32 %few.tid to i64
  %v191 = sext i32 %place.186 to i64
  %v192 = add i64 %v190, %v191
  %v193 = sext i32 %place.186 to i64
  %v194 = getelementptr inbounds float, ptr %slots.120, i64 %v193
  %v195 = load float, ptr %v194
  ; line 6: y[i] = s
  br i1 %v188, label %then.196, label %else.197
then.196:
  %v199 = getelementptr inbounds float, ptr %y.data.4, i64 %v192
  store float %v195, ptr %v199
  br label %endif.198
else.197:
  br label %endif.198
endif.198:
  %place.next.200 = add nsw i32 %place.186, 1
  br label %for.183
endfor.185:
  br i1 %more.118, label %few.more, label %finish
few.more:
  br label %few
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
!2 = distinct !{!2}
!3 = distinct !{!3, !2}
!4 = distinct !{!4, !2}
!5 = !{!3}
!6 = !{!4}
!7 = !{!4}
!8 = !{!3}
