import { expect, test } from "vitest";
import type { Observation } from "../telemetry/observations.ts";
import { createGenerations, type Generation } from "./generations.ts";

test("a request keeps the generation it began with alive, and the last one to leave closes it", async () => {
  const { generations, closed } = setUp();
  await generations.load("one");
  const first = generations.pin();
  const second = generations.pin();
  await generations.load("two");
  expect(generations.current?.apiSdl).toBe("two");
  expect(first?.apiSdl).toBe("one");
  first?.release();
  first?.release();
  expect(closed).toEqual([]);
  second?.release();
  expect(closed).toEqual(["one"]);
});

test("a generation that nobody uses is closed when the next one comes", async () => {
  const { generations, closed } = setUp();
  for (const sdl of ["one", "two", "three"]) {
    await generations.load(sdl);
    generations.pin()?.release();
  }
  expect(closed).toEqual(["one", "two"]);
  await generations.close();
  expect(closed).toEqual(["one", "two", "three"]);
  expect(generations.pin()).toBeUndefined();
});

test("one that cannot be built changes nothing and is reported", async () => {
  const { generations, closed, observations } = setUp();
  await generations.load("one");
  await generations.load("broken");
  expect(generations.current?.apiSdl).toBe("one");
  expect(closed).toEqual([]);
  expect(observations.map(({ kind }) => kind)).toEqual(["supergraph-loaded", "supergraph-refused"]);
});

test("one that cannot be closed is reported and harms nobody", async () => {
  const { generations, observations } = setUp();
  await generations.load("stuck");
  await generations.load("two");
  await Promise.resolve();
  expect(generations.current?.apiSdl).toBe("two");
  expect(observations.map(({ kind }) => kind)).toContain("internal-error");
});

function setUp() {
  const closed: string[] = [];
  const observations: Observation[] = [];
  const lane = { answer: () => Promise.reject(new Error("not asked")), close: () => Promise.resolve() };
  const build = (apiSdl: string): Promise<Generation> => {
    if (apiSdl === "broken") return Promise.reject(new Error("broken"));
    const close = () =>
      apiSdl === "stuck" ? Promise.reject(new Error("stuck")) : Promise.resolve(void closed.push(apiSdl));
    return Promise.resolve({ apiSdl, subgraphs: [], lane, close });
  };
  const generations = createGenerations({ build, observe: (observation) => observations.push(observation) });
  return { generations, closed, observations };
}
