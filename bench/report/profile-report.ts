import type { ProfiledCell } from "../run/profile-cell.ts";
import { printTable } from "./markdown.ts";
import { listByPackage, listSelfTimes } from "./self-times.ts";

const functionsMax = 40;
const packagesMax = 15;

/** Lists the self times of the main thread by package, then by function. */
export function printProfile({ contender, workload, cell }: ProfiledCell): string {
  if (!cell.preloadReport) return "The gateway sent no profile.";
  const selfTimes = listSelfTimes(cell.preloadReport);
  const functions = selfTimes
    .slice(0, functionsMax)
    .map(({ name, location, share }) => [location, name, toPercent(share)]);
  const packages = listByPackage(selfTimes).slice(0, packagesMax);
  return [
    `${contender.title}, ${workload.title}: ${cell.cpuMsPerRequest.toFixed(3)} ms CPU per request with the profiler on`,
    printTable(
      ["package", "share of the main thread's busy time"],
      packages.map(({ name, share }) => [name, toPercent(share)]),
    ),
    printTable(["location", "function", "self time"], functions),
  ].join("\n\n");
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
