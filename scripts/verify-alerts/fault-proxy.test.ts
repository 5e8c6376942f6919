import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

const service = createServer((request, response) => {
  response.writeHead(201, { "x-sent": "by the service" });
  request.pipe(response);
});
let faultProxy: FaultProxy;
let url: string;

beforeAll(async () => {
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  const port = await pickFreePort();
  faultProxy = await startFaultProxy(port, `http://127.0.0.1:${(service.address() as AddressInfo).port}`);
  url = `http://127.0.0.1:${port}/graphql`;
});
afterAll(async () => {
  await faultProxy.stop();
  service.close();
});

test("the service's responses are forwarded unchanged, unless another mode is set", async () => {
  const send = async () => {
    const response = await fetch(url, { method: "POST", body: "{ me }" });
    return { status: response.status, by: response.headers.get("x-sent"), text: await response.text() };
  };
  const unchanged = { status: 201, by: "by the service", text: "{ me }" };
  expect(await send()).toEqual(unchanged);
  faultProxy.respondWith("500");
  expect(await send()).toMatchObject({ status: 500, by: null });
  faultProxy.respondWith("html");
  expect(await send()).toMatchObject({ status: 200, text: "<h1>It works!</h1>" });
  faultProxy.respondWith("service");
  expect(await send()).toEqual(unchanged);
});
