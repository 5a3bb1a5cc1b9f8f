define i32 @wb_collatz(ptr %params, i64 %begin, i64 %end, ptr %fault, ptr %stop, ptr %sums) #0 {
entry:
  %start.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %start.data.6 = load ptr, ptr %start.at.5
  %v78 = getelementptr inbounds i8, ptr %stop, i64 8
  %steps.at.82 = getelementptr inbounds i8, ptr %params, i64 56
  %steps.data.83 = load ptr, ptr %steps.at.82
  %v93 = getelementptr inbounds i8, ptr %stop, i64 16
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
  ; line 3: n = start[i]
  %v7 = getelementptr inbounds i32, ptr %start.data.6, i64 %v4
  %n.8 = load i32, ptr %v7
  ; line 5: while n != 1:
  br label %strip.12
strip.12:
  %n.13 = phi i32 [ %n.8, %thread ], [ %n.63, %go.75 ]
  %k.14 = phi i32 [ 0, %thread ], [ %k.64, %go.75 ]
  %break.1.15 = phi i1 [ false, %thread ], [ %break.1.69, %go.75 ]
  br label %while.9
while.9:
  %turn.70 = phi i32 [ 0, %strip.12 ], [ %turn.71, %endif.68 ]
  %n.16 = phi i32 [ %n.13, %strip.12 ], [ %n.63, %endif.68 ]
  %k.17 = phi i32 [ %k.14, %strip.12 ], [ %k.64, %endif.68 ]
  %break.1.18 = phi i1 [ %break.1.15, %strip.12 ], [ %break.1.69, %endif.68 ]
  br i1 %break.1.18, label %then.19, label %else.20
then.19:
  br label %endif.21
else.20:
  %v22 = icmp ne i32 %n.16, 1
  br label %endif.21
endif.21:
  %v23 = phi i1 [ false, %then.19 ], [ %v22, %else.20 ]
  br i1 %v23, label %do.10, label %endwhile.11
do.10:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v24 = icmp eq i32 2, 0
  %v25 = icmp eq i32 2, -1
  %v26 = icmp eq i32 %n.16, -2147483648
  %v27 = and i1 %v25, %v26
  %v28 = or i1 %v24, %v27
  %v29 = select i1 %v28, i32 1, i32 2
  %v30 = srem i32 %n.16, %v29
  %v31 = icmp ne i32 %v30, 0
  %v32 = icmp slt i32 %v30, 0
  %v33 = icmp slt i32 %v29, 0
  %v34 = xor i1 %v32, %v33
  %v35 = and i1 %v31, %v34
  %v36 = add i32 %v30, %v29
  %v37 = select i1 %v35, i32 %v36, i32 %v30
  %v38 = icmp eq i32 2, 0
  %v39 = select i1 %v38, i32 %n.16, i32 %v37
  %v40 = icmp eq i32 %v39, 0
  br i1 %v40, label %then.41, label %else.42
then.41:
  %v44 = icmp eq i32 2, 0
  %v45 = icmp eq i32 2, -1
  %v46 = icmp eq i32 %n.16, -2147483648
  %v47 = and i1 %v45, %v46
  %v48 = or i1 %v44, %v47
  %v49 = select i1 %v48, i32 1, i32 2
  %v50 = sdiv i32 %n.16, %v49
  %v51 = srem i32 %n.16, %v49
  %v52 = icmp ne i32 %v51, 0
  %v53 = icmp slt i32 %n.16, 0
  %v54 = icmp slt i32 %v49, 0
  %v55 = xor i1 %v53, %v54
  %v56 = and i1 %v52, %v55
  %v57 = sub i32 %v50, 1
  %v58 = select i1 %v56, i32 %v57, i32 %v50
  %v59 = icmp eq i32 2, 0
  %v60 = select i1 %v59, i32 -1, i32 %v58
  br label %endif.43
else.42:
  %v61 = mul i32 3, %n.16
  %v62 = add i32 %v61, 1
  br label %endif.43
endif.43:
  %n.63 = phi i32 [ %v60, %then.41 ], [ %v62, %else.42 ]
  ; line 7: k += 1
  %k.64 = add i32 %k.17, 1
  ; line 8: if k >= 1000:
  %v65 = icmp sge i32 %k.64, 1000
  br i1 %v65, label %then.66, label %else.67
then.66:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.68
else.67:
  br label %endif.68
endif.68:
  %break.1.69 = phi i1 [ true, %then.66 ], [ %break.1.18, %else.67 ]
  ; line 5: while n != 1:
  %turn.71 = add nuw nsw i32 %turn.70, 1
  %more.73 = icmp ult i32 %turn.71, 512
  br i1 %more.73, label %while.9, label %full.72
full.72:
  %stop.76 = load volatile i32, ptr %stop
  %calm.77 = icmp eq i32 %stop.76, 0
  br i1 %calm.77, label %go.75, label %ask.74, !prof !1
ask.74:
  %v79 = load ptr, ptr %v78
  %v80 = call i32 %v79(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v81 = icmp eq i32 %v80, 0
  br i1 %v81, label %go.75, label %stopped
go.75:
  br label %strip.12
endwhile.11:
  ; line 10: steps[i] = k
  %v84 = getelementptr inbounds i32, ptr %steps.data.83, i64 %v4
  store i32 %k.17, ptr %v84
  %v87 = and i32 %tid, 31
  %early.88 = icmp ne i32 %v87, 31
  br i1 %early.88, label %on.86, label %due.85, !prof !1
due.85:
  %stop.91 = load volatile i32, ptr %stop
  %calm.92 = icmp eq i32 %stop.91, 0
  br i1 %calm.92, label %go.90, label %ask.89, !prof !1
ask.89:
  %v94 = sext i32 %tid to i64
  store i64 %v94, ptr %v93
  %v95 = load ptr, ptr %v78
  %v96 = call i32 %v95(ptr %stop) cold nounwind memory(inaccessiblemem: readwrite)
  %v97 = icmp eq i32 %v96, 0
  br i1 %v97, label %go.90, label %stopped
go.90:
  br label %on.86
on.86:
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
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
!1 = !{!"branch_weights", i32 1048575, i32 1}
