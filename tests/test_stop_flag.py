"""Stop flags: every thread has one, and a set flag ends its work."""

import threading

import pytest

from lab2048.errors import StoppedError
from lab2048.stop_flag import OF_PROCESS, StopFlag, current, looking_at


def test_a_flag_is_one_word_that_kernels_can_read() -> None:
    flag = StopFlag()
    assert not flag.is_set()
    flag.check()
    flag.set()
    assert flag.is_set()
    assert flag.wait(0)
    with pytest.raises(StoppedError):
        flag.check()
    flag.clear()
    assert not flag.is_set()
    assert not flag.wait(0)


def test_the_current_flag_belongs_to_the_thread() -> None:
    own, found = StopFlag(), list[StopFlag]()
    with looking_at(own):
        assert current() is own
        with looking_at(StopFlag()):
            assert current() is not own
        assert current() is own
        other = threading.Thread(target=lambda: found.append(current()))
        other.start()
        other.join()
    assert current() is OF_PROCESS
    assert found == [OF_PROCESS]
