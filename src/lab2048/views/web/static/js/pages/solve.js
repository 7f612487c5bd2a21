// Solve: exact values of small boards; start a solve, follow it, and walk through what it found.

import { get, post } from "../api.js";
import "../board.js";
import { jobList } from "../dialogs.js";
import { attempt, button, commandLine, field, h, select, table } from "../dom.js";
import { playersOf } from "../players.js";
import { setPref } from "../prefs.js";
import { writeAddress } from "../pure/codec.js";
import { bytes, number, percent } from "../pure/format.js";
import { tile } from "../pure/slide.js";
import { capital } from "../pure/words.js";
import { rulesForm, rulesWords } from "../rulesform.js";
import { patiently, stream } from "../stream.js";

export async function open(main, { rest, query }) {
  const page = new Solve();
  page.build(main, query);
  await page.load(rest[0] ?? null, query.position ?? null);
  return page;
}

class Solve {
  #ending = new AbortController();
  #planTimer = 0;
  #tables = [];
  #table = null;
  #past = [];
  #estimating = null;

  build(main, query) {
    const plan = () => this.plan();
    this.rules = rulesForm({ board: "2x2", goal: 16, ...query, start: query.start || undefined }, { onchange: plan });
    this.objective = select(
      [
        ["win", "the chance to reach the goal"],
        ["score", "the expected score"],
      ],
      query.objective ?? "win",
      plan,
      { name: "objective" },
    );
    this.verdict = h("p.small.quiet", { role: "status" });
    this.command = commandLine();
    this.error = h("p.error", { role: "alert" });
    this.jobs = jobList(
      () => [...stream.jobs.values()].filter(({ kind }) => kind === "solve").slice(0, 8),
      this.#ending.signal,
    );
    this.list = h("div");
    this.browser = h("section.panel", { hidden: true, "aria-label": "Browse a table" });
    main.append(
      h("h1", {}, "Solve"),
      h(
        "div.two.wide",
        {},
        h("div", {}, this.browser, h("section.panel", {}, h("h2", {}, "Tables"), this.list)),
        h(
          "aside",
          { "aria-label": "A new solve" },
          h(
            "form.panel.stack",
            { onsubmit: (event) => this.start(event) },
            h("h2", {}, "Solve a board ", h("small", {}, "every position, exactly")),
            this.rules.element,
            field("Solve for", this.objective),
            this.verdict,
            this.error,
            h(
              "div.row",
              {},
              button("Solve", null, { type: "submit", main: true }),
              button("Estimate", () => this.estimate()),
            ),
            this.command,
          ),
          h("section.panel", {}, h("h2", {}, "Jobs"), this.jobs),
        ),
      ),
    );
    this.plan();
    stream.on("job", (job) => job.kind === "solve" && job.state === "done" && this.load(job.id), this.#ending.signal);
  }

  request() {
    return { rules: this.rules.value(), objective: this.objective.value };
  }

  plan() {
    clearTimeout(this.#planTimer);
    this.#estimating?.abort();
    this.verdict.textContent = "";
    this.#planTimer = setTimeout(async () => {
      try {
        this.command.set((await post("/api/solves/plan", this.request())).command);
        this.error.textContent = "";
        this.estimate();
      } catch (wrong) {
        this.command.set("");
        this.error.textContent = wrong.message;
      }
    }, 250);
  }

