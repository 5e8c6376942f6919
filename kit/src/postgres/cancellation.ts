// Cancels the statements of reads whose callers have left, or have read too much. PostgreSQL manual: "Canceling Requests in Progress".
import pg from "pg";
import type { WaitingCaller } from "./waiting-caller.ts";

/** At once: PostgreSQL starts a process for each. */
const cancelRequestsMax = 4;
const cancelTimeoutMs = 1_000;
/** A cancel request that overtakes its statement has no effect. */
const repeatAfterMs = 100;

export function createCancellation() {
  const queue: CancellableStatement[] = [];
  let sendersCount = 0;

  async function send(): Promise<void> {
    if (sendersCount >= cancelRequestsMax) return;
    sendersCount++;
    for (let next = queue.shift(); next; next = queue.shift()) {
      const statement = next;
      await statement.cancel();
      if (statement.isRunning) setTimeout(enqueue, repeatAfterMs, statement).unref();
    }
    sendersCount--;
  }

  function enqueue(statement: CancellableStatement): void {
    queue.push(statement);
    void send();
  }

  return {
    /** Until `end` is called, the statement is cancelled when the caller has no bytes left, or leaves before it has written. */
    watch: (client: pg.PoolClient, caller: WaitingCaller) => new CancellableStatement(client, caller, enqueue),
  };
}

export class CancellableStatement {
  isRunning = true;
  readonly #client: pg.PoolClient;
  readonly #caller: WaitingCaller;
  readonly #onLeft: () => void;
  readonly #onData: (chunk: Buffer) => void;
  readonly #timer: NodeJS.Timeout | undefined;
  #cancelRequest: Promise<Error | undefined> | undefined;

  constructor(client: pg.PoolClient, caller: WaitingCaller, enqueue: (statement: CancellableStatement) => void) {
    this.#client = client;
    this.#caller = caller;
    let hasLeft = false;
    // A caller that disconnects at its deadline leaves once: of two cancel requests at once, `end` waits for one.
    this.#onLeft = () => {
      if (hasLeft) return;
      hasLeft = true;
      enqueue(this);
    };
    this.#onData = ({ length }) => {
      caller.bytesLeft -= length;
      if (caller.bytesLeft < 0) this.#onLeft();
    };
    client.connection.stream.on("data", this.#onData);
    const { disconnected, endsAtMs, hasWritten } = caller;
    if (hasWritten) return;
    disconnected.addEventListener("abort", this.#onLeft);
    if (endsAtMs < Infinity) this.#timer = setTimeout(this.#onLeft, Math.max(0, endsAtMs - performance.now()));
  }

  get isCancelled(): boolean {
    return this.#cancelRequest !== undefined;
  }

  async cancel(): Promise<void> {
    if (!this.isRunning) return;
    this.#cancelRequest = sendCancelRequest(this.#client);
    const error = await this.#cancelRequest;
    // Then PostgreSQL ends the statement (`client_connection_check_interval`).
    if (error) this.#client.connection.stream.destroy();
  }

  /**
   * Called when the statement has ended. A cancel request names the session and not the statement, and may have its effect late: the connection must
   * not be used before the result resolves, and not at all if that is an error. Undefined if no cancel request was sent.
   */
  end(): Promise<Error | undefined> | undefined {
    this.isRunning = false;
    clearTimeout(this.#timer);
    this.#client.connection.stream.off("data", this.#onData);
    this.#caller.disconnected.removeEventListener("abort", this.#onLeft);
    return this.#cancelRequest?.then((error) => error ?? findError(this.#client.query("select 1")));
  }
}

/** What the types of `pg` lack. */
interface Session {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly ssl: pg.ClientConfig["ssl"]; readonly sslNegotiation: string };
}

interface CancelConnection extends pg.Connection {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/** Over TLS if the session is. PostgreSQL closes the connection when it has signalled the session. Resolves to an error after `cancelTimeoutMs`. */
function sendCancelRequest(client: pg.PoolClient): Promise<Error | undefined> {
  const { host, port, processID, secretKey, connection: session } = client as unknown as Session;
  const { ssl, sslNegotiation } = session;
  const connection = new pg.Connection({ ssl, sslNegotiation } as object) as CancelConnection;
  return new Promise((resolve) => {
    const timer = setTimeout(() => finish(new Error("The cancel request got no response")), cancelTimeoutMs);
    const finish = (error?: Error) => {
      clearTimeout(timer);
      connection.stream.destroy();
      resolve(error);
    };
    const sendOnce = () => connection.cancel(processID, secretKey);
    connection.on("error", finish);
    connection.on("end", () => finish());
    connection.on("sslconnect", sendOnce);
    connection.on("connect", () => {
      if (!ssl) sendOnce();
      else if (sslNegotiation !== "direct") connection.requestSsl();
    });
    if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}

export function findError(result: Promise<unknown>): Promise<Error | undefined> {
  return result.then(
    () => undefined,
    (error: Error) => error,
  );
}
