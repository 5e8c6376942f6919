// The search. A part of the query with a slash is a path or URL; otherwise each of its words must be the start of a word of an entry.
// /docs/search.json has the entries.
import { readStored, store } from "./storage.js";

/**
 * @typedef {{ url: string, title: string, label: string, version?: number, path?: string, texts: string[] }} Entry
 * @typedef {{ entry: Entry, segments: readonly string[], words: readonly ReadonlySet<string>[] }} IndexedEntry
 * @typedef {{ isOpen: () => boolean, open: () => Promise<void>, close: () => void }} Panel
 */

const resultsMax = 12;
const shortcutKey = "tributary:shortcut";
/** The weight of a word by the text that contains it: title and path, description, names of fields and headers. */
const weights = [4, 2, 1];
const pathSegmentWeight = 4;

export function prepareSearch() {
  const form = document.querySelector("#search");
  if (!(form instanceof HTMLFormElement)) return;
  form.hidden = false;
  const input = /** @type {HTMLInputElement} */ (form.querySelector("#query"));
  const panel = createPanel(form, input);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (panel.isOpen()) form.querySelector("a")?.click();
    else void panel.open();
  });
  prepareKeys(form, input, panel);
  prepareFocus(form, input, panel);
  prepareShortcut(input);
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} input
 * @returns {Panel} `open` searches for the text of the input; it closes the panel if the text is empty
 */
function createPanel(form, input) {
  const status = /** @type {HTMLElement} */ (form.querySelector("#search-status"));
  const results = /** @type {HTMLElement} */ (form.querySelector("#search-results"));
  const version = Number(form.dataset["version"]);
  /** @type {Promise<readonly IndexedEntry[]> | undefined} */
  let index;
  const load = () =>
    (index ??= loadIndex(version).catch((error) => {
      index = undefined;
      throw error;
    }));
  input.addEventListener("focus", () => void load().catch(() => undefined)); // The next search reports an error.
  /** A search that ends after a later one has started, or after the panel was closed, is ignored. */
  let latestSearch = 0;
  const close = () => {
    latestSearch += 1;
    form.removeAttribute("data-open");
    status.textContent = "";
  };
  const open = async () => {
    const query = input.value.trim();
    if (query === "") return close();
    const search = (latestSearch += 1);
    try {
      const entries = find(await load(), query);
      if (search !== latestSearch) return;
      results.replaceChildren(...entries.slice(0, resultsMax).map(createResult));
      status.textContent = describeCount(entries.length);
    } catch (error) {
      if (search !== latestSearch) return;
      results.replaceChildren();
      const reason = error instanceof Error ? error.message : String(error);
      status.textContent = `The search failed (${reason}). Change the text to try again.`;
    }
    form.setAttribute("data-open", "");
  };
  return { isOpen: () => form.hasAttribute("data-open"), open, close };
}

/** @param {number} count */
function describeCount(count) {
  return `${count} result${count === 1 ? "" : "s"}${count > resultsMax ? `; the first ${resultsMax} are shown` : ""}`;
}

/**
 * @param {number} version
 * @returns {Promise<readonly IndexedEntry[]>}
 */
async function loadIndex(version) {
  const response = await fetch("/docs/search.json");
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { entries } = /** @type {{ entries: Entry[] }} */ (await response.json());
  return entries
    .filter((entry) => entry.version === undefined || entry.version === version)
    .map((entry) => ({
      entry,
      segments: segmentsOf(entry.path ?? entry.url),
      words: entry.texts.map((text) => new Set(wordsOf(text))),
    }));
}

/**
 * Words in lower case; a camel-case name also gives its parts.
 * @param {string} text
 */
function wordsOf(text) {
  const names = text.split(/[^\p{L}\p{N}]+/u).filter((name) => name !== "");
  return names.flatMap((name) => [name, ...name.split(/(?<=[a-z])(?=[A-Z])/)]).map((word) => word.toLowerCase());
}

/**
 * The lower-case segments of a path, without the origin, query and fragment of a URL.
 * @param {string} url
 */
