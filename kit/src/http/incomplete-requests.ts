/**
 * Requests whose body has not arrived completely. They have limits of their own, so that clients that never complete a request take nothing from
 * others. Each is held by its address, since its caller is not verified yet. Above a limit, the address that holds most loses the slowest of its
 * requests (408, RFC 9110, 15.5.9).
 */
import type { IncomingMessage } from "node:http";

/** Requests. Each retains some 20 KB for its connection, parser, request and response: 40 MB in all. */
const incompleteRequestsMax = 2_048;
/** Bytes received of all incomplete bodies: as much as 64 uploads of 1 MB. */
const incompleteBytesMax = 67_108_864;
/** A request that has just begun counts as one that has sent this many bytes in its first second. */
const headStartBytes = 1_024;
const headStartMs = 1_000;

export interface ConnectionClosed {
  readonly kind: "connection-closed";
  readonly reason: "connections-of-address" | Excess;
}

type Excess = "incomplete-requests" | "incomplete-bytes";

export interface IncompleteRequestsOptions {
  /** Behind trusted proxies. Not called for a request that is complete with its first read. */
  readonly addressKeyOf: (request: IncomingMessage) => string;
  readonly observe: (observation: ConnectionClosed) => void;
  readonly requestsMax?: number;
  readonly bytesMax?: number;
}

export interface IncompleteRequest {
  readonly request: IncomingMessage;
  readonly cut: () => void;
  bytes: number;
  isEnded: boolean;
  /** Undefined in the iteration of the event loop in which the request arrived. */
  holder: Holder | undefined;
  heldSinceMs: number;
}

interface Holder {
  readonly key: string;
  readonly held: Set<IncompleteRequest>;
  bytes: number;
}

export interface IncompleteRequests {
  count(): number;
  /** Called before the body is read. `cut` is called at most once, never after `end`. */
  begin(request: IncomingMessage, cut: () => void): IncompleteRequest;
  /** Counts received bytes. Can cut any request, also this one. */
  receive(incomplete: IncompleteRequest, bytes: number): void;
  /** A second call has no effect. */
  end(incomplete: IncompleteRequest): void;
}

export function createIncompleteRequests({
  addressKeyOf,
  observe,
  requestsMax = incompleteRequestsMax,
  bytesMax = incompleteBytesMax,
}: IncompleteRequestsOptions): IncompleteRequests {
  const holders = new Map<string, Holder>();
  /** Requests of this iteration. Most are complete at its end: no address is looked up for them, and no timer is created. */
  const arrived: IncompleteRequest[] = [];
  let count = 0;
  let bytes = 0;

  function holdArrived(): void {
    const nowMs = performance.now();
    for (const incomplete of arrived) if (!incomplete.isEnded) hold(incomplete, nowMs);
    arrived.length = 0;
    for (let excess = findExcess(); excess !== undefined; excess = findExcess()) cutSlowest(excess, nowMs);
  }

  function findExcess(): Excess | undefined {
    if (count > requestsMax) return "incomplete-requests";
    return bytes > bytesMax ? "incomplete-bytes" : undefined;
  }

  function hold(incomplete: IncompleteRequest, nowMs: number): void {
    const key = addressKeyOf(incomplete.request);
    const holder = holders.get(key) ?? { key, held: new Set(), bytes: 0 };
    holders.set(key, holder);
    holder.held.add(incomplete);
    holder.bytes += incomplete.bytes;
    incomplete.holder = holder;
    incomplete.heldSinceMs = nowMs;
  }

  function cutSlowest(excess: Excess, nowMs: number): void {
    const sizeOf = (holder: Holder) => (excess === "incomplete-requests" ? holder.held.size : holder.bytes);
    const largest = findLeast(holders.values(), (holder) => -sizeOf(holder));
    const slowest = largest && findLeast(largest.held, (incomplete) => bytesPerMs(incomplete, nowMs));
    if (slowest === undefined) throw new Error("More incomplete requests are counted than held.");
    end(slowest);
    observe({ kind: "connection-closed", reason: excess });
    slowest.cut();
  }

  function end(incomplete: IncompleteRequest): void {
    if (incomplete.isEnded) return;
    incomplete.isEnded = true;
    count--;
    bytes -= incomplete.bytes;
    const { holder } = incomplete;
    if (holder === undefined) return;
    holder.bytes -= incomplete.bytes;
    holder.held.delete(incomplete);
    if (holder.held.size === 0) holders.delete(holder.key);
  }

  return {
    count: () => count,
    begin(request, cut) {
      count++;
      const incomplete = { request, cut, bytes: 0, isEnded: false, holder: undefined, heldSinceMs: 0 };
      if (arrived.push(incomplete) === 1) setImmediate(holdArrived);
      return incomplete;
    },
    receive(incomplete, received) {
      bytes += received;
      incomplete.bytes += received;
      if (incomplete.holder) incomplete.holder.bytes += received;
      if (bytes > bytesMax) holdArrived();
    },
    end,
  };
}

function bytesPerMs({ bytes, heldSinceMs }: IncompleteRequest, nowMs: number): number {
  return (bytes + headStartBytes) / (nowMs - heldSinceMs + headStartMs);
}

function findLeast<Item>(items: Iterable<Item>, valueOf: (item: Item) => number): Item | undefined {
  let least: Item | undefined;
  let leastValue = Infinity;
  for (const item of items) {
    const value = valueOf(item);
    if (value < leastValue) [least, leastValue] = [item, value];
  }
  return least;
}
