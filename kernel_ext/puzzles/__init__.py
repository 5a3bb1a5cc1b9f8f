"""Puzzles that check and grade themselves: a kernel's numbers, its faults, and what it would cost a GPU.

`notebooks/puzzles` and `notebooks/exercises` are tables of these; a teacher's own puzzles need no more than they do.
"""

from kernel_ext.puzzles.answer import Answer, Question, predict
from kernel_ext.puzzles.course import Course
from kernel_ext.puzzles.pictures import Arrow, Boxes, Picture
from kernel_ext.puzzles.trial import Case, Puzzle, Wrong

__all__ = ["Answer", "Arrow", "Boxes", "Case", "Course", "Picture", "Puzzle", "Question", "Wrong", "predict"]
