"""`/api/daily`: the board of the day, your result and the champion's."""

import threading
from datetime import date

from fastapi import APIRouter
from pydantic import BaseModel

from lab2048.arena.compile import groups_of
from lab2048.arena.daily import RULES, champion, daily_seed, find_champion, find_mine, play_champion, today
from lab2048.errors import LabError
from lab2048.records.entry import Entry
from lab2048.stop_flag import StopFlag, looking_at
from lab2048.views.web.serialize.schema import ERRORS
from lab2048.views.web.state import Lab, LabOf

router = APIRouter(prefix="/api", tags=["daily"], responses=ERRORS)


class ResultData(BaseModel):
    """A game on the board of the day."""

    game: int
    score: int
    highest: int
    n_moves: int


class DailyData(BaseModel):
    """The board of the day; `champion` is null until its game has been played."""

    date: date
    seed: int
    player: str
    mine: ResultData | None
    champion: ResultData | None


@router.get("/daily")
def daily(lab: LabOf) -> DailyData:
    """Return the board of the day; the champion plays it in the background if it has not yet."""
    day = today()
    theirs = find_champion(lab.store, day)
    if theirs is None:
        _begin(lab, day)
    return DailyData(
        date=day,
        seed=daily_seed(day),
        player=champion(),
        mine=_result(find_mine(lab.store, day)),
        champion=_result(theirs),
    )


_playing = threading.Lock()


def _begin(lab: Lab, day: date) -> None:
    """Let the champion play, unless it does already or its kernels are not ready."""
    if not lab.players.is_ready(*groups_of([champion()], RULES)) or not _playing.acquire(blocking=False):
        return
    flag = lab.add_flag(StopFlag())

    def play() -> None:
        try:
            with looking_at(flag):
                play_champion(lab.store, day)
        except LabError:
            pass  # the server is stopping, or the store is: it is tried again when someone asks
        finally:
            lab.drop_flag(flag)
            _playing.release()

    threading.Thread(target=play, name="daily", daemon=True).start()


def _result(entry: Entry | None) -> ResultData | None:
    if entry is None:
        return None
    return ResultData(game=entry.id, score=entry.score, highest=entry.max_tile, n_moves=entry.n_moves)
