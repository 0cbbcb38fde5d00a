"""What goes wrong, as exceptions. Each is also the built-in exception that people expect."""


class Error(Exception):
    """Any failure in Tenon. The message names the node, the input or the file."""


class InvalidArgumentError(Error, ValueError):
    """A value, shape or option that does not fit."""


class NotFoundError(Error, FileNotFoundError):
    """A file, signature, input or variable that does not exist."""


class ResourceExhaustedError(Error, MemoryError):
    """Not enough memory, or a bound that was reached."""


class FailedPreconditionError(Error, RuntimeError):
    """The object is in the wrong state: a closed model, a variable without a value."""


class UnimplementedError(Error, NotImplementedError):
    """An op, dtype or feature that Tenon does not have."""


class CancelledError(Error, RuntimeError):
    """A run that was asked to stop."""


class DeadlineExceededError(Error, TimeoutError):
    """A run that took longer than its timeout."""


class InternalError(Error, RuntimeError):
    """A mistake in Tenon."""


# By tenon_code.
BY_CODE: "dict[int, type[Error]]" = {
    1: CancelledError,
    3: InvalidArgumentError,
    4: DeadlineExceededError,
    5: NotFoundError,
    8: ResourceExhaustedError,
    9: FailedPreconditionError,
    12: UnimplementedError,
    13: InternalError,
}
