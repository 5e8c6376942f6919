// Measures for compose.ts whether gateway and REST proxy send requests to all replicas of each service.
import { setTimeout as sleep } from "node:timers/promises";
import { createJourney } from "../../traffic/journey.ts";
import type { Step } from "../../traffic/step.ts";
import { createHttpClient } from "../../traffic/http-client.ts";
import { startLoad } from "../../traffic/open-loop.ts";
import { type Container, readReceivedPackets } from "./containers.ts";

export interface SharesOptions {
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly token: string;
  readonly perSecond: number;
  readonly serviceContainers: ReadonlyMap<string, readonly Container[]>;
}

/** Gateway and REST proxy look names up every five seconds; after this time they know all replicas. */
const warmUpMs = 6_000;
const measureMs = 8_000;
/** More requests than the other checks send: replicas are chosen at random, so few requests give no reliable shares. */
const perSecondFactor = 3;
/** The minimum of a replica, as a factor of an even share. A replica whose address the gateway or the REST proxy does not know gets no traffic. */
const fairnessMin = 0.3;

/** Sends reads through the gateway, then through the REST proxy. @returns the shares, in received packets, that are below the minimum. */
export async function findUnfairShares(options: SharesOptions): Promise<readonly string[]> {
  // Only writes use `run` and `confirm`, and no writes are sent here.
  const { graphql, rest } = createJourney({ token: options.token, run: "shares", confirm: () => {} });
  return [
    ...(await findUnfairSharesOf(options.graphqlUrl, graphql.reads, options)),
    ...(await findUnfairSharesOf(options.restUrl, rest.reads, options)),
  ];
}

async function findUnfairSharesOf(
  url: string,
  steps: readonly Step[],
  { perSecond, serviceContainers }: SharesOptions,
): Promise<readonly string[]> {
  const client = createHttpClient(url);
  const load = startLoad({
    perSecond: perSecond * perSecondFactor,
    async send(requestNumber) {
      const step = steps[requestNumber % steps.length] as Step;
      // The requests of each step are numbered separately, so that few are served from the REST proxy's cache.
      const numberInStep = Math.floor(requestNumber / steps.length);
      return step.findProblem(await client.send(step.createRequest(numberInStep)), numberInStep);
    },
  });
  await sleep(warmUpMs);
  const containers = [...serviceContainers.values()];
  const readPackets = () => Promise.all(containers.map((replicas) => Promise.all(replicas.map(readReceivedPackets))));
  const before = await readPackets();
  await sleep(measureMs);
  const after = await readPackets();
  await load.stop();
  client.close();
  return containers.flatMap((replicas, service) => {
    const received = replicas.map((_, index) => (after[service]?.[index] ?? 0) - (before[service]?.[index] ?? 0));
    const minimum = (fairnessMin * received.reduce((sum, packets) => sum + packets, 0)) / replicas.length;
    const isFair = replicas.length > 1 && received.every((packets) => packets > 0 && packets >= minimum);
    return isFair
      ? []
      : [`${replicas[0]?.name ?? "a service without replicas"} and the others get ${received.join(", ")}`];
  });
}
