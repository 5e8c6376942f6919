import { parse } from "graphql";
import { expect, test } from "vitest";
import { refuseUnservedFeatures, servedFeatures } from "./supergraph-features.ts";

test.each(["authenticated", "requiresScopes", "policy", "context", "connect"])("%s is refused by name", (feature) => {
  expect(() => refuse(`https://specs.apollo.dev/${feature}/v0.1`)).toThrow(`https://specs.apollo.dev/${feature}/v0.1`);
});

test("neither another name nor another purpose nor a later version helps", () => {
  const link = '@link(url: "https://specs.apollo.dev/authenticated/v1.2", as: "harmless", for: EXECUTION)';
  expect(() => refuseUnservedFeatures(parse(`extend schema ${link}`))).toThrow("would show everybody");
});

test("all problems are told at once", () => {
  const links = ["policy", "context"].map((name) => `@link(url: "https://specs.apollo.dev/${name}/v0.1")`);
  expect(() => refuseUnservedFeatures(parse(`schema ${links.join(" ")} { query: Query }`))).toThrow(/policy.*context/);
});

test("what only describes is served", () => {
  for (const name of ["tag/v0.3", "inaccessible/v0.2", "join/v0.5", "cacheTag/v0.1"]) {
    expect(servedFeatures).toContain(`https://specs.apollo.dev/${name}`);
    expect(() => refuse(`https://specs.apollo.dev/${name}`)).not.toThrow();
  }
  expect(() => refuse("https://example.com/authenticated/v0.1")).not.toThrow();
});

const refuse = (url: string) =>
  refuseUnservedFeatures(parse(`schema @link(url: ${JSON.stringify(url)}) { query: Query }`));
