import { randomInt, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

export interface Line {
  readonly sku: string;
  readonly qty: number;
}

/** An order that a buyer was told of. */
export interface Confirmed {
  readonly id: string;
  readonly customerId: string;
  readonly lines: readonly Line[];
}

export interface Buyers {
  readonly confirmed: readonly Confirmed[];
  /** Requests that were sent again, and those whose order had been placed by one that was never answered. */
  readonly sentAgain: number;
  readonly replayed: number;
  /** Resolves when this many more orders have been confirmed. */
  confirmMore(count: number): Promise<void>;
  /** Resolves when every buyer has been told of the last order they wanted. */
  stop(): Promise<void>;
  /** Every buyer goes away at once, told or not. */
  abandon(): void;
}

export interface BuyersOptions {
  /** The service's base address. */
  readonly url: string;
  /** One buyer each: token by user id. */
  readonly tokens: Readonly<Record<string, string>>;
  readonly skus: readonly string[];
}

const linesMax = 3;
const quantityMax = 4;
const attemptTimeoutMs = 10_000;
const pauseMs = 50;
/** Longer than any restart takes: then something is wrong that trying again does not heal. */
const orderDeadlineMs = 120_000;

/**
 * Buyers who order one thing after another, each under a new key, and send each order again until it is confirmed. `stop` and
 * `confirmMore` throw when an order was refused, or not confirmed in two minutes.
 */
export function startBuyers(o: BuyersOptions): Buyers {
  const confirmed: Confirmed[] = [];
  const events = new EventEmitter();
  const counts = { sentAgain: 0, replayed: 0 };
  const stopping = new AbortController();
  const abandoned = new AbortController();

  async function buy(customerId: string, token: string): Promise<void> {
    while (!stopping.signal.aborted) {
      const lines = chooseLines(o.skus);
      const order = await orderUntilConfirmed(o.url, token, lines, { counts, abandoned: abandoned.signal });
      confirmed.push({ ...order, lines });
      if (order.customerId !== customerId)
        throw new Error(`User ${customerId} was given an order of ${order.customerId}.`);
      events.emit("confirmed");
    }
  }

  const done = Promise.all(Object.entries(o.tokens).map(([customerId, token]) => buy(customerId, token)));
  // Whoever waits hears of it; until somebody does, it is no unhandled rejection.
  done.catch(() => {});

  return {
    confirmed,
    get sentAgain() {
      return counts.sentAgain;
    },
    get replayed() {
      return counts.replayed;
    },
    async confirmMore(count) {
      const until = confirmed.length + count;
      while (confirmed.length < until) await Promise.race([once(events, "confirmed"), done]);
    },
    async stop() {
      stopping.abort();
      await done;
    },
    abandon: () => abandoned.abort(),
  };
}

interface Attempts {
  readonly counts: { sentAgain: number; replayed: number };
  readonly abandoned: AbortSignal;
}

async function orderUntilConfirmed(
  url: string,
  token: string,
  lines: readonly Line[],
  { counts, abandoned }: Attempts,
): Promise<Pick<Confirmed, "id" | "customerId">> {
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${token}`,
    "idempotency-key": randomUUID(),
  };
  const deadline = performance.now() + orderDeadlineMs;
  while (performance.now() < deadline && !abandoned.aborted) {
    const answer = await attempt(url, headers, JSON.stringify({ lines }));
    if (answer?.status === 201) {
      if (answer.replayed) counts.replayed++;
      return answer.body as Pick<Confirmed, "id" | "customerId">;
    }
    if (answer !== undefined && !isPassing(answer)) throw new Error(`Refused: ${JSON.stringify(answer.body)}`);
    counts.sentAgain++;
    await sleep(pauseMs);
  }
  throw new Error(`An order was not confirmed in ${orderDeadlineMs} ms.`);
}

interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: unknown;
}

/** @returns undefined when no whole answer came. */
async function attempt(url: string, headers: Record<string, string>, body: string): Promise<Answer | undefined> {
  try {
    const signal = AbortSignal.timeout(attemptTimeoutMs);
    const response = await fetch(`${url}/rest/v1/orders`, { method: "POST", headers, body, signal });
    const replayed = response.headers.get("idempotency-replayed") === "true";
    return { status: response.status, replayed, body: await response.json() };
  } catch {
    return undefined;
  }
}

/** What a client sends again: failures of the server, and its own key still under way. */
function isPassing({ status, body }: Answer): boolean {
  return status >= 500 || (body as { type?: string }).type === "/problems/idempotency-key-in-flight";
}

function chooseLines(skus: readonly string[]): readonly Line[] {
  const first = randomInt(skus.length);
  return Array.from({ length: randomInt(1, linesMax + 1) }, (_, index) => ({
    sku: skus[(first + index) % skus.length] ?? "",
    qty: randomInt(1, quantityMax + 1),
  }));
}
