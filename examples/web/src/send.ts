// How every request of this page is sent, of GraphQL and of REST.

export type Send = (request: Request) => Promise<Response>;

const attemptsMax = 3;
/** The user waits for so long; after that the error is shown, with the time to wait. */
const waitMsMax = 5_000;
const firstBackoffMs = 250;
/** The most receipts of one request. */
const receiptsMax = 8;

/** By this name the platform counts requests, and knows the operations in `clients/web`. */
const clientHeaders = { "apollographql-client-name": "web" };

export function createSend(): Send {
  return withReceipts(withRetries((request) => fetch(withHeaders(request, clientHeaders))));
}

export function withToken(send: Send, token: string): Send {
  return (request) => send(withHeaders(request, { authorization: `Bearer ${token}` }));
}

/**
 * Repeats what can be repeated safely: reads, and writes with an `Idempotency-Key`. The platform says by `Retry-After` that a later attempt may
 * succeed, and the time to wait. A connection that broke, and 504, say nothing of whether a write was made: with the key it is made once.
 */
function withRetries(send: Send): Send {
  return async (request) => {
    const isRepeatable = request.method === "GET" || request.headers.has("idempotency-key");
    for (let attempt = 1; ; attempt++) {
      const isLast = !isRepeatable || attempt === attemptsMax;
      const response = await send(request.clone()).catch((error: unknown) => {
        if (isLast || request.signal.aborted) throw error;
        return undefined;
      });
      const waitMs = waitBefore(response, attempt);
      if (response && (isLast || waitMs === undefined || waitMs > waitMsMax)) return response;
      await response?.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  };
}

/** Undefined if another attempt would have the same response. */
function waitBefore(response: Response | undefined, attempt: number): number | undefined {
  const seconds = response?.headers.get("retry-after");
  if (seconds) return Number(seconds) * 1_000;
  // Random, so that pages whose requests failed at once do not return at once.
  return !response || response.status === 504 ? firstBackoffMs * 2 ** attempt * Math.random() : undefined;
}

/**
 * Sends the receipts of this page's writes with each request, so that no response is older than a write, through whichever API it was made.
 * `no-cache`: a browser's own cache does not know receipts; it may send what it has stored only after a 304 of the platform.
 */
function withReceipts(send: Send): Send {
  let receipts: readonly string[] = [];
  return async (request) => {
    const sent = receipts;
    const fresh = request.cache === "default" ? new Request(request, { cache: "no-cache" }) : request;
    const repeated = fresh.clone();
    let response = await send(sent.length > 0 ? withHeaders(fresh, { "consistency-token": sent.join(", ") }) : fresh);
    const forgetSent = () => (receipts = receipts.filter((receipt) => !sent.includes(receipt)));
    if (sent.length > 0 && (await rejectsReceipts(response))) {
      forgetSent();
      response = await send(repeated);
    }
    const received = response.headers.get("consistency-token");
    // It includes those that were sent. Those of parallel writes remain.
    if (received !== null) receipts = [...forgetSent(), received].slice(-receiptsMax);
    return response;
  };
}

/** The keys of the platform have been replaced. Nothing was executed. */
async function rejectsReceipts(response: Response): Promise<boolean> {
  return response.status === 400 && (await response.clone().text()).includes("Consistency-Token");
}

function withHeaders(request: Request, headers: Readonly<Record<string, string>>): Request {
  const all = new Headers(request.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return new Request(request, { headers: all });
}

/** The same key for the same input, until the write has succeeded: so the user can press the button again after an error. */
export function createKeys() {
  let last = { input: "", key: "" };
  return {
    keyOf(input: unknown): string {
      const text = JSON.stringify(input);
      if (text !== last.input) last = { input: text, key: crypto.randomUUID() };
      return last.key;
    },
    forget: () => void (last = { input: "", key: "" }),
  };
}
