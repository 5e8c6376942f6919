// Starts, ends and restarts processes of the services, the gateway, the REST proxy and the purger.
import { fileURLToPath } from "node:url";
import { launch, type LaunchedProcess } from "@tributary/kit/testing/processes/launched-process";
import { readServices } from "../../../supergraph/services.ts";

/** The services whose code is in this repository. A service that is added later runs too. */
export const serviceNames = readServices(fileURLToPath(new URL("../../..", import.meta.url)))
  .filter(({ external }) => external === undefined)
  .map(({ name }) => name);

/** The folder of a process, relative to the repository's root. */
export type PartFolder = `services/${string}` | "gateway" | "rest-proxy" | "infra/purger";

/** A process that is not restarted when it crashes. */
export interface PartProcess {
  /** Base URL. */
  readonly url: string;
  /** Resolves with the exit code once the process has ended; null if a signal ended it. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  /** A stopped process (SIGSTOP) accepts connections and sends nothing. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Starts the process again after `end`. Resolves when it is ready. */
  start(): Promise<void>;
}

export type Environment = Readonly<Record<string, string>>;

/** The keys that the gateway and the REST proxy require in production. The services of a verification have the same `FEED_KEYS`. */
export const endpointKeys = {
  FEED_KEYS: "feed-key-for-verifications",
  CONSISTENCY_KEYS: "consistency-key-for-verifications",
};

export interface ProcessOptions {
  readonly environment: Environment;
  readonly onOutput?: (text: string) => void;
  /** Registers a function that kills the process, also while it is not ready yet. */
  readonly onCleanup?: (cleanUp: () => unknown) => void;
}

/**
 * Starts a process whose environment makes it listen at `url`, and waits until it is ready. A service's database must be migrated before.
 * @throws Error with the output if it is not ready within two minutes.
 */
export async function startProcess(folder: PartFolder, url: string, options: ProcessOptions): Promise<PartProcess> {
  const mainFile = fileURLToPath(new URL(`../../../${folder}/src/main.ts`, import.meta.url));
  let current: LaunchedProcess;
  const start = async () => {
    const launched = launch({ ...options, args: [mainFile] });
    current = launched;
    options.onCleanup?.(() => launched.end("SIGKILL"));
    try {
      await launched.untilReady(url);
    } catch (error) {
      await launched.end("SIGKILL");
      throw error;
    }
  };
  await start();
  return {
    url,
    end: (signal) => current.end(signal),
    signal: (signal) => void current.child.kill(signal),
    start,
  };
}
