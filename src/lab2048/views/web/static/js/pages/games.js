// Games: all recorded games; open, replay, export, import, and delete with undo.

import { address, get, messageOf, post, remove } from "../api.js";
import { attempt, button, dialog, emptyState, field, h, select, table, toast } from "../dom.js";
import { takeDrops } from "../drops.js";
import { labelOf } from "../players.js";
import { writeAddress } from "../pure/codec.js";
import { date, number } from "../pure/format.js";
import { boardWords, capital } from "../pure/words.js";
import { t, tn } from "../text.js";

const PAGE = 50; // games per page

/** @type {PageModule["open"]} */
export async function open(main) {
  const page = new Games(main);
  await page.load();
  return page;
}

class Games {
  #offset = 0;
  /** @type {Set<number>} */
  #chosen = new Set();
  /** @type {Api.GameList} */
  #answer = { games: [], has_more: false, damaged: 0 };

  /** @param {HTMLElement} main */
  constructor(main) {
    const again = () => {
      this.#offset = 0;
      this.load();
    };
    this.kind = select(
      [
        ["mine", t("my games")],
        ["play", t("played on this page, also by players")],
        ["match", t("of matches")],
        ["", t("all")],
      ],
      "mine",
      again,
      { name: "kind" },
    );
    this.order = select(
      [
        ["", t("newest first")],
        ["true", t("best first")],
      ],
      "",
      again,
      { name: "order" },
    );
    this.board = h("input", { placeholder: t("any"), name: "board", onchange: again, spellcheck: false });
    this.player = h("input", { placeholder: t("any"), name: "player", onchange: again, spellcheck: false });
    this.file = h("input.unseen", {
      type: "file",
      accept: ".jsonl,.json,.ndjson,.rpl,.txt,application/json",
      tabIndex: -1,
      "aria-label": t("File of games"),
      onchange: () => this.readFile(),
    });
    this.list = h("div");
    this.pager = h("div.row.spread");
    this.exportLink = h("a.button.slim", { href: address("/api/games/export"), download: "games.jsonl" }, t("Export all"));
    main.append(
      h(
        "div.row.spread.head",
        {},
        h("h1", {}, t("Games")),
        h(
          "div.row",
          {},
          button(t("Import"), () => this.importDialog(), { slim: true }),
          this.exportLink,
          h("a.button.slim", { href: "#/puzzles" }, t("Puzzles")),
          h("a.button.slim", { href: "#/race" }, t("Board of the day")),
          this.file,
        ),
      ),
      h(
        "section.panel",
        {},
        h(
          "div.fields",
          {},
          field(t("Games"), this.kind),
          field(t("Order"), this.order),
          field(t("Board"), this.board),
          field(t("Player"), this.player),
        ),
      ),
      h("section.panel", {}, this.list, this.pager),
    );
    this.close = takeDrops(main, (dropped) => {
      const file = dropped?.files[0];
      if (file) this.importFile(file);
    });
  }

  async load() {
    const isMine = this.kind.value === "mine";
    const answer = await attempt(() =>
      get("/api/games", {
        query: {
          limit: PAGE,
          offset: this.#offset,
          kind: isMine ? "play" : this.kind.value,
          best: this.order.value === "true",
          board: this.board.value.trim(),
          player: this.player.value.trim() || (isMine ? "human" : ""),
        },
      }),
    );
    if (!answer) return;
    const { games } = answer;
    this.list.replaceChildren(
      games.length
        ? table(
            t("Games"),
            [
              [
                "",
                (game) =>
                  h("input", {
                    type: "checkbox",
                    checked: this.#chosen.has(game.id),
                    "aria-label": t("Choose game {id}", { id: String(game.id) }),
                    onchange: (event) => this.choose(game.id, event.currentTarget.checked),
                  }),
              ],
              [t("Game"), (game) => h("a", { href: writeAddress("review", [String(game.id)]) }, `${game.id}`)],
              [t("Date"), (game) => date(game.created)],
              [t("Board"), (game) => h("span.clip", { title: game.board }, boardWords(game.board))],
              [
                t("Players"),
                (game) =>
                  h(
                    "span.clip",
                    { title: game.players.join(", ") },
                    game.players.map((name) => labelOf(name)).join(", "),
                  ),
              ],
              [t("Score"), (game) => number(game.score), "n"],
              [t("Highest"), (game) => number(game.highest), "n"],
              [t("Moves"), (game) => number(game.n_moves), "n"],
              [
                "",
                (game) =>
                  h(
                    "span.row.nowrap",
                    {},
                    button(t("Continue"), () => this.playOn(game.id), {
                      slim: true,
                      "aria-label": t("Continue game {id}", { id: String(game.id) }),
                    }),
                    button(t("Delete"), () => this.delete([game.id]), {
                      slim: true,
                      "aria-label": t("Delete game {id}", { id: String(game.id) }),
                    }),
                  ),
                "acts",
              ],
            ],
            games,
          )
        : this.#offset
          ? h("p.empty", {}, t("No more games."))
          : emptyState(
              t("No games yet. Every game that you play is saved here, to replay, review and continue."),
              t("Play a game"),
              () => (location.hash = "#/play"),
            ),
    );
    this.#answer = answer;
    this.drawPager();
  }

