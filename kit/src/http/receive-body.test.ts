import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { createIncompleteRequests } from "./incomplete-requests.ts";
import { discardBody, receiveBody } from "./receive-body.ts";

// gateway/test and rest-proxy/test have limits, disconnects and cut requests over real connections.

afterEach(() => void vi.useRealTimers());

function createRequest(chunks: readonly Buffer[], headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  for (const chunk of chunks) request.push(chunk);
  request.push(null);
  return request;
}

test.each([
  ["in one chunk", [5_000], {}],
  ["in chunks of one byte", Array.from({ length: 300 }, () => 1), {}],
  ["in growing chunks", [10, 100, 1_000, 10_000, 100_000], {}],
  ["with its length", [65_536, 65_536, 40_000], { "content-length": "171072" }],
])("a body %s arrives complete", async (_, sizes, headers) => {
  const chunks = sizes.map((size, i) => Buffer.alloc(size, i));
  const incompleteRequests = createIncompleteRequests({ addressKeyOf: () => "ada", observe: () => undefined });
  const received = await new Promise((resolve) => {
    receiveBody(createRequest(chunks, headers), { bytesMax: 1_000_000, incompleteRequests }, resolve);
  });
  expect(Buffer.concat(chunks).equals(received as Buffer)).toBe(true);
});

test("a rejected body is discarded slowly, chunk by chunk", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const request = createRequest(Array.from({ length: 4 }, () => Buffer.alloc(10)));
  let read = 0;
  discardBody(request, 1_000);
  request.on("data", () => read++);
  const nextTicks = () => new Promise((resolve) => setImmediate(resolve));
  for (const expected of [1, 2, 3, 4]) {
    await nextTicks();
    await nextTicks();
    expect(read).toBe(expected);
    vi.advanceTimersByTime(20);
  }
});
