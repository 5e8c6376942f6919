/** When the event loop last ran its timers, in shared memory for the admin thread. */
export interface Heartbeat {
  readonly memory: SharedArrayBuffer;
  stop(): void;
}

const intervalMs = 250;

/** Stores the time every 250 ms. Does not keep the process alive. */
export function startHeartbeat(): Heartbeat {
  const memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  const storedTime = new BigInt64Array(memory);
  // `performance.now()` starts at 0 in each thread.
  const storeTime = () => {
    Atomics.store(storedTime, 0, process.hrtime.bigint());
  };
  storeTime();
  const timer = setInterval(storeTime, intervalMs).unref();
  return { memory, stop: () => clearInterval(timer) };
}

/** How long the event loop may have been blocked. */
export function readHeartbeatAgeMs(memory: SharedArrayBuffer): number {
  const storedTime = Atomics.load(new BigInt64Array(memory), 0);
  const ageNs = process.hrtime.bigint() - storedTime;
  return Number(ageNs / 1_000_000n);
}
