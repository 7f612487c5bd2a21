// An n-tuple network in the browser: the value of a board is a sum of weights (lab2048.kernels.ntuple.lookup).

/**
 * What lab2048.views.web.widget writes.
 * @typedef {object} NetworkData
 * @property {number} radix ranks that a cell can have
 * @property {number} step points per unit of a weight
 * @property {number[]} stages ranks of the highest tile at which later stages begin
 * @property {number[]} sizes weights of each table, stage by stage
 * @property {{ table: number, cells: number[] }[]} lookups
 * @property {string} weights int16, little-endian, compressed by gzip, as base64
 */

export class Network {
  #tables;
  #lookups;
  #radix;
  #step;
  #stages;
  #tablesPerStage;

  /**
   * @param {NetworkData} data
   * @param {Int16Array[]} tables
   */
  constructor(data, tables) {
    this.#tables = tables;
    this.#lookups = data.lookups.map(({ table, cells }) => ({ table, cells: Uint8Array.from(cells) }));
    this.#radix = data.radix;
    this.#step = data.step;
    this.#stages = data.stages;
    this.#tablesPerStage = tables.length / (data.stages.length + 1);
  }

  /** @param {NetworkData} data */
  static async load(data) {
    const bytes = Uint8Array.from(atob(data.weights), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const view = new DataView(await new Response(stream).arrayBuffer());
    let begin = 0;
    const tables = data.sizes.map((size) => {
      const table = Int16Array.from({ length: size }, (_, i) => view.getInt16(2 * (begin + i), true));
      begin += size;
      return table;
    });
    return new Network(data, tables);
  }

  /**
   * The expected future score of an afterstate.
   * @param {Uint8Array} ranks
   */
  value(ranks) {
    const radix = this.#radix;
    const highest = radix - 1;
    const top = this.#stages.length > 0 ? Math.max(...ranks) : 0;
    const first = this.#tablesPerStage * this.#stages.filter((rank) => top >= rank).length;
    let total = 0;
    for (const { table, cells } of this.#lookups) {
      let place = 0;
      for (let i = cells.length - 1; i >= 0; i -= 1) {
        const rank = ranks[cells[i]];
        place = place * radix + (rank > highest ? highest : rank);
      }
      total += this.#tables[first + table][place];
    }
    return total * this.#step;
  }
}
