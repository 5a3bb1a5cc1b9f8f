define i32 @wb_collatz(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %slots.5 = alloca [16 x i32], align 64
  %slots.6 = alloca [16 x i32], align 64
  %slots.7 = alloca [16 x i32], align 64
  %slots.8 = alloca [16 x i8], align 64
  %start.at.21 = getelementptr inbounds i8, ptr %params, i64 32
  %start.data.22 = load ptr, ptr %start.at.21
  %v161 = getelementptr inbounds i8, ptr %stop, i64 8
  %steps.at.178 = getelementptr inbounds i8, ptr %params, i64 56
  %steps.data.179 = load ptr, ptr %steps.at.178
  %v191 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br label %groups
groups:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %group.end ]
  %left.3 = sub nsw i32 %high.2, %tid
  %full.4 = icmp sge i32 %left.3, 16
  br i1 %full.4, label %group, label %few
group:
  ; line 5: while n != 1:
  br label %for.9
for.9:
  %place.12 = phi i32 [ 0, %group ], [ %place.next.41, %endif.27 ]
  %v13 = phi i1 [ false, %group ], [ %v40, %endif.27 ]
  %more.14 = icmp slt i32 %place.12, 16
  br i1 %more.14, label %body.10, label %endfor.11
body.10:
  %thread.15 = add nsw i32 %tid, %place.12
  %v16 = add i32 %tid, %place.12
  %v17 = sext i32 %tid to i64
  %v18 = sext i32 %place.12 to i64
  %v19 = add i64 %v17, %v18
  ; line 2: i = tid()
  %v20 = sext i32 %v16 to i64
  ; line 3: n = start[i]
  %v23 = getelementptr inbounds i32, ptr %start.data.22, i64 %v20
  %n.24 = load i32, ptr %v23
  ; line 5: while n != 1:
  br i1 false, label %then.25, label %else.26
then.25:
  br label %endif.27
else.26:
  %v28 = icmp ne i32 %n.24, 1
  br label %endif.27
endif.27:
  %v29 = phi i1 [ false, %then.25 ], [ %v28, %else.26 ]
  %v30 = sext i32 %place.12 to i64
  %v31 = getelementptr inbounds i32, ptr %slots.6, i64 %v30
  store i32 %n.24, ptr %v31
  %v32 = sext i32 %place.12 to i64
  %v33 = getelementptr inbounds i32, ptr %slots.7, i64 %v32
  store i32 0, ptr %v33
  %v34 = sext i32 %place.12 to i64
  %v35 = getelementptr inbounds i8, ptr %slots.8, i64 %v34
  %v36 = zext i1 false to i8
  store i8 %v36, ptr %v35
  %v37 = select i1 %v29, i32 -1, i32 0
  %v38 = sext i32 %place.12 to i64
  %v39 = getelementptr inbounds i32, ptr %slots.5, i64 %v38
  store i32 %v37, ptr %v39
  %v40 = or i1 %v13, %v29
  %place.next.41 = add nsw i32 %place.12, 1
  br label %for.9
endfor.11:
  br label %strip.45
strip.45:
  %some.46 = phi i1 [ %v13, %endfor.11 ], [ %v56, %go.158 ]
  %k.47 = phi i32 [ 0, %endfor.11 ], [ %k.50, %go.158 ]
  br label %while.42
while.42:
  %turn.153 = phi i32 [ 0, %strip.45 ], [ %turn.154, %endfor.54 ]
  %some.48 = phi i1 [ %some.46, %strip.45 ], [ %v56, %endfor.54 ]
  %k.49 = phi i32 [ %k.47, %strip.45 ], [ %k.50, %endfor.54 ]
  br i1 %some.48, label %do.43, label %endwhile.44
do.43:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  ; line 7: k += 1
  %k.50 = add i32 %k.49, 1
  ; line 8: if k >= 1000:
  %v51 = icmp sge i32 %k.50, 1000
  ; line 5: while n != 1:
  br label %for.52
for.52:
  %place.55 = phi i32 [ 0, %do.43 ], [ %place.next.152, %endif.86 ]
  %v56 = phi i1 [ false, %do.43 ], [ %v151, %endif.86 ]
  %more.57 = icmp slt i32 %place.55, 16
  br i1 %more.57, label %body.53, label %endfor.54
