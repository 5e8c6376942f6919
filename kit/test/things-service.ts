import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AppError } from "../src/errors/app-error.ts";
import { createCursors } from "../src/lists/cursor.ts";
import type { Identity } from "../src/identity/tokens.ts";
import type { Profile } from "../src/process/env.ts";
import type { Log } from "../src/process/log.ts";
import { respondWithList } from "../src/rest/lists.ts";
import type { Handlers } from "../src/rest/rest-endpoint.ts";
import type { RouteDeclaration } from "../src/rest/routes.ts";
import { createServiceApp, type ServiceApp } from "../src/service/service.ts";
import { noDatabase } from "../src/testing/database.ts";

const routes = [
  {
    id: "list",
    method: "GET",
    path: "/things",
    versions: [1],
    query: ["limit", "cursor"],
    cache: "public",
    summary: "Things",
  },
  { id: "echo", method: "POST", path: "/things", versions: [1], cache: "none", summary: "Returns the body" },
  { id: "one", method: "GET", path: "/things/:id", versions: [1], cache: "public", summary: "One thing" },
  { id: "next", method: "GET", path: "/next", versions: [2], cache: "public", summary: "Only in version 2" },
] as const satisfies readonly RouteDeclaration[];

const secret = 'relation "passwords" does not exist at 10.0.0.7';
const resolvers = {
  Query: {
    fine: () => 1,
    empty: () => null,
    forbidden: () =>
      fail(new AppError("FORBIDDEN", "Not for you.", { problems: [{ pointer: "#", code: "no", detail: "No." }] })),
    broken: () => fail(new Error(secret)),
    quoting: () => JSON.parse("plum") as number,
    addressed: () => fail(new Error("no mailbox ada@example.com")),
    late: () => fail(new AppError("SERVICE_UNAVAILABLE", "Later.", { cause: new Error(secret) })),
  },
  Thing: {
    __resolveReference: ({ id, maker }: { id?: string; maker?: string }) =>
      id === "broken" ? fail(new Error(secret)) : { id: id ?? `by ${maker}` },
  },
};

/** The cursors of its lists. */
export const cursors = createCursors(["a key for this test"]);
/** A page that is larger than a response may be. */
const bigPage = {
  items: Array.from({ length: 3 }, (_, i) => ({ id: String(9 - i), rowVersion: "1", text: "x".repeat(600_000) })),
  hasNext: false,
  hasPrev: false,
};

/** The service `things`, without a database. @throws Error if its routes and the handlers do not match. */
export function createThingsApp(
  log: Log,
  handlers: object = { 1: thingHandlers, 2: thingHandlers },
  profile: Profile = "development",
): Promise<ServiceApp> {
  return createServiceApp(
    { name: "things", profile, authenticate, database: noDatabase, log },
    {
      schema: new URL("things.graphql", import.meta.url),
      resolvers,
      createContext: () => ({}),
      routes,
      caching: { freshSeconds: 10, staleIfErrorSeconds: 60, fieldGroups: {}, groupsOfChange: () => undefined },
      handlers: handlers as Record<number, never>,
    },
  );
}

/** Serves it on a free port, and collects its log. */
export async function startThings(profile?: Profile) {
  const logged: string[] = [];
  const app = await createThingsApp(createLineLog(logged), undefined, profile);
  const server = createServer(app.handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, logged, stop: () => app.stop() };
}

/** Rejects every token: `Bearer bad` as invalid, others because the keys cannot be fetched. */
async function authenticate(authorization: string | undefined): Promise<Identity> {
  if (authorization === undefined) return { kind: "anonymous" };
  if (authorization === "Bearer bad") throw new AppError("UNAUTHENTICATED", "No.");
  throw new AppError("SERVICE_UNAVAILABLE", "Later.", {
    cause: new Error("no keys"),
    retryAfterSeconds: 1,
    dependency: "token-issuer",
  });
}

const thingHandlers: Handlers<typeof routes> = {
  list: async (request) => {
    const page = { ...bigPage, hasNext: request.query["cursor"] !== undefined };
    return respondWithList({
      request,
      cursors,
      list: "things",
      projection: { version: 1, revision: "0" },
      ...{ view: "public", audience: "everyone", groups: [] },
      idOf: ({ id }) => id,
      toJson: (it) => it,
      readVersion: () => Promise.resolve(page),
      load: () => (request.query["limit"] === "13" ? Promise.reject(new Error(secret)) : Promise.resolve(page)),
    });
  },
  echo: async ({ body }) => (body === undefined ? { status: 204 } : { status: 201, body }),
  one: async () => ({ status: 200 }),
  next: async () => ({ status: 200 }),
};

function createLineLog(lines: string[]): Log {
  const write = ({ err }: { err?: Error }, text: string) => lines.push(`${text} ${err} ${String(err?.cause)}`);
  return { debug: write, info: write, warn: write, error: write, fatal: write } as unknown as Log;
}

function fail(error: Error): never {
  throw error;
}
