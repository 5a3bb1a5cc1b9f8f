define i32 @wb_dynamic_loop(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %y.at.3 = getelementptr inbounds i8, ptr %params, i64 72
  %y.data.4 = load ptr, ptr %y.at.3
  %x.shape0.at.5 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.6 = load i64, ptr %x.shape0.at.5, !range !0
  %v7 = mul i64 4, %x.shape0.6
  %x.shape1.at.8 = getelementptr inbounds i8, ptr %params, i64 48
  %x.shape1.9 = load i64, ptr %x.shape1.at.8, !range !0
  %v10 = mul i64 %v7, %x.shape1.9
  %x.at.11 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.12 = load ptr, ptr %x.at.11
  %v13 = getelementptr i8, ptr %x.data.12, i64 %v10
  %v14 = icmp uge ptr %y.data.4, %v13
  %y.shape0.at.15 = getelementptr inbounds i8, ptr %params, i64 80
  %y.shape0.16 = load i64, ptr %y.shape0.at.15, !range !0
  %v17 = mul i64 4, %y.shape0.16
  %v18 = getelementptr i8, ptr %y.data.4, i64 %v17
  %v19 = icmp uge ptr %x.data.12, %v18
  %v20 = or i1 %v14, %v19
  %apart.21 = and i1 true, %v20
  %slots.24 = alloca [16 x float], align 64
  %slots.25 = alloca [256 x float], align 64
  %v148 = getelementptr inbounds i8, ptr %stop, i64 8
  %v276 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br i1 %apart.21, label %groups, label %few
groups:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %group.end ]
  %left.22 = sub nsw i32 %high.2, %tid
  %full.23 = icmp sge i32 %left.22, 16
  br i1 %full.23, label %group, label %few
group:
  ; line 4: for j in range(x.shape[1]):
  %v26 = trunc i64 %x.shape1.9 to i32
  ; line 2: i = tid()
  br label %for.27
for.27:
  %place.30 = phi i32 [ 0, %group ], [ %place.next.40, %body.28 ]
  %more.31 = icmp slt i32 %place.30, 16
  br i1 %more.31, label %body.28, label %endfor.29
body.28:
  %thread.32 = add nsw i32 %tid, %place.30
  %v33 = add i32 %tid, %place.30
  %v34 = sext i32 %tid to i64
  %v35 = sext i32 %place.30 to i64
  %v36 = add i64 %v34, %v35
  %v37 = sext i32 %v33 to i64
  %v38 = sext i32 %place.30 to i64
  %v39 = getelementptr inbounds float, ptr %slots.24, i64 %v38
  store float 0x0000000000000000, ptr %v39
  %place.next.40 = add nsw i32 %place.30, 1
  br label %for.27, !llvm.loop !2
endfor.29:
  ; line 5: s += sin(x[i, j])
  %v41 = icmp sgt i32 16, 0
  %v42 = select i1 %v41, i32 0, i32 %v26
  %v43 = select i1 %v41, i32 %v26, i32 0
  %v44 = icmp slt i32 %v42, %v43
  %v45 = sub i32 %v43, %v42
  %v46 = sub i32 0, 16
  %v47 = select i1 %v41, i32 16, i32 %v46
  %v48 = icmp ne i32 16, 0
  %v49 = and i1 %v44, %v48
  %v50 = select i1 %v49, i32 %v47, i32 1
  %v51 = sub i32 %v45, 1
  %v52 = udiv i32 %v51, %v50
  %v53 = add i32 %v52, 1
  %iterations.54 = select i1 %v49, i32 %v53, i32 0
  br label %for.55
for.55:
  %first.58 = phi i32 [ 0, %endfor.29 ], [ %first.next.239, %on.242 ]
  %count.59 = phi i32 [ 0, %endfor.29 ], [ %count.next.240, %on.242 ]
  %more.60 = icmp ult i32 %count.59, %iterations.54
  br i1 %more.60, label %body.56, label %endfor.57
