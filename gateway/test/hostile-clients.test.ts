import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { sendRaw } from "./helpers/raw-http.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
  });
});
afterEach(() => {
  for (const subgraph of library.all) subgraph.fault = undefined;
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

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

test("HTTP/1.0 needs no host", async () => {
  expect(await sendRaw(gateway.url, `POST /graphql HTTP/1.0\r\n${head}\r\n${body}`)).toContain('{"whoAmI":"nobody"}');
});
