// The try-it forms: each sends a real request to the origin of the page. A token that the reader enters is in sessionStorage, never in a URL.
import { tokenFor } from "./callers.js";
import { fetchWithReceipts } from "./receipts.js";
import { readStored, store } from "./storage.js";

const tokenKey = "tributary:token";
const bodyCharsMax = 100_000;

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field */

export function prepareTryIt() {
  shareToken();
  for (const details of document.querySelectorAll("details.try-it")) {
    prepareForm(/** @type {HTMLDetailsElement} */ (details));
  }
}

/** All forms have the same token. */
function shareToken() {
  const inputs = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=token]"));
  const stored = readStored("sessionStorage", tokenKey) ?? "";
  for (const input of inputs) {
    input.value = stored;
    input.addEventListener("input", () => {
      for (const other of inputs) if (other !== input) other.value = input.value;
      store("sessionStorage", tokenKey, input.value.trim());
    });
  }
}

/** @param {HTMLDetailsElement} details */
function prepareForm(details) {
  details.hidden = false;
  const form = /** @type {HTMLFormElement} */ (details.querySelector("form"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form, details);
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLDetailsElement} details
 */
async function send(form, details) {
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  showStatus(details, "");
  button.disabled = true;
  try {
    const { url, init } = readRequest(form, await readToken(form));
    const startedMs = performance.now();
    const { response, text } = await fetchText(url, init);
    showResponse(details, `${init.method} ${url}`, response, text, performance.now() - startedMs);
  } catch (error) {
    showStatus(details, error instanceof Error ? error.message : String(error), "failed");
    showResult(details);
  } finally {
    button.disabled = false;
  }
}

/** @param {HTMLFormElement} form */
function readToken(form) {
  const field = /** @type {HTMLInputElement} */ (form.querySelector("[name=token]"));
  return tokenFor(field.value.trim());
}

/**
 * @param {string} url
 * @param {RequestInit & { headers: Headers }} init
 */
async function fetchText(url, init) {
  try {
    const response = await fetchWithReceipts(url, init);
    return { response, text: await response.text() };
  } catch (error) {
    // A browser reports no more than this, for example if the server is not running.
    throw new Error(`No response: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {string} token "" sends none
 * @throws {Error} for a value that a URL or a header cannot have
 */
function readRequest(form, token) {
  const request = { path: form.dataset["path"] ?? "", query: new URLSearchParams(), headers: new Headers(), token };
  /** @type {string | undefined} */
  let body;
  for (const field of /** @type {NodeListOf<Field>} */ (form.querySelectorAll("[data-in]"))) {
    if (field.dataset["in"] === "body") {
      request.headers.set("Content-Type", field.dataset["type"] ?? "application/json");
      body = field.value;
      continue;
    }
    try {
      addParameter(request, field);
    } catch {
      const name = field.name === "token" ? "The token" : field.name;
      throw new Error(
        `Not sent: ${name} contains a character that is not allowed there, such as an ellipsis or a typographic quotation mark.`,
      );
    }
  }
  const { path, query, headers } = request;
  const method = form.dataset["method"] ?? "GET";
  const search = query.size === 0 ? "" : `?${query}`;
  return { url: path + search, init: { method, headers, ...(body === undefined ? {} : { body }) } };
}

/**
 * @param {{ path: string, query: URLSearchParams, headers: Headers, token: string }} request
 * @param {Field} field
 * @throws {TypeError | URIError}
 */
function addParameter(request, field) {
  const { name, value } = field;
  const place = field.dataset["in"];
  if (place === "path") request.path = request.path.replace(`{${name}}`, encodeURIComponent(value));
  else if (place === "query" && value !== "") request.query.append(name, value);
  else if (place === "header" && headerValue(field) !== "") request.headers.set(name, headerValue(field));
  else if (place === "token" && request.token !== "") request.headers.set("Authorization", `Bearer ${request.token}`);
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
 * @param {HTMLDetailsElement} details
 * @param {string} request
 * @param {Response} response
 * @param {string} text
 * @param {number} elapsedMs
 */
function showResponse(details, request, response, text, elapsedMs) {
  const outcome = `${response.status} ${response.statusText} in ${Math.round(elapsedMs)} ms`;
  showStatus(details, outcome, response.ok ? "ok" : "failed");
  const headers = document.createElement("details");
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  headers.append(createBlock("summary", "Response headers"), createCode(lines.join("\n")));
  const body = text === "" ? createBlock("p", "The response has no body.") : createCode(format(text));
  showResult(details, createBlock("p", request), headers, body);
}

/**
 * Screen readers announce the status, and not the result, which may be long.
 * @param {HTMLDetailsElement} details
 * @param {string} text
 * @param {"ok" | "failed"} [outcome]
 */
function showStatus(details, text, outcome) {
  const status = /** @type {HTMLElement} */ (details.querySelector(".status"));
  status.textContent = text;
  status.className = outcome === undefined ? "status" : `status ${outcome}`;
}

/**
 * @param {HTMLDetailsElement} details
 * @param {Element[]} parts
 */
function showResult(details, ...parts) {
  details.querySelector(".result")?.replaceChildren(...parts);
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
