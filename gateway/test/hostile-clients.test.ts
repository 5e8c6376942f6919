import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { comparesPaths, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { sendRaw } from "./helpers/raw-http.ts";
import { respondJson } from "./helpers/subgraphs.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    environment: { RESPONSE_TIMEOUT_MS: "300" },
  });
});
afterEach(() => {
  for (const subgraph of library.all) subgraph.fault = undefined;
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

const asJson = { headers: { "content-type": "application/json" } };
const body = '{"query":"{ whoAmI }"}';
const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`;

test.each([
  ["no host", `POST /graphql HTTP/1.1\r\n${head}\r\n${body}`],
  ["two hosts", `POST /graphql HTTP/1.1\r\nHost: a\r\nHost: b\r\n${head}\r\n${body}`],
  ["a target that is no address", `GET http://[::1/graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`],
  ["a target without a host", `GET http:// HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`],
])("a request with %s is 400 in JSON", async (_, text) => {
  const answer = await sendRaw(gateway.url, text);
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*Content-Type: application\/json/);
  expect(answer).toContain('"code":"MALFORMED_REQUEST"');
});

test.each(["", "Host: a\r\nHost: b\r\n"])("a health check with the Host lines %j is 400 in JSON", async (hosts) => {
  const response = await sendRaw(gateway.url, `GET /health/ready HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
  expect(response).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*Content-Type: application\/json[^]*"malformed request"/);
});

test("HTTP/1.0 needs no Host", async () => {
  expect(await sendRaw(gateway.url, `POST /graphql HTTP/1.0\r\n${head}\r\n${body}`)).toContain(
    '{"whoAmI":"anonymous"}',
  );
});

test("a client that disconnects while its body is decompressed causes no fetch", async () => {
  const packed = gzipSync(JSON.stringify({ query: "{ whoAmI }", variables: { padding: "ab".repeat(400_000) } }));
  const disconnectedCount = gateway.observations.filter(({ kind }) => kind === "client-disconnected").length;
  library.people.requests.length = 0;
  const socket = connect(gateway.port, "127.0.0.1");
  await once(socket, "connect");
  const headers = `Host: x\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}`;
  socket.write(Buffer.concat([Buffer.from(`POST /graphql HTTP/1.1\r\n${headers}\r\n\r\n`), new Uint8Array(packed)]));
  await setImmediate();
  socket.resetAndDestroy();
  await gateway.seen("client-disconnected", disconnectedCount + 1);
  expect(library.people.requests).toEqual([]);
});

// With COMPARE_PATHS=true responses wait for their copies, so this client would wait forever.
test.skipIf(comparesPaths)("the connection of a client that does not read its response is closed", async () => {
  library.people.fault = (response) =>
    respondJson(response, 200, JSON.stringify({ data: { whoAmI: "x".repeat(9e6) } }));
  const socket = connect(gateway.port, "127.0.0.1", () =>
    socket.write(`POST /graphql HTTP/1.1\r\nHost: x\r\n${head}\r\n${body}`),
  );
  socket.on("error", () => {});
  socket.pause();
  await gateway.seen("response-truncated");
  let read = 0;
  socket.on("data", (chunk) => (read += chunk.length)).resume();
  await once(socket, "close");
  expect(read).toBeLessThan(9e6);
});

test("a document that is nested too deeply is rejected, without internal messages", async () => {
  const nest = (depth: number) => `{ books ${"{ author { books ".repeat(depth)} { title } ${"} }".repeat(depth)} }`;
  library.books.fault = (response) => respondJson(response, 200, '{"data":{"books":[]}}');
  for (const document of [
    nest(950),
    nest(1_200),
    "{a".repeat(3_000) + "}".repeat(3_000),
    `{ book(isbn: ${"[".repeat(4_000)}`,
  ]) {
    const answer = await gateway.send(document);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toMatch(/INTERNAL_SERVER_ERROR|call stack/);
  }
});

test.each([
  ["GET", (variables: string) => fetch(`${gateway.url}/graphql?query={whoAmI}&variables=${variables}`, asJson)],
  [
    "POST",
    (variables: string) =>
      fetch(`${gateway.url}/graphql`, {
        ...asJson,
        method: "POST",
        body: `{"query":"{whoAmI}","variables":${variables}}`,
      }),
  ],
])("variables that are nested too deeply are 400 by %s", async (_, ask) => {
  const answer = await ask(`{"a":${"[".repeat(6_000)}${"]".repeat(6_000)}}`);
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("`variables` has more than 500 levels.");
});
