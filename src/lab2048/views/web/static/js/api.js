// Requests to the server.  Every answer is JSON; an error is one line that can be shown as it is.
//
// Paths are those of the OpenAPI schema ("/api/games/{game}"), so that the type checker knows what
// a route takes and answers (types/api.d.ts).

import { t } from "./text.js";

/** The id of this tab: the server does not send a tab its own changes. */
export const TAB =
  "tab-" + Array.from(crypto.getRandomValues(new Uint8Array(8)), (n) => n.toString(16).padStart(2, "0")).join("");

/** An answer other than 2xx; status 0 means that the server did not answer. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{ error?: string, code?: string, state?: Api.StateData, table?: string } | null} body
   */
  constructor(status, body) {
    super(body?.error ?? t("the server answered {status}", { status: String(status) }));
    this.status = status;
    this.body = body;
  }
}

/**
 * The HTTP status of an error; undefined if it did not come from the server.
 * @param {unknown} error
 */
export function statusOf(error) {
  return error instanceof ApiError ? error.status : undefined;
}

/**
 * The code of an error of the server, such as "reviewer.missing".
 * @param {unknown} error
 */
export function codeOf(error) {
  return error instanceof ApiError ? error.body?.code : undefined;
}

/** @param {unknown} error */
export function isAborted(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

let unanswered = () => {};

/**
 * Call this whenever the server does not answer a request.
 * @param {() => void} listener
 */
export function onUnanswered(listener) {
  unanswered = listener;
}

/** @typedef {{ path?: Record<string, string | number>, query?: Record<string, unknown>, body?: unknown, signal?: AbortSignal }} AnyRequest */

/**
 * Send a request and return the parsed answer, or throw an ApiError.
 * @param {string} method
 * @param {string} path
 * @param {AnyRequest} request
 */
async function send(method, path, { body, signal, ...where }) {
  /** @type {Record<string, string>} */
  const headers = { "X-Tab": TAB };
  const isRaw = typeof body === "string" || body instanceof Blob; // games that are imported
  if (method === "POST" || method === "PUT") headers["Content-Type"] = isRaw ? "application/x-ndjson" : "application/json";
  let answer;
  try {
    answer = await fetch(fill(path, where), {
      method,
      headers,
      signal,
      body: "Content-Type" in headers ? (isRaw ? body : JSON.stringify(body ?? {})) : undefined,
    });
  } catch (error) {
    if (isAborted(error)) throw error;
    unanswered();
    throw new ApiError(0, { error: t("the server does not answer: is lab2048 still running?") });
  }
  const data = await answer.json().catch(() => null);
  if (!answer.ok) throw new ApiError(answer.status, data);
  return data;
}

/**
 * @param {string} path
 * @param {Pick<AnyRequest, "path" | "query">} where
 */
function fill(path, { path: names = {}, query = {} }) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(names[name]));
  const text = queryText(query);
  return text ? `${filled}?${text}` : filled;
}

/**
 * Parameters as a query; empty ones are left out.
 * @param {object} parameters
 */
export function queryText(parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  return query.toString();
}

/**
 * The address of a GET route, for links and downloads.
 * @template {keyof Api.Routes["GET"]} Path
 * @param {Path} path
 * @param {RouteArguments<Api.Routes["GET"][Path]>} request
 * @returns {string}
 */
export function address(path, ...request) {
  return fill(path, /** @type {AnyRequest} */ (request[0] ?? {}));
}

/**
 * @template {keyof Api.Routes["GET"]} Path
 * @param {Path} path
 * @param {RouteArguments<Api.Routes["GET"][Path]>} request
 * @returns {Promise<RouteAnswer<Api.Routes["GET"][Path]>>}
 */
export function get(path, ...request) {
  return send("GET", path, request[0] ?? {});
}

/**
 * The data of a chart, by the address that `address` gives.
 * @param {string} url
 * @returns {Promise<Api.ChartData>}
 */
export function getChart(url) {
  return send("GET", url, {});
}

/**
 * @template {keyof Api.Routes["POST"]} Path
 * @param {Path} path
 * @param {RouteArguments<Api.Routes["POST"][Path]>} request
 * @returns {Promise<RouteAnswer<Api.Routes["POST"][Path]>>}
 */
export function post(path, ...request) {
  return send("POST", path, request[0] ?? {});
}

/**
 * @template {keyof Api.Routes["PUT"]} Path
 * @param {Path} path
 * @param {RouteArguments<Api.Routes["PUT"][Path]>} request
 * @returns {Promise<RouteAnswer<Api.Routes["PUT"][Path]>>}
 */
export function put(path, ...request) {
  return send("PUT", path, request[0] ?? {});
}

/**
 * @template {keyof Api.Routes["DELETE"]} Path
 * @param {Path} path
 * @param {RouteArguments<Api.Routes["DELETE"][Path]>} request
 * @returns {Promise<RouteAnswer<Api.Routes["DELETE"][Path]>>}
 */
export function remove(path, ...request) {
  return send("DELETE", path, request[0] ?? {});
}
