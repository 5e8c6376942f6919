import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "@tributary/kit/process/log";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { createRemoteClient } from "./remote-client.ts";

const operation = { query: "{ __typename }", variables: {} };
const options = { headers: {}, signal: new AbortController().signal };

test.each([
  ["SUBGRAPH_UNAVAILABLE", "SERVICE_UNAVAILABLE"],
  ["DEADLINE_EXCEEDED", "SERVICE_UNAVAILABLE"],
  ["RATE_LIMITED", "TOO_MANY_REQUESTS"],
  ["FORBIDDEN", "FORBIDDEN"],
])("an error of the remote with the code %s has the code %s of a service", async (code, expected) => {
  const url = await startRemote(200, {
    data: { a: null },
    errors: [{ message: "No.", path: ["a"], extensions: { code } }],
  });
  const { data, errors } = await send(url);
  expect(data).toEqual({ a: null });
  expect(errors).toEqual([{ message: "No.", path: ["a"], extensions: { code: expected } }]);
});

test("a rejected request keeps the reason: the caller's token is invalid", async () => {
  const error = { message: "Send a valid token.", extensions: { code: "UNAUTHENTICATED" } };
  expect(await send(await startRemote(401, { errors: [error] }))).toEqual({ data: null, errors: [error] });
});

test.each([
  ["no JSON", 200, "<html>"],
  ["no GraphQL response", 200, {}],
  ["data that is no object", 200, { data: 1 }],
  ["an error of a load balancer", 503, "No server is available."],
])("%s is a remote that is unavailable", async (_name, status, body) => {
  const { data, errors } = await send(await startRemote(status, body));
  expect([data, errors[0]?.extensions]).toEqual([null, { code: "SERVICE_UNAVAILABLE" }]);
});

test("a remote that does not respond is unavailable, and is logged once until it responds again", async () => {
  const port = await pickFreePort("127.0.0.1");
  const lines: string[] = [];
  const log = { ...silentLog, warn: () => lines.push("down"), info: () => lines.push("up") };
  const send = createRemoteClient(`http://127.0.0.1:${port}/graphql`, log as never);
  for (const _ of [1, 2]) {
    const { errors } = await send(operation, options);
    expect(errors[0]?.extensions).toEqual({ code: "SERVICE_UNAVAILABLE" });
  }
  await startRemote(200, { data: { __typename: "Query" } }, port);
  expect(await send(operation, options)).toEqual({ data: { __typename: "Query" }, errors: [] });
  expect(lines).toEqual(["down", "up"]);
});

test("a mutation is sent once, even if the connection breaks", async () => {
  let count = 0;
  const server = createServer((request) => {
    count++;
    request.socket.destroy();
  });
  const url = await listen(server);
  const { errors } = await createRemoteClient(url, silentLog)(operation, options);
  expect([count, errors[0]?.extensions]).toEqual([1, { code: "SERVICE_UNAVAILABLE" }]);
});

async function send(url: string) {
  return createRemoteClient(url, silentLog)(operation, options);
}

function startRemote(status: number, body: unknown, port = 0): Promise<string> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return listen(
    createServer((_request, response) => response.writeHead(status).end(text)),
    port,
  );
}

async function listen(server: ReturnType<typeof createServer>, port = 0): Promise<string> {
  onTestFinished(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}
