define i32 @wb_collatz(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %steps.at.3 = getelementptr inbounds i8, ptr %params, i64 56
  %steps.data.4 = load ptr, ptr %steps.at.3
  %start.shape0.at.5 = getelementptr inbounds i8, ptr %params, i64 40
  %start.shape0.6 = load i64, ptr %start.shape0.at.5, !range !0
  %v7 = mul i64 4, %start.shape0.6
  %start.at.8 = getelementptr inbounds i8, ptr %params, i64 32
  %start.data.9 = load ptr, ptr %start.at.8
  %v10 = getelementptr i8, ptr %start.data.9, i64 %v7
  %v11 = icmp uge ptr %steps.data.4, %v10
  %steps.shape0.at.12 = getelementptr inbounds i8, ptr %params, i64 64
  %steps.shape0.13 = load i64, ptr %steps.shape0.at.12, !range !0
  %v14 = mul i64 4, %steps.shape0.13
  %v15 = getelementptr i8, ptr %steps.data.4, i64 %v14
  %v16 = icmp uge ptr %start.data.9, %v15
  %v17 = or i1 %v11, %v16
  %apart.18 = and i1 true, %v17
  %slots.21 = alloca [16 x i32], align 64
  %slots.22 = alloca [16 x i32], align 64
  %slots.23 = alloca [16 x i32], align 64
  %slots.24 = alloca [16 x i8], align 64
  %v175 = getelementptr inbounds i8, ptr %stop, i64 8
  %v203 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br i1 %apart.18, label %groups, label %few
groups:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %group.end ]
  %left.19 = sub nsw i32 %high.2, %tid
  %full.20 = icmp sge i32 %left.19, 16
  br i1 %full.20, label %group, label %few
group:
  ; line 5: while n != 1:
  br label %for.25
for.25:
  %place.28 = phi i32 [ 0, %group ], [ %place.next.55, %endif.41 ]
  %v29 = phi i1 [ false, %group ], [ %v54, %endif.41 ]
  %more.30 = icmp slt i32 %place.28, 16
  br i1 %more.30, label %body.26, label %endfor.27
body.26:
  %thread.31 = add nsw i32 %tid, %place.28
  %v32 = add i32 %tid, %place.28
  %v33 = sext i32 %tid to i64
  %v34 = sext i32 %place.28 to i64
  %v35 = add i64 %v33, %v34
  ; line 2: i = tid()
  %v36 = sext i32 %v32 to i64
  ; line 3: n = start[i]
  %v37 = getelementptr inbounds i32, ptr %start.data.9, i64 %v36
  %n.38 = load i32, ptr %v37, !alias.scope !5, !noalias !6
  ; line 5: while n != 1:
  br i1 false, label %then.39, label %else.40
then.39:
  br label %endif.41
else.40:
  %v42 = icmp ne i32 %n.38, 1
  br label %endif.41
endif.41:
  %v43 = phi i1 [ false, %then.39 ], [ %v42, %else.40 ]
  %v44 = sext i32 %place.28 to i64
  %v45 = getelementptr inbounds i32, ptr %slots.22, i64 %v44
  store i32 %n.38, ptr %v45
  %v46 = sext i32 %place.28 to i64
  %v47 = getelementptr inbounds i32, ptr %slots.23, i64 %v46
  store i32 0, ptr %v47
  %v48 = sext i32 %place.28 to i64
  %v49 = getelementptr inbounds i8, ptr %slots.24, i64 %v48
  %v50 = zext i1 false to i8
  store i8 %v50, ptr %v49
  %v51 = select i1 %v43, i32 -1, i32 0
  %v52 = sext i32 %place.28 to i64
  %v53 = getelementptr inbounds i32, ptr %slots.21, i64 %v52
  store i32 %v51, ptr %v53
  %v54 = or i1 %v29, %v43
  %place.next.55 = add nsw i32 %place.28, 1
  br label %for.25, !llvm.loop !9
endfor.27:
  br label %strip.59
