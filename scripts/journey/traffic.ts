import { type Audit, auditComments } from "./audit.ts";
import { createJourney } from "./journey.ts";
import type { Step } from "./step.ts";
import { createHttpClient, type HttpClient } from "../processes/http-client.ts";
import { type Load, type LoadReport, startLoad } from "../processes/open-loop.ts";

export const streams = ["graphql reads", "graphql writes", "rest reads", "rest writes"] as const;
export type Stream = (typeof streams)[number];

export type TrafficReport = Readonly<Record<Stream, LoadReport>>;

export interface Traffic {
  /** Requests that have been sent and not been answered yet. */
  underWay(stream: Stream): number;
  /** What was to be sent since the last call, once all of it was answered. */
  next(): Promise<TrafficReport>;
  /** Sends no more. Resolves with the rest of the report, once all has been answered. */
  stop(): Promise<TrafficReport>;
  /** Whether each comment that was confirmed is there, once. After `stop`. */
  audit(): Promise<Audit>;
}

export interface TrafficOptions {
  /** Base addresses of the doors. */
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly token: string;
  /** Tells this run's writes from others'. */
  readonly run: string;
  /** Of all streams together; three in four read. */
  readonly perSecond: number;
  /** An answer that takes longer is none. */
  readonly timeoutMs: number;
}

const shareOf: Readonly<Record<Stream, number>> = {
  "graphql reads": 3 / 8,
  "graphql writes": 1 / 8,
  "rest reads": 3 / 8,
  "rest writes": 1 / 8,
};

/** The journey through both doors by an open loop; first attempts, over kept connections. */
export function startTraffic({ graphqlUrl, restUrl, token, run, perSecond, timeoutMs }: TrafficOptions): Traffic {
  const confirmed = new Set<string>();
  const clients = { graphql: createHttpClient(graphqlUrl, timeoutMs), rest: createHttpClient(restUrl, timeoutMs) };
  const { graphql, rest } = createJourney({ token, run, confirm: (text) => void confirmed.add(text) });
  const start = (stream: Stream, client: HttpClient, steps: readonly Step[]) =>
    startLoad({ perSecond: perSecond * shareOf[stream], send: (count) => take(client, steps, count) });
  const loads: Readonly<Record<Stream, Load>> = {
    "graphql reads": start("graphql reads", clients.graphql, graphql.reads),
    "graphql writes": start("graphql writes", clients.graphql, graphql.writes),
    "rest reads": start("rest reads", clients.rest, rest.reads),
    "rest writes": start("rest writes", clients.rest, rest.writes),
  };

  async function collect(of: (load: Load) => Promise<LoadReport>): Promise<TrafficReport> {
    const reports = await Promise.all(streams.map(async (stream) => [stream, await of(loads[stream])] as const));
    return Object.fromEntries(reports) as Record<Stream, LoadReport>;
  }

  return {
    underWay: (stream) => loads[stream].inFlight,
    next: () => collect((load) => load.next()),
    stop: () => collect((load) => load.stop()),
    async audit() {
      const audit = await auditComments(clients.rest, run, confirmed);
      for (const client of Object.values(clients)) client.close();
      return audit;
    },
  };
}

/** The steps in turn. */
async function take(client: HttpClient, steps: readonly Step[], count: number): Promise<string | undefined> {
  const step = steps[count % steps.length];
  if (!step) throw new Error("a stream without steps");
  const answer = await client.send(step.ask(count)).catch((error: unknown) => {
    throw new Error(`${step.name}: ${String(error)}`, { cause: error });
  });
  return step.judge(answer, count);
}
