import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

export interface PinnedProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Rejects with the end of the process's output if the process exits before `stop` is called. */
  readonly failed: Promise<never>;
  /** Sends SIGTERM, after 10 s SIGKILL, and resolves when the process has exited. */
  stop(): Promise<void>;
}

export interface PinnedOptions {
  readonly core: 0 | 1;
  /** Defaults to the Node of this process. The program must stay in the foreground. */
  readonly program?: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
}

const stopMsMax = 10_000;
const outputCharsMax = 4_000;

/** Starts a program with all its threads on one core. `taskset` replaces itself by the program, so `pid` is the program's. */
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
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (bytes: Buffer) => (output = (output + bytes.toString()).slice(-outputCharsMax)));
  }
  // The child must not outlive the benchmark: it would use the core of the next run.
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  const exited = once(child, "exit").finally(() => process.off("exit", kill));
  let stopping = false;
  const failed = exited.then(([code, signal]): Promise<never> => {
    if (stopping) return new Promise(() => {});
    throw new Error(`${command.join(" ")} exited with ${code ?? signal}:\n${output}`);
  });
  failed.catch(() => {}); // Prevents an unhandled rejection while no caller awaits `failed`.
  if (child.pid === undefined) throw new Error("taskset cannot be started: the benchmark needs Linux with util-linux.");
  return {
    pid: child.pid,
    child,
    failed,
    async stop() {
      stopping = true;
      child.kill("SIGTERM");
      const killTimer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
      if (child.exitCode === null && child.signalCode === null) await exited;
      clearTimeout(killTimer);
    },
  };
}

/** Below Linux's ephemeral ports, so that no other process is assigned the port before the contender listens on it. */
const ports = { from: 20_000, count: 10_000 };

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
