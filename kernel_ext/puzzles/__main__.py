"""`python -m kernel_ext.puzzles`: make the students' notebook, and grade a folder of submissions."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kernel_ext.puzzles import homework
from kernel_ext.refusal import Refusal


def main() -> int:
    """Parse the command line and run it; return the exit status: 0, or 2 for a refusal, printed to stderr.

    Its actions: `student` writes the students' notebook, `grade` grades a folder into a CSV file, and `one`, which
    the help does not list, calls `homework.grade_one`.
    """
    parser = argparse.ArgumentParser(prog="python -m kernel_ext.puzzles", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True, metavar="student|grade")
    student = actions.add_parser("student", help="write the students' notebook: answers stripped, tests kept")
    student.add_argument("source", type=Path, help="the instructor's notebook")
    student.add_argument("target", type=Path, help="the students' notebook")
    grade = actions.add_parser("grade", help="grade the notebooks and Python files of a folder into a CSV file")
    grade.add_argument("folder", type=Path, help="of the submissions")
    grade.add_argument("-o", "--table", type=Path, default=Path("grades.csv"), help="the file; grades.csv by default")
    grade.add_argument("--seconds", type=float, default=300.0, help="that a submission may take; 300 by default")
    one = actions.add_parser("one")
    one.add_argument("folder", type=Path)
    one.add_argument("-o", "--table", type=Path)
    for each in (grade, one):
        each.add_argument("--course", type=Path, required=True, help="a Python file that defines a Course")
        each.add_argument("--memory", type=int, default=4096, help="megabytes that it may take; 4096 by default")
    args = parser.parse_args()
    try:
        if args.action == "student":
            print(homework.write_for_students(args.source, args.target))
        elif args.action == "grade":
            homework.grade_folder(args.folder, args.course, args.table, args.seconds, args.memory)
            print(f"wrote {args.table}")
        else:
            homework.grade_one(args.folder, args.course, args.table, args.memory)
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
