import { createBackOff, type BackOff } from "./back-off.ts";

/** No connection could be had. It ends without a change to the service. */
export class NoConnection extends Error {
  override readonly name = "NoConnection";
}

export interface ConnectionPoolOptions<C> {
  /** Begins a connection. Has to end by itself: stands, or rejects when it was refused or took too long; at once when the signal says so. */
  open(signal: AbortSignal): Promise<C>;
  close(connection: C): void;
  readonly connectionsMax: number;
  /** How long somebody waits for a free connection. A connection that takes longer is not given up: it is for who comes next. */
  readonly acquireTimeoutMs: number;
  /** A clock that never goes back. */
  readonly nowMs?: () => number;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** At most so many connections are being made at once: a server that is slow, or has just come back, is not met by all of them. */
const connectingMax = 2;
/** Whoever comes when so many wait for each connection there may be would not be served in time. */
const waitingPerConnectionMax = 200;
const idleMsMax = 10_000;
/** A server that refuses is asked again so soon at first, and at least so often: what waits for it is told to come again in a second. */
const backOffMs = { firstMs: 50, maxMs: 1_000 };

interface Waiter<C> {
  resolve(connection: C): void;
  reject(error: Error): void;
}

interface Idle<C> {
  readonly connection: C;
  readonly sinceMs: number;
}

/**
 * Connections for whoever comes, made when they are needed. What is begun is never begun anew because somebody stopped waiting for it;
 * where the server refuses, everybody hears it at once, and one try at a time is made with growing waits between.
 */
export class ConnectionPool<C extends object> {
  readonly #o: ConnectionPoolOptions<C>;
  readonly #nowMs: () => number;
  readonly #backOff: BackOff;
  /** The one used last at the end. */
  readonly #idle: Idle<C>[] = [];
  readonly #used = new Set<C>();
  readonly #waiters = new Set<Waiter<C>>();
  readonly #closing = new AbortController();
  readonly #sweep: NodeJS.Timeout;
  #connecting = 0;
  #lastFailure: unknown;
  #again: NodeJS.Timeout | undefined;
  readonly #closed = Promise.withResolvers<void>();

  constructor(o: ConnectionPoolOptions<C>) {
    this.#o = o;
    this.#nowMs = o.nowMs ?? (() => performance.now());
    this.#backOff = createBackOff({ ...backOffMs, nowMs: this.#nowMs, random: o.random ?? Math.random });
    this.#sweep = setInterval(() => this.#closeIdle(), idleMsMax / 2).unref();
  }

  /**
   * A connection for the caller alone, until it is released.
   * @throws NoConnection after `acquireTimeoutMs`, and at once where there is no hope: the server refuses, or too many wait already.
   */
  acquire(): Promise<C> {
    const idle = this.#idle.pop();
    if (idle) return Promise.resolve(this.#use(idle.connection));
    const refusal = this.#findRefusal();
    if (refusal) return Promise.reject(refusal);
    const waiting = this.#wait();
    this.#grow();
    return waiting;
  }

  /** Gives back a connection that is sound; of one that was discarded meanwhile nothing is done. */
  release(connection: C): void {
    if (!this.#used.delete(connection)) return;
    if (this.#closing.signal.aborted) this.#end(connection);
    else this.#offer(connection);
  }

  /**
   * Takes a connection out that is of no more use, whoever has it, and closes it.
   * @returns false when it was out already.
   */
  discard(connection: C): boolean {
    const at = this.#idle.findIndex((idle) => idle.connection === connection);
    if (at >= 0) this.#idle.splice(at, 1);
    else if (!this.#used.delete(connection)) return false;
    this.#end(connection);
    return true;
  }

  /** Those that stand, those of them that nobody uses, and who waits. */
  readState(): { readonly total: number; readonly idle: number; readonly waiting: number } {
    return { total: this.#open(), idle: this.#idle.length, waiting: this.#waiters.size };
  }

  /** What is in use may be used to its end; nobody gets another. Resolves when all of them were given back. */
  close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#sweep);
    clearTimeout(this.#again);
    this.#refuseAll(new NoConnection("The pool is closed"));
    for (const { connection } of this.#idle.splice(0)) this.#o.close(connection);
    if (this.#used.size === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  #findRefusal(): NoConnection | undefined {
    if (this.#closing.signal.aborted) return new NoConnection("The pool is closed");
    const waitingMax = this.#o.connectionsMax * waitingPerConnectionMax;
    if (this.#waiters.size >= waitingMax) return new NoConnection(`${waitingMax} wait for a connection already`);
    if (!this.#isHopeless() || this.#backOff.remainingMs() === 0) return undefined;
    return new NoConnection("The server refuses connections", { cause: this.#lastFailure });
  }

  /** There is no connection, and none on its way. */
  #isHopeless(): boolean {
    return this.#open() + this.#connecting === 0;
  }

  #open(): number {
    return this.#used.size + this.#idle.length;
  }

  #wait(): Promise<C> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(new NoConnection(`No connection was free for ${this.#o.acquireTimeoutMs} ms`));
      }, this.#o.acquireTimeoutMs);
      const waiter: Waiter<C> = {
        resolve: (connection) => (clearTimeout(timer), resolve(connection)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      };
      this.#waiters.add(waiter);
    });
  }

  /** Begins as many connections as are waited for, may be, and are not on their way. */
  #grow(): void {
    const remainingMs = this.#backOff.remainingMs();
    const atOnceMax = this.#backOff.isFailing() ? 1 : connectingMax;
    while (
      this.#connecting < Math.min(atOnceMax, this.#waiters.size) &&
      this.#open() + this.#connecting < this.#o.connectionsMax
    ) {
      if (remainingMs > 0) return this.#growIn(remainingMs);
      void this.#begin();
    }
  }

  /** For those who wait for a connection that is in use: another may be had sooner. */
  #growIn(ms: number): void {
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.#grow(), ms).unref();
  }

  async #begin(): Promise<void> {
    this.#connecting++;
    try {
      const connection = await this.#o.open(this.#closing.signal);
      this.#connecting--;
      this.#backOff.succeeded();
      if (this.#closing.signal.aborted) this.#o.close(connection);
      else this.#offer(connection);
    } catch (error) {
      this.#connecting--;
      this.#backOff.failed();
      this.#lastFailure = error;
      if (this.#isHopeless()) this.#refuseAll(error as Error);
    }
    this.#grow();
  }

  #offer(connection: C): void {
    const [waiter] = this.#waiters;
    if (waiter) {
      this.#waiters.delete(waiter);
      waiter.resolve(this.#use(connection));
    } else this.#idle.push({ connection, sinceMs: this.#nowMs() });
  }

  #use(connection: C): C {
    this.#used.add(connection);
    return connection;
  }

  #end(connection: C): void {
    this.#o.close(connection);
    if (this.#closing.signal.aborted) {
      if (this.#used.size === 0) this.#closed.resolve();
    } else this.#grow();
  }

  #refuseAll(error: Error): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter.reject(error);
  }

  #closeIdle(): void {
    const beforeMs = this.#nowMs() - idleMsMax;
    while (this.#idle[0] && this.#idle[0].sinceMs <= beforeMs) {
      const [first] = this.#idle.splice(0, 1);
      if (first) this.#o.close(first.connection);
    }
  }
}
