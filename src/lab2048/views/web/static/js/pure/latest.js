// The answer to the latest question: a form asks at every change, and answers may come back in any order.

/** @template Answer */
export class Latest {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #number = 0; // of the latest question

  /**
   * @param {() => Promise<Answer>} ask
   * @param {{ answered: (answer: Answer) => void, failed: (error: unknown) => void, pause?: number }} then
   */
  constructor(ask, { answered, failed, pause = 200 }) {
    this.question = ask;
    this.answered = answered;
    this.failed = failed;
    this.pause = pause;
  }

  /** Ask after a pause in which nothing else is asked. */
  ask() {
    this.stop();
    const number = this.#number;
    this.#timer = setTimeout(async () => {
      try {
        const answer = await this.question();
        if (number === this.#number) this.answered(answer);
      } catch (error) {
        if (number === this.#number) this.failed(error);
      }
    }, this.pause);
  }

  /** Drop the question that waits and the answer that is on its way. */
  stop() {
    clearTimeout(this.#timer);
    this.#number += 1;
  }
}
