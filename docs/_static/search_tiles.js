/* global Search, splitQuery */
// Sphinx's search ignores numbers.  Tiles, such as 65536, are indexed here (_ext/search_tiles.py), so search for them, too.
document.addEventListener("readystatechange", () => {
  if (document.readyState !== "interactive" || typeof Search === "undefined") return;
  const parse = Search._parseQuery;
  Search._parseQuery = (query) => {
    const parsed = parse(query);
    for (const word of splitQuery(query)) {
      if (/^\d+$/.test(word)) {
        parsed[1].add(word); // required
        parsed[3].add(word); // highlighted
      }
    }
    return parsed;
  };
});