body.53:
  %thread.58 = add nsw i32 %tid, %place.55
  %v59 = add i32 %tid, %place.55
  %v60 = sext i32 %tid to i64
  %v61 = sext i32 %place.55 to i64
  %v62 = add i64 %v60, %v61
  %v63 = sext i32 %place.55 to i64
  %v64 = getelementptr inbounds i32, ptr %slots.6, i64 %v63
  %v65 = load i32, ptr %v64
  %v66 = sext i32 %place.55 to i64
  %v67 = getelementptr inbounds i8, ptr %slots.8, i64 %v66
  %v68 = load i8, ptr %v67
  %v69 = icmp ne i8 %v68, 0
  %v70 = sext i32 %place.55 to i64
  %v71 = getelementptr inbounds i32, ptr %slots.5, i64 %v70
  %v72 = load i32, ptr %v71
  %v73 = icmp slt i32 %v72, 0
  %v74 = sext i32 %place.55 to i64
  %v75 = getelementptr inbounds i32, ptr %slots.6, i64 %v74
  %v76 = load i32, ptr %v75
  %v77 = sext i32 %place.55 to i64
  %v78 = getelementptr inbounds i32, ptr %slots.7, i64 %v77
  %v79 = load i32, ptr %v78
  %v80 = sext i32 %place.55 to i64
  %v81 = getelementptr inbounds i8, ptr %slots.8, i64 %v80
  %v82 = load i8, ptr %v81
  %v83 = icmp ne i8 %v82, 0
  br i1 %v73, label %then.84, label %else.85
then.84:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v87 = icmp eq i32 2, 0
  %v88 = icmp eq i32 2, -1
  %v89 = icmp eq i32 %v65, -2147483648
  %v90 = and i1 %v88, %v89
  %v91 = or i1 %v87, %v90
  %v92 = select i1 %v91, i32 1, i32 2
  %v93 = srem i32 %v65, %v92
  %v94 = icmp ne i32 %v93, 0
  %v95 = icmp slt i32 %v93, 0
  %v96 = icmp slt i32 %v92, 0
  %v97 = xor i1 %v95, %v96
  %v98 = and i1 %v94, %v97
  %v99 = add i32 %v93, %v92
  %v100 = select i1 %v98, i32 %v99, i32 %v93
  %v101 = icmp eq i32 2, 0
  %v102 = select i1 %v101, i32 %v65, i32 %v100
  %v103 = icmp eq i32 %v102, 0
  br i1 %v103, label %then.104, label %else.105
then.104:
  %v107 = icmp eq i32 2, 0
  %v108 = icmp eq i32 2, -1
  %v109 = icmp eq i32 %v65, -2147483648
  %v110 = and i1 %v108, %v109
  %v111 = or i1 %v107, %v110
  %v112 = select i1 %v111, i32 1, i32 2
  %v113 = sdiv i32 %v65, %v112
  %v114 = srem i32 %v65, %v112
  %v115 = icmp ne i32 %v114, 0
  %v116 = icmp slt i32 %v65, 0
  %v117 = icmp slt i32 %v112, 0
  %v118 = xor i1 %v116, %v117
  %v119 = and i1 %v115, %v118
  %v120 = sub i32 %v113, 1
  %v121 = select i1 %v119, i32 %v120, i32 %v113
  %v122 = icmp eq i32 2, 0
  %v123 = select i1 %v122, i32 -1, i32 %v121
  br label %endif.106
else.105:
  %v124 = mul i32 3, %v65
  %v125 = add i32 %v124, 1
  br label %endif.106
endif.106:
  %n.126 = phi i32 [ %v123, %then.104 ], [ %v125, %else.105 ]
  ; line 8: if k >= 1000:
  br i1 %v51, label %then.127, label %else.128
then.127:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.129
else.128:
  br label %endif.129
endif.129:
  %break.1.130 = phi i1 [ true, %then.127 ], [ %v69, %else.128 ]
  ; line 5: while n != 1:
  br i1 %break.1.130, label %then.131, label %else.132
then.131:
  br label %endif.133
else.132:
  %v134 = icmp ne i32 %n.126, 1
  br label %endif.133
endif.133:
  %v135 = phi i1 [ false, %then.131 ], [ %v134, %else.132 ]
  br label %endif.86
else.85:
  br label %endif.86
