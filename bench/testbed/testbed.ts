import { join } from "node:path";
import { launch, type LaunchedProcess, receiveMessage } from "@tributary/kit/testing/processes/launched-process";
import type { SubgraphLatencies } from "../graph/schemas.ts";
import type { LoadMessage } from "../measure/load-process.ts";
import type { LoadJob, WindowReport } from "../measure/measure-load.ts";
import type { BackendMessage, BackendUrls, FetchCounts } from "./backend-process.ts";
import { startPostsDatabase } from "./posts-database.ts";

/** The processes that run for the whole benchmark: backends and load generator on core 1, and the posts service's database if required. */
export interface Testbed {
  readonly addresses: BackendUrls & { readonly databaseUrl: string };
  /**
   * Runs one job, with these latencies of the subgraphs. `onWindow` is called when the window starts. The fetches of all processes of the job are counted from then until the report.
   */
  load(
    job: LoadJob,
    onWindow: () => Promise<unknown>,
    latenciesMs?: SubgraphLatencies,
  ): Promise<WindowReport & FetchCounts>;
  stop(): Promise<void>;
}

export async function startTestbed({ hasDatabase }: { readonly hasDatabase: boolean }): Promise<Testbed> {
  const database = hasDatabase ? await startPostsDatabase() : undefined;
  const backend = launchOnLoadCore("testbed/backend-process.ts");
  const loadGenerator = launchOnLoadCore("measure/load-process.ts");
  // The backends send their URLs when they listen; the load generator sends `ready`.
  const [urls] = await Promise.all([receiveMessage<BackendUrls>(backend), receiveMessage(loadGenerator)]);
  // The backends reply to any message.
  const countFetches = () => request<FetchCounts>(backend, "count");
  return {
    addresses: { ...urls, databaseUrl: database?.url ?? "" },
    async load(job, onWindow, latenciesMs = {}) {
      await request<FetchCounts>(backend, { latenciesMs });
      // The load generator first replies with `window-started` or a problem, later with the report or a problem.
      throwIfProblem(await request<LoadMessage>(loadGenerator, job));
      // Listens before the next `await`, during which the second reply may arrive.
      const nextMessage = receiveMessage<LoadMessage>(loadGenerator);
      const [before] = await Promise.all([countFetches(), onWindow()]);
      const message = await nextMessage;
      throwIfProblem(message);
      if (message.kind !== "report") throw new Error("The load process started a second window.");
      const after = await countFetches();
      return {
        ...message.report,
        fetches: after.fetches - before.fetches,
        computed: after.computed - before.computed,
      };
    },
    async stop() {
      await Promise.all([backend.stop(), loadGenerator.stop(), database?.stop()]);
    },
  };
}

/** @param script path below `bench/`. */
function launchOnLoadCore(script: string): LaunchedProcess {
  return launch({
    args: [join(import.meta.dirname, "..", script)],
    environment: { NODE_ENV: "production" },
    core: 1,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** Sends the message, and resolves with the next message of the process. */
function request<T>(process: LaunchedProcess, message: string | LoadJob | BackendMessage): Promise<T> {
  process.child.send(message);
  return receiveMessage<T>(process);
}

function throwIfProblem(message: LoadMessage): void {
  if (message.kind === "problem") throw new Error(message.problem);
}
