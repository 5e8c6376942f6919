import { expect, test } from "vitest";
import { createDestinations, type Destination } from "./destinations.ts";

const destination = (resource: string) => ({ resource }) as Destination;

test("a destination is known by its target and Accept together, for GET alone", () => {
  const destinations = createDestinations();
  destinations.remember("GET", "/a", "text/x", destination("/v1/a"));
  destinations.remember("POST", "/b", undefined, destination("/v1/b"));
  const resourceOf = (method: string, url: string, accept?: string) => destinations.find(method, url, accept)?.resource;
  expect(resourceOf("GET", "/a", "text/x")).toBe("/v1/a");
  expect([resourceOf("GET", "/a"), resourceOf("GET", "/a", "text/y"), resourceOf("HEAD", "/a", "text/x")]).toEqual(
    Array.from({ length: 3 }),
  );
  expect([resourceOf("GET", "/b"), resourceOf("POST", "/b")]).toEqual([undefined, undefined]);
});

test("the oldest goes when there are too many, and what is too long is not kept", () => {
  const destinations = createDestinations();
  for (let i = 0; i <= 4_096; i++) destinations.remember("GET", `/${i}`, undefined, destination(`${i}`));
  const isKnown = (url: string) => destinations.find("GET", url, undefined) !== undefined;
  expect(["/0", "/1", "/4096"].map(isKnown)).toEqual([false, true, true]);
  destinations.remember("GET", `/${"a".repeat(256)}`, undefined, destination("a"));
  expect(isKnown(`/${"a".repeat(256)}`)).toBe(false);
});
