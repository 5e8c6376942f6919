import { type LoadConnection, type LoadRequest, openConnection, type ResponseSummary, toBytes } from "./connection.ts";

export interface ClosedLoopOptions {
  readonly port: number;
  readonly requests: readonly LoadRequest[];
  readonly connections: number;
  readonly onResponse: (response: ResponseSummary, requestIndex: number) => void;
}

export interface ClosedLoop {
  /** Sends the requests in turn until `stop` is called. */
  run(): void;
  /** Sends each request once. Resolves when all responses have arrived; does not settle if `stop` is called before. */
  runOnce(): Promise<void>;
  /** Sends no further request and resolves when no response is pending. @throws Error if a connection failed. */
  stop(): Promise<void>;
  close(): void;
}

/** Generates load over a fixed number of connections; each sends its next request when its response is complete. */
export function createClosedLoop({ port, requests, connections, onResponse }: ClosedLoopOptions): ClosedLoop {
  const connectionLost = Promise.withResolvers<never>();
  connectionLost.promise.catch(() => {}); // Prevents an unhandled rejection; `runOnce` and `stop` report the error.
  const messages = requests.map((request) => toBytes(port, request));
  const openConnections = Array.from({ length: connections }, () =>
    openConnection({ port, onLost: connectionLost.reject }),
  );
  let isRunning = false;
  let sentCount = 0;
  let remainingCount = Number.POSITIVE_INFINITY;
  let inFlight = 0;
  let onIdle = (): void => {};

  /** Sends the next request on this connection. Calls `onIdle` if there is none and no response is pending on any connection. */
  const sendNext = (connection: LoadConnection): void => {
    const isFinished = !isRunning || remainingCount === 0;
    if (isFinished) {
      if (inFlight === 0) onIdle();
      return;
    }
    const requestIndex = sentCount % messages.length;
    sentCount += 1;
    remainingCount -= 1;
    inFlight += 1;
    connection.send(messages[requestIndex] as Buffer, (response) => {
      inFlight -= 1;
      onResponse(response, requestIndex);
      sendNext(connection);
    });
  };
  const start = (count: number): void => {
    isRunning = true;
    remainingCount = count;
    for (const connection of openConnections) sendNext(connection);
  };
  const waitUntilIdle = (): Promise<void> => {
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve;
      if (inFlight === 0) resolve();
    });
    return Promise.race([connectionLost.promise, idle]);
  };

  return {
    run: () => start(Number.POSITIVE_INFINITY),
    runOnce() {
      start(messages.length);
      return waitUntilIdle();
    },
    stop() {
      isRunning = false;
      return waitUntilIdle();
    },
    close() {
      for (const connection of openConnections) connection.close();
    },
  };
}
