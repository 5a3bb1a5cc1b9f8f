"""What a program did: records, tapes, gradients, profiles, steps of a thread, and sliders that run it again."""
