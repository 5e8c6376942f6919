// The receipts of this tab's writes: the response to a write has one, and a request that sends it reads nothing older than the write.
import { readStored, store } from "./storage.js";

const receiptHeader = "Consistency-Token";
const receiptsKey = "tributary:receipts";
/** The server accepts at most this number of receipts in a request. */
const receiptsMax = 8;

/**
 * `fetch` with the receipts of this tab's earlier writes, unless the request has other receipts. It remembers the receipt of the response.
 *
 * A server whose keys have been replaced cannot read a receipt and responds with 400 before it does anything: then the receipts are forgotten, and
 * the request is sent once more without them.
 * @param {string} url
 * @param {RequestInit & { headers: Headers }} init
 */
export async function fetchWithReceipts(url, init) {
  const sent = init.headers.has(receiptHeader) ? [] : readReceipts();
  let response = await fetch(url, withReceipts(init, sent));
  if (sent.length > 0 && (await rejectsReceipts(response))) {
    replaceReceipts(sent, []);
    response = await fetch(url, init);
  }
  const received = response.headers.get(receiptHeader);
  if (received !== null) replaceReceipts(sent, [received]);
  return response;
}

/** @returns {readonly string[]} */
function readReceipts() {
  const text = readStored("sessionStorage", receiptsKey) ?? "";
  return text === "" ? [] : text.split(", ");
}

/**
 * Receipts that parallel requests have received remain: the receipt of a response includes only the receipts that its own request has sent.
 * @param {readonly string[]} sent
 * @param {readonly string[]} received
 */
function replaceReceipts(sent, received) {
  const others = readReceipts().filter((receipt) => !sent.includes(receipt));
  store("sessionStorage", receiptsKey, [...others, ...received].slice(-receiptsMax).join(", "));
}

/**
 * @param {RequestInit & { headers: Headers }} init
 * @param {readonly string[]} receipts
 * @returns {RequestInit}
 */
function withReceipts(init, receipts) {
  if (receipts.length === 0) return init;
  const headers = new Headers(init.headers);
  headers.set(receiptHeader, receipts.join(", "));
  // The browser's cache does not know receipts.
  return { ...init, headers, cache: "no-cache" };
}

/** @param {Response} response */
async function rejectsReceipts(response) {
  return response.status === 400 && (await response.clone().text()).includes(receiptHeader);
}