strip.59:
  %some.60 = phi i1 [ %v29, %endfor.27 ], [ %v70, %go.172 ]
  %k.61 = phi i32 [ 0, %endfor.27 ], [ %k.64, %go.172 ]
  br label %while.56
while.56:
  %turn.167 = phi i32 [ 0, %strip.59 ], [ %turn.168, %endfor.68 ]
  %some.62 = phi i1 [ %some.60, %strip.59 ], [ %v70, %endfor.68 ]
  %k.63 = phi i32 [ %k.61, %strip.59 ], [ %k.64, %endfor.68 ]
  br i1 %some.62, label %do.57, label %endwhile.58
do.57:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  ; line 7: k += 1
  %k.64 = add i32 %k.63, 1
  ; line 8: if k >= 1000:
  %v65 = icmp sge i32 %k.64, 1000
  ; line 5: while n != 1:
  br label %for.66
for.66:
  %place.69 = phi i32 [ 0, %do.57 ], [ %place.next.166, %endif.100 ]
  %v70 = phi i1 [ false, %do.57 ], [ %v165, %endif.100 ]
  %more.71 = icmp slt i32 %place.69, 16
  br i1 %more.71, label %body.67, label %endfor.68
body.67:
  %thread.72 = add nsw i32 %tid, %place.69
  %v73 = add i32 %tid, %place.69
  %v74 = sext i32 %tid to i64
  %v75 = sext i32 %place.69 to i64
  %v76 = add i64 %v74, %v75
  %v77 = sext i32 %place.69 to i64
  %v78 = getelementptr inbounds i32, ptr %slots.22, i64 %v77
  %v79 = load i32, ptr %v78
  %v80 = sext i32 %place.69 to i64
  %v81 = getelementptr inbounds i8, ptr %slots.24, i64 %v80
  %v82 = load i8, ptr %v81
  %v83 = icmp ne i8 %v82, 0
  %v84 = sext i32 %place.69 to i64
  %v85 = getelementptr inbounds i32, ptr %slots.21, i64 %v84
  %v86 = load i32, ptr %v85
  %v87 = icmp slt i32 %v86, 0
  %v88 = sext i32 %place.69 to i64
  %v89 = getelementptr inbounds i32, ptr %slots.22, i64 %v88
  %v90 = load i32, ptr %v89
  %v91 = sext i32 %place.69 to i64
  %v92 = getelementptr inbounds i32, ptr %slots.23, i64 %v91
  %v93 = load i32, ptr %v92
  %v94 = sext i32 %place.69 to i64
  %v95 = getelementptr inbounds i8, ptr %slots.24, i64 %v94
  %v96 = load i8, ptr %v95
  %v97 = icmp ne i8 %v96, 0
  br i1 %v87, label %then.98, label %else.99
then.98:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v101 = icmp eq i32 2, 0
  %v102 = icmp eq i32 2, -1
  %v103 = icmp eq i32 %v79, -2147483648
  %v104 = and i1 %v102, %v103
  %v105 = or i1 %v101, %v104
  %v106 = select i1 %v105, i32 1, i32 2
  %v107 = srem i32 %v79, %v106
  %v108 = icmp ne i32 %v107, 0
  %v109 = icmp slt i32 %v107, 0
  %v110 = icmp slt i32 %v106, 0
  %v111 = xor i1 %v109, %v110
  %v112 = and i1 %v108, %v111
  %v113 = add i32 %v107, %v106
  %v114 = select i1 %v112, i32 %v113, i32 %v107
  %v115 = icmp eq i32 2, 0
  %v116 = select i1 %v115, i32 %v79, i32 %v114
  %v117 = icmp eq i32 %v116, 0
  br i1 %v117, label %then.118, label %else.119
