"""Worker processes: compilers that may hang, crash or take all memory run in them, and the session lives on.

`server` is the process, `process` its handle here, `pool` who works for whom (`design/isolation.md`).
"""
