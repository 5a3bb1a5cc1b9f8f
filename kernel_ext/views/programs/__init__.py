"""Views of programs: records, tapes, gradients, profiles, steps of a thread, and sliders that run a program again."""
