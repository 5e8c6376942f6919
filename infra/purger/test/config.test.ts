import { readFileSync } from "node:fs";
import { describeEnvironment } from "@tributary/kit/process/env";
import { expectReadmeTable } from "@tributary/kit/testing/readme";
import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";

test("the README's table has every variable, with default and range", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const local = new Map([["<service>", "http://127.0.0.1:4001"]]);
  const described = describeEnvironment((environment) => readConfig(environment, local));
  expect(expectReadmeTable(readme, described)).toEqual([]);
});

test("in production the services, their feeds, the key and the caches are required", () => {
  const production = { PROFILE: "production" };
  expect(() => readConfig(production)).toThrow(/SERVICES is required.*FEED_KEYS is required.*PURGE_URL is required/s);
  const withoutFeed = { ...production, SERVICES: "stock-items", FEED_KEYS: "0123456789abcdef", PURGE_URL: "http://a/" };
  expect(() => readConfig(withoutFeed)).toThrow("STOCK_ITEMS_FEED_URL is required");
  const complete = { ...withoutFeed, STOCK_ITEMS_FEED_URL: "http://stock-items:4105" };
  expect(readConfig(complete)).toMatchObject({
    feedUrls: { "stock-items": ["http://stock-items:4105"] },
    targets: [{ form: "varnish", url: "http://a/", token: undefined }],
  });
});

test("the API of a CDN needs a token, and each URL is one cache", () => {
  const fastly = { PURGE_FORM: "fastly", PURGE_URL: "https://a/,https://b/,https://a/" };
  expect(() => readConfig(fastly)).toThrow("PURGE_TOKEN is required with PURGE_FORM=fastly");
  expect(readConfig({ ...fastly, PURGE_TOKEN: "t" }).targets).toEqual([
    { form: "fastly", url: "https://a/", token: "t" },
    { form: "fastly", url: "https://b/", token: "t" },
  ]);
  expect(() => readConfig({ PURGE_URL: "varnish:80" })).toThrow("PURGE_URL has to be http(s) URLs");
});
