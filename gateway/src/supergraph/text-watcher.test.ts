import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFileSource } from "./file-source.ts";
import { watchText } from "./text-watcher.ts";

describe("the watcher", () => {
  type Look = string | undefined | Error;

  test("a text is passed on once until it changes", async () => {
    const { handedOn, failures, unchanged } = await play(["one", "one", undefined, "two", "two", "one"]);
    expect(handedOn).toEqual(["one", "two", "one"]);
    expect(failures).toEqual([]);
    expect(unchanged).toBe(3);
  });

  test("a failed read is reported as repeated until the source works again", async () => {
    const { handedOn, failures } = await play([new Error("down"), new Error("down"), "one", new Error("down"), "one"]);
    expect(handedOn).toEqual(["one"]);
    expect(failures).toEqual(["first", "repeated", "first"]);
  });

  test("a failed read is repeated before the next poll is due", async () => {
    const { handedOn } = await play([new Error("down"), new Error("down"), "one"], {
      pollMs: 3_600_000,
      rereadMsMin: 1,
    });
    expect(handedOn).toEqual(["one"]);
  });

  test("a hint causes a read before the next poll, and a hint during a read causes another read", async () => {
    const { handedOn } = await play(["one", "two", "three"], { pollMs: 3_600_000, hintAfterEach: true });
    expect(handedOn).toEqual(["one", "two", "three"]);
  });

  test("a source with continuous hints is read", async () => {
    let reads = 0;
    let hinting: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      const end = watchText({
        source: {
          name: "fake",
          read: () => Promise.resolve(String(reads++)),
          watch(onHint) {
            hinting = setInterval(onHint, 5);
            return () => clearInterval(hinting);
          },
        },
        pollMs: 3_600_000,
        onUnreadable: () => {},
        onText(text) {
          if (text === "2") {
            end();
            resolve();
          }
          return Promise.resolve("done");
        },
      });
    });
    expect(reads).toBe(3);
  });

  test("a text that failed to load is loaded again until it succeeds, also while the source cannot be read", async () => {
    const { handedOn } = await play(["one", "one", new Error("down"), "two", "two", "two"], {
      retryMsMin: 0,
      outcomes: ["retry", "retry", "done", "retry", "done"],
    });
    expect(handedOn).toEqual(["one", "one", "one", "two", "two"]);
  });

  test("a text that failed to load is not loaded again before the retry interval has passed", async () => {
    const { handedOn } = await play(["one", "one", "one"], { retryMsMin: 3_600_000, outcomes: ["retry"] });
    expect(handedOn).toEqual(["one"]);
  });

  test("nothing is read after the watcher is stopped", async () => {
    let reads = 0;
    const end = watchText({
      source: { name: "fake", read: () => Promise.resolve(String(reads++)) },
      pollMs: 1,
      onUnreadable: () => {},
      onText() {
        end();
        return Promise.resolve("done");
      },
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(reads).toBe(1);
  });

  interface PlayOptions {
    readonly pollMs?: number;
    readonly rereadMsMin?: number;
    readonly retryMsMin?: number;
    readonly hintAfterEach?: boolean;
    /** Of the loads, one after another; further loads are "done". */
    readonly outcomes?: readonly ("done" | "retry")[];
  }

  /** A source that returns these texts one after another; the watcher is stopped after the last. */
  function play(looks: readonly Look[], o: PlayOptions = {}) {
    const failures: ("first" | "repeated")[] = [];
    let unchanged = 0;
    const handedOn: string[] = [];
    let hint = () => {};
    let next = 0;
    return new Promise<{ handedOn: string[]; failures: string[]; unchanged: number }>((resolve) => {
      const read = (): Promise<string | undefined> => {
        const look = looks[next++];
        if (next === looks.length) {
          // After the last text is passed on.
          setImmediate(() => {
            end();
            resolve({ handedOn, failures, unchanged });
          });
        }
        if (o.hintAfterEach) hint();
        return look instanceof Error ? Promise.reject(look) : Promise.resolve(look);
      };
      const watch = (onHint: () => void) => {
        hint = onHint;
        return () => {};
      };
      const end = watchText({
        source: { name: "fake", read, watch },
        pollMs: o.pollMs ?? 1,
        ...(o.rereadMsMin === undefined ? {} : { rereadMsMin: o.rereadMsMin }),
        ...(o.retryMsMin === undefined ? {} : { retryMsMin: o.retryMsMin }),
        onUnreadable: (_cause, isRepeated) => void failures.push(isRepeated ? "repeated" : "first"),
        onUnchanged: () => unchanged++,
        onText(text) {
          handedOn.push(text);
          return Promise.resolve(o.outcomes?.[handedOn.length - 1] ?? "done");
        },
      });
    });
  }
});

describe("a file in a mounted ConfigMap", () => {
  let volume: string;

  beforeEach(() => void (volume = mkdtempSync(join(tmpdir(), "volume-"))));
  afterEach(() => rmSync(volume, { recursive: true, force: true }));

  test("each replacement of a mounted ConfigMap by the kubelet is noticed at once, without a poll", async () => {
    swap("..2026_11_21_10_00_00.1", "first");
    const { seen, end } = watch();
    expect(await seen()).toBe("first");
    for (const [folder, text] of [
      ["..2026_11_21_10_01_00.2", "second"],
      ["..2026_11_21_10_02_00.3", "third"],
      ["..2026_11_21_10_03_00.4", "fourth"],
    ] as const) {
      swap(folder, text);
      expect(await seen()).toBe(text);
    }
    end();
  });

  /** The target of the symlink `..data`. */
  let current: string | undefined;
  beforeEach(() => void (current = undefined));

  /**
   * What the kubelet does with a volume of files (its AtomicWriter): the new files into a folder of their own, a second link to that, the
   * link renamed over `..data`, the old folder taken away. The name that is mounted is a link through `..data` and never changes.
   */
  function swap(folder: string, text: string): void {
    mkdirSync(join(volume, folder));
    writeFileSync(join(volume, folder, "supergraph.graphql"), text);
    symlinkSync(folder, join(volume, "..data_tmp"));
    renameSync(join(volume, "..data_tmp"), join(volume, "..data"));
    if (current === undefined) symlinkSync(join("..data", "supergraph.graphql"), join(volume, "supergraph.graphql"));
    else rmSync(join(volume, current), { recursive: true });
    current = folder;
  }

  /** `seen` waits for the next text. Polls are an hour apart, so only a hint can cause a read. */
  function watch() {
    const texts: string[] = [];
    let wake = () => {};
    const end = watchText({
      source: createFileSource(join(volume, "supergraph.graphql")),
      pollMs: 3_600_000,
      onUnreadable: () => {},
      onText(text) {
        texts.push(text);
        wake();
        return Promise.resolve("done");
      },
    });
    async function seen(): Promise<string | undefined> {
      if (texts.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return texts.shift();
    }
    return { seen, end };
  }
});
