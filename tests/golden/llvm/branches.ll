define i32 @wb_branches(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) nounwind "no-trapping-math"="true" "no-builtin-memset" {
entry:
  %x.at.15 = getelementptr inbounds i8, ptr %params, i64 32
  %x.data.16 = load ptr, ptr %x.at.15
  %y.at.29 = getelementptr inbounds i8, ptr %params, i64 56
  %y.data.30 = load ptr, ptr %y.at.29
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
  %gang.10 = phi i32 [ %low.1, %start ], [ %v57, %side.end.35 ]
  %number.11 = phi i32 [ 0, %start ], [ %v58, %side.end.35 ]
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
  %mask.23 = bitcast <8 x float> %v22 to <8 x i32>
  %v26 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %mask.23)
  %any.27 = icmp ne i32 %v26, 0
  br i1 %any.27, label %side.24, label %side.end.25
side.24:
  ; line 4: y[i] = 0.0
  %v28 = mul i64 %i.13, 4
  %v31 = getelementptr i8, ptr %y.data.30, i64 %v28
  %flags.32 = icmp slt <8 x i32> %mask.23, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> splat (float 0x0000000000000000), ptr %v31, i32 4, <8 x i1> %flags.32)
  ; line 3: if x[i] < 0:
  br label %side.end.25
side.end.25:
  %v33 = xor <8 x i32> %mask.23, splat (i32 -1)
  %v36 = call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> %v33)
  %any.37 = icmp ne i32 %v36, 0
  br i1 %any.37, label %side.34, label %side.end.35
side.34:
  ; line 6: r = x[i] / 2 if x[i] > 1 else x[i] * x[i]
  %v38 = fcmp ogt <8 x float> %x.18, splat (float 0x3FF0000000000000)
  %v39 = freeze <8 x i1> %v38
  %v40 = sext <8 x i1> %v39 to <8 x i32>
  %v41 = bitcast <8 x i32> %v40 to <8 x float>
  %v42 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v41)
  %mask.43 = bitcast <8 x float> %v42 to <8 x i32>
  %mask.44 = and <8 x i32> %v33, %mask.43
  %v45 = fdiv <8 x float> %x.18, splat (float 0x4000000000000000)
  %v46 = xor <8 x i32> %mask.43, splat (i32 -1)
  %mask.47 = and <8 x i32> %v33, %v46
  %v48 = fmul <8 x float> %x.18, %x.18
  %flags.49 = icmp slt <8 x i32> %mask.44, zeroinitializer
  %v50 = select <8 x i1> %flags.49, <8 x float> %v45, <8 x float> %v48
  %v51 = call <8 x float> @llvm.arithmetic.fence.v8f32(<8 x float> %v50)
  ; line 7: y[i] = sqrt(r + 1)
  %v52 = fadd <8 x float> %v51, splat (float 0x3FF0000000000000)
  %v53 = call <8 x float> @llvm.sqrt.v8f32(<8 x float> %v52)
  %v54 = mul i64 %i.13, 4
  %v55 = getelementptr i8, ptr %y.data.30, i64 %v54
  %flags.56 = icmp slt <8 x i32> %v33, zeroinitializer
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v53, ptr %v55, i32 4, <8 x i1> %flags.56)
  ; line 3: if x[i] < 0:
  br label %side.end.35
side.end.35:
  %v57 = add nsw i32 %gang.10, 8
  %v58 = add nsw i32 %number.11, 1
  br label %gangs.3, !llvm.loop !2
gangs.end.5:
  br label %threads
threads:
  %tid = phi i32 [ %gangs.9, %gangs.end.5 ], [ %tid.next, %thread.end ]
  %more.59 = icmp slt i32 %tid, %high.2
  br i1 %more.59, label %thread, label %finish
thread:
  ; line 2: i = tid()
  ; line 3: if x[i] < 0:
  %v60 = sext i32 %tid to i64
  %v61 = getelementptr inbounds float, ptr %x.data.16, i64 %v60
  %v62 = load float, ptr %v61
  %v63 = fcmp olt float %v62, 0x0000000000000000
  br i1 %v63, label %then.64, label %else.65
then.64:
  ; line 4: y[i] = 0.0
  %v67 = sext i32 %tid to i64
  %v68 = getelementptr inbounds float, ptr %y.data.30, i64 %v67
  store float 0x0000000000000000, ptr %v68
  ; line 3: if x[i] < 0:
  br label %endif.66
else.65:
  ; line 6: r = x[i] / 2 if x[i] > 1 else x[i] * x[i]
  %v69 = fcmp ogt float %v62, 0x3FF0000000000000
  br i1 %v69, label %then.70, label %else.71
then.70:
  %v73 = fdiv float %v62, 0x4000000000000000
  br label %endif.72
else.71:
  %v74 = fmul float %v62, %v62
  br label %endif.72
endif.72:
  %r.75 = phi float [ %v73, %then.70 ], [ %v74, %else.71 ]
  ; line 7: y[i] = sqrt(r + 1)
  %v76 = fadd float %r.75, 0x3FF0000000000000
  %v77 = call float @llvm.sqrt.f32(float %v76)
  %v78 = sext i32 %tid to i64
  %v79 = getelementptr inbounds float, ptr %y.data.30, i64 %v78
  store float %v77, ptr %v79
  ; line 3: if x[i] < 0:
  br label %endif.66
endif.66:
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
declare i32 @llvm.vector.reduce.or.v8i32(<8 x i32>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32, <8 x i1>)
declare float @llvm.sqrt.f32(float) nounwind willreturn memory(none)
declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.vectorize.enable", i1 false}, !{!"llvm.loop.unroll.disable"}}
