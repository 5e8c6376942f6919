import { execFileSync } from "node:child_process";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { GatewayObservation } from "../observations.ts";
import { createLastGood } from "./last-good.ts";
import { watchSupergraph } from "./supergraph-watcher.ts";
import { createUrlSource } from "./url-source.ts";

/** A server of texts such as "good 3", which can be loaded, and "bad 4", which cannot. */
let respond: (response: ServerResponse) => void;
const server = createServer((_request, response) => respond(response));
let url: string;
let folder: string;
let file: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/supergraph`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "last-good-"));
  file = join(folder, "supergraph.graphql");
  return () => rmSync(folder, { recursive: true });
});

test.each(Array.from({ length: 100 }, (_, seed) => seed))(
  "schedule %i of good, bad and missing texts and restarts ends with the newest good one, and never goes back",
  async (seed) => {
    const random = createRandom(seed);
    let newestGood: string | undefined;
    respond = missing[0];
    let gateway = startGateway();
    for (let step = 0; step < 8; step++) {
      const draw = random();
      if (draw < 0.35) {
        newestGood = `good ${step}`;
        respond = sendText(newestGood);
      } else if (draw < 0.55) respond = sendText(`bad ${step}`);
      else if (draw < 0.75) respond = missing[Math.floor(random() * missing.length)] ?? missing[0];
      else {
        gateway.stop();
        gateway = startGateway();
      }
      await gateway.twoPolls();
      expect(gateway.served.at(-1), `after step ${step}`).toBe(newestGood);
    }
    expect(numbersOf(gateway.served)).toEqual(numbersOf(gateway.served).toSorted((a, b) => a - b));
    gateway.stop();
  },
);

test("a start whose source sends a text that can be used serves no other, also if that is an earlier one", async () => {
  writeFileSync(file, "good 2");
  respond = sendText("good 1");
  const gateway = startGateway();
  await gateway.twoPolls();
  expect(gateway.served).toEqual(["good 1"]);
  gateway.stop();
});

test("a start whose source is silent serves the last accepted text, and the source's as soon as that is sent", async () => {
  writeFileSync(file, "good 1");
  let release = () => {};
  respond = (response) => (release = () => sendText("good 2")(response));
  const gateway = startGateway({ sourceWaitMs: 20 });
  await expect.poll(() => gateway.served).toEqual(["good 1"]);
  expect(gateway.staleSeconds()).toBeGreaterThan(0);
  respond = sendText("good 2");
  release();
  await expect.poll(() => gateway.served).toEqual(["good 1", "good 2"]);
  expect(gateway.staleSeconds()).toBe(0);
  gateway.stop();
});

test.each([
  ["never responds", () => {}],
  ["stops within the body", (response: ServerResponse) => void response.writeHead(200).write("good 9")],
  ["sends a byte now and then", drip],
])("a start whose source %s serves the last accepted text, and reads the source again", async (_, next) => {
  writeFileSync(file, "good 1");
  respond = next;
  const gateway = startGateway({ timeoutMs: 50 });
  await expect.poll(() => gateway.served).toEqual(["good 1"]);
  respond = sendText("good 2");
  await expect.poll(() => gateway.served).toEqual(["good 1", "good 2"]);
  gateway.stop();
});

test("a file that cannot be used is tried once, and the source's text is served as soon as there is one", async () => {
  writeFileSync(file, "bad 1");
  respond = missing[0];
  const gateway = startGateway();
  await gateway.twoPolls();
  await gateway.twoPolls();
  expect(gateway.loaded).toEqual(["bad 1"]);
  respond = sendText("good 2");
  await gateway.twoPolls();
  expect([gateway.served, readFileSync(file, "utf8")]).toEqual([["good 2"], "good 2"]);
  gateway.stop();
});

test("a text is stale while the source fails or has one that cannot be used, and no longer when the source has it again", async () => {
  const gateway = startGateway();
  for (const [next, isStale] of [
    [sendText("good 1"), false],
    [missing[0], true],
    [sendText("good 1"), false],
    [sendText("bad 2"), true],
    [sendText("good 1"), false],
  ] as const) {
    respond = next;
    await gateway.twoPolls();
    expect(gateway.staleSeconds() > 0).toBe(isStale);
  }
  expect(gateway.served).toEqual(["good 1"]);
  const ofSource = gateway.kinds().filter((kind) => /^supergraph-(?:un)?available$/.test(kind));
  expect(ofSource).toEqual(["supergraph-unavailable", "supergraph-available"]);
  gateway.stop();
});

test("a rollback is loaded and written, although its date of modification is older", async () => {
  const gateway = startGateway();
  for (const text of ["good 1", "good 2", "good 1"]) {
    respond = (response) => response.setHeader("last-modified", "Sat, 01 Jan 2000 00:00:00 GMT").end(text);
    await gateway.twoPolls();
  }
  expect(gateway.served).toEqual(["good 1", "good 2", "good 1"]);
  expect(readFileSync(file, "utf8")).toBe("good 1");
  gateway.stop();
});

test("a text that a cache stored before the one in use was generated is not loaded", async () => {
  const gateway = startGateway();
  respond = sendText("good 2");
  await gateway.twoPolls();
  respond = (response) => response.setHeader("age", "30").end("good 1");
  await gateway.twoPolls();
  expect(gateway.served).toEqual(["good 2"]);
  expect(gateway.staleSeconds()).toBeGreaterThan(0);
  gateway.stop();
});

test("a folder that cannot be written to is reported, and the text is served", async () => {
  rmSync(folder, { recursive: true });
  respond = sendText("good 1");
  const gateway = startGateway();
  await gateway.twoPolls();
  expect(gateway.served).toEqual(["good 1"]);
  expect(gateway.kinds()).toContain("last-good-unwritable");
  gateway.stop();
  writeFileSync(folder, "");
});

test("the folder has the last text alone, however fast texts follow each other", async () => {
  const lastGood = createLastGood(file, () => {});
  await Promise.all(["one", "two", "three"].map((text) => lastGood.write(text)));
  expect([readdirSync(folder), readFileSync(file, "utf8")]).toEqual([["supergraph.graphql"], "three"]);
});

test("a symbolic link remains, and its target gets the text, whether it exists or not", async () => {
  const target = join(folder, "target.graphql");
  symlinkSync("target.graphql", file);
  for (const text of ["one", "two"]) {
    await createLastGood(file, () => {}).write(text);
    expect([readFileSync(target, "utf8"), lstatSync(file).isSymbolicLink()]).toEqual([text, true]);
  }
});

test("a FIFO is neither read nor replaced", async () => {
  execFileSync("mkfifo", [file]);
  const kinds: string[] = [];
  const lastGood = createLastGood(file, ({ kind }) => void kinds.push(kind));
  expect(await lastGood.read()).toBeUndefined();
  await lastGood.write("text");
  expect([kinds, lstatSync(file).isFIFO()]).toEqual([["last-good-unreadable", "last-good-unwritable"], true]);
});

type Respond = (response: ServerResponse) => void;

const sendText =
  (text: string): Respond =>
  (response) =>
    response.end(text);

const missing: readonly [Respond, ...Respond[]] = [
  (response) => response.writeHead(503).end(),
  (response) => response.writeHead(401).end("wrong key"),
  (response) => response.writeHead(302, { location: "/elsewhere" }).end(),
  (response) => response.writeHead(304).end(),
  (response) => response.setHeader("content-type", "text/html; charset=utf-8").end("<html>Log in</html>"),
  (response) => response.end(""),
  (response) => response.setHeader("content-encoding", "gzip").end("good 99"),
  (response) => response.setHeader("content-encoding", "zstd").end("good 99"),
  (response) => response.writeHead(200, { "content-length": "100" }).write("good 99", () => response.destroy()),
  (response) => void response.socket?.destroy(),
  (response) => response.end("good 99".repeat(1_000)),
];

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write(" "), 5);
  response.on("close", () => clearInterval(timer));
}

function numbersOf(texts: readonly string[]): readonly number[] {
  return texts.map((text) => Number(text.split(" ")[1]));
}

function startGateway({ sourceWaitMs = 10_000, timeoutMs = 60_000 } = {}) {
  const served: string[] = [];
  const loaded: string[] = [];
  const observations: GatewayObservation[] = [];
  const observe = (observation: GatewayObservation) => void observations.push(observation);
  const lastGood = createLastGood(file, observe);
  const source = createUrlSource({ urls: [url], timeoutMs, bodyBytesMax: 1_000 });
  let written: Promise<void> = Promise.resolve();
  let reads = 0;
  let onRead = () => {};
  const watcher = watchSupergraph({
    subject: "supergraph",
    source: {
      ...source,
      read(signal) {
        reads++;
        onRead();
        return source.read(signal);
      },
    },
    lastGood: { read: lastGood.read, write: (text) => (written = lastGood.write(text)) },
    pollMs: 1,
    sourceWaitMs,
    observe,
    load(text) {
      loaded.push(text);
      const isGood = /^good \d$/.test(text);
      if (isGood) served.push(text);
      return Promise.resolve(isGood ? { kind: "loaded" } : { kind: "rejected", id: text, reason: "", subgraphs: [] });
    },
  });
  return {
    served,
    loaded,
    /** Until two polls that begin now have ended, and what they caused. */
    async twoPolls() {
      const readsBefore = reads;
      await new Promise<void>((resolve) => (onRead = () => void (reads === readsBefore + 3 && resolve())));
      await written;
    },
    kinds: () => observations.map(({ kind }) => kind),
    staleSeconds: () => watcher.status().staleSeconds,
    stop: watcher.stop,
  };
}

/** Mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