endif.86:
  %n.136 = phi i32 [ %n.126, %endif.133 ], [ %v76, %else.85 ]
  %k.137 = phi i32 [ %k.50, %endif.133 ], [ %v79, %else.85 ]
  %break.1.138 = phi i1 [ %break.1.130, %endif.133 ], [ %v83, %else.85 ]
  %v139 = phi i1 [ %v135, %endif.133 ], [ false, %else.85 ]
  %v140 = phi i1 [ %v135, %endif.133 ], [ false, %else.85 ]
  %v141 = sext i32 %place.55 to i64
  %v142 = getelementptr inbounds i32, ptr %slots.6, i64 %v141
  store i32 %n.136, ptr %v142
  %v143 = sext i32 %place.55 to i64
  %v144 = getelementptr inbounds i32, ptr %slots.7, i64 %v143
  store i32 %k.137, ptr %v144
  %v145 = sext i32 %place.55 to i64
  %v146 = getelementptr inbounds i8, ptr %slots.8, i64 %v145
  %v147 = zext i1 %break.1.138 to i8
  store i8 %v147, ptr %v146
  %v148 = select i1 %v139, i32 -1, i32 0
  %v149 = sext i32 %place.55 to i64
  %v150 = getelementptr inbounds i32, ptr %slots.5, i64 %v149
  store i32 %v148, ptr %v150
  %v151 = or i1 %v56, %v140
  %place.next.152 = add nsw i32 %place.55, 1
  br label %for.52
endfor.54:
  %turn.154 = add nuw nsw i32 %turn.153, 1
  %more.156 = icmp ult i32 %turn.154, 32
  br i1 %more.156, label %while.42, label %full.155
full.155:
  %stop.159 = load volatile i32, ptr %stop
  %calm.160 = icmp eq i32 %stop.159, 0
  br i1 %calm.160, label %go.158, label %ask.157, !prof !1
