define i32 @wb_wrapped(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.shape0.at.21 = getelementptr inbounds i8, ptr %params, i64 40
  %x.shape0.22 = load i64, ptr %x.shape0.at.21, !range !0
  %x.at.28 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.29 = load ptr, ptr %x.at.28
  %y.shape0.at.34 = getelementptr inbounds i8, ptr %params, i64 64
  %y.shape0.35 = load i64, ptr %y.shape0.at.34, !range !0
  %y.at.41 = getelementptr inbounds i8, ptr %params, i64 56
  %y.data.42 = load ptr, ptr %y.at.41
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
  %v8 = icmp sgt i64 %v5, %v6
  %v9 = select i1 %v8, i64 %v5, i64 %v6
  %v10 = sext i32 %low.1 to i64
  %v11 = sext i32 %high.2 to i64
  %v12 = call i64 @llvm.smax.i64(i64 %v9, i64 %v10)
  %v13 = call i64 @llvm.smin.i64(i64 %v12, i64 %v11)
  %v14 = add nsw i64 %v7, 1
  %v15 = call i64 @llvm.smax.i64(i64 %v14, i64 %v13)
  %v16 = call i64 @llvm.smin.i64(i64 %v15, i64 %v11)
  %v17 = trunc nsw i64 %v13 to i32
  %v18 = trunc nsw i64 %v16 to i32
  br label %border
border:
  %border.first = phi i32 [ %low.1, %start ], [ %v18, %inside.end ]
  %border.end = phi i32 [ %v17, %start ], [ %high.2, %inside.end ]
  %border.last = phi i1 [ false, %start ], [ true, %inside.end ]
  br label %threads.border
threads.border:
  %tid.border = phi i32 [ %border.first, %border ], [ %tid.border.next, %thread.end.border ]
  %more.19 = icmp slt i32 %tid.border, %border.end
  br i1 %more.19, label %thread.border, label %border.done
thread.border:
  ; line 2: i = tid()
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v20 = sub i32 %tid.border, 1
  %v23 = trunc i64 %x.shape0.22 to i32
  %v24 = icmp slt i32 %v20, 0
  %v25 = add i32 %v20, %v23
  %v26 = select i1 %v24, i32 %v25, i32 %v20
  %v27 = sext i32 %v26 to i64
  %v30 = getelementptr inbounds float, ptr %x.data.29, i64 %v27
  %v31 = load float, ptr %v30
  %v32 = fmul float %v31, 0x4004000000000000
  %v33 = sub i32 -1, %tid.border
  %v36 = trunc i64 %y.shape0.35 to i32
  %v37 = icmp slt i32 %v33, 0
  %v38 = add i32 %v33, %v36
  %v39 = select i1 %v37, i32 %v38, i32 %v33
  %v40 = sext i32 %v39 to i64
  %v43 = getelementptr inbounds float, ptr %y.data.42, i64 %v40
  store float %v32, ptr %v43
  br label %thread.end.border
thread.end.border:
  %tid.border.next = add nsw i32 %tid.border, 1
  br label %threads.border, !llvm.loop !2
border.done:
  br i1 %border.last, label %finish, label %inside
inside:
  %v47 = sub nsw i32 %v18, %v17
  %v48 = call i32 @llvm.smax.i32(i32 %v47, i32 0)
  %v49 = and i32 %v48, -8
  %gangs.50 = add nsw i32 %v17, %v49
  br label %gangs.44
gangs.44:
  %gang.51 = phi i32 [ %v17, %inside ], [ %v98, %gang.45 ]
  %number.52 = phi i32 [ 0, %inside ], [ %v99, %gang.45 ]
  %more.53 = icmp slt i32 %gang.51, %gangs.50
  br i1 %more.53, label %gang.45, label %gangs.end.46
gang.45:
  ; line 2: i = tid()
  %i.54 = sext i32 %gang.51 to i64
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v55 = sub i32 %gang.51, 1
  %v56 = sub i64 %i.54, 1
  %v57 = trunc i64 %x.shape0.22 to i32
  %v58 = mul i64 %v56, 4
  %v59 = getelementptr i8, ptr %x.data.29, i64 %v58
  %x.60 = load <8 x float>, ptr %v59, align 4
  %v61 = fmul <8 x float> %x.60, splat (float 0x4004000000000000)
  %v62 = sub i32 -1, %gang.51
  %v63 = trunc i64 %y.shape0.35 to i32
  %v64 = insertelement <8 x i32> poison, i32 %v62, i64 0
  %v65 = shufflevector <8 x i32> %v64, <8 x i32> poison, <8 x i32> zeroinitializer
  %v66 = add <8 x i32> %v65, <i32 0, i32 -1, i32 -2, i32 -3, i32 -4, i32 -5, i32 -6, i32 -7>
  %v67 = icmp slt <8 x i32> %v66, splat (i32 0)
  %v68 = sext <8 x i1> %v67 to <8 x i32>
  %v69 = bitcast <8 x i32> %v68 to <8 x float>
  %v70 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v69)
  %mask.71 = bitcast <8 x float> %v70 to <8 x i32>
  %v72 = add i32 %v62, %v63
  %v73 = insertelement <8 x i32> poison, i32 %v72, i64 0
  %v74 = shufflevector <8 x i32> %v73, <8 x i32> poison, <8 x i32> zeroinitializer
  %v75 = add <8 x i32> %v74, <i32 0, i32 -1, i32 -2, i32 -3, i32 -4, i32 -5, i32 -6, i32 -7>
  %v76 = add <8 x i32> %v65, <i32 0, i32 -1, i32 -2, i32 -3, i32 -4, i32 -5, i32 -6, i32 -7>
  %v77 = select <8 x i1> %v67, <8 x i32> %v75, <8 x i32> %v76
  %v78 = sext <8 x i32> %v77 to <8 x i64>
  %v79 = mul <8 x i64> %v78, splat (i64 4)
  %v80 = getelementptr i8, ptr %y.data.42, i64 0
  %v81 = getelementptr i8, ptr %v80, <8 x i64> %v79
  %v82 = extractelement <8 x ptr> %v81, i64 0
  %v83 = extractelement <8 x float> %v61, i64 0
  store float %v83, ptr %v82, align 4
  %v84 = extractelement <8 x ptr> %v81, i64 1
  %v85 = extractelement <8 x float> %v61, i64 1
  store float %v85, ptr %v84, align 4
  %v86 = extractelement <8 x ptr> %v81, i64 2
  %v87 = extractelement <8 x float> %v61, i64 2
  store float %v87, ptr %v86, align 4
  %v88 = extractelement <8 x ptr> %v81, i64 3
  %v89 = extractelement <8 x float> %v61, i64 3
  store float %v89, ptr %v88, align 4
  %v90 = extractelement <8 x ptr> %v81, i64 4
  %v91 = extractelement <8 x float> %v61, i64 4
  store float %v91, ptr %v90, align 4
  %v92 = extractelement <8 x ptr> %v81, i64 5
  %v93 = extractelement <8 x float> %v61, i64 5
  store float %v93, ptr %v92, align 4
  %v94 = extractelement <8 x ptr> %v81, i64 6
  %v95 = extractelement <8 x float> %v61, i64 6
  store float %v95, ptr %v94, align 4
  %v96 = extractelement <8 x ptr> %v81, i64 7
  %v97 = extractelement <8 x float> %v61, i64 7
  store float %v97, ptr %v96, align 4
  %v98 = add nsw i32 %gang.51, 8
  %v99 = add nsw i32 %number.52, 1
  br label %gangs.44, !llvm.loop !3
gangs.end.46:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.50, %gangs.end.46 ], [ %tid.next, %thread.end ]
  %more.100 = icmp slt i32 %tid, %v18
  br i1 %more.100, label %thread, label %inside.end
thread:
  ; line 2: i = tid()
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v101 = sub i32 %tid, 1
  %v102 = trunc i64 %x.shape0.22 to i32
  %v103 = sext i32 %v101 to i64
  %v104 = getelementptr inbounds float, ptr %x.data.29, i64 %v103
  %v105 = load float, ptr %v104
  %v106 = fmul float %v105, 0x4004000000000000
  %v107 = sub i32 -1, %tid
  %v108 = trunc i64 %y.shape0.35 to i32
  %v109 = icmp slt i32 %v107, 0
  %v110 = add i32 %v107, %v108
  %v111 = select i1 %v109, i32 %v110, i32 %v107
  %v112 = sext i32 %v111 to i64
  %v113 = getelementptr inbounds float, ptr %y.data.42, i64 %v112
  store float %v106, ptr %v113
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
declare <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float>)
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