  drawPager() {
    const { has_more: hasMore, damaged } = this.#answer;
    this.pager.replaceChildren(
      h("span.small.quiet", {}, damaged ? tn(damaged, "{n} damaged record not shown", "{n} damaged records not shown") : ""),
      h(
        "div.row",
        {},
        this.#chosen.size
          ? button(t("Delete {n}", { n: this.#chosen.size }), () => this.delete([...this.#chosen]), { slim: true })
          : null,
        this.#offset ? button(t("Newer"), () => this.turn(-PAGE), { slim: true }) : null,
        hasMore ? button(t("Older"), () => this.turn(PAGE), { slim: true }) : null,
      ),
    );
  }

  /** @param {number} by */
  turn(by) {
    this.#offset = Math.max(0, this.#offset + by);
    this.load();
  }

  /**
   * @param {number} id
   * @param {boolean} isChosen
   */
  choose(id, isChosen) {
    if (isChosen) this.#chosen.add(id);
    else this.#chosen.delete(id);
    this.exportLink.href = address("/api/games/export", { query: { ids: [...this.#chosen].join(",") } });
    this.exportLink.textContent = this.#chosen.size ? t("Export {n}", { n: this.#chosen.size }) : t("Export all");
    this.drawPager();
  }

  /** @param {number} id */
  playOn(id) {
    location.hash = writeAddress("play", [], { game: id });
  }

  /** @param {number[]} ids */
  async delete(ids) {
    /** @type {number[]} */
    const gone = [];
    await attempt(async () => {
      for (const id of ids) {
        await remove("/api/games/{game}", { path: { game: id } });
        gone.push(id);
        this.#chosen.delete(id);
      }
    });
    await this.load();
    if (!gone.length) return;
    toast(gone.length === 1 ? t("Game {id} deleted", { id: String(gone[0]) }) : t("{n} games deleted", { n: gone.length }), t("Undo"), () =>
      attempt(async () => {
        for (const id of gone) await post("/api/games/{game}/restore", { path: { game: id } });
        await this.load();
      }),
    );
  }

  importDialog() {
    const text = h("textarea", { name: "lines", spellcheck: false, rows: 6 });
    const error = h("p.error", { role: "alert" });
    const box = dialog(
      t("Import games"),
      h(
        "div.stack",
        {},
        h("p.small.quiet", {}, t("Lines of JSON, as Export and lab2048 games export write them, or replays of 2048verse, 2048next, 2048league or 2048EndgameTablebase.")),
        field(t("Paste them here"), text),
        error,
      ),
      h(
        "div.row.end",
        {},
        button(t("Cancel"), () => box.close()),
        button(t("From a file"), () => {
          box.close();
          this.file.click();
        }),
        button(
          t("Import"),
          async () => {
            error.textContent = await this.import(text.value).catch(messageOf);
            if (!error.textContent) box.close();
          },
          { main: true },
        ),
      ),
    );
  }

  readFile() {
    const file = this.file.files?.[0];
    if (file) this.importFile(file);
    this.file.value = "";
  }

  /** @param {File} file */
  importFile(file) {
    attempt(async () => {
      const why = await this.import(file);
      if (why) toast(why);
    });
  }

  /**
   * Import games, and list all of them; returns why there are none to import, else "".
   * @param {string | Blob} body lines of JSON, or replays of other programs
   */
  async import(body) {
    const answer = await post("/api/games/import", { body: /** @type {string} */ (body) });
    if (!answer.imported && !answer.already) return capital(answer.errors[0] ?? t("There is no game in it."));
    const words = [tn(answer.imported, "{n} game imported", "{n} games imported")];
    if (answer.already) words.push(t("{n} already here", { n: answer.already }));
    if (answer.refused) words.push(t("{n} refused: {error}", { n: answer.refused, error: answer.errors[0] ?? "" }));
    const [first] = answer.ids;
    toast(words.join(", "), first ? t("Replay") : null, () => (location.hash = writeAddress("review", [String(first)])));
    this.kind.value = "";
    await this.load();
    return "";
  }
}
