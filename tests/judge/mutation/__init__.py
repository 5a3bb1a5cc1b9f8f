"""Mutation of the compiler: small faults are put into a copy of it, and the harness has to notice each.

python -m tests.judge.mutation --count 300 --seed 1 --report FILE --jobs 2
"""
