"""Worker processes: compilers that may hang, crash or take all memory run in them, and the session lives on.

`server` is the process, `process` its handle here, `pool` hands jobs to processes (`design/isolation.md`).
"""
