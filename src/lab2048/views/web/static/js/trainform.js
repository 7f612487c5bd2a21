// The form of a training: which method, how long, on which board, and the options that the method has.

import { get, post } from "./api.js";
import { attempt, button, commandLine, field, h, select } from "./dom.js";
import { capital } from "./pure/words.js";
import { rulesForm } from "./rulesform.js";

const AS_USUAL = "as usual";

export class TrainForm {
  #timer = 0;
  #methods = [];

  /** `freshName(board)` gives a name that no training has; `onstart` gets the request and the button. */
  constructor({ freshName, onstart }) {
    this.freshName = freshName;
    const plan = () => this.plan();
    this.method = select([["ntuple", "n-tuples"]], "ntuple", () => this.drawMethod(), { name: "method" });
    this.about = h("p.small.quiet");
    this.name = h("input", {
      name: "name",
      placeholder: "chosen for you",
      maxLength: 40,
      spellcheck: false,
      oninput: plan,
    });
    this.minutes = h("input", {
      name: "minutes",
      type: "number",
      min: 0.1,
      max: 10000,
      step: "any",
      value: "1",
      oninput: plan,
    });
    this.rules = rulesForm({ board: "4x4" }, { onchange: plan, boardOnly: true });
    this.network = select([["", "as fits the board"]], "", plan, { name: "network" });
    this.networkField = field("Network", this.network);
    this.options = h("div.fields.explained");
    this.writes = h("p.small.quiet", { role: "status" });
    this.error = h("p.error", { role: "alert" });
    this.command = commandLine();
    this.startButton = button("Start", null, { type: "submit", main: true });
    this.element = h(
      "form.panel.stack",
      {
        onsubmit: (event) => {
          event.preventDefault();
          onstart(this.request(), this.startButton);
        },
      },
      h("h2", {}, "A training ", h("small", {}, "a network plays and learns")),
      field("Method", this.method),
      this.about,
      this.rules.element,
      h("div.fields", {}, field("Minutes", this.minutes), this.networkField, field("Name", this.name)),
      h("details", {}, h("summary", {}, "Options of learning"), this.options),
      this.error,
      this.writes,
      this.startButton,
      this.command,
    );
  }

  async load() {
    const about = await attempt(() => get("/api/trainings/options"));
    if (!about) return;
    this.#methods = about.methods;
    this.method.replaceChildren(
      ...about.methods.map(({ name, title, why_not: whyNot }) =>
        h("option", { value: name, disabled: Boolean(whyNot) }, whyNot ? `${title} (not installed)` : title),
      ),
    );
    this.network.append(...about.networks.map((name) => h("option", { value: name }, name)));
    this.drawMethod();
  }

  drawMethod() {
    const chosen = this.#methods.find(({ name }) => name === this.method.value);
    if (!chosen) return;
    const lacking = new Set(this.#methods.map(({ why_not: whyNot }) => whyNot).filter(Boolean));
    this.about.textContent = `${capital(chosen.doc)}.`;
    if (lacking.size) this.about.append(h("br"), `${[...lacking].join("; ")}.`);
    this.networkField.hidden = chosen.name !== "ntuple";
    const plan = () => this.plan();
    this.options.replaceChildren(
      ...chosen.options.map((option) => optionField(option, plan)),
    );
    this.plan();
  }

  request() {
    const options = {};
    for (const control of this.options.querySelectorAll("input, select")) {
      if (control.value === "") continue;
      const { kind } = control.dataset;
      options[control.name.slice("option-".length)] =
        kind === "bool" ? control.value === "true" : kind === "number" ? Number(control.value) : control.value;
    }
    const made = {
      method: this.method.value,
      network: this.networkField.hidden ? null : this.network.value || null,
      minutes: Number(this.minutes.value),
      rules: this.rules.value(),
      options,
    };
    made.name = this.name.value.trim() || this.freshName(made.rules.board);
    return made;
  }

  /** Say which command it would be, and how much it would write. */
  plan() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      try {
        const { command, writes } = await post("/api/trainings/plan", this.request());
        this.command.set(command);
        this.writes.textContent = writes;
        this.error.textContent = "";
      } catch (wrong) {
        this.command.set("");
        this.writes.textContent = "";
        this.error.textContent = capital(wrong.message);
      }
    }, 250);
  }

  close() {
    clearTimeout(this.#timer);
  }
}

/** An option with what it means. */
function optionField(option, onchange) {
  const control = optionControl(option, onchange);
  const about = h("p.small.quiet", { id: `about-${option.name}` }, option.doc.replace(/\.$/, ""));
  control.setAttribute("aria-describedby", about.id);
  return h("div", {}, field(option.name.replaceAll("_", " "), control), option.doc ? about : null);
}

/** What an option is chosen by, empty as long as it is as usual. */
function optionControl({ name, kind, default: usual, known, low, high }, onchange) {
  const words = { name: `option-${name}` };
  const yes = [
    ["true", "yes"],
    ["false", "no"],
  ];
  if (kind === "bool" || known.length) {
    const entries = kind === "bool" ? yes : known.map((word) => [word, word]);
    const said = kind === "bool" ? (usual ? "yes" : "no") : usual;
    const made = select([["", `${AS_USUAL}: ${said}`], ...entries], "", onchange, words);
    made.dataset.kind = kind;
    return made;
  }
  const isNumber = kind === "int" || kind === "float";
  const made = h("input", {
    ...words,
    placeholder: usual ?? AS_USUAL,
    type: isNumber ? "number" : "text",
    step: kind === "int" ? 1 : "any",
    min: low,
    max: high,
    spellcheck: false,
    oninput: onchange,
  });
  made.dataset.kind = isNumber ? "number" : "text";
  return made;
}
