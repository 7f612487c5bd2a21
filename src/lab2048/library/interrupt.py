"""Ctrl-C ends long work in good order, so that what is done is returned."""

import _thread
import contextlib
import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache

from lab2048.errors import StoppedError
from lab2048.stop_flag import OF_PROCESS

PATIENCE = 1.0  # seconds that Ctrl-C waits for the compiler
ONE_PRESS = 0.2  # seconds; `timeout` and process groups may pass one Ctrl-C on twice
HANGUP = getattr(signal, "SIGHUP", None)  # the terminal was closed; Windows has no such signal
SIGNALS = (signal.SIGINT, signal.SIGTERM, *((HANGUP,) if HANGUP else ()))

is_command = False  # True in a process of the command line, which may be ended
received: list[int] = []  # the signals that interrupted this process, for its exit code
_depth = 0  # of nested `interruptible`
_has_nothing_to_save = threading.Event()
_changing = threading.Lock()  # held while the flag of the process or the depth changes


def signals() -> list[signal.Signals]:
    """Return the signals that end work in good order; not a hangup that `nohup` keeps from this process."""
    return [each for each in SIGNALS if each != HANGUP or signal.getsignal(each) is not signal.SIG_IGN]


def note_signal(number: int) -> None:
    """Remember a signal for the exit code; call it first in a handler.

    After a hangup nothing can be printed: an error of the lost terminal would keep work from being saved.
    """
    received.append(number)
    if number == HANGUP:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            with contextlib.suppress(OSError):
                if stat.S_ISCHR(os.fstat(stream).st_mode):  # `isatty` is false for a lost terminal
                    os.dup2(nothing, stream)
        os.close(nothing)


@contextlib.contextmanager
def stopping(*stops: Callable[[], None]) -> Iterator[None]:
    """Call the next of `stops` at each Ctrl-C, SIGTERM or SIGHUP, and raise KeyboardInterrupt when there are no more.

    A signal that follows another one at once counts as the same.  Only the main thread receives signals; elsewhere
    nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    left = list(stops)
    last = -ONE_PRESS

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        nonlocal last
        note_signal(number)
        before, last = last, time.monotonic()
        if last - before < ONE_PRESS:
            return
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    before = {number: signal.signal(number, handle) for number in signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C stop compiled code, and repeat a Ctrl-C that Python drops.

    Python handles a signal only between two steps of the main thread, and a compiled search may be one step of minutes.
    So another thread learns of it and sets the stop flag of the process.

    Python only reports an exception that is raised during cleanup, for example after a module is loaded.
    """
    global _depth
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = sys.unraisablehook
    repeated: list[threading.Timer] = []

    def report(dropped: "sys.UnraisableHookArgs") -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            # Later: raised here, it would be dropped again.
            repeated.append(threading.Timer(0.01, _thread.interrupt_main))
            repeated[-1].start()
        else:
            before(dropped)

    with _changing:
        _depth += 1
    sys.unraisablehook = report
    watch = _watch()
    file_before = signal.set_wakeup_fd(watch.file, warn_on_full_buffer=False)
    if file_before != watch.file:
        watch.next_file = file_before
    try:
        yield
    except (KeyboardInterrupt, StoppedError) as error:  # it has arrived after all, and must not come a second time
        for timer in repeated:
            timer.cancel()
        if isinstance(error, StoppedError) and OF_PROCESS.is_set():
            raise KeyboardInterrupt from error  # callers see Ctrl-C in one form, whoever noticed it first
        raise
    finally:
        signal.set_wakeup_fd(file_before)
        sys.unraisablehook = before
        with _changing:
            _depth -= 1
            if _depth == 0:
                OF_PROCESS.clear()  # what comes next was not interrupted


@contextlib.contextmanager
def nothing_to_save() -> Iterator[None]:
    """Let Ctrl-C end a command at once if Python does not hear of it: LLVM may compile one kernel for many seconds."""
    _has_nothing_to_save.set()
    try:
        yield
    finally:
        _has_nothing_to_save.clear()


class _Watch:
    """A thread that learns of signals at once, whatever the main thread does."""

    def __init__(self) -> None:
        self._read_file, self.file = os.pipe()
        self.next_file = -1  # of an event loop that wants to know, too
        if os.name == "posix":
            os.set_blocking(self.file, False)
        threading.Thread(target=self._run, name="signals", daemon=True).start()

    def _run(self) -> None:
        while numbers := os.read(self._read_file, 64):
            with _changing:
                is_asked = _depth > 0 and any(number in SIGNALS for number in numbers)
                if is_asked:
                    OF_PROCESS.set()
            if is_asked and is_command and _has_nothing_to_save.is_set():
                threading.Thread(target=_end_soon, args=(numbers[-1],), daemon=True).start()
            if self.next_file != -1:
                with contextlib.suppress(OSError):
                    os.write(self.next_file, numbers)


def _end_soon(number: int) -> None:
    time.sleep(PATIENCE)
    if _has_nothing_to_save.is_set():
        os.write(2, b"lab2048: interrupted\n")
        os._exit(128 + number)


@cache
def _watch() -> _Watch:
    return _Watch()
