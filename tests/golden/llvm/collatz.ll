define i32 @wb_collatz(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop) #0 {
entry:
  %start.at.7 = getelementptr inbounds i8, ptr %params, i64 32
  %start.data.8 = load ptr, ptr %start.at.7
  %v80 = getelementptr inbounds i8, ptr %stop, i64 8
  %steps.at.85 = getelementptr inbounds i8, ptr %params, i64 56
  %steps.data.86 = load ptr, ptr %steps.at.85
  %v91 = getelementptr inbounds i8, ptr %stop, i64 16
  %some = icmp slt i64 %begin, %end
  br i1 %some, label %start, label %exit
start:
  br label %strip
strip:
  %first = phi i64 [ %begin, %start ], [ %last, %go.90 ]
  %left.1 = sub nuw nsw i64 %end, %first
  %few.2 = call i64 @llvm.umin.i64(i64 %left.1, i64 64)
  %last = add nuw nsw i64 %first, %few.2
  %low.3 = trunc nuw nsw i64 %first to i32
  %high.4 = trunc nuw nsw i64 %last to i32
  br label %threads
threads:
  %tid = phi i32 [ %low.3, %strip ], [ %tid.next, %thread.end ]
  %more.5 = icmp slt i32 %tid, %high.4
  br i1 %more.5, label %thread, label %done
thread:
  ; line 2: i = tid()
  ; line 3: n = start[i]
  %v6 = sext i32 %tid to i64
  %v9 = getelementptr inbounds i32, ptr %start.data.8, i64 %v6
  %n.10 = load i32, ptr %v9
  ; line 5: while n != 1:
  br label %strip.14
strip.14:
  %n.15 = phi i32 [ %n.10, %thread ], [ %n.65, %go.77 ]
  %k.16 = phi i32 [ 0, %thread ], [ %k.66, %go.77 ]
  %break.1.17 = phi i1 [ false, %thread ], [ %break.1.71, %go.77 ]
  br label %while.11
while.11:
  %turn.72 = phi i32 [ 0, %strip.14 ], [ %turn.73, %endif.70 ]
  %n.18 = phi i32 [ %n.15, %strip.14 ], [ %n.65, %endif.70 ]
  %k.19 = phi i32 [ %k.16, %strip.14 ], [ %k.66, %endif.70 ]
  %break.1.20 = phi i1 [ %break.1.17, %strip.14 ], [ %break.1.71, %endif.70 ]
  br i1 %break.1.20, label %then.21, label %else.22
then.21:
  br label %endif.23
else.22:
  %v24 = icmp ne i32 %n.18, 1
  br label %endif.23
endif.23:
  %v25 = phi i1 [ false, %then.21 ], [ %v24, %else.22 ]
  br i1 %v25, label %do.12, label %endwhile.13
do.12:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v26 = icmp eq i32 2, 0
  %v27 = icmp eq i32 2, -1
  %v28 = icmp eq i32 %n.18, -2147483648
  %v29 = and i1 %v27, %v28
  %v30 = or i1 %v26, %v29
  %v31 = select i1 %v30, i32 1, i32 2
  %v32 = srem i32 %n.18, %v31
  %v33 = icmp ne i32 %v32, 0
  %v34 = icmp slt i32 %v32, 0
  %v35 = icmp slt i32 %v31, 0
  %v36 = xor i1 %v34, %v35
  %v37 = and i1 %v33, %v36
  %v38 = add i32 %v32, %v31
  %v39 = select i1 %v37, i32 %v38, i32 %v32
  %v40 = icmp eq i32 2, 0
  %v41 = select i1 %v40, i32 %n.18, i32 %v39
  %v42 = icmp eq i32 %v41, 0
  br i1 %v42, label %then.43, label %else.44
then.43:
  %v46 = icmp eq i32 2, 0
  %v47 = icmp eq i32 2, -1
  %v48 = icmp eq i32 %n.18, -2147483648
  %v49 = and i1 %v47, %v48
  %v50 = or i1 %v46, %v49
  %v51 = select i1 %v50, i32 1, i32 2
  %v52 = sdiv i32 %n.18, %v51
  %v53 = srem i32 %n.18, %v51
  %v54 = icmp ne i32 %v53, 0
  %v55 = icmp slt i32 %n.18, 0
  %v56 = icmp slt i32 %v51, 0
  %v57 = xor i1 %v55, %v56
  %v58 = and i1 %v54, %v57
  %v59 = sub i32 %v52, 1
  %v60 = select i1 %v58, i32 %v59, i32 %v52
  %v61 = icmp eq i32 2, 0
  %v62 = select i1 %v61, i32 -1, i32 %v60
  br label %endif.45
else.44:
  %v63 = mul i32 3, %n.18
  %v64 = add i32 %v63, 1
  br label %endif.45
endif.45:
  %n.65 = phi i32 [ %v62, %then.43 ], [ %v64, %else.44 ]
  ; line 7: k += 1
  %k.66 = add i32 %k.19, 1
  ; line 8: if k >= 1000:
  %v67 = icmp sge i32 %k.66, 1000
  br i1 %v67, label %then.68, label %else.69
then.68:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.70
else.69:
  br label %endif.70
endif.70:
  %break.1.71 = phi i1 [ true, %then.68 ], [ %break.1.20, %else.69 ]
  ; line 5: while n != 1:
  %turn.73 = add nuw nsw i32 %turn.72, 1
  %more.75 = icmp ult i32 %turn.73, 512
  br i1 %more.75, label %while.11, label %full.74
full.74:
  %stop.78 = load volatile i32, ptr %stop
  %calm.79 = icmp eq i32 %stop.78, 0
  br i1 %calm.79, label %go.77, label %ask.76, !prof !1
ask.76:
  %v81 = load ptr, ptr %v80
  %v82 = call i32 %v81(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v83 = icmp eq i32 %v82, 0
  br i1 %v83, label %go.77, label %stopped
go.77:
  br label %strip.14
endwhile.13:
  ; line 10: steps[i] = k
  %v84 = sext i32 %tid to i64
  %v87 = getelementptr inbounds i32, ptr %steps.data.86, i64 %v84
  store i32 %k.19, ptr %v87
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  %more.88 = icmp slt i64 %last, %end
  br i1 %more.88, label %again, label %finish
again:
  store i64 %last, ptr %v91
  %stop.92 = load volatile i32, ptr %stop
  %calm.93 = icmp eq i32 %stop.92, 0
  br i1 %calm.93, label %go.90, label %ask.89, !prof !1
ask.89:
  %v94 = load ptr, ptr %v80
  %v95 = call i32 %v94(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v96 = icmp eq i32 %v95, 0
  br i1 %v96, label %go.90, label %stopped
go.90:
  br label %strip
finish:
  br label %exit
exit:
  ret i32 0
stopped:
  ret i32 -1
}
declare i64 @llvm.umin.i64(i64, i64)
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
