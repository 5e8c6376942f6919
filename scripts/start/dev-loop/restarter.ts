import type { PartName } from "../parts.ts";
import type { SupervisedPart } from "../supervise.ts";

export interface RestarterOptions {
  readonly parts: ReadonlyMap<PartName, SupervisedPart>;
  readonly readyTimeoutMs: number;
  print(name: string, line: string): void;
}

/** Restarts these parts concurrently and prints cause and outcome. Resolves to true if all of them are ready. */
export type Restart = (names: Iterable<PartName>, paths: readonly string[]) => Promise<boolean>;

export function createRestarter({ parts, readyTimeoutMs, print }: RestarterOptions): Restart {
  async function restartOne(name: PartName, cause: string): Promise<boolean> {
    const part = parts.get(name);
    if (part === undefined) return true;
    const startedMs = performance.now();
    print(name, `restarting: ${cause}`);
    const isReplaced = await part.restart();
    const isReady = isReplaced && (await part.waitUntilReady(readyTimeoutMs));
    const tookMs = Math.round(performance.now() - startedMs);
    if (!isReplaced) print(name, "not restarted: the new code does not start");
    else print(name, isReady ? `restarted, ready after ${tookMs} ms` : `restarted, not ready after ${tookMs} ms`);
    return isReady;
  }

  return async (names, paths) => {
    const [first, ...more] = paths;
    const files = more.length === 0 ? `${first} was saved` : `${first} and ${more.length} more were saved`;
    const cause = first === undefined ? "a published file has changed" : files;
    const results = await Promise.all([...names].map((name) => restartOne(name, cause)));
    return results.every(Boolean);
  };
}
