import type { PartName } from "./parts.ts";
import type { SupervisedPart } from "./supervise.ts";

export interface RestarterOptions {
  readonly parts: ReadonlyMap<PartName, SupervisedPart>;
  readonly readyTimeoutMs: number;
  say(name: string, line: string): void;
}

/** Restarts these parts at the same time, and says why and how it went. True when all of them are ready again. */
export type Restart = (names: Iterable<PartName>, paths: readonly string[]) => Promise<boolean>;

export function createRestarter({ parts, readyTimeoutMs, say }: RestarterOptions): Restart {
  async function restartOne(name: PartName, cause: string): Promise<boolean> {
    const part = parts.get(name);
    if (part === undefined) return true;
    const startedMs = performance.now();
    say(name, `restarting: ${cause}`);
    const hasBegun = await part.restart();
    const isReady = hasBegun && (await part.waitUntilReady(readyTimeoutMs));
    const tookMs = Math.round(performance.now() - startedMs);
    if (!hasBegun) say(name, "keeps running as it was: the new code does not start");
    else say(name, isReady ? `ready again after ${tookMs} ms` : `not ready after ${tookMs} ms`);
    return isReady;
  }

  return async (names, paths) => {
    const [first, ...more] = paths;
    const files = more.length === 0 ? `${first} was saved` : `${first} and ${more.length} more were saved`;
    const cause = first === undefined ? "what it reads has changed" : files;
    const results = await Promise.all([...names].map((name) => restartOne(name, cause)));
    return results.every(Boolean);
  };
}
