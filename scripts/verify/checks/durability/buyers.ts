// The clients of the durability check: they place orders while durability.ts kills the orders service and PostgreSQL. Each retries an order with the
// same idempotency key until it is confirmed.
import { randomInt, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

export interface Line {
  readonly sku: string;
  readonly qty: number;
}

/** An order whose creation the service confirmed to a buyer (201). */
export interface ConfirmedOrder {
  readonly id: string;
  readonly customerId: string;
  readonly lines: readonly Line[];
}

export interface Buyers {
  readonly confirmed: readonly ConfirmedOrder[];
  /** The number of retried requests. */
  readonly retries: number;
  /** The number of retries whose order an earlier attempt had placed, although its response was lost. It is printed; no claim depends on it. */
  readonly replayed: number;
  /** Resolves when `count` more orders have been confirmed. */
  confirmMore(count: number): Promise<void>;
  /** The buyers start no further orders. Resolves when the last order of every buyer has been confirmed. */
  stop(): Promise<void>;
  /** Ends all retries, for the cleanup of a run. The last orders may remain unconfirmed, so afterwards `stop` and `confirmMore` throw. */
  abandon(): void;
}

export interface BuyersOptions {
  /** The service's base URL. */
  readonly url: string;
  /** One buyer for each token, by user id. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly skus: readonly string[];
}

const linesMax = 3;
const quantityMax = 4;
const attemptTimeoutMs = 10_000;
const pauseMs = 50;
/** Longer than any restart of the service or PostgreSQL: an order that is not confirmed by then is a failure. */
const orderDeadlineMs = 120_000;

/**
 * Starts buyers that place one order after the other, each with a new idempotency key, and retry each order until it is confirmed.
 * `stop` and `confirmMore` throw if an order was rejected, or not confirmed within two minutes.
 */
export function startBuyers({ url, tokens, skus }: BuyersOptions): Buyers {
  const confirmed: ConfirmedOrder[] = [];
  const events = new EventEmitter();
  const counts = { retries: 0, replayed: 0 };
  const stopping = new AbortController();
  const abandoning = new AbortController();

  async function buy(customerId: string, token: string): Promise<void> {
    while (!stopping.signal.aborted) {
      const lines = chooseLines(skus);
      const order = await orderUntilConfirmed(url, token, lines, { counts, abandoned: abandoning.signal });
      if (order.customerId !== customerId)
        throw new Error(`User ${customerId} received an order of ${order.customerId}.`);
      confirmed.push({ ...order, lines });
      events.emit("confirmed");
    }
  }

  const allBuyers = Object.entries(tokens).map(([customerId, token]) => buy(customerId, token));
  const done = Promise.all(allBuyers);
  // `stop` and `confirmMore` report the error; until one is called, it must not be an unhandled rejection.
  done.catch(() => {});

  return {
    confirmed,
    get retries() {
      return counts.retries;
    },
    get replayed() {
      return counts.replayed;
    },
    async confirmMore(count) {
      const confirmedMin = confirmed.length + count;
      while (confirmed.length < confirmedMin) await Promise.race([once(events, "confirmed"), done]);
    },
    async stop() {
      stopping.abort();
      await done;
    },
    abandon: () => abandoning.abort(),
  };
}

interface RunState {
  readonly counts: { retries: number; replayed: number };
  readonly abandoned: AbortSignal;
}

type CreatedOrder = Pick<ConfirmedOrder, "id" | "customerId">;

async function orderUntilConfirmed(
  url: string,
  token: string,
  lines: readonly Line[],
  { counts, abandoned }: RunState,
): Promise<CreatedOrder> {
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${token}`,
    "idempotency-key": randomUUID(),
  };
  const deadline = performance.now() + orderDeadlineMs;
  while (performance.now() < deadline && !abandoned.aborted) {
    const response = await sendOrder(url, headers, JSON.stringify({ lines }));
    if (response?.status === 201) {
      if (response.replayed) counts.replayed++;
      return response.body as CreatedOrder;
    }
    if (response !== undefined && !isRetriable(response))
      throw new Error(`The order was rejected: ${JSON.stringify(response.body)}`);
    counts.retries++;
    await sleep(pauseMs);
  }
  throw new Error(`An order was not confirmed in ${orderDeadlineMs} ms.`);
}

interface OrderResponse {
  readonly status: number;
  /** Whether an earlier request with the same idempotency key placed the order. */
  readonly replayed: boolean;
  readonly body: unknown;
}

/** @returns undefined without a complete response. */
async function sendOrder(
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<OrderResponse | undefined> {
  try {
    const signal = AbortSignal.timeout(attemptTimeoutMs);
    const response = await fetch(`${url}/rest/v1/orders`, { method: "POST", headers, body, signal });
    const replayed = response.headers.get("idempotency-replayed") === "true";
    return { status: response.status, replayed, body: await response.json() };
  } catch {
    return undefined;
  }
}

/** A client retries after a server error, and while an earlier request with the same key is in flight. */
function isRetriable({ status, body }: OrderResponse): boolean {
  return status >= 500 || (body as { type?: string }).type === "/problems/idempotency-key-in-flight";
}

function chooseLines(skus: readonly string[]): readonly Line[] {
  const firstIndex = randomInt(skus.length);
  const linesCount = randomInt(1, linesMax + 1);
  return Array.from({ length: linesCount }, (_, index) => ({
    sku: skus[(firstIndex + index) % skus.length] ?? "",
    qty: randomInt(1, quantityMax + 1),
  }));
}
