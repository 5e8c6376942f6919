import type { Profiler } from "node:inspector";
import type { Cell } from "../measure/measure-cell.ts";
import { toCpuMicros } from "../report/summary.ts";
import { printTable } from "../report/tables.ts";

type CallFrame = Profiler.ProfileNode["callFrame"];

const repository = new URL("../..", import.meta.url).href;
const packagesMax = 15;
const functionsMax = 40;

/** Lists the self times of the main thread by package, then by function. */
export function printProfile(cell: Cell): string {
  const profile = cell.preloadReport as Profiler.Profile;
  const print = (head: string, toKey: (frame: CallFrame) => string, rowsMax: number) => {
    const rows = sumSelfTimes(profile, toKey).slice(0, rowsMax);
    const texts = rows.map(([key, share]) => [key, `${(share * 100).toFixed(1)} %`]);
    return printTable([head, "share of the main thread's busy time"], texts);
  };
  return [
    `${cell.contender}, ${cell.workload}: ${toCpuMicros(cell).toFixed(1)} µs CPU per request with the profiler on`,
    print("package", toPackage, packagesMax),
    print("function", toFunction, functionsMax),
  ].join("\n\n");
}

/** Adds the self times by key, as shares of the time in which the thread was not idle, without the profiler itself. Descending. */
function sumSelfTimes(
  { nodes, samples = [], timeDeltas = [] }: Profiler.Profile,
  toKey: (frame: CallFrame) => string,
): readonly (readonly [key: string, share: number])[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const micros = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (!frame || frame.functionName === "(idle)" || frame.url === "node:inspector") continue;
    const spent = timeDeltas[index] ?? 0;
    busy += spent;
    micros.set(toKey(frame), (micros.get(toKey(frame)) ?? 0) + spent);
  }
  return Array.from(micros, ([key, spent]) => [key, spent / busy] as const).sort((a, b) => b[1] - a[1]);
}

function toFunction(frame: CallFrame): string {
  return frame.url === "" ? toName(frame) : `${toName(frame)} ${toPath(frame)}:${frame.lineNumber + 1}`;
}

/** The package, the top-level folder for files of this repository, or V8's name such as `(garbage collector)`. */
function toPackage(frame: CallFrame): string {
  return frame.url === "" ? toName(frame) : (/^(?:@[^/]+\/)?[^/:]+/.exec(toPath(frame))?.[0] ?? frame.url);
}

function toName({ functionName }: CallFrame): string {
  return functionName || "(anonymous)";
}

/** The path below the last `node_modules`, or below the repository for our packages, whose links V8 resolves. */
function toPath({ url }: CallFrame): string {
  return url.replace(/^.*\/node_modules\//, "").replace(repository, "");
}
