// Games: all that were kept; open, replay, take out, bring in, delete with a way back.

import { get, post, remove, withQuery } from "../api.js";
import { attempt, button, dialog, field, h, select, table, toast } from "../dom.js";
import { writeAddress } from "../pure/codec.js";
import { count, date, number } from "../pure/format.js";

const PAGE = 50;

export async function open(main) {
  const page = new Games();
  page.build(main);
  await page.load();
  return page;
}

class Games {
  #offset = 0;
  #chosen = new Set();

  build(main) {
    const again = () => {
      this.#offset = 0;
      this.load();
    };
    this.kind = select(
      [
        ["play", "played here"],
        ["", "all"],
        ["match", "of matches"],
      ],
      "play",
      again,
      { name: "kind" },
    );
    this.order = select(
      [
        ["", "newest first"],
        ["true", "best first"],
      ],
      "",
      again,
      { name: "order" },
    );
    this.board = h("input", { placeholder: "any", name: "board", onchange: again, spellcheck: false });
    this.player = h("input", { placeholder: "any", name: "player", onchange: again, spellcheck: false });
    this.file = h("input.unseen", {
      type: "file",
      accept: ".jsonl,.json,.ndjson,application/json",
      tabIndex: -1,
      "aria-label": "File of games",
      onchange: () => this.readFile(),
    });
    this.list = h("div");
    this.pager = h("div.row.spread");
    this.exportLink = h("a.button.slim", { href: "/api/games/export", download: "games.jsonl" }, "Export all");
    main.append(
      h(
        "div.row.spread.head",
        {},
        h("h1", {}, "Games"),
        h(
          "div.row",
          {},
          button("Import", () => this.bringIn(), { slim: true }),
          this.exportLink,
          this.file,
        ),
      ),
      h(
        "section.panel",
        {},
        h(
          "div.fields",
          {},
          field("Games", this.kind),
          field("Order", this.order),
          field("Board", this.board),
          field("Player", this.player),
        ),
      ),
      h("section.panel", {}, this.list, this.pager),
    );
    main.addEventListener("dragover", (event) => event.preventDefault());
    main.addEventListener("drop", (event) => {
      event.preventDefault();
      const [file] = event.dataTransfer.files;
      if (file) this.take(file.text());
    });
  }

  async load() {
    const answer = await attempt(() =>
      get(
        withQuery("/api/games", {
          limit: PAGE,
          offset: this.#offset,
          kind: this.kind.value,
          best: this.order.value,
          board: this.board.value.trim(),
          player: this.player.value.trim(),
        }),
      ),
    );
    if (!answer) return;
    const { games } = answer;
    this.list.replaceChildren(
      games.length
        ? table(
            "Games",
            [
              [
                "",
                (game) =>
                  h("input", {
                    type: "checkbox",
                    checked: this.#chosen.has(game.id),
                    "aria-label": `Choose game ${game.id}`,
                    onchange: (event) => this.choose(game.id, event.target.checked),
                  }),
              ],
              ["Game", (game) => h("a", { href: writeAddress("review", [game.id]) }, `${game.id}`)],
              ["Date", (game) => date(game.created)],
              ["Board", (game) => h("span.clip", { title: game.board }, game.board)],
              [
                "Players",
                (game) =>
                  h(
                    "span.clip",
                    { title: (game.players ?? [game.player]).join(", ") },
                    (game.players?.length ? game.players : [game.player])
                      .map((name) => (name === "human" ? "me" : name))
                      .join(", "),
                  ),
              ],
              ["Score", (game) => number(game.score), "n"],
              ["Highest", (game) => number(game.highest), "n"],
              ["Moves", (game) => number(game.n_moves), "n"],
              [
                "",
                (game) =>
                  h(
                    "span.row.nowrap",
                    {},
                    button("Play on", () => this.playOn(game.id), {
                      slim: true,
                      "aria-label": `Play on in game ${game.id}`,
                    }),
                    button("Delete", () => this.delete([game.id]), {
                      slim: true,
                      "aria-label": `Delete game ${game.id}`,
                    }),
                  ),
                "acts",
              ],
            ],
            games,
          )
        : h("p.empty", {}, this.#offset ? "No more games." : "No games yet: play one, or bring some in."),
    );
    this.answer = answer;
    this.drawPager();
  }

  drawPager() {
    const { has_more: hasMore, damaged } = this.answer;
    this.pager.replaceChildren(
      h("span.small.quiet", {}, damaged ? `${count(damaged, "damaged record")} not shown` : ""),
      h(
        "div.row",
        {},
        this.#chosen.size
          ? button(`Delete ${this.#chosen.size}`, () => this.delete([...this.#chosen]), { slim: true })
          : null,
        this.#offset ? button("Newer", () => this.turn(-PAGE), { slim: true }) : null,
        hasMore ? button("Older", () => this.turn(PAGE), { slim: true }) : null,
      ),
    );
  }

  turn(by) {
    this.#offset = Math.max(0, this.#offset + by);
    this.load();
  }

  choose(id, isChosen) {
    if (isChosen) this.#chosen.add(id);
    else this.#chosen.delete(id);
    this.exportLink.href = this.#chosen.size
      ? `/api/games/export?ids=${[...this.#chosen].join(",")}`
      : "/api/games/export";
    this.exportLink.textContent = this.#chosen.size ? `Export ${this.#chosen.size}` : "Export all";
    this.drawPager();
  }

  playOn(id) {
    location.hash = writeAddress("play", [], { game: id });
  }

  async delete(ids) {
    const gone = [];
    await attempt(async () => {
      for (const id of ids) {
        await remove(`/api/games/${id}`);
        gone.push(id);
        this.#chosen.delete(id);
      }
    });
    await this.load();
    if (!gone.length) return;
    toast(gone.length === 1 ? `Game ${gone[0]} is deleted` : `${gone.length} games are deleted`, "Undo", () =>
      attempt(async () => {
        for (const id of gone) await post(`/api/games/${id}/restore`);
        await this.load();
      }),
    );
  }

  bringIn() {
    const text = h("textarea", { name: "lines", spellcheck: false, rows: 6 });
    const box = dialog(
      "Import games",
      h(
        "div.stack",
        {},
        h("p.small.quiet", {}, "Lines of JSON, as Export and lab2048 games export write them."),
        field("Paste them here", text),
      ),
      h(
        "div.row.end",
        {},
        button("Cancel", () => box.close()),
        button("From a file", () => {
          box.close();
          this.file.click();
        }),
        button(
          "Import",
          () => {
            box.close();
            this.take(text.value);
          },
          { main: true },
        ),
      ),
    );
  }

  readFile() {
    const [file] = this.file.files;
    if (file) this.take(file.text());
    this.file.value = "";
  }

  async take(text) {
    const lines = await text;
    const answer = await attempt(() => post("/api/games/import", lines, { type: "application/x-ndjson" }));
    if (!answer) return;
    const words = [`${count(answer.imported, "game")} ${answer.imported === 1 ? "is" : "are"} here now`];
    if (answer.already) words.push(`${answer.already} were already`);
    if (answer.refused) words.push(`${answer.refused} were refused: ${answer.errors[0] ?? ""}`);
    const [first] = answer.ids ?? [];
    toast(words.join(", "), first ? "Replay" : null, () => (location.hash = writeAddress("review", [first])));
    this.kind.value = "";
    await this.load();
  }
}
