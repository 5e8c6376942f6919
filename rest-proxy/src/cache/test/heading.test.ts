import { expect, test } from "vitest";
import { setUp } from "./testing.ts";

const stored = ["Cache-Control", "max-age=10", "ETag", '"a"', "X-Kept", "1"];

test("a HEAD that speaks of what is stored makes it fresh again (RFC 9111, 4.3.5)", async () => {
  const { get, always, passSeconds, askedCount } = await setUp();
  always((asked) => asked.answer(200, stored, "hello"));
  await get("/a");
  passSeconds(10);
  always((asked) => asked.answer(200, ["Cache-Control", "max-age=20", "ETag", '"a"', "X-New", "1"]));
  await get("/a", {}, "HEAD");
  passSeconds(19);
  expect(await get("/a")).toMatchObject({
    body: "hello",
    headers: { "x-kept": "1", "x-new": "1", "content-length": "5", "cache-status": "test; hit; ttl=1" },
  });
  expect(askedCount()).toBe(2);
});

test.each([
  ["another tag", ["ETag", '"b"']],
  ["a tag where none is stored", ["ETag", '"a"', "Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT"]],
  ["another length", ["ETag", '"a"', "Content-Length", "6"]],
  ["nothing of the body", []],
])("a HEAD that tells of %s ends what is stored", async (_, told) => {
  const { get, always, passSeconds } = await setUp();
  always((asked) => asked.answer(200, stored, "hello"));
  await get("/a");
  passSeconds(10);
  always((asked) => asked.answer(200, ["Cache-Control", "max-age=20", ...told]));
  await get("/a", {}, "HEAD");
  always((asked) => asked.answer(200, [], asked.headers["if-none-match"] ?? "asked anew"));
  expect((await get("/a")).body).toBe("asked anew");
});

test.each([
  [404, {}],
  [500, {}],
  [200, { Authorization: "Bearer x" }],
])("a HEAD that comes to %s with %o says nothing of what is stored", async (status, headers) => {
  const { get, always, passSeconds } = await setUp();
  always((asked) => asked.answer(200, stored, "hello"));
  await get("/a");
  passSeconds(10);
  always((asked) => asked.answer(status, ["Cache-Control", "max-age=20", "ETag", '"b"']));
  await get("/a", headers, "HEAD");
  always((asked) => asked.answer(200, [], asked.headers["if-none-match"] ?? "asked anew"));
  expect((await get("/a")).body).toBe('"a"');
});

test("a HEAD that was asked before a write freshens nothing that was stored since", async () => {
  const { get, send, asked, always, passSeconds } = await setUp();
  const first = get("/a");
  (await asked()).answer(200, stored, "hello");
  await first;
  passSeconds(10);
  const head = send("/a", {}, "HEAD");
  const waiting = await asked();
  const written = get("/a", {}, "PUT");
  (await asked()).answer(204, []);
  await written;
  const second = get("/a");
  (await asked()).answer(200, ["Cache-Control", "max-age=10"], "hallo");
  await second;
  waiting.answer(200, ["Cache-Control", "max-age=1000", "Content-Length", "5"]);
  await head.answer;
  always((one) => one.answer(200, [], "asked anew"));
  expect((await get("/a")).body).toBe("asked anew");
});
