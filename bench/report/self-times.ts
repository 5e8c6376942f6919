import type { Profiler } from "node:inspector";

export interface SelfTime {
  readonly name: string;
  /** The file's last parts and the line; empty for what V8 and Node do by themselves. */
  readonly place: string;
  /** Of all the time in which the thread was not idle. */
  readonly part: number;
}

/** Where a thread spent its time itself, what it called and the profiler's own start left out; the most first. */
export function listSelfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): readonly SelfTime[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const microseconds = new Map<string, number>();
  let busy = 0;
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (!frame || frame.functionName === "(idle)" || frame.url === "node:inspector") continue;
    const spent = timeDeltas[index] ?? 0;
    busy += spent;
    const key = `${frame.functionName || "(anonymous)"}\n${toPlace(frame)}`;
    microseconds.set(key, (microseconds.get(key) ?? 0) + spent);
  }
  return Array.from(microseconds, ([key, spent]) => {
    const [name = "", place = ""] = key.split("\n");
    return { name, place, part: spent / busy };
  }).sort((a, b) => b.part - a.part);
}

/** Parts by package, or by the repository's folder: whose code it is. */
export function listByOwner(selfTimes: readonly SelfTime[]): readonly SelfTime[] {
  const parts = new Map<string, number>();
  for (const { place, name, part } of selfTimes) {
    const owner = place === "" ? name : (/^(?:node|wasm|@[^/]+\/[^/]+|[^/:]+)/.exec(place)?.[0] ?? place);
    parts.set(owner, (parts.get(owner) ?? 0) + part);
  }
  return Array.from(parts, ([name, part]) => ({ name, place: "", part })).sort((a, b) => b.part - a.part);
}

/** The last `node_modules` says which package; ours are linked there, so their real path is found under the repository. */
function toPlace({ url, lineNumber }: { readonly url: string; readonly lineNumber: number }): string {
  if (url === "") return "";
  const file = url.replace(/^.*\/node_modules\//, "").replace(repository, "");
  return `${file}:${lineNumber + 1}`;
}

const repository = new URL("../..", import.meta.url).href;
