define i32 @wb_dynamic_loop(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %x.shape1.at.5 = getelementptr inbounds i8, ptr %params, i64 48
  %x.shape1.6 = load i64, ptr %x.shape1.at.5, !range !0
  %x.at.24 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.25 = load ptr, ptr %x.at.24
  %v39 = getelementptr inbounds i8, ptr %stop, i64 8
  %y.at.47 = getelementptr inbounds i8, ptr %params, i64 72
  %y.data.48 = load ptr, ptr %y.at.47
  %v58 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br label %threads
threads:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %thread.end ]
  %more.3 = icmp slt i32 %tid, %high.2
  br i1 %more.3, label %thread, label %finish
thread:
  ; line 2: i = tid()
  %v4 = sext i32 %tid to i64
  ; line 4: for j in range(x.shape[1]):
  %v7 = trunc i64 %x.shape1.6 to i32
  %left.13 = sub i32 %v7, 0
  %few.14 = call i32 @llvm.umin.i32(i32 %left.13, i32 8192)
  %last.15 = add nsw i32 0, %few.14
  %more.16 = icmp slt i32 0, %v7
  br i1 %more.16, label %strip.8, label %endfor.12
strip.8:
  %j.17 = phi i32 [ 0, %thread ], [ %last.19, %go.36 ]
  %s.18 = phi float [ 0x0000000000000000, %thread ], [ %s.31, %go.36 ]
  %last.19 = phi i32 [ %last.15, %thread ], [ %last.45, %go.36 ]
  br label %body.9
body.9:
  %j.20 = phi i32 [ %j.17, %strip.8 ], [ %j.next.32, %body.9 ]
  %s.21 = phi float [ %s.18, %strip.8 ], [ %s.31, %body.9 ]
  ; line 5: s += sin(x[i, j])
  %v22 = sext i32 %tid to i64
  %v23 = sext i32 %j.20 to i64
  %v26 = mul nsw i64 %v22, %x.shape1.6
  %v27 = add nsw i64 %v26, %v23
  %v28 = getelementptr inbounds float, ptr %x.data.25, i64 %v27
  %v29 = load float, ptr %v28
  %v30 = call float @wbm_sin_32(float %v29) #1
  %s.31 = fadd float %s.21, %v30
  ; line 4: for j in range(x.shape[1]):
  %j.next.32 = add nsw i32 %j.20, 1
  %more.33 = icmp ne i32 %j.next.32, %last.19
  br i1 %more.33, label %body.9, label %stripped.10
stripped.10:
  %over.34 = icmp eq i32 %last.19, %v7
  br i1 %over.34, label %endfor.12, label %again.11, !prof !1
again.11:
  %stop.37 = load volatile i32, ptr %stop
  %calm.38 = icmp eq i32 %stop.37, 0
  br i1 %calm.38, label %go.36, label %ask.35, !prof !1
ask.35:
  %v40 = load ptr, ptr %v39
  %v41 = call i32 %v40(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v42 = icmp eq i32 %v41, 0
  br i1 %v42, label %go.36, label %stopped
go.36:
  %left.43 = sub i32 %v7, %last.19
  %few.44 = call i32 @llvm.umin.i32(i32 %left.43, i32 8192)
  %last.45 = add nsw i32 %last.19, %few.44
  br label %strip.8
endfor.12:
  %v46 = phi float [ 0x0000000000000000, %thread ], [ %s.31, %stripped.10 ]
  ; line 6: y[i] = s
  %v49 = getelementptr inbounds float, ptr %y.data.48, i64 %v4
  store float %v46, ptr %v49
  %v52 = and i32 %tid, 31
  %early.53 = icmp ne i32 %v52, 31
  br i1 %early.53, label %on.51, label %due.50, !prof !1
due.50:
  %stop.56 = load volatile i32, ptr %stop
  %calm.57 = icmp eq i32 %stop.56, 0
  br i1 %calm.57, label %go.55, label %ask.54, !prof !1
ask.54:
  %v59 = sext i32 %tid to i64
  store i64 %v59, ptr %v58
  %v60 = load ptr, ptr %v39
  %v61 = call i32 %v60(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v62 = icmp eq i32 %v61, 0
  br i1 %v62, label %go.55, label %stopped
go.55:
  br label %on.51
on.51:
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i32 @llvm.umin.i32(i32, i32)
declare float @wbm_sin_32(float) nounwind willreturn memory(none)
declare <8 x float> @wbm_sin_32x8(<8 x float>) nounwind willreturn memory(none)
attributes #0 = { nounwind "no-trapping-math"="true" "no-builtin-memset" }
attributes #1 = { "vector-function-abi-variant"="_ZGVdN8v_wbm_sin_32(wbm_sin_32x8)" }
@llvm.compiler.used = appending global [1 x ptr] [ptr @wbm_sin_32x8], section "llvm.metadata"
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
