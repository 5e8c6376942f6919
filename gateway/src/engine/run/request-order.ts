// Stage 4 of 5: run. Sends each request of a plan when the parts that it waits for are complete. Its parts wait a little for one another, because one
// request costs the gateway and the subgraph less than two.
import type { CompiledRequest, RequestPart } from "../plan/compile/compiled-plan.ts";

/** Then the ready parts are sent alone: a slow subgraph must not delay data that does not depend on it. */
export const partsWaitMs = 5;

interface PartialRequest {
  ready: RequestPart[];
  unsentCount: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * @param parts at least one.
 * @param send rejects for bugs only; the result then rejects too, and parts that wait for it are never sent.
 */
export function sendInOrder(
  parts: readonly RequestPart[],
  send: (request: CompiledRequest) => Promise<void>,
): Promise<void> {
  const [first] = parts;
  if (first && parts.length === 1) return send(first.request);
  return new Promise((resolve, reject) => new RequestOrder(parts, send, resolve, reject).start());
}

/** A class, so that no request of the plan needs a closure. */
class RequestOrder {
  readonly #parts: readonly RequestPart[];
  readonly #send: (request: CompiledRequest) => Promise<void>;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;
  readonly #waitsFor: number[];
  #incompleteCount: number;
  #partialRequests: Map<CompiledRequest, PartialRequest> | undefined;

  constructor(
    parts: readonly RequestPart[],
    send: (request: CompiledRequest) => Promise<void>,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.#parts = parts;
    this.#send = send;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#waitsFor = parts.map(({ waitsFor }) => waitsFor);
    this.#incompleteCount = parts.length;
  }

  start(): void {
    for (const part of this.#parts) if (part.waitsFor === 0) this.#addReady(part);
  }

  #addReady(part: RequestPart): void {
    const { request } = part;
    if (request.partCount === 1) return void this.#complete(this.#send(request), [part]);
    const partial = this.#findPartial(request);
    partial.ready.push(part);
    if (partial.ready.length === partial.unsentCount) this.#sendReady(request, partial);
    else partial.timer ??= this.#startTimer(request, partial);
  }

  #startTimer(request: CompiledRequest, partial: PartialRequest): NodeJS.Timeout {
    const sendIfWaiting = () => {
      if (partial.timer === timer) this.#sendReady(request, partial);
    };
    // Responses that have arrived are read between the timer and the immediate: a late loop does not divide requests.
    const timer = setTimeout(() => setImmediate(sendIfWaiting), partsWaitMs);
    return timer;
  }

  #findPartial(request: CompiledRequest): PartialRequest {
    const partials = (this.#partialRequests ??= new Map());
    const known = partials.get(request);
    if (known) return known;
    const partial = { ready: [], unsentCount: request.partCount, timer: undefined };
    partials.set(request, partial);
    return partial;
  }

  #sendReady(request: CompiledRequest, partial: PartialRequest): void {
    const { ready, timer } = partial;
    clearTimeout(timer);
    partial.timer = undefined;
    partial.ready = [];
    partial.unsentCount -= ready.length;
    const isWhole = ready.length === request.partCount;
    void this.#complete(isWhole ? this.#send(request) : this.#sendSubset(request, ready), ready);
  }

  async #sendSubset(request: CompiledRequest, parts: readonly RequestPart[]): Promise<void> {
    const members = parts.flatMap((part) => part.members);
    await Promise.all(request.subset(members).map(this.#send));
  }

  async #complete(sent: Promise<void>, parts: readonly RequestPart[]): Promise<void> {
    try {
      await sent;
    } catch (error) {
      return this.#reject(error);
    }
    this.#incompleteCount -= parts.length;
    if (this.#incompleteCount === 0) return this.#resolve();
    for (const { next } of parts) {
      for (const index of next) {
        const waitsFor = (this.#waitsFor[index] as number) - 1;
        this.#waitsFor[index] = waitsFor;
        if (waitsFor === 0) this.#addReady(this.#parts[index] as RequestPart);
      }
    }
  }
}
