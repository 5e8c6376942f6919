import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "@tributary/kit/process/env";
import type { Seeding } from "./databases.ts";
import { runPlatform } from "./run.ts";

export interface CommandOptions {
  readonly root: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly loadSeeding: () => Promise<Seeding>;
}

// One Ctrl-C arrives up to three times: from the terminal, from npm, from the bootstrap. Only a later one is a second one.
const sameSignalMs = 500;
const killedExitMs = 2_000;
const parentPollMs = 500;

/** The process around the platform: signals, the terminal, the exit code. Ends the process. */
export async function runCommand(o: CommandOptions): Promise<never> {
  const ending = new AbortController();
  let kill = () => {};
  let firstSignalMs: number | undefined;
  let isKilling = false;
  const endHard = async () => {
    if (isKilling) return;
    isKilling = true;
    try {
      kill();
      await sleep(killedExitMs);
    } finally {
      process.exit(1); // Also if kill throws: the rejection would be an uncaught exception and call endHard again.
    }
  };
  const onSignal = () => {
    const nowMs = performance.now();
    firstSignalMs ??= nowMs;
    ending.abort();
    if (nowMs - firstSignalMs > sameSignalMs) void endHard();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {}); // The terminal may be gone.
  process.on("uncaughtException", (error) => {
    process.stderr.write(`${error.stack}\n`);
    void endHard();
  });
  const { BOOTSTRAP_PID, NO_COLOR, ...environment } = o.environment;
  onParentGone(Number(BOOTSTRAP_PID), onSignal);
  const exitCode = await runPlatform({
    ...o,
    environment,
    isColoured: process.stdout.isTTY && !NO_COLOR,
    signal: ending.signal,
    onKillable: (killAll) => (kill = killAll),
    write: (text) => process.stdout.write(text),
  });
  process.exit(exitCode);
}

// `kill -9` of the bootstrap does not reach us; but then nobody is there any more for whom we run.
function onParentGone(parent: number, act: () => void): void {
  if (parent !== process.ppid) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, parentPollMs);
}
