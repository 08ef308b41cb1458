"""What a user reads if the lab cannot work."""


class LabError(Exception):
    """The message, and what to do.

    Args:
        what: went wrong.
        remedy: the next thing to type.
        exit_code: 4 where this machine cannot do it, 2 where the request is wrong, 1 where a program failed.
    """

    def __init__(self, what: str, remedy: str, exit_code: int = 4) -> None:
        super().__init__(what)
        self.remedy = remedy
        self.exit_code = exit_code
