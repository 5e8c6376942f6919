import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { type Relay, startRelay } from "./relay.ts";

const service = createServer((request, response) => {
  response.writeHead(201, { "x-said": "by the service" });
  request.pipe(response);
});
let relay: Relay;
let url: string;

beforeAll(async () => {
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  const port = await pickFreePort();
  relay = await startRelay(port, `http://127.0.0.1:${(service.address() as AddressInfo).port}`);
  url = `http://127.0.0.1:${port}/graphql`;
});
afterAll(async () => {
  await relay.stop();
  service.close();
});

test("the service's answers pass as they are, until others are wanted", async () => {
  const ask = async () => {
    const answer = await fetch(url, { method: "POST", body: "{ me }" });
    return { status: answer.status, by: answer.headers.get("x-said"), text: await answer.text() };
  };
  const unchanged = { status: 201, by: "by the service", text: "{ me }" };
  expect(await ask()).toEqual(unchanged);
  relay.answer("500");
  expect(await ask()).toMatchObject({ status: 500, by: null });
  relay.answer("nonsense");
  expect(await ask()).toMatchObject({ status: 200, text: "<h1>It works!</h1>" });
  relay.answer("truly");
  expect(await ask()).toEqual(unchanged);
});
