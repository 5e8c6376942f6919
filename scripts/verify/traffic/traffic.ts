// The load of rollout.ts and of the verification alerts: sends the journey's steps (journey.ts) at a fixed rate, in four streams. `next` reports what
// clients have observed since its last call.
import { type CommentAudit, auditComments } from "./audit.ts";
import { createJourney } from "./journey.ts";
import type { Step } from "./step.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import { type Load, type LoadReport, startLoad } from "./open-loop.ts";

export const streams = ["graphql reads", "graphql writes", "rest reads", "rest writes"] as const;
export type Stream = (typeof streams)[number];

export type TrafficReport = Readonly<Record<Stream, LoadReport>>;

export interface Traffic {
  /** The number of requests that have been sent and have no response yet. */
  inFlight(stream: Stream): number;
  /** Resolves to the report of all requests that were due since the last call, once they have ended. */
  next(): Promise<TrafficReport>;
  /** Stops sending. Resolves to the rest of the report, once all requests have ended. */
  stop(): Promise<TrafficReport>;
  /** Checks that each confirmed comment is stored exactly once, then closes the connections. Call it once, after `stop`. */
  audit(): Promise<CommentAudit>;
}

export interface TrafficOptions {
  /** Base URLs of the gateway and the REST proxy. */
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

/** Of the request rate. */
const shareOf: Readonly<Record<Stream, number>> = {
  "graphql reads": 3 / 8,
  "graphql writes": 1 / 8,
  "rest reads": 3 / 8,
  "rest writes": 1 / 8,
};

/** Sends the journey's requests to both endpoints at a fixed rate (open loop), without retries, over persistent connections. */
export function startTraffic({ graphqlUrl, restUrl, token, run, perSecond, timeoutMs }: TrafficOptions): Traffic {
  const confirmed = new Set<string>();
  const clients = { graphql: createHttpClient(graphqlUrl, timeoutMs), rest: createHttpClient(restUrl, timeoutMs) };
  const { graphql, rest } = createJourney({ token, run, confirm: (text) => void confirmed.add(text) });
  const start = (stream: Stream, client: HttpClient, steps: readonly Step[]) =>
    startLoad({
      perSecond: perSecond * shareOf[stream],
      send: (requestNumber) => sendStep(client, steps, requestNumber),
    });
  const loads: Readonly<Record<Stream, Load>> = {
    "graphql reads": start("graphql reads", clients.graphql, graphql.reads),
    "graphql writes": start("graphql writes", clients.graphql, graphql.writes),
    "rest reads": start("rest reads", clients.rest, rest.reads),
    "rest writes": start("rest writes", clients.rest, rest.writes),
  };

  async function collect(readReport: (load: Load) => Promise<LoadReport>): Promise<TrafficReport> {
    const reports = await Promise.all(
      streams.map(async (stream) => [stream, await readReport(loads[stream])] as const),
    );
    return Object.fromEntries(reports) as Record<Stream, LoadReport>;
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

/** Sends one request of a stream; the steps take turns. @returns the problem of the response; undefined if the response is as expected. */
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
