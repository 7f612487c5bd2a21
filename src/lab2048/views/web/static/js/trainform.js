// The form of a training: method, duration, board, and the options of the method.

import { address, get, messageOf, post } from "./api.js";
import { clusterField } from "./clusterfield.js";
import { attempt, button, commandLine, field, h, select } from "./dom.js";
import { Latest } from "./pure/latest.js";
import { capital } from "./pure/words.js";
import { rulesForm } from "./rulesform.js";
import { t, told } from "./text.js";

export class TrainForm {
  #plan = new Latest(() => post("/api/trainings/plan", { body: this.request() }), {
    answered: ({ command, writes, network }) => {
      this.command.set(command);
      this.drawPatterns(network);
      this.writes.textContent = writes;
      this.error.textContent = "";
    },
    failed: (wrong) => {
      this.command.set("");
      this.drawPatterns("");
      this.writes.textContent = "";
      this.error.textContent = capital(messageOf(wrong));
    },
  });
  /** @type {Api.MethodData[]} */
  #methods = [];
  #unusedName;

  /**
   * @param {object} options
   * @param {(board: string) => string} options.unusedName a name that no training has yet
   * @param {(request: Api.TrainingBody, control: HTMLElement) => unknown} options.onstart
   */
  constructor({ unusedName, onstart }) {
    this.#unusedName = unusedName;
    const plan = () => this.plan();
    this.method = select([["ntuple", "n-tuples"]], "ntuple", () => this.drawMethod(), { name: "method" });
    this.about = h("p.small.quiet");
    this.name = h("input", {
      name: "name",
      placeholder: t("automatic"),
      maxLength: 40,
      spellcheck: false,
      oninput: plan,
    });
    this.minutes = h("input", {
      name: "minutes",
      type: "number",
      max: 10000,
      step: "any",
      value: "1",
      oninput: plan,
    });
    this.rules = rulesForm({ board: "4x4" }, { onchange: plan, boardOnly: true });
    this.network = select([["", t("automatic")]], "", plan, { name: "network" });
    this.networkField = field(t("Network"), this.network);
    this.patterns = h("img", { alt: "" });
    this.patternWords = h("p.small.quiet");
    this.patternBox = h(
      "details.patterns",
      { hidden: true },
      h("summary", {}, t("Patterns of the network")),
      this.patterns,
      this.patternWords,
    );
    this.cluster = clusterField(plan);
    this.options = h("div.fields.explained");
    this.writes = h("p.small.quiet", { role: "status" });
    this.error = h("p.error", { role: "alert" });
    this.command = commandLine();
    this.startButton = button(t("Start"), null, { type: "submit", main: true });
    this.element = h(
      "form.panel.stack",
      {
        onsubmit: (event) => {
          event.preventDefault();
          onstart(this.request(), this.startButton);
        },
      },
      h("h2", {}, t("New training"), " ", h("small", {}, t("a network learns by playing"))),
      field(t("Method"), this.method),
      this.about,
      this.rules.element,
      h("div.fields", {}, field(t("Minutes"), this.minutes), this.networkField, field(t("Name"), this.name)),
      this.patternBox,
      this.cluster.element,
      h("details", {}, h("summary", {}, t("Advanced options")), this.options),
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
        h("option", { value: name, disabled: Boolean(whyNot) }, whyNot ? t("{title} (not installed)", { title }) : title),
      ),
    );
    this.network.append(...about.networks.map((name) => h("option", { value: name }, name)));
    this.drawMethod();
  }

  drawMethod() {
    const chosen = this.#methods.find(({ name }) => name === this.method.value);
    if (!chosen) return;
    const lacking = new Set(this.#methods.map(({ why_not: whyNot }) => whyNot).filter(Boolean));
    this.about.textContent = `${capital(told(chosen.doc))}.`;
    if (lacking.size) this.about.append(h("br"), `${[...lacking].join("; ")}.`);
    this.networkField.hidden = chosen.name !== "ntuple";
    const plan = () => this.plan();
    this.options.replaceChildren(...chosen.options.map((option) => optionField(option, plan)));
    this.plan();
  }

  /** @returns {Api.TrainingBody} */
  request() {
    /** @type {Record<string, string | number | boolean>} */
    const options = {};
    /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */
    const controls = this.options.querySelectorAll("input, select");
    for (const control of controls) {
      if (control.value === "") continue;
      const { kind } = control.dataset;
      options[control.name.slice("option-".length)] =
        kind === "bool" ? control.value === "true" : kind === "number" ? Number(control.value) : control.value;
    }
    const rules = this.rules.value();
    return {
      name: this.name.value.trim() || this.#unusedName(rules.board),
      method: this.method.value,
      network: this.networkField.hidden ? null : this.network.value || null,
      minutes: Number(this.minutes.value),
      rules,
      options,
      cluster: this.cluster.value(),
    };
  }

  /**
   * Show the patterns of an n-tuple network and their symmetric copies.
   * @param {string} network empty if it has none
   */
  drawPatterns(network) {
    this.patternBox.hidden = !network;
    if (!network) return;
    const { board } = this.rules.value();
    const shared = this.request().options?.share !== false;
    const source = address("/api/trainings/options/patterns", { query: { board, network, shared } });
    if (this.patterns.getAttribute("src") !== source) this.patterns.src = source;
    this.patternWords.textContent = shared
      ? t("A row is a pattern and its symmetric copies, itself first. They share one table of weights.")
      : t("Every pattern has a table of weights of its own.");
    this.patterns.alt = shared
      ? t("The patterns of the network {network} on {board} and their symmetric copies", { network, board })
      : t("The patterns of the network {network} on {board}", { network, board });
  }

  /** Show the command and how much it will write. */
  plan() {
    this.#plan.ask();
  }

  close() {
    this.#plan.stop();
  }
}

/**
 * @param {Api.OptionData} option
 * @param {() => void} onchange
 */
function optionField(option, onchange) {
  const control = optionControl(option, onchange);
  const about = h("p.small.quiet", { id: `about-${option.name}` }, option.doc.replace(/\.$/, ""));
  control.setAttribute("aria-describedby", about.id);
  return h("div", {}, field(option.name.replaceAll("_", " "), control), option.doc ? about : null);
}

/**
 * The control of an option; empty means the default.
 * @param {Api.OptionData} option
 * @param {() => void} onchange
 */
function optionControl({ name, kind, default: initial, known, low, high }, onchange) {
  const props = { name: `option-${name}` };
  if (kind === "bool" || known.length) {
    /** @type {import("./dom.js").Option[]} */
    const entries = kind === "bool" ? [["true", t("yes")], ["false", t("no")]] : known.map((word) => [word, word]);
    const text = kind === "bool" ? (initial ? t("yes") : t("no")) : initial;
    const made = select([["", t("default: {value}", { value: String(text) })], ...entries], "", onchange, props);
    made.dataset.kind = kind;
    return made;
  }
  const isNumber = kind === "int" || kind === "float";
  const made = h("input", {
    ...props,
    placeholder: initial ?? t("default"),
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