then.118:
  %v121 = icmp eq i32 2, 0
  %v122 = icmp eq i32 2, -1
  %v123 = icmp eq i32 %v79, -2147483648
  %v124 = and i1 %v122, %v123
  %v125 = or i1 %v121, %v124
  %v126 = select i1 %v125, i32 1, i32 2
  %v127 = sdiv i32 %v79, %v126
  %v128 = srem i32 %v79, %v126
  %v129 = icmp ne i32 %v128, 0
  %v130 = icmp slt i32 %v79, 0
  %v131 = icmp slt i32 %v126, 0
  %v132 = xor i1 %v130, %v131
  %v133 = and i1 %v129, %v132
  %v134 = sub i32 %v127, 1
  %v135 = select i1 %v133, i32 %v134, i32 %v127
  %v136 = icmp eq i32 2, 0
  %v137 = select i1 %v136, i32 -1, i32 %v135
  br label %endif.120
else.119:
  %v138 = mul i32 3, %v79
  %v139 = add i32 %v138, 1
  br label %endif.120
endif.120:
  %n.140 = phi i32 [ %v137, %then.118 ], [ %v139, %else.119 ]
  ; line 8: if k >= 1000:
  br i1 %v65, label %then.141, label %else.142
then.141:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.143
else.142:
  br label %endif.143
endif.143:
  %break.1.144 = phi i1 [ true, %then.141 ], [ %v83, %else.142 ]
  ; line 5: while n != 1:
  br i1 %break.1.144, label %then.145, label %else.146
then.145:
  br label %endif.147
else.146:
  %v148 = icmp ne i32 %n.140, 1
  br label %endif.147
endif.147:
  %v149 = phi i1 [ false, %then.145 ], [ %v148, %else.146 ]
  br label %endif.100
else.99:
  br label %endif.100
endif.100:
  %n.150 = phi i32 [ %n.140, %endif.147 ], [ %v90, %else.99 ]
  %k.151 = phi i32 [ %k.64, %endif.147 ], [ %v93, %else.99 ]
  %break.1.152 = phi i1 [ %break.1.144, %endif.147 ], [ %v97, %else.99 ]
  %v153 = phi i1 [ %v149, %endif.147 ], [ false, %else.99 ]
  %v154 = phi i1 [ %v149, %endif.147 ], [ false, %else.99 ]
  %v155 = sext i32 %place.69 to i64
  %v156 = getelementptr inbounds i32, ptr %slots.22, i64 %v155
  store i32 %n.150, ptr %v156
  %v157 = sext i32 %place.69 to i64
  %v158 = getelementptr inbounds i32, ptr %slots.23, i64 %v157
  store i32 %k.151, ptr %v158
  %v159 = sext i32 %place.69 to i64
  %v160 = getelementptr inbounds i8, ptr %slots.24, i64 %v159
  %v161 = zext i1 %break.1.152 to i8
  store i8 %v161, ptr %v160
  %v162 = select i1 %v153, i32 -1, i32 0
  %v163 = sext i32 %place.69 to i64
  %v164 = getelementptr inbounds i32, ptr %slots.21, i64 %v163
  store i32 %v162, ptr %v164
  %v165 = or i1 %v70, %v154
  %place.next.166 = add nsw i32 %place.69, 1
  br label %for.66, !llvm.loop !10
endfor.68:
  %turn.168 = add nuw nsw i32 %turn.167, 1
  %more.170 = icmp ult i32 %turn.168, 32
  br i1 %more.170, label %while.56, label %full.169
full.169:
  %stop.173 = load volatile i32, ptr %stop
  %calm.174 = icmp eq i32 %stop.173, 0
  br i1 %calm.174, label %go.172, label %ask.171, !prof !1
