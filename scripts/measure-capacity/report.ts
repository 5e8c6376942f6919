import { availableParallelism, cpus } from "node:os";
import type { CapacityOptions } from "./options.ts";
import type { Held } from "./ramp.ts";
import type { Result } from "./run.ts";

const unitNames = ["gateway", "rest-proxy", "users", "posts", "comments", "orders"] as const;
const [begin, end] = ["<!-- capacity:begin -->", "<!-- capacity:end -->"];
/** Of one core: what an autoscaler aims at, so that a replica may be lost. */
const usedShare = 0.6;
const goalPerSecond = 10_000;
/** From here on an event loop has no time left to be on time. */
const fullShare = 0.85;
/** What takes less of a request's CPU is what a process does anyway. */
const leastShare = 0.02;

/** The tables of docs/capacity.md, and what they were measured on. */
export function describeAll(
  results: readonly Result[],
  { p99MsMax, seconds }: Pick<CapacityOptions, "p99MsMax" | "seconds">,
): string {
  const machine = `${cpus()[0]?.model.trim() ?? "unknown"}, ${availableParallelism()} cores for all of it, Node ${process.version}`;
  const date = new Date().toISOString().slice(0, 10);
  return [
    `Measured on ${date}: ${machine}; each rate held for ${seconds} s, 99 of 100 within ${p99MsMax} ms, none failed.`,
    "",
    "| asked | requests/s held | p99, ms | what came to its end |",
    "|---|---|---|---|",
    ...results.map((result) => rowOf(result, p99MsMax)),
    "",
    `| CPU of a request, ms | ${unitNames.join(" | ")} |`,
    `|---|${"---|".repeat(unitNames.length)}`,
    ...costRows(results, (ms) => ms.toFixed(2)),
    "",
    `| replicas for ${goalPerSecond.toLocaleString("en")}/s | ${unitNames.join(" | ")} |`,
    `|---|${"---|".repeat(unitNames.length)}`,
    ...costRows(results, (ms) => String(replicasFor(ms))),
  ].join("\n");
}

function rowOf({ workload, held, broke }: Result, p99MsMax: number): string {
  const cells = held ? [held.perSecond.toLocaleString("en"), held.p99Ms.toFixed(1)] : ["none", "–"];
  return `| ${workload.name} | ${cells.join(" | ")} | ${broke ? reasonOf(broke, p99MsMax) : "nothing"} |`;
}

/** Which process had no CPU left; or whether it was our own load that came too late, so that the part holds at least so much. */
export function reasonOf({ sendDelayMsMax, cpuSeconds, seconds }: Held, p99MsMax: number): string {
  const [busiest] = [...cpuSeconds].toSorted(([, a], [, b]) => b - a);
  const share = (busiest?.[1] ?? 0) / seconds;
  if (busiest && share >= fullShare) return `${busiest[0]}, ${Math.round(share * 100)} % of a core`;
  return sendDelayMsMax > p99MsMax / 2
    ? "the load that asks: the part holds at least this"
    : "the machine, or its PostgreSQL";
}

function costRows(results: readonly Result[], show: (ms: number) => string): readonly string[] {
  return results.flatMap(({ workload, held }) => {
    if (!held) return [];
    const costs = unitNames.map((name) => costOf(held, name));
    const sum = costs.reduce((all, ms) => all + ms, 0);
    const cells = costs.map((ms) => (ms <= sum * leastShare ? "–" : show(ms)));
    return [`| ${workload.name} | ${cells.join(" | ")} |`];
  });
}

/** Milliseconds of a unit's CPU for one request. */
function costOf({ cpuSeconds, requests }: Held, unit: string): number {
  return ((cpuSeconds.get(unit) ?? 0) * 1_000) / requests;
}

/** @param ms of CPU for each request. */
export function replicasFor(ms: number): number {
  return Math.ceil((goalPerSecond * ms) / 1_000 / usedShare);
}

/** @throws Error when the page has no place for it. */
export function putBetweenMarkers(page: string, text: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The page has no ${begin} … ${end}.`);
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
}