ask.157:
  %v162 = load ptr, ptr %v161
  %v163 = call i32 %v162(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v164 = icmp eq i32 %v163, 0
  br i1 %v164, label %go.158, label %stopped
go.158:
  br label %strip.45
endwhile.44:
  ; line 10: steps[i] = k
  br label %for.165
for.165:
  %place.168 = phi i32 [ 0, %endwhile.44 ], [ %place.next.181, %body.166 ]
  %more.169 = icmp slt i32 %place.168, 16
  br i1 %more.169, label %body.166, label %endfor.167
body.166:
  %thread.170 = add nsw i32 %tid, %place.168
  ; line 5: while n != 1:
  %v171 = add i32 %tid, %place.168
  %v172 = sext i32 %tid to i64
  %v173 = sext i32 %place.168 to i64
  %v174 = add i64 %v172, %v173
  %v175 = sext i32 %place.168 to i64
  %v176 = getelementptr inbounds i32, ptr %slots.7, i64 %v175
  %v177 = load i32, ptr %v176
  ; line 10: steps[i] = k
  %v180 = getelementptr inbounds i32, ptr %steps.data.179, i64 %v174
  store i32 %v177, ptr %v180
  %place.next.181 = add nsw i32 %place.168, 1
  br label %for.165
endfor.167:
  %v182 = udiv i32 %tid, 16
  %v185 = and i32 %v182, 1
  %early.186 = icmp ne i32 %v185, 1
  br i1 %early.186, label %on.184, label %due.183, !prof !1
due.183:
  %stop.189 = load volatile i32, ptr %stop
  %calm.190 = icmp eq i32 %stop.189, 0
  br i1 %calm.190, label %go.188, label %ask.187, !prof !1
ask.187:
  %v192 = sext i32 %tid to i64
  store i64 %v192, ptr %v191
  %v193 = load ptr, ptr %v161
  %v194 = call i32 %v193(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v195 = icmp eq i32 %v194, 0
  br i1 %v195, label %go.188, label %stopped
go.188:
  br label %on.184
on.184:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 16
  br label %groups
few:
  %some.196 = icmp sgt i32 %left.3, 0
  br i1 %some.196, label %group.rest, label %finish
group.rest:
  br label %for.197
for.197:
  %place.200 = phi i32 [ 0, %group.rest ], [ %place.next.287, %endwhile.214 ]
  %more.201 = icmp slt i32 %place.200, %left.3
  br i1 %more.201, label %body.198, label %endfor.199
body.198:
  %thread.202 = add nsw i32 %tid, %place.200
  %v203 = add i32 %tid, %place.200
  ; line 2: i = tid()
  %v204 = sext i32 %v203 to i64
  ; line 3: n = start[i]
  %v205 = getelementptr inbounds i32, ptr %start.data.22, i64 %v204
  %n.206 = load i32, ptr %v205
  ; line 5: while n != 1:
  br i1 false, label %then.207, label %else.208
then.207:
  br label %endif.209
else.208:
  %v210 = icmp ne i32 %n.206, 1
  br label %endif.209
endif.209:
  %v211 = phi i1 [ false, %then.207 ], [ %v210, %else.208 ]
  br label %strip.215
strip.215:
  %n.216 = phi i32 [ %n.206, %endif.209 ], [ %n.263, %go.280 ]
  %k.217 = phi i32 [ 0, %endif.209 ], [ %k.264, %go.280 ]
  %break.1.218 = phi i1 [ false, %endif.209 ], [ %break.1.269, %go.280 ]
  %go.219 = phi i1 [ %v211, %endif.209 ], [ %v274, %go.280 ]
  br label %while.212
while.212:
  %turn.275 = phi i32 [ 0, %strip.215 ], [ %turn.276, %endif.272 ]
  %n.220 = phi i32 [ %n.216, %strip.215 ], [ %n.263, %endif.272 ]
  %k.221 = phi i32 [ %k.217, %strip.215 ], [ %k.264, %endif.272 ]
  %break.1.222 = phi i1 [ %break.1.218, %strip.215 ], [ %break.1.269, %endif.272 ]
  %go.223 = phi i1 [ %go.219, %strip.215 ], [ %v274, %endif.272 ]
  br i1 %go.223, label %do.213, label %endwhile.214
do.213:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v224 = icmp eq i32 2, 0
  %v225 = icmp eq i32 2, -1
  %v226 = icmp eq i32 %n.220, -2147483648
  %v227 = and i1 %v225, %v226
  %v228 = or i1 %v224, %v227
  %v229 = select i1 %v228, i32 1, i32 2
  %v230 = srem i32 %n.220, %v229
  %v231 = icmp ne i32 %v230, 0
  %v232 = icmp slt i32 %v230, 0
  %v233 = icmp slt i32 %v229, 0
  %v234 = xor i1 %v232, %v233
  %v235 = and i1 %v231, %v234
  %v236 = add i32 %v230, %v229
  %v237 = select i1 %v235, i32 %v236, i32 %v230
  %v238 = icmp eq i32 2, 0
  %v239 = select i1 %v238, i32 %n.220, i32 %v237
  %v240 = icmp eq i32 %v239, 0
  br i1 %v240, label %then.241, label %else.242
then.241:
  %v244 = icmp eq i32 2, 0
  %v245 = icmp eq i32 2, -1
  %v246 = icmp eq i32 %n.220, -2147483648
  %v247 = and i1 %v245, %v246
  %v248 = or i1 %v244, %v247
  %v249 = select i1 %v248, i32 1, i32 2
  %v250 = sdiv i32 %n.220, %v249
  %v251 = srem i32 %n.220, %v249
  %v252 = icmp ne i32 %v251, 0
  %v253 = icmp slt i32 %n.220, 0
  %v254 = icmp slt i32 %v249, 0
  %v255 = xor i1 %v253, %v254
  %v256 = and i1 %v252, %v255
  %v257 = sub i32 %v250, 1
  %v258 = select i1 %v256, i32 %v257, i32 %v250
  %v259 = icmp eq i32 2, 0
  %v260 = select i1 %v259, i32 -1, i32 %v258
  br label %endif.243
else.242:
  %v261 = mul i32 3, %n.220
  %v262 = add i32 %v261, 1
  br label %endif.243
endif.243:
  %n.263 = phi i32 [ %v260, %then.241 ], [ %v262, %else.242 ]
  ; line 7: k += 1
  %k.264 = add i32 %k.221, 1
  ; line 8: if k >= 1000:
  %v265 = icmp sge i32 %k.264, 1000
  br i1 %v265, label %then.266, label %else.267
then.266:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.268
else.267:
  br label %endif.268
endif.268:
  %break.1.269 = phi i1 [ true, %then.266 ], [ %break.1.222, %else.267 ]
  ; line 5: while n != 1:
  br i1 %break.1.269, label %then.270, label %else.271
then.270:
  br label %endif.272
else.271:
  %v273 = icmp ne i32 %n.263, 1
  br label %endif.272
endif.272:
  %v274 = phi i1 [ false, %then.270 ], [ %v273, %else.271 ]
  %turn.276 = add nuw nsw i32 %turn.275, 1
  %more.278 = icmp ult i32 %turn.276, 512
  br i1 %more.278, label %while.212, label %full.277
full.277:
  %stop.281 = load volatile i32, ptr %stop
  %calm.282 = icmp eq i32 %stop.281, 0
  br i1 %calm.282, label %go.280, label %ask.279, !prof !1
ask.279:
  %v283 = load ptr, ptr %v161
  %v284 = call i32 %v283(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v285 = icmp eq i32 %v284, 0
  br i1 %v285, label %go.280, label %stopped
go.280:
  br label %strip.215
endwhile.214:
  ; line 10: steps[i] = k
  %v286 = getelementptr inbounds i32, ptr %steps.data.179, i64 %v204
  store i32 %k.221, ptr %v286
  %place.next.287 = add nsw i32 %place.200, 1
  br label %for.197
endfor.199:
  br label %finish
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