body.56:
  ; line 4: for j in range(x.shape[1]):
  %v61 = sub i32 %v26, %first.58
  %v62 = icmp slt i32 %v61, 16
  %v63 = select i1 %v62, i32 %v61, i32 16
  %v64 = and i32 %v63, -8
  %v65 = sext i32 %tid to i64
  %v66 = sext i32 %tid to i64
  %v67 = sext i32 %first.58 to i64
  %v68 = mul nsw i64 %v66, %x.shape1.9
  %v69 = add nsw i64 %v68, %v67
  %v70 = getelementptr inbounds float, ptr %x.data.12, i64 %v69
  %v71 = select i1 true, ptr %v70, ptr %slots.25
  %v72 = select i1 true, i64 %x.shape1.9, i64 16
  %v73 = sext i32 16 to i64
  %v74 = sext i32 %v64 to i64
  call void @wb.transpose.float32(ptr %slots.25, i64 16, ptr %v71, i64 %v72, i64 %v73, i64 %v74)
  %v75 = sub i32 %v63, %v64
  %v76 = icmp slt i32 %v75, 8
  %v77 = select i1 %v76, i32 %v75, i32 8
  %left.81 = sub i32 %v77, 0
  %few.82 = icmp ule i32 %left.81, 256
  br i1 %few.82, label %short.78, label %long.79, !prof !1
short.78:
  br label %for.83
for.83:
  %left.86 = phi i32 [ 0, %short.78 ], [ %left.next.108, %endfor.92 ]
  %more.87 = icmp slt i32 %left.86, %v77
  br i1 %more.87, label %body.84, label %endfor.85
body.84:
  %v88 = add i32 %v64, %left.86
  %v89 = mul i32 %v88, 16
  br label %for.90
for.90:
  %place.93 = phi i32 [ 0, %body.84 ], [ %place.next.107, %body.91 ]
  %more.94 = icmp slt i32 %place.93, 16
  br i1 %more.94, label %body.91, label %endfor.92
body.91:
  %v95 = add i32 %v89, %place.93
  %v96 = add i32 %tid, %place.93
  %v97 = add i32 %first.58, %v88
  %v98 = sext i32 %v96 to i64
  %v99 = sext i32 %v96 to i64
  %v100 = sext i32 %v97 to i64
  %v101 = mul nsw i64 %v99, %x.shape1.9
  %v102 = add nsw i64 %v101, %v100
  %v103 = getelementptr inbounds float, ptr %x.data.12, i64 %v102
  %v104 = load float, ptr %v103, !alias.scope !6, !noalias !7
  %v105 = sext i32 %v95 to i64
  %v106 = getelementptr inbounds float, ptr %slots.25, i64 %v105
  store float %v104, ptr %v106
  %place.next.107 = add nsw i32 %place.93, 1
  br label %for.90
endfor.92:
  %left.next.108 = add nsw i32 %left.86, 1
  br label %for.83, !llvm.loop !10
endfor.85:
  br label %joined.80
long.79:
  %left.114 = sub i32 %v77, 0
  %few.115 = call i32 @llvm.umin.i32(i32 %left.114, i32 256)
  %last.116 = add nsw i32 0, %few.115
  %more.117 = icmp slt i32 0, %v77
  br i1 %more.117, label %strip.109, label %endfor.113
strip.109:
  %left.118 = phi i32 [ 0, %long.79 ], [ %last.119, %go.145 ]
  %last.119 = phi i32 [ %last.116, %long.79 ], [ %last.154, %go.145 ]
  br label %body.110
body.110:
  %left.120 = phi i32 [ %left.118, %strip.109 ], [ %left.next.141, %endfor.125 ]
  %v121 = add i32 %v64, %left.120
  %v122 = mul i32 %v121, 16
  br label %for.123
for.123:
  %place.126 = phi i32 [ 0, %body.110 ], [ %place.next.140, %body.124 ]
  %more.127 = icmp slt i32 %place.126, 16
  br i1 %more.127, label %body.124, label %endfor.125
