define i32 @wb_wrapped(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
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
  %gang.52 = phi i32 [ %v18, %inside ], [ %v99, %gang.46 ]
  %number.53 = phi i32 [ 0, %inside ], [ %v100, %gang.46 ]
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
  %v68 = icmp slt <8 x i32> %v67, splat (i32 0)
  %v69 = sext <8 x i1> %v68 to <8 x i32>
  %v70 = bitcast <8 x i32> %v69 to <8 x float>
  %v71 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v70)
  %mask.72 = bitcast <8 x float> %v71 to <8 x i32>
  %v73 = add i32 %v63, %v64
  %v74 = insertelement <8 x i32> poison, i32 %v73, i64 0
  %v75 = shufflevector <8 x i32> %v74, <8 x i32> poison, <8 x i32> zeroinitializer
  %v76 = add <8 x i32> %v75, <i32 0, i32 -1, i32 -2, i32 -3, i32 -4, i32 -5, i32 -6, i32 -7>
  %v77 = add <8 x i32> %v66, <i32 0, i32 -1, i32 -2, i32 -3, i32 -4, i32 -5, i32 -6, i32 -7>
  %v78 = select <8 x i1> %v68, <8 x i32> %v76, <8 x i32> %v77
  %v79 = sext <8 x i32> %v78 to <8 x i64>
  %v80 = mul <8 x i64> %v79, splat (i64 4)
  %v81 = getelementptr i8, ptr %y.data.43, i64 0
  %v82 = getelementptr i8, ptr %v81, <8 x i64> %v80
  %v83 = extractelement <8 x ptr> %v82, i64 0
  %v84 = extractelement <8 x float> %v62, i64 0
  store float %v84, ptr %v83, align 4
  %v85 = extractelement <8 x ptr> %v82, i64 1
  %v86 = extractelement <8 x float> %v62, i64 1
  store float %v86, ptr %v85, align 4
  %v87 = extractelement <8 x ptr> %v82, i64 2
  %v88 = extractelement <8 x float> %v62, i64 2
  store float %v88, ptr %v87, align 4
  %v89 = extractelement <8 x ptr> %v82, i64 3
  %v90 = extractelement <8 x float> %v62, i64 3
  store float %v90, ptr %v89, align 4
  %v91 = extractelement <8 x ptr> %v82, i64 4
  %v92 = extractelement <8 x float> %v62, i64 4
  store float %v92, ptr %v91, align 4
  %v93 = extractelement <8 x ptr> %v82, i64 5
  %v94 = extractelement <8 x float> %v62, i64 5
  store float %v94, ptr %v93, align 4
  %v95 = extractelement <8 x ptr> %v82, i64 6
  %v96 = extractelement <8 x float> %v62, i64 6
  store float %v96, ptr %v95, align 4
  %v97 = extractelement <8 x ptr> %v82, i64 7
  %v98 = extractelement <8 x float> %v62, i64 7
  store float %v98, ptr %v97, align 4
  %v99 = add nsw i32 %gang.52, 8
  %v100 = add nsw i32 %number.53, 1
  br label %gangs.45, !llvm.loop !3
gangs.end.47:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.51, %gangs.end.47 ], [ %tid.next, %thread.end ]
  %more.101 = icmp slt i32 %tid, %v19
  br i1 %more.101, label %thread, label %inside.end
thread:
  ; line 2: i = tid()
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v102 = sub i32 %tid, 1
  %v103 = trunc i64 %x.shape0.23 to i32
  %v104 = sext i32 %v102 to i64
  %v105 = getelementptr inbounds float, ptr %x.data.30, i64 %v104
  %v106 = load float, ptr %v105
  %v107 = fmul float %v106, 0x4004000000000000
  %v108 = sub i32 -1, %tid
  %v109 = trunc i64 %y.shape0.36 to i32
  %v110 = icmp slt i32 %v108, 0
  %v111 = add i32 %v108, %v109
  %v112 = select i1 %v110, i32 %v111, i32 %v108
  %v113 = sext i32 %v112 to i64
  %v114 = getelementptr inbounds float, ptr %y.data.43, i64 %v113
  store float %v107, ptr %v114
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
