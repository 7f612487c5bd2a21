"""Large digits for large tiles, drawn with half blocks."""

HEIGHT = 3  # lines
WIDTH = 3  # columns of one digit; one empty column between two
# Five rows of three dots, from the top.
_DOTS = {
    "0": "### #.# #.# #.# ###", "1": ".#. ##. .#. .#. ###", "2": "### ..# ### #.. ###", "3": "### ..# ### ..# ###",
    "4": "#.# #.# ### ..# ..#", "5": "### #.. ### ..# ###", "6": "### #.. ### #.# ###", "7": "### ..# ..# ..# ..#",
    "8": "### #.# ### #.# ###", "9": "### #.# ### ..# ###", "k": "#.. #.# ##. #.# #.#", "M": "#.# ### ### #.# #.#",
    "G": "### #.. #.# #.# ###", "?": "### ..# .## ... .#.", "F": "### #.. ##. #.. #..",
}  # fmt: skip
_HALVES = {"..": " ", "#.": "▀", ".#": "▄", "##": "█"}


def width_of(text: str) -> int:
    """Return the width of a text in large digits."""
    return (WIDTH + 1) * len(text) - 1


def large(text: str) -> list[str]:
    r"""Return the lines of a number, or of F, in large digits.

    >>> print("\n".join(line.rstrip() for line in large("24")))
    ▀▀█ █ █
    █▀▀ ▀▀█
    ▀▀▀   ▀
    """
    rows = [[_DOTS[letter].split()[y] for letter in text] for y in range(5)] + [["..."] * len(text)]
    return [" ".join(_joined(*pair) for pair in zip(*rows[y : y + 2], strict=True)) for y in (0, 2, 4)]


def _joined(upper: str, lower: str) -> str:
    return "".join(_HALVES[a + b] for a, b in zip(upper, lower, strict=True))
