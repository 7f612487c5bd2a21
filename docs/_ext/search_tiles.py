"""Index the tiles in the text, such as 65536: Sphinx leaves numbers out.  _static/search_tiles.js is the other half."""

from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish


class SearchTiles(SearchEnglish):
    """English words, and the powers of two."""

    def word_filter(self, word: str) -> bool:
        is_tile = word.isascii() and word.isdigit() and int(word) > 8 and int(word).bit_count() == 1
        return is_tile or super().word_filter(word)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_search_language(SearchTiles)
    app.add_js_file("search_tiles.js")
    return {"parallel_read_safe": True}
