import { constants } from "node:os";
import { setFlagsFromString } from "node:v8";
import { ConfigError } from "./env.ts";
import type { Log } from "./log.ts";

/** By name: what the command prints. */
export type Commands = Readonly<Record<string, (args: readonly string[]) => string | Promise<string>>>;

/**
 * Runs the `main` of a `main.ts`, or the command that the first argument names, if there are commands. If it fails, prints the problem on standard
 * error and exits with 1.
 */
export async function runMain(main: () => Promise<void>, commands?: Commands): Promise<void> {
  exitOnSignals();
  // The flag of an image is for this thread's heap, which has its size by now. It would overrule the `resourceLimits` of worker threads, too.
  setFlagsFromString("--max-semi-space-size=0");
  // By default, V8 allocates objects in the old generation if many earlier ones from the same code lived long, as those of requests do in a burst.
  // They remain until the next full collection: a cheap request costs half as much again.
  setFlagsFromString("--no-allocation-site-pretenuring");
  try {
    const [name, ...args] = process.argv.slice(2);
    if (commands === undefined || name === undefined) return await main();
    process.stdout.write(await findCommand(commands, name)(args));
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exit(1);
  }
}

function findCommand(commands: Commands, name: string): Commands[string] {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command) return command;
  throw new ConfigError([`${name} is no command: --help lists them`], "Unknown command:");
}

function describeFailure(error: unknown): string | undefined {
  if (error instanceof ConfigError) return String(error);
  return error instanceof Error ? error.stack : String(error);
}

interface Stoppable {
  drain(): Promise<void>;
}

/**
 * Unless the program has a listener of its own. As process 1 of a container, a process that starts would otherwise ignore both signals, and Kubernetes would wait
 * for it for the whole `terminationGracePeriodSeconds`.
 */
function exitOnSignals(): void {
  const exit = (signal: "SIGINT" | "SIGTERM") => {
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
  };
  process.on("SIGTERM", exit).on("SIGINT", exit);
}

/** Exits with 0, or with 1 if a drain fails. A second signal exits at once with 1. */
export function stopOnSignals(servers: readonly Stoppable[], log: Log): void {
  let isStopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    log.info({ signal }, "stopping");
    const drained = Promise.all(servers.map((server) => server.drain()));
    void drained.then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "could not stop cleanly");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop).on("SIGINT", stop);
}
