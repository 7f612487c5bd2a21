"""The tables of a store: how to create them, and how to upgrade those of earlier versions."""

import sqlite3

APPLICATION_ID = 0x4C32_3034  # "L204", in the header of the file
VERSION = 6

# Moves that were saved after those in `episodes.moves`: a game in play grows by small rows here.
_APPENDED_MOVES = """
    CREATE TABLE appended_moves (
        episode INTEGER NOT NULL,
        first INTEGER NOT NULL,
        moves TEXT NOT NULL,
        PRIMARY KEY (episode, first)
    ) WITHOUT ROWID
"""
# Triggers instead of foreign keys: they also hold for programs that do not know of this table.
_APPENDING = (
    _APPENDED_MOVES,
    """
    CREATE TRIGGER moves_replaced AFTER UPDATE OF moves ON episodes
    BEGIN DELETE FROM appended_moves WHERE episode = new.id; END
    """,
    """
    CREATE TRIGGER episode_deleted AFTER DELETE ON episodes
    BEGIN DELETE FROM appended_moves WHERE episode = old.id; END
    """,
    # Finds the games that may have a given checksum.  A game keeps its seed, so saving a move leaves the index alone.
    "CREATE INDEX episodes_by_seed ON episodes (seed)",
)
# The highest id of a deleted game: ids are never given twice.  AUTOINCREMENT would do the same, but a store could only
# be upgraded to it by copying every game.
_DELETED_IDS = (
    "CREATE TABLE deleted_ids (highest INTEGER NOT NULL)",
    "INSERT INTO deleted_ids (highest) VALUES (0)",
    """
    CREATE TRIGGER id_deleted AFTER DELETE ON episodes
    BEGIN UPDATE deleted_ids SET highest = max(highest, old.id); END
    """,
)
# The spawns of games that were played elsewhere; those of other games follow from their seeds.
_GIVEN_SPAWNS = "CREATE TABLE given_spawns (episode INTEGER PRIMARY KEY, spawns BLOB NOT NULL)"
# What a reviewer found, perhaps for the first moves only: `digest` tells whether the game still begins with them.
_REVIEWS = """
    CREATE TABLE reviews (
        episode INTEGER NOT NULL,
        reviewer TEXT NOT NULL,
        created TEXT NOT NULL,
        n_moves INTEGER NOT NULL,
        digest TEXT NOT NULL,
        figures TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (episode, reviewer)
    )
"""
# Puzzles are worth keeping longer than the games that they come from.
_PUZZLES = """
    CREATE TABLE puzzles (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        rules TEXT NOT NULL,
        board TEXT NOT NULL,
        source TEXT NOT NULL,
        facts TEXT NOT NULL,
        rating REAL NOT NULL,
        streak INTEGER NOT NULL,
        due TEXT
    )
"""
_ATTEMPTS = """
    CREATE TABLE puzzle_attempts (
        id INTEGER PRIMARY KEY,
        puzzle INTEGER NOT NULL REFERENCES puzzles (id),
        created TEXT NOT NULL,
        move INTEGER NOT NULL,
        is_right INTEGER NOT NULL,
        rating REAL NOT NULL
    )
"""
_ANALYSIS = (
    _GIVEN_SPAWNS,
    _REVIEWS,
    _PUZZLES,
    _ATTEMPTS,
    """
    CREATE TRIGGER analysed_episode_deleted AFTER DELETE ON episodes
    BEGIN
        DELETE FROM given_spawns WHERE episode = old.id;
        DELETE FROM reviews WHERE episode = old.id;
    END
    """,
)
# Practice of endgames: how well it went, and which puzzles are mistakes that were made there.
_PRACTICE = """
    CREATE TABLE practice (
        formation TEXT PRIMARY KEY,
        n_moves INTEGER NOT NULL,
        n_good INTEGER NOT NULL,
        n_ended INTEGER NOT NULL,
        n_won INTEGER NOT NULL,
        streak INTEGER NOT NULL,
        best_streak INTEGER NOT NULL
    )
"""
_NOTEBOOK = """
    CREATE TABLE notebook (puzzle INTEGER PRIMARY KEY REFERENCES puzzles (id), formation TEXT NOT NULL)
"""
TABLES = (
    """
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        board TEXT NOT NULL,
        rules TEXT NOT NULL,
        player TEXT NOT NULL,
        seed INTEGER,
        created TEXT NOT NULL,
        provenance TEXT NOT NULL
    )
    """,
    # `moves` is last: it may fill several pages, and the other columns can be read without them.
    """
    CREATE TABLE episodes (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs (id),
        number INTEGER NOT NULL,
        created TEXT NOT NULL,
        player TEXT NOT NULL,
        seed INTEGER NOT NULL,
        n_moves INTEGER NOT NULL,
        score INTEGER NOT NULL,
        max_tile INTEGER NOT NULL,
        moves_to_goal INTEGER,
        seconds REAL NOT NULL,
        checksum TEXT NOT NULL,
        movers TEXT NOT NULL,
        moves BLOB NOT NULL,
        UNIQUE (run, number)
    )
    """,
    "CREATE INDEX runs_by_player ON runs (player, rules)",
    *_APPENDING,
    *_DELETED_IDS,
    *_ANALYSIS,
    _PRACTICE,
    _NOTEBOOK,
)
# The statements that upgrade a version to the next one.
UPGRADES = {
    2: ("DROP INDEX episodes_by_checksum", *_APPENDING),
    3: _DELETED_IDS,
    4: _ANALYSIS,
    5: (_PRACTICE, _NOTEBOOK),
}


def version_of(database: sqlite3.Connection) -> int:
    """Return the version of the tables; 0 if there are none yet."""
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def create_tables(database: sqlite3.Connection) -> None:
    """Create the tables of this version, unless another program has just done so; call it in a transaction."""
    if version_of(database) == 0:
        for statement in TABLES:
            database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {VERSION}")


def upgrade_tables(database: sqlite3.Connection) -> None:
    """Upgrade the tables of an earlier version to this one; call it in a transaction."""
    while (version := version_of(database)) in UPGRADES:
        for statement in UPGRADES[version]:
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {version + 1}")


def add_temporary_tables(database: sqlite3.Connection) -> None:
    """Add what reading needs to a store of an earlier version that cannot be upgraded, without writing to its file."""
    missing = [_PRACTICE, _NOTEBOOK]
    if version_of(database) < 5:
        missing += [_GIVEN_SPAWNS, _REVIEWS, _PUZZLES, _ATTEMPTS]
    if version_of(database) == 2:
        missing.append(_APPENDED_MOVES)
    for statement in missing:
        database.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE"))
