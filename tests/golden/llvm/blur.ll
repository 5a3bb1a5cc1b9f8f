define i32 @wb_blur(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %dim1.at.1 = getelementptr inbounds i8, ptr %params, i64 8
  %dim1.2 = load i64, ptr %dim1.at.1, !range !0
  %source.shape0.at.23 = getelementptr inbounds i8, ptr %params, i64 40
  %source.shape0.24 = load i64, ptr %source.shape0.at.23, !range !0
  %source.at.32 = getelementptr inbounds i8, ptr %params, i64 32
  %source.data.33 = load ptr, ptr %source.at.32
  %source.shape1.at.34 = getelementptr inbounds i8, ptr %params, i64 48
  %source.shape1.35 = load i64, ptr %source.shape1.at.34, !range !0
  %result.at.44 = getelementptr inbounds i8, ptr %params, i64 72
  %result.data.45 = load ptr, ptr %result.at.44
  %result.shape1.at.46 = getelementptr inbounds i8, ptr %params, i64 88
  %result.shape1.47 = load i64, ptr %result.shape1.at.46, !range !0
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %first.3 = udiv i64 %begin, %dim1.2
  %v4 = add nsw i64 %end, -1
  %last.5 = udiv i64 %v4, %dim1.2
  br label %row
row:
  %row.at = phi i64 [ %first.3, %start ], [ %row.next, %row.end ]
  %v6 = mul nuw nsw i64 %row.at, %dim1.2
  %v7 = sub nsw i64 %begin, %v6
  %v8 = call i64 @llvm.smax.i64(i64 %v7, i64 0)
  %v9 = sub nsw i64 %end, %v6
  %v10 = call i64 @llvm.smin.i64(i64 %v9, i64 %dim1.2)
  %low.11 = trunc nuw nsw i64 %v8 to i32
  %high.12 = trunc nuw nsw i64 %v10 to i32
  %tid0.13 = trunc nuw nsw i64 %row.at to i32
  br label %threads
threads:
  %tid = phi i32 [ %low.11, %row ], [ %tid.next, %thread.end ]
  %more.14 = icmp slt i32 %tid, %high.12
  br i1 %more.14, label %thread, label %row.end
thread:
  ; line 2: i, j = tid()
  %v15 = sext i32 %tid to i64
  ; line 4: for dy in range(-1, 2):
  br label %for.16
for.16:
  %dy.19 = phi i32 [ -1, %thread ], [ %dy.next.42, %body.17 ]
  %total.20 = phi float [ 0x0000000000000000, %thread ], [ %total.41, %body.17 ]
  %more.21 = icmp slt i32 %dy.19, 2
  br i1 %more.21, label %body.17, label %endfor.18
body.17:
  ; line 5: y = clamp(i + dy, 0, source.shape[0] - 1)
  %v22 = add i32 %tid0.13, %dy.19
  %v25 = trunc i64 %source.shape0.24 to i32
  %v26 = sub i32 %v25, 1
  %v27 = icmp sgt i32 0, %v22
  %v28 = select i1 %v27, i32 0, i32 %v22
  %v29 = icmp slt i32 %v28, %v26
  %y.30 = select i1 %v29, i32 %v28, i32 %v26
  ; line 6: total += source[y, j] / 3
  %v31 = sext i32 %y.30 to i64
  %v36 = mul nsw i64 %v31, %source.shape1.35
  %v37 = add nsw i64 %v36, %v15
  %v38 = getelementptr inbounds float, ptr %source.data.33, i64 %v37
  %v39 = load float, ptr %v38
  %v40 = fdiv float %v39, 0x4008000000000000
  %total.41 = fadd float %total.20, %v40
  ; line 4: for dy in range(-1, 2):
  %dy.next.42 = add nsw i32 %dy.19, 1
  br label %for.16
endfor.18:
  ; line 7: result[i, j] = total
  %v43 = sext i32 %tid0.13 to i64
  %v48 = mul nsw i64 %v43, %result.shape1.47
  %v49 = add nsw i64 %v48, %v15
  %v50 = getelementptr inbounds float, ptr %result.data.45, i64 %v49
  store float %total.20, ptr %v50
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
row.end:
  %row.next = add nuw nsw i64 %row.at, 1
  %v51 = icmp slt i64 %row.at, %last.5
  br i1 %v51, label %row, label %finish
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
