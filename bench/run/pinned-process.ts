import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

export interface PinnedProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Rejects when it ends by itself. */
  readonly failed: Promise<never>;
  /** Ends it, and resolves when it is gone. */
  stop(): Promise<void>;
}

export interface PinnedOptions {
  readonly core: 0 | 1;
  /** This Node, unless something else is named. It has to stay in the foreground. */
  readonly program?: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
}

const stopMsMax = 10_000;

/** `node …`, or another program, on one core, all its threads. `taskset` becomes that program, so that the child's id is its own. */
export function startPinned({
  core,
  program = process.execPath,
  command,
  environment = {},
  stdio,
}: PinnedOptions): PinnedProcess {
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, NODE_ENV: "production", ...environment };
  const child = spawn("taskset", ["-c", String(core), program, ...command], { env, stdio });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (bytes: Buffer) => (said = (said + bytes.toString()).slice(-4_000)));
  }
  // Whatever ends the benchmark, it leaves no gateway behind on core 0.
  const end = () => void child.kill("SIGKILL");
  process.on("exit", end);
  const exited = once(child, "exit").finally(() => process.off("exit", end));
  let stopping = false;
  const failed = exited.then(([code, signal]): Promise<never> => {
    if (stopping) return new Promise(() => {});
    throw new Error(`${command.join(" ")} ended with ${code ?? signal}:\n${said}`);
  });
  failed.catch(() => {}); // Nobody may be listening when it fails; whoever asks next gets it.
  if (child.pid === undefined) throw new Error("taskset cannot be started: the benchmark needs Linux with util-linux.");
  return {
    pid: child.pid,
    child,
    failed,
    async stop() {
      stopping = true;
      child.kill("SIGTERM");
      const last = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
      if (child.exitCode === null && child.signalCode === null) await exited;
      clearTimeout(last);
    },
  };
}

/** Below the ports that Linux hands out by itself: between our look and the gateway's `listen` nobody takes one by chance. */
const ports = { from: 20_000, count: 10_000 };

/** A port that is free now. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = ports.from + Math.floor(Math.random() * ports.count);
    const server = createServer().listen(port, "127.0.0.1");
    const free = await Promise.race([
      once(server, "listening").then(() => true),
      once(server, "error").then(() => false),
    ]);
    server.close();
    if (!free) continue;
    await once(server, "close");
    return port;
  }
}
