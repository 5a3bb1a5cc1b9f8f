define i32 @wb_branches(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %x.at.15 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.16 = load ptr, ptr %x.at.15
  %y.at.45 = getelementptr inbounds i8, ptr %params, i64 56
  %y.data.46 = load ptr, ptr %y.at.45
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  %low.1 = trunc nuw nsw i64 %begin to i32
  %high.2 = trunc nuw nsw i64 %end to i32
  %v6 = sub nsw i32 %high.2, %low.1
  %v7 = call i32 @llvm.smax.i32(i32 %v6, i32 0)
  %v8 = and i32 %v7, -8
  %gangs.9 = add nsw i32 %low.1, %v8
  br label %gangs.3
gangs.3:
  %gang.10 = phi i32 [ %low.1, %start ], [ %v48, %gang.4 ]
  %number.11 = phi i32 [ 0, %start ], [ %v49, %gang.4 ]
  %more.12 = icmp slt i32 %gang.10, %gangs.9
  br i1 %more.12, label %gang.4, label %gangs.end.5
gang.4:
  ; line 2: i = tid()
  %i.13 = sext i32 %gang.10 to i64
  ; line 3: if x[i] < 0:
  %v14 = mul i64 %i.13, 4
  %v17 = getelementptr i8, ptr %x.data.16, i64 %v14
  %x.18 = load <8 x float>, ptr %v17, align 4
  %v19 = fcmp olt <8 x float> %x.18, splat (float 0x0000000000000000)
  %v20 = sext <8 x i1> %v19 to <8 x i32>
  %v21 = bitcast <8 x i32> %v20 to <8 x float>
  %v22 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v21)
  %v23 = bitcast <8 x float> %v22 to <8 x i32>
  %v24 = xor <8 x i32> %v23, splat (i32 -1)
  ; line 6: r = x[i] / 2 if x[i] > 1 else x[i] * x[i]
  %v25 = fcmp ogt <8 x float> %x.18, splat (float 0x3FF0000000000000)
  %v26 = freeze <8 x i1> %v25
  %v27 = sext <8 x i1> %v26 to <8 x i32>
  %v28 = bitcast <8 x i32> %v27 to <8 x float>
  %v29 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v28)
  %v30 = bitcast <8 x float> %v29 to <8 x i32>
  %mask.31 = and <8 x i32> %v24, %v30
  %v32 = fdiv <8 x float> %x.18, splat (float 0x4000000000000000)
  %v33 = xor <8 x i32> %v30, splat (i32 -1)
  %mask.34 = and <8 x i32> %v24, %v33
  %v35 = fmul <8 x float> %x.18, %x.18
  %flags.36 = icmp slt <8 x i32> %mask.31, zeroinitializer
  %v37 = select <8 x i1> %flags.36, <8 x float> %v32, <8 x float> %v35
  %v38 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v37)
  ; line 7: y[i] = sqrt(r + 1)
  %v39 = fadd <8 x float> %v38, splat (float 0x3FF0000000000000)
  %v40 = call <8 x float> @llvm.sqrt.v8f32(<8 x float> %v39)
  ; line 3: if x[i] < 0:
  %flags.41 = icmp slt <8 x i32> %v24, zeroinitializer
  %v42 = select <8 x i1> %flags.41, <8 x float> %v40, <8 x float> splat (float 0x0000000000000000)
  %v43 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v42)
  ; line 4: y[i] = 0.0
  %v44 = mul i64 %i.13, 4
  %v47 = getelementptr i8, ptr %y.data.46, i64 %v44
  store <8 x float> %v43, ptr %v47, align 4
  %v48 = add nsw i32 %gang.10, 8
  %v49 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.9, %gangs.end.5 ], [ %tid.next, %thread.end ]
  %more.50 = icmp slt i32 %tid, %high.2
  br i1 %more.50, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 3: if x[i] < 0:
  %v51 = sext i32 %tid to i64
  %v52 = getelementptr inbounds float, ptr %x.data.16, i64 %v51
  %v53 = load float, ptr %v52
  %v54 = fcmp olt float %v53, 0x0000000000000000
  br i1 %v54, label %then.55, label %else.56
then.55:
  br label %endif.57
else.56:
  ; line 6: r = x[i] / 2 if x[i] > 1 else x[i] * x[i]
  %v58 = fcmp ogt float %v53, 0x3FF0000000000000
  br i1 %v58, label %then.59, label %else.60
then.59:
  %v62 = fdiv float %v53, 0x4000000000000000
  br label %endif.61
else.60:
  %v63 = fmul float %v53, %v53
  br label %endif.61
endif.61:
  %r.64 = phi float [ %v62, %then.59 ], [ %v63, %else.60 ]
  ; line 7: y[i] = sqrt(r + 1)
  %v65 = fadd float %r.64, 0x3FF0000000000000
  %v66 = call float @llvm.sqrt.f32(float %v65)
  ; line 3: if x[i] < 0:
  br label %endif.57
endif.57:
  %v67 = phi float [ 0x0000000000000000, %then.55 ], [ %v66, %endif.61 ]
  ; line 4: y[i] = 0.0
  %v68 = sext i32 %tid to i64
  %v69 = getelementptr inbounds float, ptr %y.data.46, i64 %v68
  store float %v67, ptr %v69
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
declare <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float>)
declare float @llvm.sqrt.f32(float) nounwind willreturn memory(none)
declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
