import type { Profiled } from "../run/profile.ts";
import { printTable } from "./markdown.ts";
import { listByOwner, listSelfTimes } from "./self-times.ts";

const functionsMax = 40;
const ownersMax = 15;

/** The functions that take the most time themselves, and whose code takes how much. */
export function printProfile({ contender, workload, cell }: Profiled): string {
  if (!cell.told) return "The gateway told no profile.";
  const selfTimes = listSelfTimes(cell.told);
  const functions = selfTimes.slice(0, functionsMax).map(({ name, place, part }) => [place, name, toPercent(part)]);
  const owners = listByOwner(selfTimes).slice(0, ownersMax);
  return [
    `${contender.title}, ${workload.title}: ${cell.cpuMsPerRequest.toFixed(3)} ms CPU a request with the profiler on`,
    printTable(
      ["of the main thread's busy time", "part"],
      owners.map(({ name, part }) => [name, toPercent(part)]),
    ),
    printTable(["place", "function", "itself"], functions),
  ].join("\n\n");
}

function toPercent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}
