import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Expected, Fault } from "./faults.ts";
import type { Platform } from "./platform.ts";
import type { Receiver, Told } from "./receiver.ts";
import { docsFolder } from "./settings.ts";
import type { Watchers } from "./watchers.ts";

/** What became of one alert. Times from the fault, and from its mend. */
export interface Played {
  readonly alert: string;
  readonly unit: string;
  readonly expectation: "told" | "silenced" | "follows" | "unexpected";
  readonly receiver: string | undefined;
  readonly afterMs: number | undefined;
  /** What is wrong with where it leads to; undefined when nothing is. */
  readonly pageFault: string | undefined;
  readonly overAfterMs: number | undefined;
}

export interface Outcome {
  readonly fault: Pick<Fault, "name" | "what">;
  readonly alerts: readonly Played[];
}

export interface Stage {
  readonly platform: Platform;
  readonly watchers: Watchers;
  readonly receiver: Receiver;
  readonly isControl: boolean;
}

/** Goes on for six hours, shortened to twelve minutes, after every fault that costs a door's promise: as it should. */
export const lasting = "ServiceLevelBurnsSlowly";
const toldTimeoutMs = 90_000;
const controlTimeoutMs = 15_000;
const overTimeoutMs = 180_000;
const pollMs = 200;

/** Makes a fault, waits for what has to be told, mends it, and waits until all is over. */
export async function play(fault: Fault, stage: Stage): Promise<Outcome> {
  const { watchers, receiver, isControl } = stage;
  const madeMs = performance.now();
  const mend = isControl ? async () => {} : await fault.make(stage.platform);
  const silencedMs = new Map<string, number>();
  const isAllThere = async () => {
    await noteSilenced(watchers, silencedMs);
    return isComplete(fault, receiver.since(madeMs), silencedMs);
  };
  await waitFor(isAllThere, isControl ? controlTimeoutMs : toldTimeoutMs);
  await mend();
  const mendedMs = performance.now();
  if (!isControl) await waitFor(() => isOver(watchers, receiver, madeMs), overTimeoutMs);
  const told = receiver.since(madeMs);
  const missed = fault.told
    .filter((expected) => !findTold(told, expected))
    .map((expected) => missing(expected, "told"));
  const played = await Promise.all(told.map((one) => describe(fault, one, madeMs, mendedMs)));
  const silenced = (fault.silenced ?? []).map((expected) => describeSilenced(expected, silencedMs, madeMs));
  return { fault, alerts: [...played, ...missed, ...silenced] };
}

const keyOf = (alert: string, unit: string) => `${alert} ${unit}`;

async function noteSilenced(watchers: Watchers, silencedMs: Map<string, number>): Promise<void> {
  for (const { labels, status } of await watchers.shown()) {
    const key = keyOf(labels["alertname"] ?? "", labels["unit"] ?? "");
    if (status.state === "suppressed" && !silencedMs.has(key)) silencedMs.set(key, performance.now());
  }
}

function isComplete({ told, silenced = [] }: Fault, all: readonly Told[], silencedMs: ReadonlyMap<string, number>) {
  return (
    told.every((expected) => findTold(all, expected)) &&
    silenced.every(([alert, unit]) => silencedMs.has(keyOf(alert, unit)))
  );
}

function findTold(all: readonly Told[], [alert, unit]: Expected): Told | undefined {
  return all.find((one) => one.alert === alert && one.unit === unit);
}

async function isOver(watchers: Watchers, receiver: Receiver, madeMs: number): Promise<boolean> {
  const firing = (await watchers.firing()).filter((name) => name !== lasting);
  const open = receiver.since(madeMs).filter(({ alert, overMs }) => alert !== lasting && overMs === undefined);
  return firing.length === 0 && open.length === 0;
}

async function waitFor(isTrue: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isTrue()) && performance.now() < deadline) await sleep(pollMs);
}

async function describe(fault: Fault, told: Told, madeMs: number, mendedMs: number): Promise<Played> {
  const { alert, unit, receiver, toldMs, overMs } = told;
  return {
    alert,
    unit,
    expectation: expectationOf(fault, told),
    receiver,
    afterMs: toldMs - madeMs,
    pageFault: receiver === told.labels["severity"] ? await judgePage(told) : `told ${receiver}`,
    overAfterMs: overMs === undefined ? undefined : Math.max(0, overMs - mendedMs),
  };
}

function expectationOf({ told, silenced = [], follow = [] }: Fault, { alert, unit }: Told): Played["expectation"] {
  if (told.some(([name, of]) => name === alert && of === unit)) return "told";
  // What was silenced comes to word when what silenced it is over first, as long as its own windows look back.
  const mayFollow = alert === lasting || follow.includes(alert) || silenced.some(([name]) => name === alert);
  return mayFollow ? "follows" : "unexpected";
}

/** Whether its link, opened as a person would, brings the page of docs/runbooks that names the alert. */
async function judgePage({ alert, annotations }: Told): Promise<string | undefined> {
  const url = annotations["runbook_url"] ?? "";
  const answer = await fetch(url).catch((error: unknown) => String(error));
  if (typeof answer === "string") return `${url}: ${answer}`;
  const text = await answer.text();
  if (!answer.ok) return `${url}: ${answer.status}`;
  if (!text.includes(`\`${alert}\``)) return `${url} does not name it`;
  const file = join(docsFolder, "runbooks", new URL(url).pathname.split("/").at(-1) ?? "");
  return readFileSync(file, "utf8") === text ? undefined : `${url} is not the page of docs/runbooks`;
}

function missing([alert, unit]: Expected, expectation: Played["expectation"]): Played {
  const nothing = { receiver: undefined, afterMs: undefined, pageFault: undefined, overAfterMs: undefined };
  return { alert, unit, expectation, ...nothing };
}

function describeSilenced(expected: Expected, silencedMs: ReadonlyMap<string, number>, madeMs: number): Played {
  const sinceMs = silencedMs.get(keyOf(...expected));
  const afterMs = sinceMs === undefined ? undefined : sinceMs - madeMs;
  return { ...missing(expected, "silenced"), afterMs };
}
