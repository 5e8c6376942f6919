import type { Profiler } from "node:inspector";
import type { Cell } from "../cells/measure-cell.ts";
import { toCpuMicros } from "../report/summary.ts";
import { formatTable } from "../report/tables.ts";

type CallFrame = Profiler.ProfileNode["callFrame"];

const repository = new URL("../..", import.meta.url).href;
/** The start of a path (`toPath`): `@scope/name`, the first folder, or `node` of a module such as `node:http`. */
const packageOrFolder = /^(?:@[^/]+\/)?[^/:]+/;
const packagesMax = 15;
const functionsMax = 40;

/** Lists the self times of the main thread by package, then by function. */
export function formatProfile(cell: Cell): string {
  const profile = cell.preloadReport as Profiler.Profile;
  const toTable = (keyTitle: string, toKey: (frame: CallFrame) => string, rowsMax: number) => {
    const largest = sumSelfTimes(profile, toKey).slice(0, rowsMax);
    const rows = largest.map(([key, share]) => [key, `${(share * 100).toFixed(1)} %`]);
    return formatTable([keyTitle, "share of the main thread's busy time"], rows);
  };
  return [
    `${cell.contender}, ${cell.workload}: ${toCpuMicros(cell).toFixed(1)} µs CPU per request with the profiler on`,
    toTable("package", toPackage, packagesMax),
    toTable("function", toFunction, functionsMax),
  ].join("\n\n");
}

/** Adds the self times by key, as shares of the time in which the thread was not idle, without the profiler itself. Descending. */
function sumSelfTimes(
  { nodes, samples = [], timeDeltas = [] }: Profiler.Profile,
  toKey: (frame: CallFrame) => string,
): readonly (readonly [key: string, share: number])[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const microsByKey = new Map<string, number>();
  let busyMicros = 0;
  for (const [index, nodeId] of samples.entries()) {
    const frame = frames.get(nodeId);
    if (!frame) continue;
    const isIdle = frame.functionName === "(idle)";
    const isOfProfiler = frame.url === "node:inspector";
    if (isIdle || isOfProfiler) continue;
    const sampleMicros = timeDeltas[index] ?? 0;
    busyMicros += sampleMicros;
    const key = toKey(frame);
    microsByKey.set(key, (microsByKey.get(key) ?? 0) + sampleMicros);
  }
  const shares = Array.from(microsByKey, ([key, micros]) => [key, micros / busyMicros] as const);
  return shares.sort(([, shareA], [, shareB]) => shareB - shareA);
}

function toFunction(frame: CallFrame): string {
  return frame.url === "" ? toName(frame) : `${toName(frame)} ${toPath(frame)}:${frame.lineNumber + 1}`;
}

/** The package, the top-level folder for files of this repository, or V8's name such as `(garbage collector)`. */
function toPackage(frame: CallFrame): string {
  if (frame.url === "") return toName(frame);
  return packageOrFolder.exec(toPath(frame))?.[0] ?? frame.url;
}

function toName({ functionName }: CallFrame): string {
  return functionName === "" ? "(anonymous)" : functionName;
}

/** The path below the last `node_modules`, or below the repository for our packages, whose links V8 resolves. */
function toPath({ url }: CallFrame): string {
  return url.replace(/^.*\/node_modules\//, "").replace(repository, "");
}