body.124:
  %v128 = add i32 %v122, %place.126
  %v129 = add i32 %tid, %place.126
  %v130 = add i32 %first.58, %v121
  %v131 = sext i32 %v129 to i64
  %v132 = sext i32 %v129 to i64
  %v133 = sext i32 %v130 to i64
  %v134 = mul nsw i64 %v132, %x.shape1.9
  %v135 = add nsw i64 %v134, %v133
  %v136 = getelementptr inbounds float, ptr %x.data.12, i64 %v135
  %v137 = load float, ptr %v136, !alias.scope !6, !noalias !7
  %v138 = sext i32 %v128 to i64
  %v139 = getelementptr inbounds float, ptr %slots.25, i64 %v138
  store float %v137, ptr %v139
  %place.next.140 = add nsw i32 %place.126, 1
  br label %for.123
endfor.125:
  %left.next.141 = add nsw i32 %left.120, 1
  %more.142 = icmp ne i32 %left.next.141, %last.119
  br i1 %more.142, label %body.110, label %stripped.111, !llvm.loop !11
stripped.111:
  %over.143 = icmp eq i32 %last.119, %v77
  br i1 %over.143, label %endfor.113, label %again.112, !prof !1
again.112:
  %stop.146 = load volatile i32, ptr %stop
  %calm.147 = icmp eq i32 %stop.146, 0
  br i1 %calm.147, label %go.145, label %ask.144, !prof !1
