import { type CommentAudit, auditComments } from "./audit.ts";
import { createJourney } from "./journey.ts";
import type { Step } from "./step.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import { type Load, type LoadReport, startLoad } from "./open-loop.ts";

export const streams = ["graphql reads", "graphql writes", "rest reads", "rest writes"] as const;
export type Stream = (typeof streams)[number];

export type TrafficReport = Readonly<Record<Stream, LoadReport>>;

export interface Traffic {
  inFlight(stream: Stream): number;
  /** Resolves to the report of all requests that were due since the last call, once they have ended. */
  next(): Promise<TrafficReport>;
  /** Stops sending. Resolves to the rest of the report, once all requests have ended. */
  stop(): Promise<TrafficReport>;
  /** Checks that each confirmed comment is stored exactly once, then closes the connections. Call it once, after `stop`. */
  audit(): Promise<CommentAudit>;
}

export interface TrafficOptions {
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly token: string;
  /** The identifier of this run, part of everything that it writes. */
  readonly run: string;
  /** The request rate of all streams together; three of four requests are reads. */
  readonly perSecond: number;
  /** A request that takes longer counts as failed. */
  readonly timeoutMs: number;
}

/** Sends the journey's requests (journey.ts) to both endpoints at a fixed rate, without retries, in four streams. */
export function startTraffic({ graphqlUrl, restUrl, token, run, perSecond, timeoutMs }: TrafficOptions): Traffic {
  const confirmed = new Set<string>();
  const clients = { graphql: createHttpClient(graphqlUrl, timeoutMs), rest: createHttpClient(restUrl, timeoutMs) };
  const { graphql, rest } = createJourney({ token, run, confirm: (text) => void confirmed.add(text) });
  const start = (client: HttpClient, steps: readonly Step[], share: number) =>
    startLoad({ perSecond: perSecond * share, send: (requestNumber) => sendStep(client, steps, requestNumber) });
  const loads: Readonly<Record<Stream, Load>> = {
    "graphql reads": start(clients.graphql, graphql.reads, 3 / 8),
    "graphql writes": start(clients.graphql, graphql.writes, 1 / 8),
    "rest reads": start(clients.rest, rest.reads, 3 / 8),
    "rest writes": start(clients.rest, rest.writes, 1 / 8),
  };

  async function collect(readReport: (load: Load) => Promise<LoadReport>): Promise<TrafficReport> {
    const reports = streams.map(async (stream) => [stream, await readReport(loads[stream])] as const);
    return Object.fromEntries(await Promise.all(reports)) as TrafficReport;
  }

  return {
    inFlight: (stream) => loads[stream].inFlight,
    next: () => collect((load) => load.next()),
    stop: () => collect((load) => load.stop()),
    async audit() {
      const audit = await auditComments(clients.rest, run, confirmed);
      for (const client of Object.values(clients)) client.close();
      return audit;
    },
  };
}

/** The steps take turns. @returns the problem of the response; undefined if it is as expected. */
async function sendStep(
  client: HttpClient,
  steps: readonly Step[],
  requestNumber: number,
): Promise<string | undefined> {
  const step = steps[requestNumber % steps.length];
  if (!step) throw new Error("a stream without steps");
  const response = await client.send(step.createRequest(requestNumber)).catch((error: unknown) => {
    throw new Error(`${step.name}: ${String(error)}`, { cause: error });
  });
  return step.findProblem(response, requestNumber);
}
