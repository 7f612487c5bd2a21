// Asking the server.  Every answer is JSON; an error is one line that can be shown as it is.

/** A name for this tab, so that its own changes are not echoed to it. */
export const TAB =
  "tab-" + Array.from(crypto.getRandomValues(new Uint8Array(8)), (n) => n.toString(16).padStart(2, "0")).join("");

export class ApiError extends Error {
  constructor(status, body) {
    super(body?.error ?? `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

async function ask(method, path, body, { signal, type = "application/json" } = {}) {
  const headers = { "X-Tab": TAB };
  if (body !== undefined) headers["Content-Type"] = type;
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { error: "the server does not answer: is lab2048 still running?" });
  }
  const data = await answer.json().catch(() => null);
  if (!answer.ok) throw new ApiError(answer.status, data);
  return data;
}

export const get = (path, options) => ask("GET", path, undefined, options);
export const post = (path, body = {}, options = {}) => ask("POST", path, body, options);
export const put = (path, body) => ask("PUT", path, body);
export const remove = (path) => ask("DELETE", path);

/** A path with words in its query; those that are null are left out. */
export function withQuery(path, words) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(words))
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}