ask.144:
  %v149 = load ptr, ptr %v148
  %v150 = call i32 %v149(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v151 = icmp eq i32 %v150, 0
  br i1 %v151, label %go.145, label %stopped
go.145:
  %left.152 = sub i32 %v77, %last.119
  %few.153 = call i32 @llvm.umin.i32(i32 %left.152, i32 256)
  %last.154 = add nsw i32 %last.119, %few.153
  br label %strip.109
endfor.113:
  br label %joined.80
joined.80:
  ; line 5: s += sin(x[i, j])
  %left.158 = sub i32 %v63, 0
  %few.159 = icmp ule i32 %left.158, 256
  br i1 %few.159, label %short.155, label %long.156, !prof !1
short.155:
  br label %for.160
for.160:
  %turn.163 = phi i32 [ 0, %short.155 ], [ %turn.next.189, %endfor.169 ]
  %more.164 = icmp slt i32 %turn.163, %v63
  br i1 %more.164, label %body.161, label %endfor.162
body.161:
  ; line 4: for j in range(x.shape[1]):
  %v165 = mul i32 %turn.163, 16
  %v166 = add i32 %first.58, %turn.163
  ; line 5: s += sin(x[i, j])
  br label %for.167
for.167:
  %place.170 = phi i32 [ 0, %body.161 ], [ %place.next.188, %body.168 ]
  %more.171 = icmp slt i32 %place.170, 16
  br i1 %more.171, label %body.168, label %endfor.169
body.168:
  %thread.172 = add nsw i32 %tid, %place.170
  ; line 4: for j in range(x.shape[1]):
  %v173 = add i32 %tid, %place.170
  %v174 = sext i32 %tid to i64
  %v175 = sext i32 %place.170 to i64
  %v176 = add i64 %v174, %v175
  %v177 = sext i32 %place.170 to i64
  %v178 = getelementptr inbounds float, ptr %slots.24, i64 %v177
  %v179 = load float, ptr %v178
  ; line 5: s += sin(x[i, j])
  %v180 = add i32 %v165, %place.170
  %v181 = sext i32 %v180 to i64
  %v182 = getelementptr inbounds float, ptr %slots.25, i64 %v181
  %v183 = load float, ptr %v182
  %v184 = call float @wbm_sin_32(float %v183) #1
  %s.185 = fadd float %v179, %v184
  %v186 = sext i32 %place.170 to i64
  %v187 = getelementptr inbounds float, ptr %slots.24, i64 %v186
  store float %s.185, ptr %v187
  %place.next.188 = add nsw i32 %place.170, 1
  br label %for.167, !llvm.loop !12
endfor.169:
  %turn.next.189 = add nsw i32 %turn.163, 1
  br label %for.160, !llvm.loop !13
endfor.162:
  br label %joined.157
long.156:
  %left.195 = sub i32 %v63, 0
  %few.196 = call i32 @llvm.umin.i32(i32 %left.195, i32 256)
  %last.197 = add nsw i32 0, %few.196
  %more.198 = icmp slt i32 0, %v63
  br i1 %more.198, label %strip.190, label %endfor.194
strip.190:
  %turn.199 = phi i32 [ 0, %long.156 ], [ %last.200, %go.230 ]
  %last.200 = phi i32 [ %last.197, %long.156 ], [ %last.238, %go.230 ]
  br label %body.191
body.191:
  %turn.201 = phi i32 [ %turn.199, %strip.190 ], [ %turn.next.226, %endfor.206 ]
  ; line 4: for j in range(x.shape[1]):
  %v202 = mul i32 %turn.201, 16
  %v203 = add i32 %first.58, %turn.201
  ; line 5: s += sin(x[i, j])
  br label %for.204
for.204:
  %place.207 = phi i32 [ 0, %body.191 ], [ %place.next.225, %body.205 ]
  %more.208 = icmp slt i32 %place.207, 16
  br i1 %more.208, label %body.205, label %endfor.206
body.205:
  %thread.209 = add nsw i32 %tid, %place.207
  ; line 4: for j in range(x.shape[1]):
  %v210 = add i32 %tid, %place.207
  %v211 = sext i32 %tid to i64
  %v212 = sext i32 %place.207 to i64
  %v213 = add i64 %v211, %v212
  %v214 = sext i32 %place.207 to i64
  %v215 = getelementptr inbounds float, ptr %slots.24, i64 %v214
  %v216 = load float, ptr %v215
  ; line 5: s += sin(x[i, j])
  %v217 = add i32 %v202, %place.207
  %v218 = sext i32 %v217 to i64
  %v219 = getelementptr inbounds float, ptr %slots.25, i64 %v218
  %v220 = load float, ptr %v219
  %v221 = call float @wbm_sin_32(float %v220) #1
  %s.222 = fadd float %v216, %v221
  %v223 = sext i32 %place.207 to i64
  %v224 = getelementptr inbounds float, ptr %slots.24, i64 %v223
  store float %s.222, ptr %v224
  %place.next.225 = add nsw i32 %place.207, 1
  br label %for.204, !llvm.loop !14
endfor.206:
  %turn.next.226 = add nsw i32 %turn.201, 1
  %more.227 = icmp ne i32 %turn.next.226, %last.200
  br i1 %more.227, label %body.191, label %stripped.192, !llvm.loop !15
stripped.192:
  %over.228 = icmp eq i32 %last.200, %v63
  br i1 %over.228, label %endfor.194, label %again.193, !prof !1
again.193:
  %stop.231 = load volatile i32, ptr %stop
  %calm.232 = icmp eq i32 %stop.231, 0
  br i1 %calm.232, label %go.230, label %ask.229, !prof !1
ask.229:
  %v233 = load ptr, ptr %v148
  %v234 = call i32 %v233(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v235 = icmp eq i32 %v234, 0
  br i1 %v235, label %go.230, label %stopped
go.230:
  %left.236 = sub i32 %v63, %last.200
  %few.237 = call i32 @llvm.umin.i32(i32 %left.236, i32 256)
  %last.238 = add nsw i32 %last.200, %few.237
  br label %strip.190
endfor.194:
  br label %joined.157
joined.157:
  %first.next.239 = add nsw i32 %first.58, 16
  %count.next.240 = add nuw i32 %count.59, 1
  %v243 = and i32 %count.59, 15
  %early.244 = icmp ne i32 %v243, 15
  br i1 %early.244, label %on.242, label %due.241, !prof !1
due.241:
  %stop.247 = load volatile i32, ptr %stop
  %calm.248 = icmp eq i32 %stop.247, 0
  br i1 %calm.248, label %go.246, label %ask.245, !prof !1
ask.245:
  %v249 = load ptr, ptr %v148
  %v250 = call i32 %v249(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v251 = icmp eq i32 %v250, 0
  br i1 %v251, label %go.246, label %stopped
go.246:
  br label %on.242
on.242:
  br label %for.55, !llvm.loop !16
endfor.57:
  ; line 6: y[i] = s
  br label %for.252
for.252:
  %place.255 = phi i32 [ 0, %endfor.57 ], [ %place.next.266, %body.253 ]
  %more.256 = icmp slt i32 %place.255, 16
  br i1 %more.256, label %body.253, label %endfor.254
body.253:
  %thread.257 = add nsw i32 %tid, %place.255
  ; line 5: s += sin(x[i, j])
  %v258 = add i32 %tid, %place.255
  %v259 = sext i32 %tid to i64
  %v260 = sext i32 %place.255 to i64
  %v261 = add i64 %v259, %v260
  %v262 = sext i32 %place.255 to i64
  %v263 = getelementptr inbounds float, ptr %slots.24, i64 %v262
  %v264 = load float, ptr %v263
  ; line 6: y[i] = s
  %v265 = getelementptr inbounds float, ptr %y.data.4, i64 %v261
  store float %v264, ptr %v265, !alias.scope !8, !noalias !9
  %place.next.266 = add nsw i32 %place.255, 1
  br label %for.252, !llvm.loop !17
endfor.254:
  %v267 = udiv i32 %tid, 16
  %v270 = and i32 %v267, 1
  %early.271 = icmp ne i32 %v270, 1
  br i1 %early.271, label %on.269, label %due.268, !prof !1
due.268:
  %stop.274 = load volatile i32, ptr %stop
  %calm.275 = icmp eq i32 %stop.274, 0
  br i1 %calm.275, label %go.273, label %ask.272, !prof !1
ask.272:
  %v277 = sext i32 %tid to i64
  store i64 %v277, ptr %v276
  %v278 = load ptr, ptr %v148
  %v279 = call i32 %v278(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v280 = icmp eq i32 %v279, 0
  br i1 %v280, label %go.273, label %stopped
go.273:
  br label %on.269
on.269:
  br label %group.end
group.end:
  %tid.next = add nsw i32 %tid, 16
  br label %groups
few:
  %few.tid = phi i32 [ %tid, %groups ], [ %low.1, %start ], [ %few.next, %few.more ]
  %left.281 = sub nsw i32 %high.2, %few.tid
  %some.282 = icmp sgt i32 %left.281, 0
  br i1 %some.282, label %group.rest, label %finish
group.rest:
  %few.next = add i32 %few.tid, 16
  %more.283 = icmp sgt i32 %left.281, 16
  %v284 = select i1 %more.283, i32 16, i32 %left.281
  br label %for.285
for.285:
  %place.288 = phi i32 [ 0, %group.rest ], [ %place.next.331, %endfor.298 ]
  %more.289 = icmp slt i32 %place.288, %v284
  br i1 %more.289, label %body.286, label %endfor.287
body.286:
  %thread.290 = add nsw i32 %few.tid, %place.288
  %v291 = add i32 %few.tid, %place.288
  ; line 2: i = tid()
  %v292 = sext i32 %v291 to i64
  ; line 4: for j in range(x.shape[1]):
  %v293 = trunc i64 %x.shape1.9 to i32
  %left.299 = sub i32 %v293, 0
  %few.300 = call i32 @llvm.umin.i32(i32 %left.299, i32 8192)
  %last.301 = add nsw i32 0, %few.300
  %more.302 = icmp slt i32 0, %v293
  br i1 %more.302, label %strip.294, label %endfor.298
strip.294:
  %j.303 = phi i32 [ 0, %body.286 ], [ %last.305, %go.320 ]
  %s.304 = phi float [ 0x0000000000000000, %body.286 ], [ %s.315, %go.320 ]
  %last.305 = phi i32 [ %last.301, %body.286 ], [ %last.328, %go.320 ]
  br label %body.295
body.295:
  %j.306 = phi i32 [ %j.303, %strip.294 ], [ %j.next.316, %body.295 ]
  %s.307 = phi float [ %s.304, %strip.294 ], [ %s.315, %body.295 ]
  ; line 5: s += sin(x[i, j])
  %v308 = sext i32 %v291 to i64
  %v309 = sext i32 %j.306 to i64
  %v310 = mul nsw i64 %v308, %x.shape1.9
  %v311 = add nsw i64 %v310, %v309
  %v312 = getelementptr inbounds float, ptr %x.data.12, i64 %v311
  %v313 = load float, ptr %v312
  %v314 = call float @wbm_sin_32(float %v313) #1
  %s.315 = fadd float %s.307, %v314
  ; line 4: for j in range(x.shape[1]):
  %j.next.316 = add nsw i32 %j.306, 1
  %more.317 = icmp ne i32 %j.next.316, %last.305
  br i1 %more.317, label %body.295, label %stripped.296, !llvm.loop !18
stripped.296:
  %over.318 = icmp eq i32 %last.305, %v293
  br i1 %over.318, label %endfor.298, label %again.297, !prof !1
again.297:
  %stop.321 = load volatile i32, ptr %stop
  %calm.322 = icmp eq i32 %stop.321, 0
  br i1 %calm.322, label %go.320, label %ask.319, !prof !1
ask.319:
  %v323 = load ptr, ptr %v148
  %v324 = call i32 %v323(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v325 = icmp eq i32 %v324, 0
  br i1 %v325, label %go.320, label %stopped
go.320:
  %left.326 = sub i32 %v293, %last.305
  %few.327 = call i32 @llvm.umin.i32(i32 %left.326, i32 8192)
  %last.328 = add nsw i32 %last.305, %few.327
  br label %strip.294
endfor.298:
  %v329 = phi float [ 0x0000000000000000, %body.286 ], [ %s.315, %stripped.296 ]
  ; line 6: y[i] = s
  %v330 = getelementptr inbounds float, ptr %y.data.4, i64 %v292
  store float %v329, ptr %v330
  %place.next.331 = add nsw i32 %place.288, 1
  br label %for.285, !llvm.loop !19
endfor.287:
  br i1 %more.283, label %few.more, label %finish
few.more:
  br label %few
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
define internal void @wb.transpose.float32(ptr noalias %to, i64 %wide, ptr noalias readonly %from, i64 %row, i64 %rows, i64 %columns) noinline nounwind {
start:
  %v1 = icmp eq i64 0, %columns
  %v2 = icmp eq i64 0, %rows
  %v3 = or i1 %v1, %v2
  br i1 %v3, label %none, label %some
none:
  ret void
some:
  br label %i4.head
i4.head:
  %i4 = phi i64 [ 0, %some ], [ %i4.next, %end4 ]
  br label %j4.head
j4.head:
  %j4 = phi i64 [ 0, %i4.head ], [ %j4.next, %j4.head ]
  %v5 = add nuw nsw i64 %i4, 0
  %v6 = mul nuw nsw i64 %v5, %row
  %v7 = add nuw nsw i64 %v6, %j4
  %v8 = getelementptr inbounds float, ptr %from, i64 %v7
  %v9 = getelementptr i8, ptr %v8, i64 256
  call void @llvm.prefetch.p0(ptr %v9, i32 0, i32 3, i32 1)
  %v10 = load <8 x float>, ptr %v8, align 4
  %v11 = add nuw nsw i64 %i4, 1
  %v12 = mul nuw nsw i64 %v11, %row
  %v13 = add nuw nsw i64 %v12, %j4
  %v14 = getelementptr inbounds float, ptr %from, i64 %v13
  %v15 = getelementptr i8, ptr %v14, i64 256
  call void @llvm.prefetch.p0(ptr %v15, i32 0, i32 3, i32 1)
  %v16 = load <8 x float>, ptr %v14, align 4
  %v17 = add nuw nsw i64 %i4, 2
  %v18 = mul nuw nsw i64 %v17, %row
  %v19 = add nuw nsw i64 %v18, %j4
  %v20 = getelementptr inbounds float, ptr %from, i64 %v19
  %v21 = getelementptr i8, ptr %v20, i64 256
  call void @llvm.prefetch.p0(ptr %v21, i32 0, i32 3, i32 1)
  %v22 = load <8 x float>, ptr %v20, align 4
  %v23 = add nuw nsw i64 %i4, 3
  %v24 = mul nuw nsw i64 %v23, %row
  %v25 = add nuw nsw i64 %v24, %j4
  %v26 = getelementptr inbounds float, ptr %from, i64 %v25
  %v27 = getelementptr i8, ptr %v26, i64 256
  call void @llvm.prefetch.p0(ptr %v27, i32 0, i32 3, i32 1)
  %v28 = load <8 x float>, ptr %v26, align 4
  %v29 = add nuw nsw i64 %i4, 4
  %v30 = mul nuw nsw i64 %v29, %row
  %v31 = add nuw nsw i64 %v30, %j4
  %v32 = getelementptr inbounds float, ptr %from, i64 %v31
  %v33 = getelementptr i8, ptr %v32, i64 256
  call void @llvm.prefetch.p0(ptr %v33, i32 0, i32 3, i32 1)
  %v34 = load <8 x float>, ptr %v32, align 4
  %v35 = add nuw nsw i64 %i4, 5
  %v36 = mul nuw nsw i64 %v35, %row
  %v37 = add nuw nsw i64 %v36, %j4
  %v38 = getelementptr inbounds float, ptr %from, i64 %v37
  %v39 = getelementptr i8, ptr %v38, i64 256
  call void @llvm.prefetch.p0(ptr %v39, i32 0, i32 3, i32 1)
  %v40 = load <8 x float>, ptr %v38, align 4
  %v41 = add nuw nsw i64 %i4, 6
  %v42 = mul nuw nsw i64 %v41, %row
  %v43 = add nuw nsw i64 %v42, %j4
  %v44 = getelementptr inbounds float, ptr %from, i64 %v43
  %v45 = getelementptr i8, ptr %v44, i64 256
  call void @llvm.prefetch.p0(ptr %v45, i32 0, i32 3, i32 1)
  %v46 = load <8 x float>, ptr %v44, align 4
  %v47 = add nuw nsw i64 %i4, 7
  %v48 = mul nuw nsw i64 %v47, %row
  %v49 = add nuw nsw i64 %v48, %j4
  %v50 = getelementptr inbounds float, ptr %from, i64 %v49
  %v51 = getelementptr i8, ptr %v50, i64 256
  call void @llvm.prefetch.p0(ptr %v51, i32 0, i32 3, i32 1)
  %v52 = load <8 x float>, ptr %v50, align 4
  %v53 = shufflevector <8 x float> %v10, <8 x float> %v34, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v54 = shufflevector <8 x float> %v10, <8 x float> %v34, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v55 = shufflevector <8 x float> %v16, <8 x float> %v40, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v56 = shufflevector <8 x float> %v16, <8 x float> %v40, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v57 = shufflevector <8 x float> %v22, <8 x float> %v46, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v58 = shufflevector <8 x float> %v22, <8 x float> %v46, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v59 = shufflevector <8 x float> %v28, <8 x float> %v52, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v60 = shufflevector <8 x float> %v28, <8 x float> %v52, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v61 = shufflevector <8 x float> %v53, <8 x float> %v57, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v62 = shufflevector <8 x float> %v53, <8 x float> %v57, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v63 = shufflevector <8 x float> %v54, <8 x float> %v58, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v64 = shufflevector <8 x float> %v54, <8 x float> %v58, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v65 = shufflevector <8 x float> %v55, <8 x float> %v59, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v66 = shufflevector <8 x float> %v55, <8 x float> %v59, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v67 = shufflevector <8 x float> %v56, <8 x float> %v60, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v68 = shufflevector <8 x float> %v56, <8 x float> %v60, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v69 = shufflevector <8 x float> %v61, <8 x float> %v65, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v70 = shufflevector <8 x float> %v61, <8 x float> %v65, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v71 = shufflevector <8 x float> %v62, <8 x float> %v66, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v72 = shufflevector <8 x float> %v62, <8 x float> %v66, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v73 = shufflevector <8 x float> %v63, <8 x float> %v67, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v74 = shufflevector <8 x float> %v63, <8 x float> %v67, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v75 = shufflevector <8 x float> %v64, <8 x float> %v68, <8 x i32> <i32 0, i32 8, i32 1, i32 9, i32 2, i32 10, i32 3, i32 11>
  %v76 = shufflevector <8 x float> %v64, <8 x float> %v68, <8 x i32> <i32 4, i32 12, i32 5, i32 13, i32 6, i32 14, i32 7, i32 15>
  %v77 = add nuw nsw i64 %j4, 0
  %v78 = mul nuw nsw i64 %v77, %wide
  %v79 = add nuw nsw i64 %v78, %i4
  %v80 = getelementptr inbounds float, ptr %to, i64 %v79
  store <8 x float> %v69, ptr %v80, align 4
  %v81 = add nuw nsw i64 %j4, 1
  %v82 = mul nuw nsw i64 %v81, %wide
  %v83 = add nuw nsw i64 %v82, %i4
  %v84 = getelementptr inbounds float, ptr %to, i64 %v83
  store <8 x float> %v70, ptr %v84, align 4
  %v85 = add nuw nsw i64 %j4, 2
  %v86 = mul nuw nsw i64 %v85, %wide
  %v87 = add nuw nsw i64 %v86, %i4
  %v88 = getelementptr inbounds float, ptr %to, i64 %v87
  store <8 x float> %v71, ptr %v88, align 4
  %v89 = add nuw nsw i64 %j4, 3
  %v90 = mul nuw nsw i64 %v89, %wide
  %v91 = add nuw nsw i64 %v90, %i4
  %v92 = getelementptr inbounds float, ptr %to, i64 %v91
  store <8 x float> %v72, ptr %v92, align 4
  %v93 = add nuw nsw i64 %j4, 4
  %v94 = mul nuw nsw i64 %v93, %wide
  %v95 = add nuw nsw i64 %v94, %i4
  %v96 = getelementptr inbounds float, ptr %to, i64 %v95
  store <8 x float> %v73, ptr %v96, align 4
  %v97 = add nuw nsw i64 %j4, 5
  %v98 = mul nuw nsw i64 %v97, %wide
  %v99 = add nuw nsw i64 %v98, %i4
  %v100 = getelementptr inbounds float, ptr %to, i64 %v99
  store <8 x float> %v74, ptr %v100, align 4
  %v101 = add nuw nsw i64 %j4, 6
  %v102 = mul nuw nsw i64 %v101, %wide
  %v103 = add nuw nsw i64 %v102, %i4
  %v104 = getelementptr inbounds float, ptr %to, i64 %v103
  store <8 x float> %v75, ptr %v104, align 4
  %v105 = add nuw nsw i64 %j4, 7
  %v106 = mul nuw nsw i64 %v105, %wide
  %v107 = add nuw nsw i64 %v106, %i4
  %v108 = getelementptr inbounds float, ptr %to, i64 %v107
  store <8 x float> %v76, ptr %v108, align 4
  %j4.next = add nuw nsw i64 %j4, 8
  %v109 = icmp slt i64 %j4.next, %columns
  br i1 %v109, label %j4.head, label %end4
end4:
  %i4.next = add nuw nsw i64 %i4, 8
  %v110 = icmp slt i64 %i4.next, %rows
  br i1 %v110, label %i4.head, label %after4
after4:
  ret void
}
declare i32 @llvm.umin.i32(i32, i32)
declare float @wbm_sin_32(float) nounwind willreturn memory(none)
declare <8 x float> @wbm_sin_32x8(<8 x float>) nounwind willreturn memory(none)
attributes #0 = { nounwind "no-trapping-math"="true" }
attributes #1 = { "vector-function-abi-variant"="_ZGVdN8v_wbm_sin_32(wbm_sin_32x8)" }
@llvm.compiler.used = appending global [1 x ptr] [ptr @wbm_sin_32x8], section "llvm.metadata"
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}}
!3 = distinct !{!3}
!4 = distinct !{!4, !3}
!5 = distinct !{!5, !3}
!6 = !{!4}
!7 = !{!5}
!8 = !{!5}
!9 = !{!4}
!10 = distinct !{!10, !{!"llvm.loop.unroll.disable"}}
!11 = distinct !{!11, !{!"llvm.loop.unroll.disable"}}
!12 = distinct !{!12, !{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}}
!13 = distinct !{!13, !{!"llvm.loop.unroll.disable"}}
!14 = distinct !{!14, !{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}}
!15 = distinct !{!15, !{!"llvm.loop.unroll.disable"}}
!16 = distinct !{!16, !{!"llvm.loop.unroll.disable"}}
!17 = distinct !{!17, !{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.followup_all", !{!"llvm.loop.unroll.full"}}}
!18 = distinct !{!18, !{!"llvm.loop.unroll.disable"}}
!19 = distinct !{!19, !{!"llvm.loop.unroll.disable"}}
