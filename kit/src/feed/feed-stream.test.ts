import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { FeedEvent } from "./change-feed.ts";
import { readFeedStream } from "./feed-stream.ts";

const id = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b/5:5:";
const good = `event: changes\nid: ${id}\ndata: {"groups":["a"]}\n\n`;

test.each([
  ["invalid JSON", `event: changes\nid: ${id}\ndata: {"groups":[\n\n`, "JSON"],
  ["no groups", `event: changes\nid: ${id}\ndata: {}\n\n`, "groups"],
  ["a text instead of groups", `event: changes\nid: ${id}\ndata: {"groups":"abc"}\n\n`, "groups"],
  ["groups that are not texts", `event: changes\nid: ${id}\ndata: {"groups":["a",{"toString":1}]}\n\n`, "groups"],
  ["null", `event: changes\nid: ${id}\ndata: null\n\n`, "object"],
  ["an unknown event", `event: advice\nid: ${id}\ndata: {}\n\n`, "unknown event: advice"],
  ["no position", `event: reset\ndata: {}\n\n`, "unknown event: reset"],
  ["a position that is not one", `event: reset\nid: 5\ndata: {}\n\n`, "unknown event: reset, 5"],
  ["a line of two megabytes", `data: ${"x".repeat(2_000_000)}`, "max buffer size"],
  ["an event of many lines and two megabytes", `data: ${"x".repeat(1_000)}\n`.repeat(2_000), "max buffer size"],
])("%s in a stream ends it, after the events before", async (_, text, reason) => {
  const { ended, events } = await follow((response) => response.write(good + text));
  expect(String(await ended)).toContain(reason);
  expect(events).toEqual([expect.objectContaining({ kind: "changes", groups: ["a"] })]);
});

test("comments, unknown fields and the retry field have no effect", async () => {
  const { ended, events } = await follow((response) => response.end(`: x\nretry: x\nunknown: 1\n${good}`));
  expect(String(await ended)).toContain("ended the stream");
  expect(events).toHaveLength(1);
});

test("a stream without an event for a second ends, even if its server sends other bytes", async () => {
  const { ended } = await follow((response) => {
    response.write(good);
    const timer = setInterval(() => response.write(": still here\n"), 100);
    response.once("close", () => clearInterval(timer));
  });
  expect(String(await ended)).toContain("no event for a second");
});

test("a stream waits for its first event for as long as its server sends comments", async () => {
  const { ended, events } = await follow((response) => {
    let comments = 0;
    const timer = setInterval(() => {
      response.write(": waiting\n");
      if (++comments < 7) return;
      clearInterval(timer);
      response.end(good);
    }, 250);
    response.once("close", () => clearInterval(timer));
  });
  expect(String(await ended)).toContain("ended the stream");
  expect(events).toHaveLength(1);
});

test("a stream with an event in each second goes on", async () => {
  const { ended, events } = await follow((response) => {
    const timer = setInterval(() => response.write(good), 250);
    setTimeout(() => response.end(), 1_500);
    response.once("close", () => clearInterval(timer));
  });
  expect(String(await ended)).toContain("ended the stream");
  expect(events.length).toBeGreaterThan(1);
});

/** Reads a stream of a feed that `respond` imitates. `ended` is the error with which the stream ends. */
async function follow(respond: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => respond(response.writeHead(200)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const events: FeedEvent[] = [];
  const { signal } = new AbortController();
  const ended = readFeedStream({
    replica: { name: origin, origin, path: "/", addresses: [] },
    ...{ key: "any", since: undefined, signal },
    onEvent: (event) => events.push(event),
  }).catch((error: unknown) => error);
  return { ended, events };
}
