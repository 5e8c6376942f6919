import { vi } from "vitest";

export interface VirtualLoop {
  /** Lets the current callback of the event loop take this long. */
  block(ms: number): void;
  nextIteration(): Promise<void>;
  sleep(ms: number): Promise<void>;
  /** Restores the timers and the clock. */
  stop(): void;
}

interface Timer {
  atMs: number;
  readonly everyMs: number | undefined;
  readonly run: () => void;
  unref(): Timer;
}

/**
 * Global timers and `performance.now` in virtual time: it passes only by `block`, and to the next timer while nothing else is due. So a test of
 * overload does not depend on how much of a core it has. In each iteration, due timers run before immediates, as in Node's event loop.
 * Meanwhile `expect.poll` and `vi.useFakeTimers` must not be used: they would take these for the real timers, also in later test files.
 */
export function startVirtualLoop(): VirtualLoop {
  const { setImmediate: setRealImmediate } = globalThis;
  const drainMicrotasks = () => new Promise<void>((resolve) => setRealImmediate(resolve));
  const timers = new Set<Timer>();
  let immediates: (() => void)[] = [];
  let nowMs = 0;
  let isStopped = false;

  function addTimer(run: () => void, ms = 1, everyMs?: number): Timer {
    const timer: Timer = { atMs: nowMs + Math.max(1, ms), everyMs, run, unref: () => timer };
    timers.add(timer);
    return timer;
  }

  function takeDue(): (() => void)[] {
    const due = [...timers].filter(({ atMs }) => atMs <= nowMs).toSorted((a, b) => a.atMs - b.atMs);
    for (const timer of due) {
      if (timer.everyMs === undefined) timers.delete(timer);
      else timer.atMs = nowMs + timer.everyMs;
    }
    const taken = [...due.map(({ run }) => run), ...immediates];
    immediates = [];
    return taken;
  }

  async function run(): Promise<void> {
    for (;;) {
      if (isStopped) return;
      const due = takeDue();
      for (const callBack of due) {
        callBack();
        await drainMicrotasks();
      }
      if (due.length > 0) continue;
      await drainMicrotasks();
      const nextMs = Math.min(...[...timers].map(({ atMs }) => atMs));
      if (immediates.length === 0 && nextMs < Infinity) nowMs = Math.max(nowMs, nextMs);
    }
  }

  const clear = (timer: Timer) => void timers.delete(timer);
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  vi.stubGlobal("setTimeout", (callBack: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    addTimer(() => callBack(...args), ms),
  );
  vi.stubGlobal("setInterval", (callBack: () => void, ms: number) => addTimer(callBack, ms, ms));
  vi.stubGlobal("setImmediate", (callBack: () => void) => void immediates.push(callBack));
  vi.stubGlobal("clearTimeout", clear);
  vi.stubGlobal("clearInterval", clear);
  void run();

  return {
    block: (ms) => void (nowMs += ms),
    nextIteration: () => new Promise((resolve) => void immediates.push(resolve)),
    sleep: (ms) => new Promise((resolve) => void addTimer(resolve, ms)),
    stop() {
      isStopped = true;
      vi.unstubAllGlobals();
      vi.restoreAllMocks();
    },
  };
}
