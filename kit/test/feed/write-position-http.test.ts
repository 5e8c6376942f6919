// The header by which both endpoints of a service say where a write is in its feed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { writePositionHeader } from "../../src/consistency/write-position-header.ts";
import { AppError } from "../../src/errors/app-error.ts";
import { readWritePosition } from "../../src/feed/position.ts";
import { silentLog } from "../../src/process/log.ts";
import { runInWriteScope } from "../../src/postgres/write-scope.ts";
import type { Handlers } from "../../src/rest/rest-endpoint.ts";
import type { RouteDeclaration } from "../../src/rest/routes.ts";
import { createServiceApp, type ServiceApp } from "../../src/service/service.ts";
import type { TestDatabase } from "../../src/testing/database.ts";
import { createRecordedDatabase } from "../../src/testing/feed.ts";

const routes = [
  { id: "list", method: "GET", path: "/things", versions: [1], cache: "public", summary: "Things" },
  { id: "create", method: "POST", path: "/things", versions: [1], cache: "none", summary: "Inserts a thing" },
] as const satisfies readonly RouteDeclaration[];

const schemaText = `
  type Query { count: Int }
  type Mutation { insert(id: ID!): Boolean, conflict: Boolean }`;

let database: TestDatabase;
let app: ServiceApp;
let server: Server;
let url: string;
let otherId = 100;
const folder = mkdtempSync(join(tmpdir(), "tributary-write-position-"));
beforeAll(async () => {
  database = await createRecordedDatabase(inject("postgresUrl"));
  const insert = async (id: unknown) => {
    const text = "insert into things (id, amount) values ($1, 1) on conflict do nothing returning id";
    const rows = await database.database.write("insert", text, [id]);
    if (rows.length === 0) throw new AppError("CONFLICT", "This thing exists.");
    return true;
  };
  const handlers: Handlers<typeof routes> = {
    list: async () => ({ status: 200, body: [] }),
    create: async ({ body }) => ({ status: 201, body: await insert((body as { id: number }).id) }),
  };
  const schema = join(folder, "schema.graphql");
  writeFileSync(schema, schemaText);
  app = await createServiceApp(
    {
      ...{ name: "things", profile: "production", database: database.database, log: silentLog },
      authenticate: async () => ({ kind: "anonymous" }),
    },
    {
      schema: pathToFileURL(schema),
      resolvers: {
        Query: { count: () => 1 },
        Mutation: {
          insert: (_: unknown, { id }: { id: string }) => insert(id),
          // With a write that another request has just made.
          conflict: () => runInWriteScope(() => insert(++otherId)).then(() => insert(otherId)),
        },
      },
      createContext: () => ({}),
      routes,
      caching: { freshSeconds: 10, staleIfErrorSeconds: 60, fieldGroups: {}, groupsOfChange: () => undefined },
      handlers: { 1: handlers },
    },
  );
  server = createServer(app.handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await app.stop();
  await database.close();
  rmSync(folder, { recursive: true });
});

test("an unsafe REST request has the position of its write, and a 409 a later one", async () => {
  const created = await post("/rest/v1/things", { id: 1 });
  const conflict = await post("/rest/v1/things", { id: 1 });
  expect([created.status, conflict.status]).toEqual([201, 409]);
  expect(created.xid).toBe(await lastXid());
  expect(conflict.xid).toBeGreaterThan(created.xid ?? Infinity);
});

test("a REST read and a rejected body have no position", async () => {
  const read = await fetch(`${url}/rest/v1/things`);
  expect([read.status, read.headers.get(writePositionHeader)]).toEqual([200, null]);
  expect(await post("/rest/v1/things", "{")).toEqual({ status: 400, xid: undefined });
});

test("a GraphQL mutation has the position of its write, also with an error, and a query has none", async () => {
  const created = await post("/graphql", { query: "mutation { insert(id: 2) }" });
  expect([created.status, created.xid]).toEqual([200, await lastXid()]);
  const several = await post("/graphql", { query: "mutation { a: insert(id: 3) b: insert(id: 4) }" });
  expect(several.xid).toBeGreaterThan((await lastXid()) ?? Infinity);
  const partial = await post("/graphql", { query: "mutation { a: insert(id: 5) conflict }" });
  expect(partial.xid).toBeGreaterThan((await lastXid()) ?? Infinity);
  expect((await post("/graphql", { query: "mutation { conflict }" })).xid).toBeGreaterThan(partial.xid ?? Infinity);
  expect(await post("/graphql", { query: "{ count }" })).toEqual({ status: 200, xid: undefined });
});

async function post(path: string, body: unknown) {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  await response.arrayBuffer();
  const position = readWritePosition(response.headers.get(writePositionHeader) ?? "");
  return { status: response.status, xid: position?.xid };
}

/** The number of the last transaction that changed a row. */
async function lastXid(): Promise<number | undefined> {
  const text = "select max(xid::text::bigint)::text as xid from feed_changes";
  const [row] = await database.database.rows<{ xid: string }>("last-xid", text);
  return Number(row?.xid);
}
