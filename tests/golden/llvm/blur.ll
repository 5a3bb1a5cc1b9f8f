define i32 @wb_blur(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %dim1.at.3 = getelementptr inbounds i8, ptr %params, i64 8
  %dim1.4 = load i64, ptr %dim1.at.3, !range !0
  %source.shape0.at.24 = getelementptr inbounds i8, ptr %params, i64 40
  %source.shape0.25 = load i64, ptr %source.shape0.at.24, !range !0
  %source.at.34 = getelementptr inbounds i8, ptr %params, i64 32
  %source.data.35 = load ptr, ptr %source.at.34
  %source.shape1.at.36 = getelementptr inbounds i8, ptr %params, i64 48
  %source.shape1.37 = load i64, ptr %source.shape1.at.36, !range !0
  %result.at.47 = getelementptr inbounds i8, ptr %params, i64 72
  %result.data.48 = load ptr, ptr %result.at.47
  %result.shape1.at.49 = getelementptr inbounds i8, ptr %params, i64 88
  %result.shape1.50 = load i64, ptr %result.shape1.at.49, !range !0
  %v58 = getelementptr inbounds i8, ptr %stop, i64 16
  %v61 = getelementptr inbounds i8, ptr %stop, i64 8
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.57 ]
  %left.1 = sub nuw nsw i64 %end, %first
  %few.2 = call i64 @llvm.umin.i64(i64 %left.1, i64 65536)
  %last = add nuw nsw i64 %first, %few.2
  %first.5 = udiv i64 %first, %dim1.4
  %v6 = add nsw i64 %last, -1
  %last.7 = udiv i64 %v6, %dim1.4
  br label %row
row:
  %row.at = phi i64 [ %first.5, %strip ], [ %row.next, %row.end ]
  %v8 = mul nuw nsw i64 %row.at, %dim1.4
  %v9 = sub nsw i64 %first, %v8
  %v10 = call i64 @llvm.smax.i64(i64 %v9, i64 0)
  %v11 = sub nsw i64 %last, %v8
  %v12 = call i64 @llvm.smin.i64(i64 %v11, i64 %dim1.4)
  %low.13 = trunc nuw nsw i64 %v10 to i32
  %high.14 = trunc nuw nsw i64 %v12 to i32
  %tid0.15 = trunc nuw nsw i64 %row.at to i32
  br label %threads
threads:
  %tid = phi i32 [ %low.13, %row ], [ %tid.next, %thread.end ]
  %more.16 = icmp slt i32 %tid, %high.14
  br i1 %more.16, label %thread, label %row.end
thread:
  ; line 2: i, j = tid()
  ; line 4: for dy in range(-1, 2):
  br label %for.17
for.17:
  %dy.20 = phi i32 [ -1, %thread ], [ %dy.next.44, %body.18 ]
  %total.21 = phi float [ 0x0000000000000000, %thread ], [ %total.43, %body.18 ]
  %more.22 = icmp slt i32 %dy.20, 2
  br i1 %more.22, label %body.18, label %endfor.19
body.18:
  ; line 5: y = clamp(i + dy, 0, source.shape[0] - 1)
  %v23 = add i32 %tid0.15, %dy.20
  %v26 = trunc i64 %source.shape0.25 to i32
  %v27 = sub i32 %v26, 1
  %v28 = icmp sgt i32 0, %v23
  %v29 = select i1 %v28, i32 0, i32 %v23
  %v30 = icmp slt i32 %v29, %v27
  %y.31 = select i1 %v30, i32 %v29, i32 %v27
  ; line 6: total += source[y, j] / 3
  %v32 = sext i32 %y.31 to i64
  %v33 = sext i32 %tid to i64
  %v38 = mul nsw i64 %v32, %source.shape1.37
  %v39 = add nsw i64 %v38, %v33
  %v40 = getelementptr inbounds float, ptr %source.data.35, i64 %v39
  %v41 = load float, ptr %v40
  %v42 = fdiv float %v41, 0x4008000000000000
  %total.43 = fadd float %total.21, %v42
  ; line 4: for dy in range(-1, 2):
  %dy.next.44 = add nsw i32 %dy.20, 1
  br label %for.17
endfor.19:
  ; line 7: result[i, j] = total
  %v45 = sext i32 %tid0.15 to i64
  %v46 = sext i32 %tid to i64
  %v51 = mul nsw i64 %v45, %result.shape1.50
  %v52 = add nsw i64 %v51, %v46
  %v53 = getelementptr inbounds float, ptr %result.data.48, i64 %v52
  store float %total.21, ptr %v53
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
row.end:
  %row.next = add nuw nsw i64 %row.at, 1
  %v54 = icmp slt i64 %row.at, %last.7
  br i1 %v54, label %row, label %done
done:
  %more.55 = icmp slt i64 %last, %end
  br i1 %more.55, label %again, label %finish
again:
  store i64 %last, ptr %v58
  %stop.59 = load volatile i32, ptr %stop
  %calm.60 = icmp eq i32 %stop.59, 0
  br i1 %calm.60, label %go.57, label %ask.56, !prof !1
ask.56:
  %v62 = load ptr, ptr %v61
  %v63 = call i32 %v62(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v64 = icmp eq i32 %v63, 0
  br i1 %v64, label %go.57, label %stopped
go.57:
  br label %strip
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
