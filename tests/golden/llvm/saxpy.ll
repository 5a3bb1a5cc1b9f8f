define i32 @wb_saxpy(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %x.at.15 = getelementptr inbounds i8, ptr %params, i64 40
  %x.data.16 = load ptr, ptr %x.at.15
  %a.at.22 = getelementptr inbounds i8, ptr %params, i64 32
  %a.23 = load float, ptr %a.at.22
  %y.at.35 = getelementptr inbounds i8, ptr %params, i64 64
  %y.data.36 = load ptr, ptr %y.at.35
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v146, %gang.4 ]
  %number.11 = phi i32 [ 0, %start ], [ %v147, %gang.4 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 2: i = tid()
  %i.13 = sext i32 %gang.10 to i64
  ; line 3: y[i] += a * x[i]
  %v14 = mul i64 %i.13, 4
  %v17 = getelementptr i8, ptr %x.data.16, i64 %v14
  %x.18 = load <8 x float>, ptr %v17, align 4
  %v19 = add i64 %v14, 32
  %v20 = getelementptr i8, ptr %x.data.16, i64 %v19
  %x.21 = load <8 x float>, ptr %v20, align 4
  %v24 = insertelement <8 x float> poison, float %a.23, i64 0
  %v25 = shufflevector <8 x float> %v24, <8 x float> poison, <8 x i32> zeroinitializer
  %v26 = fmul <8 x float> %v25, %x.18
  %v27 = fmul <8 x float> %v25, %x.21
  %v28 = insertelement <8 x i32> poison, i32 %gang.10, i64 0
  %v29 = shufflevector <8 x i32> %v28, <8 x i32> poison, <8 x i32> zeroinitializer
  %v30 = add <8 x i32> %v29, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v31 = extractelement <8 x i32> %v30, i64 0
  %v32 = extractelement <8 x float> %v26, i64 0
  %thread.33 = add nsw i32 %gang.10, 0
  %v34 = sext i32 %v31 to i64
  %v37 = getelementptr inbounds float, ptr %y.data.36, i64 %v34
  %v38 = atomicrmw fadd ptr %v37, float %v32 monotonic
  %v39 = insertelement <8 x float> poison, float %v38, i64 0
  %v40 = extractelement <8 x i32> %v30, i64 1
  %v41 = extractelement <8 x float> %v26, i64 1
  %thread.42 = add nsw i32 %gang.10, 1
  %v43 = sext i32 %v40 to i64
  %v44 = getelementptr inbounds float, ptr %y.data.36, i64 %v43
  %v45 = atomicrmw fadd ptr %v44, float %v41 monotonic
  %v46 = insertelement <8 x float> %v39, float %v45, i64 1
  %v47 = extractelement <8 x i32> %v30, i64 2
  %v48 = extractelement <8 x float> %v26, i64 2
  %thread.49 = add nsw i32 %gang.10, 2
  %v50 = sext i32 %v47 to i64
  %v51 = getelementptr inbounds float, ptr %y.data.36, i64 %v50
  %v52 = atomicrmw fadd ptr %v51, float %v48 monotonic
  %v53 = insertelement <8 x float> %v46, float %v52, i64 2
  %v54 = extractelement <8 x i32> %v30, i64 3
  %v55 = extractelement <8 x float> %v26, i64 3
  %thread.56 = add nsw i32 %gang.10, 3
  %v57 = sext i32 %v54 to i64
  %v58 = getelementptr inbounds float, ptr %y.data.36, i64 %v57
  %v59 = atomicrmw fadd ptr %v58, float %v55 monotonic
  %v60 = insertelement <8 x float> %v53, float %v59, i64 3
  %v61 = extractelement <8 x i32> %v30, i64 4
  %v62 = extractelement <8 x float> %v26, i64 4
  %thread.63 = add nsw i32 %gang.10, 4
  %v64 = sext i32 %v61 to i64
  %v65 = getelementptr inbounds float, ptr %y.data.36, i64 %v64
  %v66 = atomicrmw fadd ptr %v65, float %v62 monotonic
  %v67 = insertelement <8 x float> %v60, float %v66, i64 4
  %v68 = extractelement <8 x i32> %v30, i64 5
  %v69 = extractelement <8 x float> %v26, i64 5
  %thread.70 = add nsw i32 %gang.10, 5
  %v71 = sext i32 %v68 to i64
  %v72 = getelementptr inbounds float, ptr %y.data.36, i64 %v71
  %v73 = atomicrmw fadd ptr %v72, float %v69 monotonic
  %v74 = insertelement <8 x float> %v67, float %v73, i64 5
  %v75 = extractelement <8 x i32> %v30, i64 6
  %v76 = extractelement <8 x float> %v26, i64 6
  %thread.77 = add nsw i32 %gang.10, 6
  %v78 = sext i32 %v75 to i64
  %v79 = getelementptr inbounds float, ptr %y.data.36, i64 %v78
  %v80 = atomicrmw fadd ptr %v79, float %v76 monotonic
  %v81 = insertelement <8 x float> %v74, float %v80, i64 6
  %v82 = extractelement <8 x i32> %v30, i64 7
  %v83 = extractelement <8 x float> %v26, i64 7
  %thread.84 = add nsw i32 %gang.10, 7
  %v85 = sext i32 %v82 to i64
  %v86 = getelementptr inbounds float, ptr %y.data.36, i64 %v85
  %v87 = atomicrmw fadd ptr %v86, float %v83 monotonic
  %v88 = insertelement <8 x float> %v81, float %v87, i64 7
  %v89 = add <8 x i32> %v29, <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v90 = extractelement <8 x i32> %v89, i64 0
  %v91 = extractelement <8 x float> %v27, i64 0
  %thread.92 = add nsw i32 %gang.10, 8
  %v93 = sext i32 %v90 to i64
  %v94 = getelementptr inbounds float, ptr %y.data.36, i64 %v93
  %v95 = atomicrmw fadd ptr %v94, float %v91 monotonic
  %v96 = insertelement <8 x float> poison, float %v95, i64 0
  %v97 = extractelement <8 x i32> %v89, i64 1
  %v98 = extractelement <8 x float> %v27, i64 1
  %thread.99 = add nsw i32 %gang.10, 9
  %v100 = sext i32 %v97 to i64
  %v101 = getelementptr inbounds float, ptr %y.data.36, i64 %v100
  %v102 = atomicrmw fadd ptr %v101, float %v98 monotonic
  %v103 = insertelement <8 x float> %v96, float %v102, i64 1
  %v104 = extractelement <8 x i32> %v89, i64 2
  %v105 = extractelement <8 x float> %v27, i64 2
  %thread.106 = add nsw i32 %gang.10, 10
  %v107 = sext i32 %v104 to i64
  %v108 = getelementptr inbounds float, ptr %y.data.36, i64 %v107
  %v109 = atomicrmw fadd ptr %v108, float %v105 monotonic
  %v110 = insertelement <8 x float> %v103, float %v109, i64 2
  %v111 = extractelement <8 x i32> %v89, i64 3
  %v112 = extractelement <8 x float> %v27, i64 3
  %thread.113 = add nsw i32 %gang.10, 11
  %v114 = sext i32 %v111 to i64
  %v115 = getelementptr inbounds float, ptr %y.data.36, i64 %v114
  %v116 = atomicrmw fadd ptr %v115, float %v112 monotonic
  %v117 = insertelement <8 x float> %v110, float %v116, i64 3
  %v118 = extractelement <8 x i32> %v89, i64 4
  %v119 = extractelement <8 x float> %v27, i64 4
  %thread.120 = add nsw i32 %gang.10, 12
  %v121 = sext i32 %v118 to i64
  %v122 = getelementptr inbounds float, ptr %y.data.36, i64 %v121
  %v123 = atomicrmw fadd ptr %v122, float %v119 monotonic
  %v124 = insertelement <8 x float> %v117, float %v123, i64 4
  %v125 = extractelement <8 x i32> %v89, i64 5
  %v126 = extractelement <8 x float> %v27, i64 5
  %thread.127 = add nsw i32 %gang.10, 13
  %v128 = sext i32 %v125 to i64
  %v129 = getelementptr inbounds float, ptr %y.data.36, i64 %v128
  %v130 = atomicrmw fadd ptr %v129, float %v126 monotonic
  %v131 = insertelement <8 x float> %v124, float %v130, i64 5
  %v132 = extractelement <8 x i32> %v89, i64 6
  %v133 = extractelement <8 x float> %v27, i64 6
  %thread.134 = add nsw i32 %gang.10, 14
  %v135 = sext i32 %v132 to i64
  %v136 = getelementptr inbounds float, ptr %y.data.36, i64 %v135
  %v137 = atomicrmw fadd ptr %v136, float %v133 monotonic
  %v138 = insertelement <8 x float> %v131, float %v137, i64 6
  %v139 = extractelement <8 x i32> %v89, i64 7
  %v140 = extractelement <8 x float> %v27, i64 7
  %thread.141 = add nsw i32 %gang.10, 15
  %v142 = sext i32 %v139 to i64
  %v143 = getelementptr inbounds float, ptr %y.data.36, i64 %v142
  %v144 = atomicrmw fadd ptr %v143, float %v140 monotonic
  %v145 = insertelement <8 x float> %v138, float %v144, i64 7
  %v146 = add nsw i32 %gang.10, 16
  %v147 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.9, %gangs.end.5 ], [ %tid.next, %thread.end ]
  %more.148 = icmp slt i32 %tid, %high.2
  br i1 %more.148, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 3: y[i] += a * x[i]
  %v149 = sext i32 %tid to i64
  %v150 = getelementptr inbounds float, ptr %x.data.16, i64 %v149
  %v151 = load float, ptr %v150
  %v152 = fmul float %a.23, %v151
  %v153 = sext i32 %tid to i64
  %v154 = getelementptr inbounds float, ptr %y.data.36, i64 %v153
  %v155 = atomicrmw fadd ptr %v154, float %v152 monotonic
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