function segmentsOf(url) {
  const path = url.replace(/^[a-z]+:\/\/[^/]*/i, "").replace(/[?#].*$/, "");
  return path
    .toLowerCase()
    .split("/")
    .filter((segment) => segment !== "");
}

/**
 * The entries that match all parts of the query, the best first.
 * @param {readonly IndexedEntry[]} entries
 * @param {string} query
 */
function find(entries, query) {
  const parts = query.split(/\s+/).filter((part) => /[\p{L}\p{N}]/u.test(part));
  if (parts.length === 0) return [];
  return entries
    .map((indexed) => {
      const scores = parts.map((part) => Math.max(scorePath(indexed, part), scoreWords(indexed, part)));
      return { entry: indexed.entry, score: sumUnlessZero(scores) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
}

/**
 * The segments must be the first ones of the entry's path, with or without its version; `{id}` matches every segment.
 * @param {IndexedEntry} indexed
 * @param {string} part
 */
function scorePath({ segments }, part) {
  if (!part.includes("/")) return 0;
  const wanted = segmentsOf(part);
  const path = [segments, segments.slice(1)].find((candidate) =>
    wanted.every((segment, i) => candidate[i]?.startsWith("{") || candidate[i]?.startsWith(segment)),
  );
  if (path === undefined) return 0;
  return pathSegmentWeight * wanted.length + (path.length === wanted.length ? 1 : 0);
}

/**
 * @param {IndexedEntry} indexed
 * @param {string} part
 */
function scoreWords({ words }, part) {
  const scores = part
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => {
      const place = words.findIndex((indexed) => [...indexed].some((candidate) => candidate.startsWith(word)));
      return weights[place] ?? 0;
    });
  return sumUnlessZero(scores);
}

/** @param {readonly number[]} scores */
function sumUnlessZero(scores) {
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0);
}

/** @param {Entry} entry */
function createResult({ url, title, label }) {
  const link = document.createElement("a");
  link.href = url;
  const name = document.createElement("span");
  name.textContent = title;
  const detail = document.createElement("small");
  detail.textContent = label;
  link.append(name, detail);
  const item = document.createElement("li");
  item.append(link);
  return item;
}

/**
 * Arrow keys open the results and move between them, Escape closes them.
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} input
 * @param {Panel} panel
 */
function prepareKeys(form, input, panel) {
  form.addEventListener("keydown", (event) => {
    // While text is composed, these keys belong to the input method.
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!panel.isOpen()) {
      if (event.key === "ArrowDown") void panel.open();
    } else if (event.key === "Escape") {
      event.preventDefault(); // The browser would also empty the input.
      input.focus();
      panel.close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const stops = [input, ...form.querySelectorAll("a")];
      const current = stops.findIndex((stop) => stop === document.activeElement);
      const next = stops[current + (event.key === "ArrowDown" ? 1 : -1)];
      if (next !== undefined) event.preventDefault();
      next?.focus();
    }
  });
}

/**
 * The results open while the search has the focus and a text. They close when the focus leaves it (WCAG 2.4.11) and after a click elsewhere.
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} input
 * @param {Panel} panel
 */
function prepareFocus(form, input, panel) {
  input.addEventListener("input", () => void panel.open());
  input.addEventListener("focus", () => {
    if (!panel.isOpen()) void panel.open();
  });
  form.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !form.contains(relatedTarget)) panel.close();
  });
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && (!form.contains(target) || target.closest("a"))) panel.close();
  });
}

/**
 * `/` focuses the search, unless the reader switches the shortcut off (WCAG 2.1.4).
 * @param {HTMLInputElement} input
 */
function prepareShortcut(input) {
  const label = /** @type {HTMLElement} */ (document.querySelector("#shortcut"));
  const toggle = /** @type {HTMLInputElement} */ (label.querySelector("input"));
  label.hidden = false;
  toggle.checked = readStored("localStorage", shortcutKey) !== "off";
  toggle.addEventListener("change", () => store("localStorage", shortcutKey, toggle.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    const isTyping =
      event.target instanceof Element &&
      event.target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
    if (event.key !== "/" || isTyping || !toggle.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}
