import type { BackendUrls, SubgraphLatencies } from "../benchmark.ts";
import type { LoadMessage } from "../load/load-process.ts";
import type { LoadJob, WindowReport } from "../load/measure-load.ts";
import type { BackendMessage, FetchCounts } from "./backend-process.ts";
import { type PinnedProcess, receiveMessage, startIpcProcess } from "./pinned-process.ts";
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
  const backend = startIpcProcess("testbed/backend-process.ts");
  const loadGenerator = startIpcProcess("load/load-process.ts");
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

/** Sends the message, and resolves with the next message of the process. */
function request<T>(process: PinnedProcess, message: string | LoadJob | BackendMessage): Promise<T> {
  process.child.send(message);
  return receiveMessage<T>(process);
}

function throwIfProblem(message: LoadMessage): void {
  if (message.kind === "problem") throw new Error(message.problem);
}
