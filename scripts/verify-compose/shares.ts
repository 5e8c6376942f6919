import { setTimeout as sleep } from "node:timers/promises";
import { createJourney } from "../journey/journey.ts";
import type { Step } from "../journey/step.ts";
import { createHttpClient } from "../processes/http-client.ts";
import { startLoad } from "../processes/open-loop.ts";
import { type Container, readReceivedPackets } from "./containers.ts";

type Door = "gateway" | "rest-proxy";

/** What came to the replicas of one service while a door was read through, in packets: of a few long answers one is as good as many short ones. */
export interface Share {
  readonly door: Door;
  readonly service: string;
  /** Of all that came to the service's replicas, in their order, from 0 to 1. */
  readonly parts: readonly number[];
}

export interface SharesOptions {
  readonly doors: Readonly<Record<Door, string>>;
  readonly services: ReadonlyMap<string, readonly Container[]>;
  readonly token: string;
  readonly perSecond: number;
}

const readMs = 8_000;
/** More than the other checks send: by few requests, which are chosen at random, nobody sees a share. */
const perSecondFactor = 3;
const warmUpMs = 6_000;
/** Of an even share, at the least: chance has its part in it, and one that is slower gets less. One that a door does not know gets nothing. */
const fairnessMin = 0.3;

/** Reads through one door after the other, and sees what comes to each replica. */
export async function measureShares(o: SharesOptions): Promise<readonly Share[]> {
  const { graphql, rest } = createJourney({ token: o.token, run: "shares", confirm: () => {} });
  return [...(await measureDoor("gateway", graphql.reads, o)), ...(await measureDoor("rest-proxy", rest.reads, o))];
}

export function isFair({ parts }: Share): boolean {
  return parts.length > 1 && parts.every((part) => part >= fairnessMin / parts.length);
}

export function describeShare({ door, service, parts }: Share): string {
  const percents = parts.map((part) => `${(part * 100).toFixed(0)} %`.padStart(6)).join("");
  return `${door.padEnd(12)}${service.padEnd(12)}${percents}`;
}

async function measureDoor(door: Door, steps: readonly Step[], o: SharesOptions): Promise<readonly Share[]> {
  const client = createHttpClient(o.doors[door]);
  const load = startLoad({
    perSecond: o.perSecond * perSecondFactor,
    async send(count) {
      const step = steps[count % steps.length] as Step;
      // Each step's own next number, so that the REST proxy has a copy of as little as may be.
      const next = Math.floor(count / steps.length);
      return step.findProblem(await client.send(step.createRequest(next)), next);
    },
  });
  // A door looks its services' names up every five seconds; after that it knows all of them.
  await sleep(warmUpMs);
  const before = await readAll(o.services);
  await sleep(readMs);
  const after = await readAll(o.services);
  await load.stop();
  client.close();
  return [...o.services.keys()].map((service) => ({
    door,
    service,
    parts: toParts(before.get(service) ?? [], after.get(service) ?? []),
  }));
}

async function readAll(services: SharesOptions["services"]): Promise<ReadonlyMap<string, readonly number[]>> {
  const counts = [...services].map(
    async ([service, containers]) => [service, await Promise.all(containers.map(readReceivedPackets))] as const,
  );
  return new Map(await Promise.all(counts));
}

function toParts(before: readonly number[], after: readonly number[]): readonly number[] {
  const received = after.map((packets, index) => packets - (before[index] ?? 0));
  const total = received.reduce((sum, packets) => sum + packets, 0);
  return received.map((packets) => (total === 0 ? 0 : packets / total));
}
