define i32 @wb_collatz(ptr %params, i64 %begin, i64 %end, ptr %fault) #0 {
entry:
  %start.at.5 = getelementptr inbounds i8, ptr %params, i64 32
  %start.data.6 = load ptr, ptr %start.at.5
  %steps.at.67 = getelementptr inbounds i8, ptr %params, i64 56
  %steps.data.68 = load ptr, ptr %steps.at.67
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
  ; line 3: n = start[i]
  %v4 = sext i32 %tid to i64
  %v7 = getelementptr inbounds i32, ptr %start.data.6, i64 %v4
  %n.8 = load i32, ptr %v7
  ; line 5: while n != 1:
  br label %while.9
while.9:
  %n.12 = phi i32 [ %n.8, %thread ], [ %n.59, %endif.64 ]
  %k.13 = phi i32 [ 0, %thread ], [ %k.60, %endif.64 ]
  %break.1.14 = phi i1 [ false, %thread ], [ %break.1.65, %endif.64 ]
  br i1 %break.1.14, label %then.15, label %else.16
then.15:
  br label %endif.17
else.16:
  %v18 = icmp ne i32 %n.12, 1
  br label %endif.17
endif.17:
  %v19 = phi i1 [ false, %then.15 ], [ %v18, %else.16 ]
  br i1 %v19, label %do.10, label %endwhile.11
do.10:
  ; line 6: n = n // 2 if n % 2 == 0 else 3 * n + 1
  %v20 = icmp eq i32 2, 0
  %v21 = icmp eq i32 2, -1
  %v22 = icmp eq i32 %n.12, -2147483648
  %v23 = and i1 %v21, %v22
  %v24 = or i1 %v20, %v23
  %v25 = select i1 %v24, i32 1, i32 2
  %v26 = srem i32 %n.12, %v25
  %v27 = icmp ne i32 %v26, 0
  %v28 = icmp slt i32 %v26, 0
  %v29 = icmp slt i32 %v25, 0
  %v30 = xor i1 %v28, %v29
  %v31 = and i1 %v27, %v30
  %v32 = add i32 %v26, %v25
  %v33 = select i1 %v31, i32 %v32, i32 %v26
  %v34 = icmp eq i32 2, 0
  %v35 = select i1 %v34, i32 %n.12, i32 %v33
  %v36 = icmp eq i32 %v35, 0
  br i1 %v36, label %then.37, label %else.38
then.37:
  %v40 = icmp eq i32 2, 0
  %v41 = icmp eq i32 2, -1
  %v42 = icmp eq i32 %n.12, -2147483648
  %v43 = and i1 %v41, %v42
  %v44 = or i1 %v40, %v43
  %v45 = select i1 %v44, i32 1, i32 2
  %v46 = sdiv i32 %n.12, %v45
  %v47 = srem i32 %n.12, %v45
  %v48 = icmp ne i32 %v47, 0
  %v49 = icmp slt i32 %n.12, 0
  %v50 = icmp slt i32 %v45, 0
  %v51 = xor i1 %v49, %v50
  %v52 = and i1 %v48, %v51
  %v53 = sub i32 %v46, 1
  %v54 = select i1 %v52, i32 %v53, i32 %v46
  %v55 = icmp eq i32 2, 0
  %v56 = select i1 %v55, i32 -1, i32 %v54
  br label %endif.39
else.38:
  %v57 = mul i32 3, %n.12
  %v58 = add i32 %v57, 1
  br label %endif.39
endif.39:
  %n.59 = phi i32 [ %v56, %then.37 ], [ %v58, %else.38 ]
  ; line 7: k += 1
  %k.60 = add i32 %k.13, 1
  ; line 8: if k >= 1000:
  %v61 = icmp sge i32 %k.60, 1000
  br i1 %v61, label %then.62, label %else.63
then.62:
  ; line 9: break
  ; line 8: if k >= 1000:
  br label %endif.64
else.63:
  br label %endif.64
endif.64:
  %break.1.65 = phi i1 [ true, %then.62 ], [ %break.1.14, %else.63 ]
  ; line 5: while n != 1:
  br label %while.9
endwhile.11:
  ; line 10: steps[i] = k
  %v66 = sext i32 %tid to i64
  %v69 = getelementptr inbounds i32, ptr %steps.data.68, i64 %v66
  store i32 %k.13, ptr %v69
  br label %thread.end
thread.end:
  %tid.next = add nsw i32 %tid, 1
  br label %threads
done:
  br label %exit
exit:
  ret i32 0
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{i64 0, i64 140737488355328}
