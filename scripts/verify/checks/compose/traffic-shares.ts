// Measures for compose.ts whether gateway and REST proxy send requests to all replicas of each service.
import { setTimeout as sleep } from "node:timers/promises";
import { createJourney } from "../../traffic/journey.ts";
import type { Step } from "../../traffic/step.ts";
import { createHttpClient } from "../../traffic/http-client.ts";
import { startLoad } from "../../traffic/open-loop.ts";
import { type Container, readReceivedPackets } from "./containers.ts";
import type { PublicPart } from "./project.ts";

/** How the traffic from one public part is distributed over the replicas of a service, measured in received packets. */
export interface TrafficShare {
  readonly via: PublicPart;
  readonly service: string;
  /** Each replica's share, from 0 to 1, in the order of the replicas. */
  readonly replicaShares: readonly number[];
}

export interface SharesOptions {
  readonly urls: Readonly<Record<PublicPart, string>>;
  readonly services: ReadonlyMap<string, readonly Container[]>;
  readonly token: string;
  readonly perSecond: number;
}

const measureMs = 8_000;
/** More requests than the other checks send: replicas are chosen at random, so few requests give no reliable shares. */
const perSecondFactor = 3;
const warmUpMs = 6_000;
/**
 * The minimum of a replica, as a factor of an even share: random choice and slower replicas cause differences. A replica whose address the gateway
 * or the REST proxy does not know gets no traffic.
 */
const fairnessMin = 0.3;

/** Sends reads through the gateway, then through the REST proxy, and measures what each replica receives. */
export async function measureShares(options: SharesOptions): Promise<readonly TrafficShare[]> {
  // Only writes use `run` and `confirm`, and no writes are sent here.
  const { graphql, rest } = createJourney({ token: options.token, run: "shares", confirm: () => {} });
  const sharesOfGateway = await measurePart("gateway", graphql.reads, options);
  const sharesOfRestProxy = await measurePart("rest-proxy", rest.reads, options);
  return [...sharesOfGateway, ...sharesOfRestProxy];
}

/** Whether each replica gets at least its minimum. False for fewer than two replicas: their shares prove nothing. */
export function isFair({ replicaShares }: TrafficShare): boolean {
  const shareMin = fairnessMin / replicaShares.length;
  return replicaShares.length > 1 && replicaShares.every((share) => share >= shareMin);
}

export function describeShare({ via, service, replicaShares }: TrafficShare): string {
  const percents = replicaShares.map((share) => `${(share * 100).toFixed(0)} %`.padStart(6)).join("");
  return `${via.padEnd(12)}${service.padEnd(12)}${percents}`;
}

async function measurePart(
  via: PublicPart,
  steps: readonly Step[],
  { urls, services, perSecond }: SharesOptions,
): Promise<readonly TrafficShare[]> {
  const client = createHttpClient(urls[via]);
  const load = startLoad({
    perSecond: perSecond * perSecondFactor,
    async send(requestNumber) {
      const step = steps[requestNumber % steps.length] as Step;
      // The requests of each step are numbered separately, so that few are served from the REST proxy's cache.
      const numberInStep = Math.floor(requestNumber / steps.length);
      const response = await client.send(step.createRequest(numberInStep));
      return step.findProblem(response, numberInStep);
    },
  });
  // Gateway and REST proxy look names up every five seconds; after this time they know all replicas.
  await sleep(warmUpMs);
  const before = await readPackets(services);
  await sleep(measureMs);
  const after = await readPackets(services);
  await load.stop();
  client.close();
  return [...services.keys()].map((service) => ({
    via,
    service,
    replicaShares: toReplicaShares(before.get(service) ?? [], after.get(service) ?? []),
  }));
}

async function readPackets(services: SharesOptions["services"]): Promise<ReadonlyMap<string, readonly number[]>> {
  const packets = [...services].map(
    async ([service, containers]) => [service, await Promise.all(containers.map(readReceivedPackets))] as const,
  );
  return new Map(await Promise.all(packets));
}

function toReplicaShares(before: readonly number[], after: readonly number[]): readonly number[] {
  const received = after.map((packets, index) => packets - (before[index] ?? 0));
  const total = received.reduce((sum, packets) => sum + packets, 0);
  if (total === 0) return received.map(() => 0);
  return received.map((packets) => packets / total);
}