  async estimate() {
    this.#estimating?.abort();
    const abort = (this.#estimating = new AbortController());
    this.verdict.textContent = "Counting boards...";
    try {
      const answer = await patiently(() => post("/api/design/estimate", this.request(), { signal: abort.signal }));
      this.verdict.textContent = capital(answer.verdict) + ".";
    } catch (wrong) {
      if (wrong.name !== "AbortError") this.verdict.textContent = capital(wrong.message);
    }
  }

  async start(event) {
    event.preventDefault();
    const job = await attempt(() => post("/api/solves", this.request()), event.submitter);
    if (job) stream.learn(job);
  }

  worth(value) {
    return this.#table.objective === "win" ? percent(value) : number(value);
  }

  /** Show all tables, and one of them: by its name, or by the name of its job. */
  async load(which = null, position = null) {
    const answer = await attempt(() => get("/api/tables"));
    if (!answer) return;
    this.#tables = answer.tables;
    this.list.replaceChildren(
      this.#tables.length
        ? table(
            "Tables",
            [
              ["Table", (each) => h("a", { href: writeAddress("solve", [each.name]) }, each.name)],
              ["Rules", (each) => h("span.clip", {}, rulesWords(each.rules))],
              ["Best play", (each) => (each.objective === "win" ? percent(each.value) : number(each.value)), "n"],
              ["States", (each) => number(each.states), "n"],
              ["Layers", (each) => number(each.layers), "n"],
              ["Size", (each) => bytes(each.bytes), "n"],
            ],
            this.#tables,
          )
        : h("p.empty", {}, "None yet: 2x2 to 16 takes a second."),
    );
    const found =
      this.#tables.find(({ name, job }) => name === which || (which && job === which)) ??
      (which || this.#table ? null : this.#tables[0]);
    if (found) await this.choose(found.name, position);
  }

  async choose(name, position) {
    const about = await attempt(() => get(`/api/tables/${encodeURIComponent(name)}`));
    if (!about) return;
    this.#table = about;
    this.#past = [];
    this.position = null;
    this.board = h("lab-board", { quiet: true, name: "Position" });
    this.text = h("input.plain", { name: "position", "aria-label": "Position", spellcheck: false });
    this.value = h("p.value");
    this.moves = h("div.values");
    this.spawns = h("div.spawns");
    this.hard = h("div.row");
    this.probeCommand = commandLine();
    this.backButton = button("Back", () => this.back(), { disabled: true });
    this.browser.hidden = false;
    this.browser.replaceChildren(
      h(
        "h2",
        {},
        about.name,
        h(
          "small",
          {},
          `${rulesWords(about.rules)}; ${about.objective === "win" ? "chance to win" : "expected score"} ${this.worth(about.value)} with the best play`,
        ),
      ),
      h(
        "div.browse",
        {},
        h(
          "div.stack",
          {},
          this.board,
          h(
            "form.row",
            {
              onsubmit: (event) => {
                event.preventDefault();
                this.probe({ board: this.text.value });
              },
            },
            h("div.grow", {}, this.text),
            button("Look up", null, { type: "submit", slim: true }),
          ),
          h(
            "div.row",
            {},
            this.backButton,
            button("Start", () => this.probe({})),
            button("Play it", () => this.play(), { main: true, title: "with perfect hints" }),
          ),
        ),
        h(
          "div.stack",
          {},
          this.value,
          this.moves,
          h("h2", {}, "Spawns after the best move ", h("small", {}, "best first")),
          this.spawns,
        ),
      ),
      h("h2.space", {}, "Hardest positions ", h("small", {}, "where the second best move loses most")),
      this.hard,
      this.probeCommand,
    );
    this.board.shape = about.shape;
    await this.probe(position ? { board: position } : {});
    const hardest = await attempt(() => get(`/api/tables/${encodeURIComponent(name)}/hardest?n=8`));
    if (hardest && this.#table === about) {
      this.hard.replaceChildren(
        ...hardest.positions
          .filter(({ value, second }) => value - second > 1e-9)
          .map((each) =>
            button(
              h(
                "span",
                {},
                this.mini(each.ranks),
                h("span.small", {}, `${this.worth(each.value)} or ${this.worth(each.second)}`),
              ),
              () => this.probe({ ranks: each.ranks }),
              { "aria-label": `${each.board}: ${this.worth(each.value)}, second best ${this.worth(each.second)}` },
            ),
          ),
      );
      this.hard.className = "row hard";
    }
  }

  mini(ranks) {
    const board = h("lab-board", { quiet: true, "aria-hidden": "true", className: "mini" });
    board.shape = this.#table.shape;
    board.show(ranks);
    return board;
  }

  async probe(where, { isBack = false } = {}) {
    const answer = await attempt(() => post(`/api/tables/${encodeURIComponent(this.#table.name)}/probe`, where));
    if (!answer) return;
    if (this.position && !isBack) this.#past.push(this.position.ranks);
    this.position = answer;
    this.backButton.disabled = !this.#past.length;
    this.board.show(answer.ranks);
    this.board.point(answer.over ? null : answer.best);
    this.text.value = answer.board;
    const words = this.#table.objective === "win" ? "Chance to win" : "Expected score to come";
    this.value.replaceChildren(
      `${words} `,
      h("b", {}, this.worth(answer.value)),
      answer.won ? " (the goal is reached)" : answer.over ? " (no move is left)" : "",
    );
    const most = Math.max(...answer.moves.map(({ value }) => value), 1e-12);
    this.moves.replaceChildren(
      ...answer.moves.flatMap(({ move, name, value, ranks }) => {
        const bar = h("u");
        bar.style.setProperty("--share", String(value / most));
        const isBest = move === answer.best;
        return [
          h(isBest ? "div.best" : "div", {}, capital(name)),
          h("div.track", { title: ranks ? null : "not possible" }, bar),
          h("div.n", {}, this.worth(value)),
        ];
      }),
    );
    this.spawns.replaceChildren(
      ...answer.spawns.map(({ cell, rank, probability, value, ranks }, i) => {
        const isSame = answer.spawns[0].value - answer.spawns.at(-1).value < 1e-9;
        const tail = isSame ? "" : i === 0 ? "best" : i === answer.spawns.length - 1 ? "worst" : "";
        return h(
          "button.spawn",
          { type: "button", onclick: () => this.probe({ ranks }) },
          h("b", {}, tile(rank)),
          h("span.grow", {}, this.board.placeOf(cell)),
          h("span.quiet", {}, percent(probability)),
          h("span", {}, this.worth(value)),
          h(i ? "span.small.bad" : "span.small.good", {}, tail),
        );
      }),
    );
    if (!answer.spawns.length) this.spawns.replaceChildren(h("p.quiet.small", {}, "None: the game ends here."));
    this.probeCommand.set(answer.command);
  }

  back() {
    const ranks = this.#past.pop();
    if (ranks) this.probe({ ranks }, { isBack: true });
  }

  async play() {
    await playersOf(this.#table.rules.board, { fresh: true }).catch(() => {});
    setPref("player", this.#table.spec);
    setPref("hints", "all");
    location.hash = writeAddress("play", [], this.#table.rules);
  }

  close() {
    this.#ending.abort();
    this.#estimating?.abort();
    clearTimeout(this.#planTimer);
  }
}
