import { setTimeout as sleep } from "node:timers/promises";
import { type LocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { backoffMs } from "./backoff.ts";

export interface PostgresOptions {
  readonly directory: string;
  readonly port: number;
  /** Gets what the server says, and what we say about it. */
  say(line: string): void;
}

/** The embedded PostgreSQL, started again when it ends without having been asked to. */
export interface SupervisedPostgres {
  readonly superuserUrl: string;
  stop(): Promise<void>;
  /** The hard way: what was acknowledged is kept, the next start has to recover. */
  kill(): void;
}

/** Throws when the first start fails; later ones are tried again with the backoff of every part. */
export async function supervisePostgres(options: PostgresOptions): Promise<SupervisedPostgres> {
  const { directory, port, say } = options;
  // What it says in everyday life (checkpoints, connections) is of no interest here.
  const log = (line: string) => /^(WARNING|ERROR|FATAL|PANIC|stopping)/.test(line) && !isEveryday(line) && say(line);
  const start = () => startLocalPostgres({ directory, port, log });
  let current: LocalPostgres | undefined = await start();
  let isStopped = false;
  const { superuserUrl } = current;

  async function keep(failures: number): Promise<void> {
    await current?.exited;
    current = undefined;
    if (isStopped) return;
    const delayMs = backoffMs(failures);
    say(`PostgreSQL ended; starting it again in ${delayMs} ms`);
    await sleep(delayMs);
    if (isStopped) return;
    current = await start().catch((error: unknown) => {
      say(String(error));
      return undefined;
    });
    if (isStopped) await current?.stop();
    else await keep(current ? 1 : failures + 1);
  }

  const kept = keep(1);
  return {
    superuserUrl,
    async stop() {
      isStopped = true;
      await current?.stop();
      await kept;
      current = undefined;
    },
    kill() {
      isStopped = true;
      if (current) shutDownAtOnce(current.pid);
    },
  };
}

// Immediate shutdown: SIGKILL would leave its child processes behind.
function shutDownAtOnce(pid: number): void {
  try {
    process.kill(pid, "SIGQUIT");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // ESRCH: it has ended.
  }
}

// While it starts, our own question whether it is ready is refused.
function isEveryday(line: string): boolean {
  return line.includes("the database system is starting up");
}
