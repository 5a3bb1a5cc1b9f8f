define i32 @wb_saxpy(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %x.at.15 = getelementptr inbounds i8, ptr %params, i64 40
  %x.data.16 = load ptr, ptr %x.at.15
  %a.at.23 = getelementptr inbounds i8, ptr %params, i64 32
  %a.24 = load float, ptr %a.at.23
  %y.at.36 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.37 = load ptr, ptr %y.at.36
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  %v6 = sub nsw i32 %high.2, %low.1
  %v7 = call i32 @llvm.smax.i32(i32 %v6, i32 0)
  %v8 = and i32 %v7, -16
  %gangs.9 = add nsw i32 %low.1, %v8
  br label %gangs.3
gangs.3:
  %gang.10 = phi i32 [ %low.1, %start ], [ %v147, %gang.4 ]
  %number.11 = phi i32 [ 0, %start ], [ %v148, %gang.4 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 2: i = tid()
  %i.13 = sext i32 %gang.10 to i64
  ; line 3: y[i] += a * x[i]
  %v14 = mul i64 %i.13, 4
  %v17 = getelementptr i8, ptr %x.data.16, i64 %v14
  %x.18 = load <8 x float>, ptr %v17, align 4
  %v19 = mul i64 %i.13, 4
  %v20 = add i64 %v19, 32
  %v21 = getelementptr i8, ptr %x.data.16, i64 %v20
  %x.22 = load <8 x float>, ptr %v21, align 4
  %v25 = insertelement <8 x float> poison, float %a.24, i64 0
  %v26 = shufflevector <8 x float> %v25, <8 x float> poison, <8 x i32> zeroinitializer
  %v27 = fmul <8 x float> %v26, %x.18
  %v28 = fmul <8 x float> %v26, %x.22
  %v29 = insertelement <8 x i32> poison, i32 %gang.10, i64 0
  %v30 = shufflevector <8 x i32> %v29, <8 x i32> poison, <8 x i32> zeroinitializer
  %v31 = add <8 x i32> %v30, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v32 = extractelement <8 x i32> %v31, i64 0
  %v33 = extractelement <8 x float> %v27, i64 0
  %thread.34 = add nsw i32 %gang.10, 0
  %v35 = sext i32 %v32 to i64
  %v38 = getelementptr inbounds float, ptr %y.data.37, i64 %v35
  %v39 = atomicrmw fadd ptr %v38, float %v33 monotonic
  %v40 = insertelement <8 x float> poison, float %v39, i64 0
  %v41 = extractelement <8 x i32> %v31, i64 1
  %v42 = extractelement <8 x float> %v27, i64 1
  %thread.43 = add nsw i32 %gang.10, 1
  %v44 = sext i32 %v41 to i64
  %v45 = getelementptr inbounds float, ptr %y.data.37, i64 %v44
  %v46 = atomicrmw fadd ptr %v45, float %v42 monotonic
  %v47 = insertelement <8 x float> %v40, float %v46, i64 1
  %v48 = extractelement <8 x i32> %v31, i64 2
  %v49 = extractelement <8 x float> %v27, i64 2
  %thread.50 = add nsw i32 %gang.10, 2
  %v51 = sext i32 %v48 to i64
  %v52 = getelementptr inbounds float, ptr %y.data.37, i64 %v51
  %v53 = atomicrmw fadd ptr %v52, float %v49 monotonic
  %v54 = insertelement <8 x float> %v47, float %v53, i64 2
  %v55 = extractelement <8 x i32> %v31, i64 3
  %v56 = extractelement <8 x float> %v27, i64 3
  %thread.57 = add nsw i32 %gang.10, 3
  %v58 = sext i32 %v55 to i64
  %v59 = getelementptr inbounds float, ptr %y.data.37, i64 %v58
  %v60 = atomicrmw fadd ptr %v59, float %v56 monotonic
  %v61 = insertelement <8 x float> %v54, float %v60, i64 3
  %v62 = extractelement <8 x i32> %v31, i64 4
  %v63 = extractelement <8 x float> %v27, i64 4
  %thread.64 = add nsw i32 %gang.10, 4
  %v65 = sext i32 %v62 to i64
  %v66 = getelementptr inbounds float, ptr %y.data.37, i64 %v65
  %v67 = atomicrmw fadd ptr %v66, float %v63 monotonic
  %v68 = insertelement <8 x float> %v61, float %v67, i64 4
  %v69 = extractelement <8 x i32> %v31, i64 5
  %v70 = extractelement <8 x float> %v27, i64 5
  %thread.71 = add nsw i32 %gang.10, 5
  %v72 = sext i32 %v69 to i64
  %v73 = getelementptr inbounds float, ptr %y.data.37, i64 %v72
  %v74 = atomicrmw fadd ptr %v73, float %v70 monotonic
  %v75 = insertelement <8 x float> %v68, float %v74, i64 5
  %v76 = extractelement <8 x i32> %v31, i64 6
  %v77 = extractelement <8 x float> %v27, i64 6
  %thread.78 = add nsw i32 %gang.10, 6
  %v79 = sext i32 %v76 to i64
  %v80 = getelementptr inbounds float, ptr %y.data.37, i64 %v79
  %v81 = atomicrmw fadd ptr %v80, float %v77 monotonic
  %v82 = insertelement <8 x float> %v75, float %v81, i64 6
  %v83 = extractelement <8 x i32> %v31, i64 7
  %v84 = extractelement <8 x float> %v27, i64 7
  %thread.85 = add nsw i32 %gang.10, 7
  %v86 = sext i32 %v83 to i64
  %v87 = getelementptr inbounds float, ptr %y.data.37, i64 %v86
  %v88 = atomicrmw fadd ptr %v87, float %v84 monotonic
  %v89 = insertelement <8 x float> %v82, float %v88, i64 7
  %v90 = add <8 x i32> %v30, <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v91 = extractelement <8 x i32> %v90, i64 0
  %v92 = extractelement <8 x float> %v28, i64 0
  %thread.93 = add nsw i32 %gang.10, 8
  %v94 = sext i32 %v91 to i64
  %v95 = getelementptr inbounds float, ptr %y.data.37, i64 %v94
  %v96 = atomicrmw fadd ptr %v95, float %v92 monotonic
  %v97 = insertelement <8 x float> poison, float %v96, i64 0
  %v98 = extractelement <8 x i32> %v90, i64 1
  %v99 = extractelement <8 x float> %v28, i64 1
  %thread.100 = add nsw i32 %gang.10, 9
  %v101 = sext i32 %v98 to i64
  %v102 = getelementptr inbounds float, ptr %y.data.37, i64 %v101
  %v103 = atomicrmw fadd ptr %v102, float %v99 monotonic
  %v104 = insertelement <8 x float> %v97, float %v103, i64 1
  %v105 = extractelement <8 x i32> %v90, i64 2
  %v106 = extractelement <8 x float> %v28, i64 2
  %thread.107 = add nsw i32 %gang.10, 10
  %v108 = sext i32 %v105 to i64
  %v109 = getelementptr inbounds float, ptr %y.data.37, i64 %v108
  %v110 = atomicrmw fadd ptr %v109, float %v106 monotonic
  %v111 = insertelement <8 x float> %v104, float %v110, i64 2
  %v112 = extractelement <8 x i32> %v90, i64 3
  %v113 = extractelement <8 x float> %v28, i64 3
  %thread.114 = add nsw i32 %gang.10, 11
  %v115 = sext i32 %v112 to i64
  %v116 = getelementptr inbounds float, ptr %y.data.37, i64 %v115
  %v117 = atomicrmw fadd ptr %v116, float %v113 monotonic
  %v118 = insertelement <8 x float> %v111, float %v117, i64 3
  %v119 = extractelement <8 x i32> %v90, i64 4
  %v120 = extractelement <8 x float> %v28, i64 4
  %thread.121 = add nsw i32 %gang.10, 12
  %v122 = sext i32 %v119 to i64
  %v123 = getelementptr inbounds float, ptr %y.data.37, i64 %v122
  %v124 = atomicrmw fadd ptr %v123, float %v120 monotonic
  %v125 = insertelement <8 x float> %v118, float %v124, i64 4
  %v126 = extractelement <8 x i32> %v90, i64 5
  %v127 = extractelement <8 x float> %v28, i64 5
  %thread.128 = add nsw i32 %gang.10, 13
  %v129 = sext i32 %v126 to i64
  %v130 = getelementptr inbounds float, ptr %y.data.37, i64 %v129
  %v131 = atomicrmw fadd ptr %v130, float %v127 monotonic
  %v132 = insertelement <8 x float> %v125, float %v131, i64 5
  %v133 = extractelement <8 x i32> %v90, i64 6
  %v134 = extractelement <8 x float> %v28, i64 6
  %thread.135 = add nsw i32 %gang.10, 14
  %v136 = sext i32 %v133 to i64
  %v137 = getelementptr inbounds float, ptr %y.data.37, i64 %v136
  %v138 = atomicrmw fadd ptr %v137, float %v134 monotonic
  %v139 = insertelement <8 x float> %v132, float %v138, i64 6
  %v140 = extractelement <8 x i32> %v90, i64 7
  %v141 = extractelement <8 x float> %v28, i64 7
  %thread.142 = add nsw i32 %gang.10, 15
  %v143 = sext i32 %v140 to i64
  %v144 = getelementptr inbounds float, ptr %y.data.37, i64 %v143
  %v145 = atomicrmw fadd ptr %v144, float %v141 monotonic
  %v146 = insertelement <8 x float> %v139, float %v145, i64 7
  %v147 = add nsw i32 %gang.10, 16
  %v148 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.9, %gangs.end.5 ], [ %tid.next, %thread.end ]
  %more.149 = icmp slt i32 %tid, %high.2
  br i1 %more.149, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 3: y[i] += a * x[i]
  %v150 = sext i32 %tid to i64
  %v151 = getelementptr inbounds float, ptr %x.data.16, i64 %v150
  %v152 = load float, ptr %v151
  %v153 = fmul float %a.24, %v152
  %v154 = sext i32 %tid to i64
  %v155 = getelementptr inbounds float, ptr %y.data.37, i64 %v154
  %v156 = atomicrmw fadd ptr %v155, float %v153 monotonic
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads, !llvm.loop !3
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i32 @llvm.smax.i32(i32, i32)
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
