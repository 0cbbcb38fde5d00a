"""Tokens one by one."""

from __future__ import annotations

from typing import Any, FrozenSet, Iterable, Iterator, List, Optional, Union

import numpy as np

from tenon import _core


def _ids(tokens: Any) -> List[int]:
    """Token ids [tokens] or [1, tokens] as a list."""
    array = np.asarray(tokens)
    if array.ndim == 2 and array.shape[0] == 1:
        array = array[0]
    if array.ndim != 1:
        raise ValueError(f"a prompt has shape [tokens] or [1, tokens], but an object of type {type(tokens).__name__!r} "
                         f"and shape {array.shape} was given")
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"token ids are integers, but an object of type {type(tokens).__name__!r} and "
                        f"dtype {array.dtype} was given")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise OverflowError(f"token {array.max()} does not fit into int64")
    ids: List[int] = array.tolist()
    return ids


class Generator(Iterator[int]):
    """One text, token by token: `Model.generator` makes it.

    It is an iterator of token ids that never ends. One thread at a time may use it. A closed model's generators fail;
    its memory is freed when they are gone, too.

    After a timeout or Ctrl-C the call may be repeated if the model feeds its cache back; if it changes variables,
    `reset` the generator.

    >>> generator = tenon.load("tests/models/generate/variables").generator()
    >>> generator.prompt(list(b"The"))  # tokens of this model are bytes
    >>> next(generator), next(generator)
    (247, 36)
    """

    def __init__(self, session: _core.Session, cast: bool, tokens: Optional[str], position: Optional[str],
                 logits: Optional[str], temperature: float, top_k: int, top_p: float, seed: int) -> None:
        if not 0 <= seed < 1 << 64:
            raise ValueError(f"seed must be at least 0 and below 2**64, not {seed}")
        self._generator = _core.Generator(session, tokens, position, logits, temperature, top_k, top_p, seed)
        self._cast = cast

    def set_input(self, name: str, value: Any) -> None:
        """Sets the first value of an input that is fed back, or the value of any other input. It is copied.

        Without it, an input that is fed back starts as zeros: an unknown dimension is 1 in the first place and 0
        elsewhere.

        Raises TypeError for a wrong dtype, ValueError for a wrong shape, an input that does not exist, or one that the
        generator sets itself.
        """
        self._generator.set_input(name, value, self._cast)

    def prompt(self, tokens: Any, *, timeout: Optional[float] = None) -> None:
        """Appends tokens to the text and computes them.

        Args:
          tokens: ids, a list or an array [tokens] or [1, tokens]
          timeout: seconds; DeadlineExceededError (a TimeoutError) if it takes longer
        """
        self._generator.prompt(_ids(tokens), timeout)

    def next(self, *, timeout: Optional[float] = None) -> int:
        """Chooses the next token and appends it; `next(generator)` is the same without a timeout.

        timeout: seconds; DeadlineExceededError (a TimeoutError) if it takes longer.

        Raises FailedPreconditionError before the first prompt.
        """
        return self._generator.next(timeout)

    def generate(self, prompt: Any, max_tokens: int, stop: Union[int, Iterable[int], None] = None, *,
                 timeout: Optional[float] = None) -> Iterator[int]:
        """Appends a prompt and computes it, and returns an iterator of the tokens that follow.

        Args:
          prompt: ids, a list or an array [tokens] or [1, tokens]
          max_tokens: the most tokens to give
          stop: a token, or several, at which the iterator ends, without giving it
          timeout: seconds for the prompt, and for each token

        The text goes on with the next prompt; `reset` starts another one.

        >>> generator = tenon.load("tests/models/generate/feedback").generator()
        >>> list(generator.generate(list(b"The mill"), max_tokens=40, stop=131))
        [164, 154, 36]
        """
        if max_tokens < 0:
            raise ValueError(f"max_tokens must not be negative, but is {max_tokens}")
        stops = frozenset(() if stop is None else (stop,) if isinstance(stop, (int, np.integer)) else stop)
        self.prompt(prompt, timeout=timeout)
        return self._until(max_tokens, stops, timeout)

    def _until(self, max_tokens: int, stops: FrozenSet[int], timeout: Optional[float]) -> Iterator[int]:
        for _ in range(max_tokens):
            token = self.next(timeout=timeout)
            if token in stops:
                return
            yield token

    def reset(self) -> None:
        """Forgets the text: variables get the values that they had when the generator was made, and random numbers
        start again."""
        self._generator.reset()

    def __iter__(self) -> Generator:
        return self

    def __next__(self) -> int:
        return self._generator.next()
