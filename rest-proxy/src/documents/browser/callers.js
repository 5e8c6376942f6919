// The caller of the try-it forms. In development the reader chooses one of the issuer's users, whose token the forms send; otherwise, and for
// "own", each form has a field for a token.
import { readStored, store } from "./storage.js";

/** @typedef {{ name: string, userId: string }} User */

const callerKey = "tributary:caller";
const none = "none";
const own = "own";

/** @type {Promise<void> | undefined} */
let prepared;

export function prepareCallers() {
  prepared = showSwitch();
}

/** Shows the switch, unless there is no issuer or it does not respond. */
async function showSwitch() {
  const label = document.querySelector("#caller");
  if (!(label instanceof HTMLElement)) return;
  const select = /** @type {HTMLSelectElement} */ (label.querySelector("select"));
  const users = await fetchUsers(label.dataset["issuer"] ?? "");
  if (users.length === 0) return;
  select.prepend(...users.map(({ name, userId }) => new Option(`${name} (user ${userId})`, name)));
  // User 1 by default.
  select.value = users.find(({ userId }) => userId === "1")?.name ?? none;
  const stored = readStored("localStorage", callerKey);
  if (stored !== null && [...select.options].some(({ value }) => value === stored)) select.value = stored;
  select.addEventListener("change", () => {
    store("localStorage", callerKey, select.value);
    showTokenFields(select.value === own);
  });
  showTokenFields(select.value === own);
  label.hidden = false;
}

/**
 * The token to send.
 * @param {string} entered the token in the form
 * @throws {Error} with a message for the reader
 */
export async function tokenFor(entered) {
  await prepared;
  const label = document.querySelector("#caller:not([hidden])");
  const select = label?.querySelector("select");
  if (!(label instanceof HTMLElement) || !select || select.value === own) return entered;
  if (select.value === none) return "";
  const url = `${label.dataset["issuer"]}/token`;
  const response = await fetch(url, { method: "POST", body: new URLSearchParams({ user: select.value }) });
  if (!response.ok) throw new Error(`The token issuer responded with ${response.status}.`);
  /** @type {{ access_token: string }} */
  const { access_token: token } = await response.json();
  return token;
}

/**
 * @param {string} issuer
 * @returns {Promise<readonly User[]>}
 */
async function fetchUsers(issuer) {
  try {
    const response = await fetch(`${issuer}/demo-users`);
    /** @type {{ demoUsers: User[] }} */
    const { demoUsers } = await response.json();
    return demoUsers;
  } catch {
    return [];
  }
}

/** @param {boolean} areShown */
function showTokenFields(areShown) {
  for (const part of document.querySelectorAll(".token")) /** @type {HTMLElement} */ (part).hidden = !areShown;
}