ask.171:
  %v176 = load ptr, ptr %v175
  %v177 = call i32 %v176(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v178 = icmp eq i32 %v177, 0
  br i1 %v178, label %go.172, label %stopped
go.172:
  br label %strip.59
endwhile.58:
  ; line 10: steps[i] = k
  br label %for.179
for.179:
  %place.182 = phi i32 [ 0, %endwhile.58 ], [ %place.next.193, %body.180 ]
  %more.183 = icmp slt i32 %place.182, 16
  br i1 %more.183, label %body.180, label %endfor.181
body.180:
  %thread.184 = add nsw i32 %tid, %place.182
  ; line 5: while n != 1:
  %v185 = add i32 %tid, %place.182
  %v186 = sext i32 %tid to i64
  %v187 = sext i32 %place.182 to i64
  %v188 = add i64 %v186, %v187
  %v189 = sext i32 %place.182 to i64
  %v190 = getelementptr inbounds i32, ptr %slots.23, i64 %v189
  %v191 = load i32, ptr %v190
  ; line 10: steps[i] = k
  %v192 = getelementptr inbounds i32, ptr %steps.data.4, i64 %v188
  store i32 %v191, ptr %v192, !alias.scope !7, !noalias !8
  %place.next.193 = add nsw i32 %place.182, 1
  br label %for.179, !llvm.loop !11
endfor.181:
  %v194 = udiv i32 %tid, 16
  %v197 = and i32 %v194, 1
  %early.198 = icmp ne i32 %v197, 1
  br i1 %early.198, label %on.196, label %due.195, !prof !1
due.195:
  %stop.201 = load volatile i32, ptr %stop
  %calm.202 = icmp eq i32 %stop.201, 0
  br i1 %calm.202, label %go.200, label %ask.199, !prof !1
ask.199:
  %v204 = sext i32 %tid to i64
  store i64 %v204, ptr %v203
  %v205 = load ptr, ptr %v175
  %v206 = call i32 %v205(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v207 = icmp eq i32 %v206, 0
  br i1 %v207, label %go.200, label %stopped
go.200:
  br label %on.196
on.196:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 16
  br label %groups
few:
  %few.tid = phi i32 [ %tid, %groups ], [ %low.1, %start ], [ %few.next, %few.more ]
  %left.208 = sub nsw i32 %high.2, %few.tid
  %some.209 = icmp sgt i32 %left.208, 0
  br i1 %some.209, label %group.rest, label %finish
group.rest:
  %few.next = add i32 %few.tid, 16
  %more.210 = icmp sgt i32 %left.208, 16
  %v211 = select i1 %more.210, i32 16, i32 %left.208
  br label %for.212
for.212:
  %place.215 = phi i32 [ 0, %group.rest ], [ %place.next.302, %endwhile.229 ]
  %more.216 = icmp slt i32 %place.215, %v211
  br i1 %more.216, label %body.213, label %endfor.214
body.213:
  %thread.217 = add nsw i32 %few.tid, %place.215
  %v218 = add i32 %few.tid, %place.215
  ; line 2: i = tid()
  %v219 = sext i32 %v218 to i64
  ; line 3: n = start[i]
  %v220 = getelementptr inbounds i32, ptr %start.data.9, i64 %v219
  %n.221 = load i32, ptr %v220
  ; line 5: while n != 1:
  br i1 false, label %then.222, label %else.223
then.222:
  br label %endif.224
else.223:
  %v225 = icmp ne i32 %n.221, 1
  br label %endif.224
endif.224:
  %v226 = phi i1 [ false, %then.222 ], [ %v225, %else.223 ]
  br label %strip.230
strip.230:
  %n.231 = phi i32 [ %n.221, %endif.224 ], [ %n.278, %go.295 ]
  %k.232 = phi i32 [ 0, %endif.224 ], [ %k.279, %go.295 ]
  %break.1.233 = phi i1 [ false, %endif.224 ], [ %break.1.284, %go.295 ]
  %go.234 = phi i1 [ %v226, %endif.224 ], [ %v289, %go.295 ]
  br label %while.227
while.227:
  %turn.290 = phi i32 [ 0, %strip.230 ], [ %turn.291, %endif.287 ]
  %n.235 = phi i32 [ %n.231, %strip.230 ], [ %n.278, %endif.287 ]
  %k.236 = phi i32 [ %k.232, %strip.230 ], [ %k.279, %endif.287 ]
  %break.1.237 = phi i1 [ %break.1.233, %strip.230 ], [ %break.1.284, %endif.287 ]
  %go.238 = phi i1 [ %go.234, %strip.230 ], [ %v289, %endif.287 ]
  br i1 %go.238, label %do.228, label %endwhile.229
do.228:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v239 = icmp eq i32 2, 0
  %v240 = icmp eq i32 2, -1
  %v241 = icmp eq i32 %n.235, -2147483648
  %v242 = and i1 %v240, %v241
  %v243 = or i1 %v239, %v242
  %v244 = select i1 %v243, i32 1, i32 2
  %v245 = srem i32 %n.235, %v244
  %v246 = icmp ne i32 %v245, 0
  %v247 = icmp slt i32 %v245, 0
  %v248 = icmp slt i32 %v244, 0
  %v249 = xor i1 %v247, %v248
  %v250 = and i1 %v246, %v249
  %v251 = add i32 %v245, %v244
  %v252 = select i1 %v250, i32 %v251, i32 %v245
  %v253 = icmp eq i32 2, 0
  %v254 = select i1 %v253, i32 %n.235, i32 %v252
  %v255 = icmp eq i32 %v254, 0
  br i1 %v255, label %then.256, label %else.257
then.256:
  %v259 = icmp eq i32 2, 0
  %v260 = icmp eq i32 2, -1
  %v261 = icmp eq i32 %n.235, -2147483648
  %v262 = and i1 %v260, %v261
  %v263 = or i1 %v259, %v262
  %v264 = select i1 %v263, i32 1, i32 2
  %v265 = sdiv i32 %n.235, %v264
  %v266 = srem i32 %n.235, %v264
  %v267 = icmp ne i32 %v266, 0
  %v268 = icmp slt i32 %n.235, 0
  %v269 = icmp slt i32 %v264, 0
  %v270 = xor i1 %v268, %v269
  %v271 = and i1 %v267, %v270
  %v272 = sub i32 %v265, 1
  %v273 = select i1 %v271, i32 %v272, i32 %v265
  %v274 = icmp eq i32 2, 0
  %v275 = select i1 %v274, i32 -1, i32 %v273
  br label %endif.258
else.257:
  %v276 = mul i32 3, %n.235
  %v277 = add i32 %v276, 1
  br label %endif.258
endif.258:
  %n.278 = phi i32 [ %v275, %then.256 ], [ %v277, %else.257 ]
  ; line 7: k += 1
  %k.279 = add i32 %k.236, 1
  ; line 8: if k >= 1000:
  %v280 = icmp sge i32 %k.279, 1000
  br i1 %v280, label %then.281, label %else.282
then.281:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.283
else.282:
  br label %endif.283
endif.283:
  %break.1.284 = phi i1 [ true, %then.281 ], [ %break.1.237, %else.282 ]
  ; line 5: while n != 1:
  br i1 %break.1.284, label %then.285, label %else.286
then.285:
  br label %endif.287
else.286:
  %v288 = icmp ne i32 %n.278, 1
  br label %endif.287
endif.287:
  %v289 = phi i1 [ false, %then.285 ], [ %v288, %else.286 ]
  %turn.291 = add nuw nsw i32 %turn.290, 1
  %more.293 = icmp ult i32 %turn.291, 512
  br i1 %more.293, label %while.227, label %full.292
full.292:
  %stop.296 = load volatile i32, ptr %stop
  %calm.297 = icmp eq i32 %stop.296, 0
  br i1 %calm.297, label %go.295, label %ask.294, !prof !1
ask.294:
  %v298 = load ptr, ptr %v175
  %v299 = call i32 %v298(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v300 = icmp eq i32 %v299, 0
  br i1 %v300, label %go.295, label %stopped
go.295:
  br label %strip.230
endwhile.229:
  ; line 10: steps[i] = k
  %v301 = getelementptr inbounds i32, ptr %steps.data.4, i64 %v219
  store i32 %k.236, ptr %v301
  %place.next.302 = add nsw i32 %place.215, 1
  br label %for.212
endfor.214:
  br i1 %more.210, label %few.more, label %finish
few.more:
  br label %few
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
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
!9 = distinct !{!9, !{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}}
!10 = distinct !{!10, !{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}}
!11 = distinct !{!11, !{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}}
