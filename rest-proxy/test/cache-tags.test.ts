import { expect, test } from "vitest";
import { route, startProxy, startStub } from "./testing.ts";

// The header by which a CDN purges (CDN_TAG_HEADER).

const routes = [route("getNew", "GET", "/news/:id", { cache: "public" })];

test("responses have the groups and their services as tags, also from the cache", async () => {
  const proxy = await startProxy(await startGrouped('"news:7", "news"'), { routes, tagHeader: "Surrogate-Key" });
  for (const status of [/^tributary; fwd=uri-miss/, /^tributary; hit/]) {
    const { headers } = await fetch(`${proxy.url}/v1/news/7`);
    expect(headers.get("cache-status")).toMatch(status);
    expect(headers.get("surrogate-key")).toBe("news:7 news service:news");
  }
});

test("Cache-Tag separates the tags by commas", async () => {
  const proxy = await startProxy(await startGrouped('"news:7"'), { routes, tagHeader: "Cache-Tag" });
  expect((await fetch(`${proxy.url}/v1/news/7`)).headers.get("cache-tag")).toBe("news:7,service:news");
});

test("without CDN_TAG_HEADER, or without groups, there are no tags", async () => {
  const grouped = await startProxy(await startGrouped('"news:7"'), { routes });
  expect((await fetch(`${grouped.url}/v1/news/7`)).headers.get("surrogate-key")).toBeNull();
  const plain = await startProxy(await startGrouped(""), { routes, tagHeader: "Surrogate-Key" });
  expect((await fetch(`${plain.url}/v1/news/7`)).headers.get("surrogate-key")).toBeNull();
});

function startGrouped(groups: string) {
  return startStub((_, response) => {
    response.setHeader("Cache-Control", "public, max-age=60");
    if (groups !== "") response.setHeader("Cache-Groups", groups);
    response.end("{}");
  });
}
