const receiptHeader = "Consistency-Token";
/** The most receipts of one request (docs/freshness.md). */
const receiptsMax = 8;

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Sends the receipts of mutations with each later request, so that no result is older than these mutations. A `Consistency-Token` of the header
 * editor replaces them. A gateway whose keys have been replaced responds with 400 before it executes anything: the receipts are then forgotten, and
 * the request is sent once more.
 */
export function rememberReceipts(fetch: Fetch): Fetch {
  let receipts: readonly string[] = [];
  const forget = (sent: readonly string[]) => {
    receipts = receipts.filter((receipt) => !sent.includes(receipt));
  };

  return async (url, init) => {
    const hasOwnReceipts = new Headers(init?.headers).has(receiptHeader);
    const sent = hasOwnReceipts ? [] : receipts;
    let response = await fetch(url, withReceipts(init, sent));
    if (sent.length > 0 && (await rejectsReceipts(response))) {
      forget(sent);
      response = await fetch(url, init);
    }
    const received = response.headers.get(receiptHeader);
    if (received !== null) {
      // The new receipt includes only what its own request has sent: the receipts of parallel requests remain.
      forget(sent);
      receipts = [...receipts, received].slice(-receiptsMax);
    }
    return response;
  };
}

function withReceipts(init: RequestInit | undefined, receipts: readonly string[]): RequestInit | undefined {
  if (receipts.length === 0) return init;
  const headers = new Headers(init?.headers);
  headers.set(receiptHeader, receipts.join(", "));
  return { ...init, headers };
}

/** The gateway's message for receipts that it cannot read names the header. */
async function rejectsReceipts(response: Response): Promise<boolean> {
  if (response.status !== 400) return false;
  const body = await response.clone().text();
  return body.includes(receiptHeader);
}
