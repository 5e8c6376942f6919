import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pickFreePort } from "../process/free-port.ts";
import { launch, type LaunchedProcess } from "./processes/launched-process.ts";

export interface StoreServer {
  readonly url: string;
  /** Starts the killed server again, empty, on the same port. */
  start(): Promise<void>;
  /** Kills the server (SIGKILL), and waits for its end. */
  kill(): Promise<void>;
  /** SIGSTOP and SIGCONT: the kernel accepts connections for a frozen server, which does not respond. */
  freeze(isFrozen: boolean): void;
}

/** The server's program: Debian's packages valkey-server and redis-server. Undefined if neither is installed. */
export function findStoreProgram(path = process.env["PATH"] ?? ""): string | undefined {
  const files = ["valkey-server", "redis-server"].flatMap((name) =>
    path.split(delimiter).map((folder) => join(folder, name)),
  );
  return files.find((file) => existsSync(file));
}

export async function startStoreServer(program: string): Promise<StoreServer> {
  const port = await pickFreePort();
  let launched: LaunchedProcess | undefined;
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const server: StoreServer = {
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const ready = Promise.withResolvers<void>();
      const onOutput = (text: string) => text.includes("Ready to accept connections") && ready.resolve();
      launched = launch({ program, args, onOutput });
      await Promise.race([ready.promise, launched.failed]);
    },
    kill: async () => void (await launched?.end("SIGKILL")),
    freeze: (isFrozen) => void launched?.child.kill(isFrozen ? "SIGSTOP" : "SIGCONT"),
  };
  await server.start();
  return server;
}
