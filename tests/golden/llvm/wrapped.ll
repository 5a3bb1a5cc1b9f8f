define i32 @wb_wrapped(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %x.shape0.at.22 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.23 = load i64, ptr %x.shape0.at.22, !range !0
  %x.at.29 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.30 = load ptr, ptr %x.at.29
  %y.shape0.at.35 = getelementptr inbounds i8, ptr %params, i64 64
  %y.shape0.36 = load i64, ptr %y.shape0.at.35, !range !0
  %y.at.42 = getelementptr inbounds i8, ptr %params, i64 56
  %y.data.43 = load ptr, ptr %y.at.42
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  %v3 = sext i32 1 to i64
  %v4 = sub i64 0, %v3
  %v5 = sub i64 0, %v4
  %v6 = sub i64 -2147483648, %v4
  %v7 = sub i64 2147483647, %v4
  %v8 = sext i32 -1 to i64
  %v9 = icmp sgt i64 %v5, %v6
  %v10 = select i1 %v9, i64 %v5, i64 %v6
  %v11 = sext i32 %low.1 to i64
  %v12 = sext i32 %high.2 to i64
  %v13 = call i64 @llvm.smax.i64(i64 %v10, i64 %v11)
  %v14 = call i64 @llvm.smin.i64(i64 %v13, i64 %v12)
  %v15 = add nsw i64 %v7, 1
  %v16 = call i64 @llvm.smax.i64(i64 %v15, i64 %v14)
  %v17 = call i64 @llvm.smin.i64(i64 %v16, i64 %v12)
  %v18 = trunc nsw i64 %v14 to i32
  %v19 = trunc nsw i64 %v17 to i32
  br label %border
border:
  %border.first = phi i32 [ %low.1, %start ], [ %v19, %inside.end ]
  %border.end = phi i32 [ %v18, %start ], [ %high.2, %inside.end ]
  %border.last = phi i1 [ false, %start ], [ true, %inside.end ]
  br label %threads.border
threads.border:
  %tid.border = phi i32 [ %border.first, %border ], [ %tid.border.next, %thread.end.border ]
  %more.20 = icmp slt i32 %tid.border, %border.end
  br i1 %more.20, label %thread.border, label %border.done
thread.border:
  ; line 2: i = tid()
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v21 = sub i32 %tid.border, 1
  %v24 = trunc i64 %x.shape0.23 to i32
  %v25 = icmp slt i32 %v21, 0
  %v26 = add i32 %v21, %v24
  %v27 = select i1 %v25, i32 %v26, i32 %v21
  %v28 = sext i32 %v27 to i64
  %v31 = getelementptr inbounds float, ptr %x.data.30, i64 %v28
  %v32 = load float, ptr %v31
  %v33 = fmul float %v32, 0x4004000000000000
  %v34 = sub i32 -1, %tid.border
  %v37 = trunc i64 %y.shape0.36 to i32
  %v38 = icmp slt i32 %v34, 0
  %v39 = add i32 %v34, %v37
  %v40 = select i1 %v38, i32 %v39, i32 %v34
  %v41 = sext i32 %v40 to i64
  %v44 = getelementptr inbounds float, ptr %y.data.43, i64 %v41
  store float %v33, ptr %v44
  br label %thread.end.border
thread.end.border:
  %tid.border.next = add nsw i32 %tid.border, 1
  br label %threads.border, !llvm.loop !2
border.done:
  br i1 %border.last, label %finish, label %inside
inside:
  %v48 = sub nsw i32 %v19, %v18
  %v49 = call i32 @llvm.smax.i32(i32 %v48, i32 0)
  %v50 = and i32 %v49, -8
  %gangs.51 = add nsw i32 %v18, %v50
  br label %gangs.45
gangs.45:
  %gang.52 = phi i32 [ %v18, %inside ], [ %v148, %accessed.75 ]
  %number.53 = phi i32 [ 0, %inside ], [ %v149, %accessed.75 ]
  %more.54 = icmp slt i32 %gang.52, %gangs.51
  br i1 %more.54, label %gang.46, label %gangs.end.47
gang.46:
  ; line 2: i = tid()
  %i.55 = sext i32 %gang.52 to i64
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v56 = sub i32 %gang.52, 1
  %v57 = sub i64 %i.55, 1
  %v58 = trunc i64 %x.shape0.23 to i32
  %v59 = mul i64 %v57, 4
  %v60 = getelementptr i8, ptr %x.data.30, i64 %v59
  %x.61 = load <8 x float>, ptr %v60, align 4
  %v62 = fmul <8 x float> %x.61, splat (float 0x4004000000000000)
  %v63 = sub i32 -1, %gang.52
  %v64 = trunc i64 %y.shape0.36 to i32
  %v65 = insertelement <8 x i32> poison, i32 %v63, i64 0
  %v66 = shufflevector <8 x i32> %v65, <8 x i32> poison, <8 x i32> zeroinitializer
  %v67 = add <8 x i32> %v66, <i32 0, i32 -1, i32 -2, i32 -3, i32 -4, i32 -5, i32 -6, i32 -7>
  %v68 = insertelement <8 x i32> poison, i32 %v64, i64 0
  %v69 = shufflevector <8 x i32> %v68, <8 x i32> poison, <8 x i32> zeroinitializer
  %v70 = icmp slt <8 x i32> %v67, splat (i32 0)
  %v71 = add <8 x i32> %v67, %v69
  %v72 = select <8 x i1> %v70, <8 x i32> %v71, <8 x i32> %v67
  %v76 = sext i32 %v63 to i64
  %v77 = add i64 %v76, -7
  %v78 = icmp ult i64 %v76, 2147483648
  %v79 = icmp ult i64 %v77, 2147483648
  %v80 = and i1 %v78, %v79
  br i1 %v80, label %beside.73, label %apart.74, !prof !1
beside.73:
  %v81 = sext i32 %v63 to i64
  %v82 = mul i64 %v81, 4
  %v83 = getelementptr i8, ptr %y.data.43, i64 %v82
  %v84 = getelementptr i8, ptr %v83, i64 0
  %v85 = extractelement <8 x float> %v62, i64 0
  store float %v85, ptr %v84, align 4
  %v86 = getelementptr i8, ptr %v83, i64 -4
  %v87 = extractelement <8 x float> %v62, i64 1
  store float %v87, ptr %v86, align 4
  %v88 = getelementptr i8, ptr %v83, i64 -8
  %v89 = extractelement <8 x float> %v62, i64 2
  store float %v89, ptr %v88, align 4
  %v90 = getelementptr i8, ptr %v83, i64 -12
  %v91 = extractelement <8 x float> %v62, i64 3
  store float %v91, ptr %v90, align 4
  %v92 = getelementptr i8, ptr %v83, i64 -16
  %v93 = extractelement <8 x float> %v62, i64 4
  store float %v93, ptr %v92, align 4
  %v94 = getelementptr i8, ptr %v83, i64 -20
  %v95 = extractelement <8 x float> %v62, i64 5
  store float %v95, ptr %v94, align 4
  %v96 = getelementptr i8, ptr %v83, i64 -24
  %v97 = extractelement <8 x float> %v62, i64 6
  store float %v97, ptr %v96, align 4
  %v98 = getelementptr i8, ptr %v83, i64 -28
  %v99 = extractelement <8 x float> %v62, i64 7
  store float %v99, ptr %v98, align 4
  br label %accessed.75
apart.74:
  %v100 = insertelement <8 x i32> poison, i32 %v63, i64 0
  %v101 = shufflevector <8 x i32> %v100, <8 x i32> poison, <8 x i32> zeroinitializer
  %v102 = add <8 x i32> %v101, <i32 0, i32 -1, i32 -2, i32 -3, i32 -4, i32 -5, i32 -6, i32 -7>
  %v103 = insertelement <8 x i32> poison, i32 %v64, i64 0
  %v104 = shufflevector <8 x i32> %v103, <8 x i32> poison, <8 x i32> zeroinitializer
  %v105 = icmp slt <8 x i32> %v102, splat (i32 0)
  %v106 = add <8 x i32> %v102, %v104
  %v107 = select <8 x i1> %v105, <8 x i32> %v106, <8 x i32> %v102
  %v108 = extractelement <8 x i32> %v107, i64 0
  %v109 = extractelement <8 x float> %v62, i64 0
  %thread.110 = add nsw i32 %gang.52, 0
  %v111 = sext i32 %v108 to i64
  %v112 = getelementptr inbounds float, ptr %y.data.43, i64 %v111
  store float %v109, ptr %v112
  %v113 = extractelement <8 x i32> %v107, i64 1
  %v114 = extractelement <8 x float> %v62, i64 1
  %thread.115 = add nsw i32 %gang.52, 1
  %v116 = sext i32 %v113 to i64
  %v117 = getelementptr inbounds float, ptr %y.data.43, i64 %v116
  store float %v114, ptr %v117
  %v118 = extractelement <8 x i32> %v107, i64 2
  %v119 = extractelement <8 x float> %v62, i64 2
  %thread.120 = add nsw i32 %gang.52, 2
  %v121 = sext i32 %v118 to i64
  %v122 = getelementptr inbounds float, ptr %y.data.43, i64 %v121
  store float %v119, ptr %v122
  %v123 = extractelement <8 x i32> %v107, i64 3
  %v124 = extractelement <8 x float> %v62, i64 3
  %thread.125 = add nsw i32 %gang.52, 3
  %v126 = sext i32 %v123 to i64
  %v127 = getelementptr inbounds float, ptr %y.data.43, i64 %v126
  store float %v124, ptr %v127
  %v128 = extractelement <8 x i32> %v107, i64 4
  %v129 = extractelement <8 x float> %v62, i64 4
  %thread.130 = add nsw i32 %gang.52, 4
  %v131 = sext i32 %v128 to i64
  %v132 = getelementptr inbounds float, ptr %y.data.43, i64 %v131
  store float %v129, ptr %v132
  %v133 = extractelement <8 x i32> %v107, i64 5
  %v134 = extractelement <8 x float> %v62, i64 5
  %thread.135 = add nsw i32 %gang.52, 5
  %v136 = sext i32 %v133 to i64
  %v137 = getelementptr inbounds float, ptr %y.data.43, i64 %v136
  store float %v134, ptr %v137
  %v138 = extractelement <8 x i32> %v107, i64 6
  %v139 = extractelement <8 x float> %v62, i64 6
  %thread.140 = add nsw i32 %gang.52, 6
  %v141 = sext i32 %v138 to i64
  %v142 = getelementptr inbounds float, ptr %y.data.43, i64 %v141
  store float %v139, ptr %v142
  %v143 = extractelement <8 x i32> %v107, i64 7
  %v144 = extractelement <8 x float> %v62, i64 7
  %thread.145 = add nsw i32 %gang.52, 7
  %v146 = sext i32 %v143 to i64
  %v147 = getelementptr inbounds float, ptr %y.data.43, i64 %v146
  store float %v144, ptr %v147
  br label %accessed.75
accessed.75:
  %v148 = add nsw i32 %gang.52, 8
  %v149 = add nsw i32 %number.53, 1
  br label %gangs.45, !llvm.loop !3
gangs.end.47:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.51, %gangs.end.47 ], [ %tid.next, %thread.end ]
  %more.150 = icmp slt i32 %tid, %v19
  br i1 %more.150, label %thread, label %inside.end
thread:
  ; line 2: i = tid()
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v151 = sub i32 %tid, 1
  %v152 = trunc i64 %x.shape0.23 to i32
  %v153 = sext i32 %v151 to i64
  %v154 = getelementptr inbounds float, ptr %x.data.30, i64 %v153
  %v155 = load float, ptr %v154
  %v156 = fmul float %v155, 0x4004000000000000
  %v157 = sub i32 -1, %tid
  %v158 = trunc i64 %y.shape0.36 to i32
  %v159 = icmp slt i32 %v157, 0
  %v160 = add i32 %v157, %v158
  %v161 = select i1 %v159, i32 %v160, i32 %v157
  %v162 = sext i32 %v161 to i64
  %v163 = getelementptr inbounds float, ptr %y.data.43, i64 %v162
  store float %v156, ptr %v163
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !4
inside.end:
  br label %border
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i32 @llvm.smax.i32(i32, i32)
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
