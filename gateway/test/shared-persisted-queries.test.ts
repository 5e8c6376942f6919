import { createHash } from "node:crypto";
import { findStoreProgram, startStoreServer, type StoreServer } from "@tributary/kit/testing/store-server";
import { afterAll, beforeAll, expect, onTestFinished, test as vitestTest } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

// Automatic persisted queries of two gateways that share a store.

const program = findStoreProgram();
const test = vitestTest.skipIf(program === undefined);
vitestTest.runIf(program === undefined)(
  "skipped: install Debian's redis-server or valkey-server to run these tests",
  () => {},
);

let library: Library;
beforeAll(async () => void (library = await startLibrary()));
afterAll(() => library.close());

test("a query that is registered with one gateway is known to another, by GET and by POST", async () => {
  const { gateways } = await startGateways();
  const [first, second, third] = gateways;
  expect(await sendHash(second, "GET")).toBe("PERSISTED_QUERY_NOT_FOUND");
  await untilShared(first, second);
  await expect.poll(() => sendHash(third, "POST")).toBe("Ada");
  // From the memory of the gateway.
  expect(await sendHash(third, "POST")).toBe("Ada");
  expect(third.tookFastPath()).toBe(true);
});

test("without a response of the store, a client registers with each gateway", async () => {
  const { gateways, server } = await startGateways();
  const [first, second] = gateways;
  await untilShared(first, second);
  for (const end of ["freeze", "kill"] as const) {
    if (end === "freeze") server.freeze(true);
    else await server.kill();
    const [gateway] = (await startGateways(server)).gateways;
    expect(await sendHash(gateway, "GET")).toBe("PERSISTED_QUERY_NOT_FOUND");
    await register(gateway);
    expect(await sendHash(gateway, "GET")).toBe("Ada");
  }
});

async function startGateways(given?: StoreServer) {
  const server = given ?? (await startStoreServer(program ?? "valkey-server"));
  const gateways = await Promise.all(
    [1, 2, 3].map(() =>
      startGateway({ supergraphSdl: library.supergraphSdl, environment: { RATE_LIMIT_STORE_URL: server.url } }),
    ),
  );
  onTestFinished(async () => {
    await Promise.all(gateways.map((gateway) => gateway.drain()));
    await server.kill();
  });
  return { gateways: gateways as [RunningGateway, RunningGateway, RunningGateway], server };
}

const query = `{ person(id: "1") { name } }`;
const sha256Hash = createHash("sha256").update(query).digest("hex");
const extensions = { persistedQuery: { version: 1, sha256Hash } };
const headers = { "content-type": "application/json" };

async function register({ url }: RunningGateway): Promise<void> {
  const body = JSON.stringify({ query, extensions });
  const response = await fetch(`${url}/graphql`, { method: "POST", headers, body });
  expect(await response.json()).toEqual({ data: { person: { name: "Ada" } } });
}

/** A gateway shares nothing before it is connected to the store. */
async function untilShared(from: RunningGateway, to: RunningGateway): Promise<void> {
  await expect
    .poll(async () => {
      await register(from);
      return sendHash(to, "GET");
    })
    .toBe("Ada");
}

/** Resolves with the name in the response, or the code of its error. */
async function sendHash({ url }: RunningGateway, method: "GET" | "POST"): Promise<string> {
  const search = `?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
  const post = { method: "POST", headers, body: JSON.stringify({ extensions }) };
  const response = await (method === "GET" ? fetch(`${url}/graphql${search}`) : fetch(`${url}/graphql`, post));
  const body = (await response.json()) as {
    readonly data?: { readonly person: { readonly name: string } };
    readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
  };
  return body.data?.person.name ?? body.errors?.[0]?.extensions.code ?? "nothing";
}
