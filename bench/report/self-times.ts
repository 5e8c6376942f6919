import type { Profiler } from "node:inspector";

export interface SelfTime {
  readonly name: string;
  /** File and line; empty for frames without a file, such as `(garbage collector)`. */
  readonly location: string;
  /** Of the time in which the thread was not idle, 0 to 1. */
  readonly share: number;
}

/** Lists each function's self time in descending order, without idle time and the profiler itself. */
export function listSelfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): readonly SelfTime[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const microseconds = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (!frame || frame.functionName === "(idle)" || frame.url === "node:inspector") continue;
    const spent = timeDeltas[index] ?? 0;
    busy += spent;
    const key = `${frame.functionName || "(anonymous)"}\n${toLocation(frame)}`;
    microseconds.set(key, (microseconds.get(key) ?? 0) + spent);
  }
  return Array.from(microseconds, ([key, spent]) => {
    const [name = "", location = ""] = key.split("\n");
    return { name, location, share: spent / busy };
  }).sort((a, b) => b.share - a.share);
}

/** Adds the self times by package, or by top-level folder for files of this repository. */
export function listByPackage(selfTimes: readonly SelfTime[]): readonly SelfTime[] {
  const shares = new Map<string, number>();
  for (const { location, name, share } of selfTimes) {
    const packageName =
      location === "" ? name : (/^(?:node|wasm|@[^/]+\/[^/]+|[^/:]+)/.exec(location)?.[0] ?? location);
    shares.set(packageName, (shares.get(packageName) ?? 0) + share);
  }
  return Array.from(shares, ([name, share]) => ({ name, location: "", share })).sort((a, b) => b.share - a.share);
}

/** The path below the last `node_modules`, or below the repository for our packages, whose links V8 resolves. */
function toLocation({ url, lineNumber }: { readonly url: string; readonly lineNumber: number }): string {
  if (url === "") return "";
  const file = url.replace(/^.*\/node_modules\//, "").replace(repository, "");
  return `${file}:${lineNumber + 1}`;
}

const repository = new URL("../..", import.meta.url).href;
