define i32 @wb_dynamic_loop(ptr %params, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %x.shape1.at.4 = getelementptr inbounds i8, ptr %params, i64 48
  %x.shape1.5 = load i64, ptr %x.shape1.at.4, !range !0
  %x.at.16 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.17 = load ptr, ptr %x.at.16
  %y.at.25 = getelementptr inbounds i8, ptr %params, i64 72
  %y.data.26 = load ptr, ptr %y.at.25
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  br label %threads
threads:
  %tid = phi i32 [ %low.1, %start ], [ %tid.next, %thread.end ]
  %more.3 = icmp slt i32 %tid, %high.2
  br i1 %more.3, label %thread, label %done
thread:
  ; line 2: i = tid()
  ; line 4: for j in range(x.shape[1]):
  %v6 = trunc i64 %x.shape1.5 to i32
  br label %for.7
for.7:
  %j.10 = phi i32 [ 0, %thread ], [ %j.next.11, %body.8 ]
  %s.12 = phi float [ 0x0000000000000000, %thread ], [ %s.23, %body.8 ]
  %more.13 = icmp slt i32 %j.10, %v6
  br i1 %more.13, label %body.8, label %endfor.9
body.8:
  ; line 5: s += sin(x[i, j])
  %v14 = sext i32 %tid to i64
  %v15 = sext i32 %j.10 to i64
  %v18 = mul nsw i64 %v14, %x.shape1.5
  %v19 = add nsw i64 %v18, %v15
  %v20 = getelementptr inbounds float, ptr %x.data.17, i64 %v19
  %v21 = load float, ptr %v20
  %v22 = call float @wbm_sin_32(float %v21) #1
  %s.23 = fadd float %s.12, %v22
  ; line 4: for j in range(x.shape[1]):
  %j.next.11 = add nsw i32 %j.10, 1
  br label %for.7
endfor.9:
  ; line 6: y[i] = s
  %v24 = sext i32 %tid to i64
  %v27 = getelementptr inbounds float, ptr %y.data.26, i64 %v24
  store float %s.12, ptr %v27
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  br label %exit
exit:
  ret i32 0
}
declare float @wbm_sin_32(float) nounwind willreturn memory(none)
declare <8 x float> @wbm_sin_32x8(<8 x float>) nounwind willreturn memory(none)
attributes #0 = { nounwind "no-trapping-math"="true" }
attributes #1 = { "vector-function-abi-variant"="_ZGVdN8v_wbm_sin_32(wbm_sin_32x8)" }
@llvm.compiler.used = appending global [1 x ptr] [ptr @wbm_sin_32x8], section "llvm.metadata"
!0 = !{i64 0, i64 140737488355328}
