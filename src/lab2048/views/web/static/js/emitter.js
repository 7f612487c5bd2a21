// Events with typed data, for objects that are no part of the document.

/** @template {object} Events the type of the data of each event, by name */
export class Emitter {
  #target = new EventTarget();

  /**
   * Call `listener` with the data of every event of this name, until `signal` aborts.
   * @template {keyof Events & string} Name
   * @param {Name} name
   * @param {(data: Events[Name]) => unknown} listener
   * @param {AbortSignal} [signal]
   */
  on(name, listener, signal) {
    this.#target.addEventListener(name, (event) => listener(/** @type {CustomEvent} */ (event).detail), { signal });
  }

  /**
   * Call `listener` at the next event of this name only.
   * @template {keyof Events & string} Name
   * @param {Name} name
   * @param {(data: Events[Name]) => unknown} listener
   */
  once(name, listener) {
    this.#target.addEventListener(name, (event) => listener(/** @type {CustomEvent} */ (event).detail), { once: true });
  }

  /**
   * @template {keyof Events & string} Name
   * @param {Name} name
   * @param {Events[Name]} data
   */
  emit(name, data) {
    this.#target.dispatchEvent(new CustomEvent(name, { detail: data }));
  }
}
