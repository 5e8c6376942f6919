import { setTimeout as sleep } from "node:timers/promises";
import { findKeys } from "./keys.ts";
import { runPlatform, type RunOptions } from "./run.ts";

// One Ctrl-C arrives up to three times: from the terminal, from npm, from the bootstrap. A signal more than 500 ms after
// the first is a second Ctrl-C.
const sameSignalMs = 500;
/** The time between killing the parts and the exit of this process. */
const killedExitMs = 2_000;
const parentPollMs = 500;

/** A second Ctrl-C kills all parts at once. */
export async function runStartCommand(
  options: Pick<RunOptions, "root" | "args" | "environment" | "loadSeeding">,
): Promise<never> {
  let state: "running" | "stopping" | "killing" = "running";
  const stopping = new AbortController();
  let stoppingSinceMs = 0;
  let killParts = () => {};
  const killAndExit = async () => {
    if (state === "killing") return;
    state = "killing";
    try {
      killParts();
      await sleep(killedExitMs);
    } finally {
      // Also if killParts throws: its uncaught exception would call this function again.
      process.exit(1);
    }
  };
  const onSignal = () => {
    if (state === "running") {
      state = "stopping";
      stoppingSinceMs = performance.now();
      stopping.abort();
      return;
    }
    const isSecondCtrlC = performance.now() - stoppingSinceMs > sameSignalMs;
    if (isSecondCtrlC) void killAndExit();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {}); // The terminal may be closed.
  process.on("uncaughtException", (error) => {
    process.stderr.write(`${error.stack}\n`);
    void killAndExit();
  });
  const { BOOTSTRAP_PID, NO_COLOR, ...environment } = options.environment;
  onBootstrapExit(Number(BOOTSTRAP_PID), onSignal);
  const exitCode = await runPlatform({
    ...options,
    environment,
    isColoured: process.stdout.isTTY && !NO_COLOR,
    keys: findKeys(process.stdin),
    signal: stopping.signal,
    setKill: (killAll) => {
      killParts = killAll;
    },
    write: (text) => process.stdout.write(text),
  });
  process.exit(exitCode);
}

// `kill -9` of the bootstrap sends no signal to this process, so the end of the bootstrap is polled. `bootstrapPid` is NaN without a bootstrap.
function onBootstrapExit(bootstrapPid: number, listener: () => void): void {
  if (bootstrapPid !== process.ppid) return;
  const timer = setInterval(() => {
    if (process.ppid === bootstrapPid) return;
    clearInterval(timer);
    listener();
  }, parentPollMs);
}
