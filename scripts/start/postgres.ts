import { setTimeout as sleep } from "node:timers/promises";
import { type LocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";

export interface PostgresOptions {
  readonly directory: string;
  readonly port: number;
  print(line: string): void;
}

/** The embedded PostgreSQL, restarted when it ends unexpectedly. */
export interface SupervisedPostgres {
  readonly superuserUrl: string;
  stop(): Promise<void>;
  /** Immediate shutdown: committed transactions are kept, and the next start runs recovery. */
  kill(): void;
}

const restartDelayMs = 1_000;
/** Routine log lines (checkpoints, connections) are omitted. */
const printedLines = /^(WARNING|ERROR|FATAL|PANIC|stopping)/;

/** Throws if the first start fails; later starts are repeated until one succeeds. */
export async function supervisePostgres({ directory, port, print }: PostgresOptions): Promise<SupervisedPostgres> {
  const log = (line: string) => {
    if (printedLines.test(line) && !isExpected(line)) print(line);
  };
  const start = () => startLocalPostgres({ directory, port, log });
  let current: LocalPostgres | undefined = await start();
  const { superuserUrl } = current;
  let isStopped = false;

  async function restartUntilStopped(): Promise<void> {
    await current?.exited;
    current = undefined;
    if (isStopped) return;
    print(`PostgreSQL is not running; starting it again in ${restartDelayMs / 1_000} s`);
    await sleep(restartDelayMs);
    if (isStopped) return;
    current = await start().catch((error: unknown) => {
      print(String(error));
      return undefined;
    });
    // `stop` was called while PostgreSQL started, when `current` was undefined.
    if (isStopped) await current?.stop();
    else await restartUntilStopped();
  }

  const supervision = restartUntilStopped();
  return {
    superuserUrl,
    async stop() {
      isStopped = true;
      await current?.stop();
      await supervision;
    },
    kill() {
      isStopped = true;
      if (current) shutDownImmediately(current.pid);
    },
  };
}

// SIGQUIT is PostgreSQL's immediate shutdown; SIGKILL would leave its child processes running.
function shutDownImmediately(pid: number): void {
  try {
    process.kill(pid, "SIGQUIT");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // ESRCH: the process has ended.
  }
}

// While PostgreSQL starts or recovers, it rejects the connections of the readiness check.
function isExpected(line: string): boolean {
  return /the database system is (?:starting up|not yet accepting connections)/.test(line);
}
