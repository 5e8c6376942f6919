// The try-it forms: each sends a real request to the origin of the page. The token is in sessionStorage, never in a URL.

const tokenKey = "tributary:token";
const bodyCharsMax = 100_000;

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field */

/** @param {HTMLDetailsElement} details */
export function prepareTryIt(details) {
  details.hidden = false;
  const form = /** @type {HTMLFormElement} */ (details.querySelector("form"));
  const result = /** @type {HTMLElement} */ (details.querySelector(".result"));
  const token = /** @type {HTMLInputElement} */ (form.elements.namedItem("token"));
  // A form elsewhere on the page may have changed the token.
  details.addEventListener("toggle", () => (token.value = sessionStorage.getItem(tokenKey) ?? ""));
  token.addEventListener("input", () => {
    if (token.value.trim() === "") sessionStorage.removeItem(tokenKey);
    else sessionStorage.setItem(tokenKey, token.value.trim());
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form, result);
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement} result
 */
async function send(form, result) {
  const { url, init } = readRequest(form);
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const startedMs = performance.now();
  button.disabled = true;
  try {
    const response = await fetch(url, init);
    const text = await response.text();
    showResponse(result, `${init.method} ${url}`, response, text, performance.now() - startedMs);
  } catch (error) {
    // A browser reports no more than this, for example if the server is not running.
    result.replaceChildren(createBlock("p", `No response: ${error instanceof Error ? error.message : String(error)}`));
  } finally {
    button.disabled = false;
  }
}

/** @param {HTMLFormElement} form */
function readRequest(form) {
  let path = form.dataset["path"] ?? "";
  const query = new URLSearchParams();
  const headers = new Headers();
  /** @type {string | undefined} */
  let body;
  for (const field of /** @type {NodeListOf<Field>} */ (form.querySelectorAll("[data-in]"))) {
    const { name, value } = field;
    const place = field.dataset["in"];
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === "query" && value !== "") query.append(name, value);
    else if (place === "header" && headerValue(field) !== "") headers.set(name, headerValue(field));
    else if (place === "token" && value.trim() !== "") headers.set("Authorization", `Bearer ${value.trim()}`);
    else if (place === "body") {
      headers.set("Content-Type", field.dataset["type"] ?? "application/json");
      body = value;
    }
  }
  const method = form.dataset["method"] ?? "GET";
  const search = query.size === 0 ? "" : `?${query}`;
  return { url: path + search, init: { method, headers, ...(body === undefined ? {} : { body }) } };
}

/**
 * The value of a header field; a new UUID for an empty `Idempotency-Key` that is required.
 * @param {Field} field
 */
function headerValue(field) {
  const isGenerated = field.value === "" && field.dataset["generate"] === "uuid";
  return isGenerated ? createUuid() : field.value;
}

/** A version 4 UUID. Unlike `crypto.randomUUID` it also works on pages over HTTP. */
function createUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (/** @type {number} */ (bytes[6]) & 0x0f) | 0x40;
  bytes[8] = (/** @type {number} */ (bytes[8]) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * @param {HTMLElement} result
 * @param {string} request
 * @param {Response} response
 * @param {string} text
 * @param {number} elapsedMs
 */
function showResponse(result, request, response, text, elapsedMs) {
  const status = createBlock("p", `${response.status} ${response.statusText} in ${Math.round(elapsedMs)} ms`);
  status.className = response.ok ? "status ok" : "status failed";
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  const details = document.createElement("details");
  details.append(createBlock("summary", "Response headers"), createCode(headers));
  const body = text === "" ? createBlock("p", "The response has no body.") : createCode(format(text));
  result.replaceChildren(createBlock("p", request), status, details, body);
}

/** @param {string} text */
function format(text) {
  const shown = indent(text);
  if (shown.length <= bodyCharsMax) return shown;
  return `${shown.slice(0, bodyCharsMax)}\n… ${shown.length - bodyCharsMax} more characters`;
}

/** @param {string} text */
function indent(text) {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

/**
 * @param {"p" | "summary"} name
 * @param {string} text
 */
function createBlock(name, text) {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

/** @param {string} text */
function createCode(text) {
  const code = document.createElement("pre");
  code.tabIndex = 0;
  code.textContent = text;
  return code;
}
