import { type Answered, openConnection } from "./connection.ts";

export interface ClosedLoopOptions {
  readonly port: number;
  /** Whole requests, as they go over the wire. */
  readonly requests: readonly Buffer[];
  readonly connections: number;
  readonly onAnswer: (answer: Answered, requestIndex: number) => void;
}

export interface ClosedLoop {
  /** Sends requests in turn until told to stop. */
  run(): void;
  /** Sends each request once. Resolves when all are answered, or when it is told to stop. */
  runOnce(): Promise<void>;
  /** Resolves when what was sent is answered. */
  stop(): Promise<void>;
  close(): void;
}

/** A fixed number of connections, each of which sends its next request when it has its answer. */
export function createClosedLoop({ port, requests, connections, onAnswer }: ClosedLoopOptions): ClosedLoop {
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {}); // Whoever waits for the loop hears of it, and nobody else has to.
  const lines = Array.from({ length: connections }, () => openConnection(port, lost.reject));
  let running = false;
  let next = 0;
  let toSend = Number.POSITIVE_INFINITY;
  let inFlight = 0;
  let idle = (): void => {};

  const sendNext = (line: (typeof lines)[number]): void => {
    if (!running || toSend === 0) return void (inFlight === 0 && idle());
    const index = next++ % requests.length;
    toSend -= 1;
    inFlight += 1;
    line.send(requests[index] as Buffer, (answer) => {
      inFlight -= 1;
      onAnswer(answer, index);
      sendNext(line);
    });
  };
  const start = (count: number): void => {
    running = true;
    toSend = count;
    for (const line of lines) sendNext(line);
  };
  const untilIdle = (): Promise<void> => {
    const idled = new Promise<void>((resolve) => {
      idle = resolve;
      if (inFlight === 0) resolve();
    });
    return Promise.race([lost.promise, idled]);
  };

  return {
    run: () => start(Number.POSITIVE_INFINITY),
    runOnce() {
      start(requests.length);
      return untilIdle();
    },
    stop() {
      running = false;
      return untilIdle();
    },
    close() {
      for (const line of lines) line.close();
    },
  };
}
