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
  br label %threads
threads:
  %tid = phi i32 [ %v17, %inside ], [ %tid.next, %thread.end ]
  %more.44 = icmp slt i32 %tid, %v18
  br i1 %more.44, label %thread, label %inside.end
thread:
  ; line 2: i = tid()
  %v45 = sext i32 %tid to i64
  ; line 3: y[-1 - i] = x[i - 1] * SCALE
  %v46 = sub i32 %tid, 1
  %v47 = trunc i64 %x.shape0.22 to i32
  %v48 = sext i32 1 to i64
  %v49 = sub i64 %v45, %v48
  %v50 = getelementptr inbounds float, ptr %x.data.29, i64 %v49
  %v51 = load float, ptr %v50
  %v52 = fmul float %v51, 0x4004000000000000
  %v53 = sub i32 -1, %tid
  %v54 = trunc i64 %y.shape0.35 to i32
  %v55 = icmp slt i32 %v53, 0
  %v56 = add i32 %v53, %v54
  %v57 = select i1 %v55, i32 %v56, i32 %v53
  %v58 = sext i32 %v57 to i64
  %v59 = getelementptr inbounds float, ptr %y.data.42, i64 %v58
  store float %v52, ptr %v59
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
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
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
