"""The one family of errors that a person sees as a sentence instead of a traceback."""


class SchedError(Exception):
    """Something outside kubectl-sched is not as it must be.

    Its text is one sentence that says what is wrong, where, and what to do. `exit_code` is the program's exit code for
    it: 1 where the answer is no, 2 for wrong usage or bad input, 3 for a failure at run time.
    """

    exit_code = 2

    details: tuple[str, ...] = ()
    """Lines that a terminal shows below the sentence."""


def words_of(error: OSError) -> str:
    """Return what the operating system says is wrong, as the end of a sentence."""
    words = error.strerror or str(error)
    return f"{words[:1].lower()}{words[1:]}"
