import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createCursors } from "../lists/cursor.ts";
import { createAuthenticator } from "../identity/token-verifier.ts";
import { silentLog } from "../process/log.ts";
import type { ServiceApp, ServiceParts } from "../service/service.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startTestIssuer, type TestIssuer } from "./issuer.ts";
import { requireListedCodes } from "./field-codes.ts";
import type { SentRequests } from "./sent-requests.ts";
import type { TestTelemetry } from "./telemetry.ts";

export interface GraphqlAnswer {
  readonly status: number;
  // oxlint-disable-next-line no-explicit-any -- tests access the properties that they expect
  readonly data: any;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly locations?: readonly { readonly line: number; readonly column: number }[];
    readonly extensions: {
      readonly code: string;
      readonly problems?: readonly { readonly pointer: string; readonly code: string }[];
    };
  }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface RestTestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line no-explicit-any -- tests access the properties that they expect
  readonly body: any;
}

/** `graphql` and `rest` throw if the service uses a column or table that its migrations do not create. */
export interface TestService {
  readonly url: string;
  readonly issuer: TestIssuer;
  readonly database: TestDatabase;
  /** @throws Error if a field has an error whose code its description in schema.graphql does not list. */
  graphql(query: string, variables?: object, token?: string, extensions?: object): Promise<GraphqlAnswer>;
  /** `extensions.cache` of the response to a query: undefined unless caches may store it. */
  cacheMetadataOf(query: string, token?: string): Promise<unknown>;
  /** @param path the public one, such as `/v1/users/1`. */
  rest(
    method: string,
    path: string,
    options?: { token?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<RestTestAnswer>;
  /** What `graphql` and `rest` have sent since the last call. */
  takeSent(): SentRequests;
  /** Closes the service's port immediately, as a crash would; `comeUp` opens the same port again. */
  goDown(): Promise<void>;
  comeUp(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a service on a free port with a new database, and with a new issuer unless `sharedIssuer` is given. */
export async function startTestService(
  postgresUrl: string,
  migrations: URL,
  createApp: (parts: ServiceParts) => Promise<ServiceApp>,
  sharedIssuer?: TestIssuer,
  telemetry?: TestTelemetry,
): Promise<TestService> {
  const [issuer, database] = await Promise.all([
    sharedIssuer ?? startTestIssuer(),
    createTestDatabase(postgresUrl, migrations.pathname, telemetry),
  ]);
  const authenticate = createAuthenticator({ ...issuer, userIdClaim: "sub" });
  const cursors = createCursors(["a key for tests only"]);
  const { log = silentLog, observer } = telemetry ?? {};
  const app = await createApp({
    ...{ name: "test", profile: "development", database: database.database },
    ...{ authenticate, cursors, log, observer },
  });
  const server = createServer(app.handler);
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const goDown = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  const schema = readFileSync(new URL("schema.graphql", migrations), "utf8");
  const client = createClient(url, schema, database);
  return {
    url,
    issuer,
    database,
    ...client,
    async cacheMetadataOf(query, token) {
      const { extensions } = await client.graphql(query, {}, token, { cacheMetadata: true });
      return extensions?.["cache"];
    },
    goDown,
    comeUp: () => listen(port),
    async stop() {
      await goDown();
      await app.stop();
      await database.close();
      if (!sharedIssuer) await issuer.stop();
    },
  };
}

function createClient(
  url: string,
  schema: string,
  database: TestDatabase,
): Pick<TestService, "graphql" | "rest" | "takeSent"> {
  let documents: string[] = [];
  let urls: string[] = [];
  const graphql: TestService["graphql"] = async (query, variables = {}, token, extensions) => {
    documents.push(query);
    const response = await fetch(`${url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(token) },
      body: JSON.stringify({ query, variables, extensions }),
    });
    const result = (await response.json()) as Omit<GraphqlAnswer, "status">;
    database.requireSchema();
    requireListedCodes(schema, query, result.errors);
    return { status: response.status, ...result };
  };
  return {
    graphql,
    async rest(method, path, { token, body, headers } = {}) {
      urls.push(`${method} ${path.split("?")[0]}`);
      const requestHeaders = { ...contentType(method, body), ...bearer(token), ...headers };
      const init: RequestInit = { method, headers: requestHeaders };
      if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
      const response = await fetch(`${url}/rest${path}`, init);
      const text = await response.text();
      database.requireSchema();
      return { status: response.status, headers: response.headers, text, body: parse(text) };
    },
    takeSent() {
      const sent = { documents, urls };
      [documents, urls] = [[], []];
      return sent;
    },
  };
}

function contentType(method: string, body: unknown): Record<string, string> {
  if (body === undefined) return {};
  return { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Undefined for a text that is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
