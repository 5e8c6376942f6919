// The search: every word of the query must be the start of a word of an entry. /docs/search.json has the entries.

/**
 * @typedef {{ url: string, title: string, label: string, version?: number, texts: string[] }} Entry
 * @typedef {{ entry: Entry, words: readonly ReadonlySet<string>[] }} IndexedEntry
 */

const resultsMax = 12;
const shortcutKey = "tributary:shortcut";
/** The weight of a word by the text that contains it: title and path, description, field names. */
const weights = [4, 2, 1];

export function prepareSearch() {
  const form = document.querySelector("#search");
  if (!(form instanceof HTMLFormElement)) return;
  form.hidden = false;
  const input = /** @type {HTMLInputElement} */ (form.querySelector("#query"));
  const version = Number(form.dataset["version"]);
  /** @type {Promise<readonly IndexedEntry[]> | undefined} */
  let index;
  const load = () => (index ??= loadIndex(version));
  const search = async () => {
    const query = input.value;
    const entries = await load();
    if (query === input.value) show(form, query, find(entries, query));
  };
  input.addEventListener("focus", () => void load());
  input.addEventListener("input", () => void search());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    form.querySelector("a")?.click();
  });
  prepareKeys(form, input);
  prepareShortcut(input);
}

/**
 * @param {number} version
 * @returns {Promise<readonly IndexedEntry[]>}
 */
async function loadIndex(version) {
  const response = await fetch("/docs/search.json");
  const { entries } = /** @type {{ entries: Entry[] }} */ (await response.json());
  return entries
    .filter((entry) => entry.version === undefined || entry.version === version)
    .map((entry) => ({ entry, words: entry.texts.map((text) => new Set(wordsOf(text))) }));
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
 * The entries that contain all words of the query, the best first.
 * @param {readonly IndexedEntry[]} entries
 * @param {string} query
 */
function find(entries, query) {
  const words = query
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
  if (words.length === 0) return [];
  return entries
    .map(({ entry, words: indexed }) => {
      const scores = words.map((word) => score(indexed, word));
      return { entry, score: scores.includes(0) ? 0 : scores.reduce((sum, value) => sum + value, 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
}

/**
 * @param {readonly ReadonlySet<string>[]} indexed
 * @param {string} word
 */
function score(indexed, word) {
  const place = indexed.findIndex((words) => [...words].some((candidate) => candidate.startsWith(word)));
  return weights[place] ?? 0;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} query
 * @param {readonly Entry[]} entries
 */
function show(form, query, entries) {
  const panel = /** @type {HTMLElement} */ (form.querySelector("#search-panel"));
  panel.hidden = query.trim() === "";
  const shown = entries.slice(0, resultsMax);
  const more = entries.length > shown.length ? `; the first ${shown.length} are shown` : "";
  const status = /** @type {HTMLElement} */ (panel.querySelector("#search-status"));
  status.textContent = `${entries.length} result${entries.length === 1 ? "" : "s"}${more}`;
  panel.querySelector("#search-results")?.replaceChildren(...shown.map(createResult));
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
 * Arrow keys move between the results, Escape and a click elsewhere close them.
 * @param {HTMLFormElement} form
 * @param {HTMLInputElement} input
 */
function prepareKeys(form, input) {
  const panel = /** @type {HTMLElement} */ (form.querySelector("#search-panel"));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      panel.hidden = true;
      input.focus();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const stops = [input, ...panel.querySelectorAll("a")];
    const current = stops.findIndex((stop) => stop === document.activeElement);
    stops[current + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
  });
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && (!form.contains(target) || target.closest("a"))) panel.hidden = true;
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
  toggle.checked = localStorage.getItem(shortcutKey) !== "off";
  toggle.addEventListener("change", () => localStorage.setItem(shortcutKey, toggle.checked ? "on" : "off"));
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
