import { expect, test } from "vitest";
import type { GatewayObservation } from "../observations.ts";
import { watchSupergraph } from "./supergraph-watcher.ts";

type Look = string | undefined | Error;

test("a text is passed on once until it changes", async () => {
  const { handedOn, observations } = await play(["one", "one", undefined, "two", "two", "one"]);
  expect(handedOn).toEqual(["one", "two", "one"]);
  expect(observations).toEqual([]);
});

test("a failing source is reported once until it works again; further failed polls are counted", async () => {
  const { handedOn, observations } = await play([
    new Error("down"),
    new Error("down"),
    "one",
    new Error("down"),
    "one",
  ]);
  expect(handedOn).toEqual(["one"]);
  expect(observations.map(({ kind }) => kind)).toEqual([
    "supergraph-unavailable",
    "supergraph-still-unavailable",
    "supergraph-unavailable",
  ]);
});

test("before the first supergraph is read the source is polled more often", async () => {
  const { handedOn } = await play([new Error("down"), new Error("down"), "one"], {
    pollMs: 3_600_000,
    firstPollMsMax: 1,
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
    const end = watchSupergraph({
      source: {
        name: "fake",
        read: () => Promise.resolve(String(reads++)),
        watch(onHint) {
          hinting = setInterval(onHint, 5);
          return () => clearInterval(hinting);
        },
      },
      pollMs: 3_600_000,
      observe: () => {},
      onSupergraph: (text) => Promise.resolve(text === "2" ? (end(), resolve()) : undefined),
    });
  });
  expect(reads).toBe(3);
});

test("nothing is read after the watcher is stopped", async () => {
  let reads = 0;
  const end = watchSupergraph({
    source: { name: "fake", read: () => Promise.resolve(String(reads++)) },
    pollMs: 1,
    observe: () => {},
    onSupergraph: () => Promise.resolve(end()),
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(reads).toBe(1);
});

/** A source that returns these texts one after another; the watcher is stopped after the last. */
function play(looks: readonly Look[], o: { pollMs?: number; firstPollMsMax?: number; hintAfterEach?: boolean } = {}) {
  const observations: GatewayObservation[] = [];
  const handedOn: string[] = [];
  let hint = () => {};
  let next = 0;
  return new Promise<{ handedOn: string[]; observations: GatewayObservation[] }>((resolve) => {
    const read = (): Promise<string | undefined> => {
      const look = looks[next++];
      if (next === looks.length) {
        // After the last text is passed on.
        setImmediate(() => {
          end();
          resolve({ handedOn, observations });
        });
      }
      if (o.hintAfterEach) hint();
      return look instanceof Error ? Promise.reject(look) : Promise.resolve(look);
    };
    const watch = (onHint: () => void) => {
      hint = onHint;
      return () => {};
    };
    const end = watchSupergraph({
      source: { name: "fake", read, watch },
      pollMs: o.pollMs ?? 1,
      ...(o.firstPollMsMax === undefined ? {} : { firstPollMsMax: o.firstPollMsMax }),
      observe: (observation) => observations.push(observation),
      onSupergraph: (text) => Promise.resolve(void handedOn.push(text)),
    });
  });
}
