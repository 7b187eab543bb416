"""Fuzzing: broken and hostile inputs of every kind, and the laws that hold whatever they are.

    python -m tests.fuzz --minutes 10            all targets, as long as that, with inputs that nobody has seen
    python -m tests.fuzz --cases 1000000         a million cases
    python -m tests.fuzz --target yaml --seed 7  the inputs of one target that a seed gives

A case is what one seed makes of one target (`targets.py`): files, made by mutating what is sound (`inputs.py`,
`mutations.py`, `encodings.py`), and a command line. It runs in this process as the program does (`running.py`), within
bounds of time and memory; then the laws are asked (`laws.py`). A finding names its target and seed, which make the same
case again. The commands that were printed are run by bash with stubs in place of all programs (`pasting.py`).
"""
