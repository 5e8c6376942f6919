import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { type FakeCollector, startCollector } from "../telemetry/collector.ts";
import { type ObservedProcess, startObservedEntryPoint, startObservedService } from "../telemetry/observed-process.ts";

// Real processes: the users service records the deactivation, its change feed reports it, and the gateway and the REST proxy reject the token.

interface Endpoints {
  /** Of a read: the status and the error code of the gateway, and the status of the REST proxy. */
  readAs(token: string): Promise<readonly unknown[]>;
  graphql(query: string, token: string): Promise<readonly unknown[]>;
  stop(): Promise<void>;
}

let issuer: TestIssuer;
let otlp: FakeCollector;
let users: ObservedProcess;
beforeAll(async () => {
  [issuer, otlp] = await Promise.all([startTestIssuer(), startCollector()]);
  users = await startObservedService("users", {
    postgresUrl: inject("postgresUrl"),
    issuer,
    collectorUrl: otlp.url,
    environment: { FEED_PORT: "0" },
  });
  const columns = "(name, role) values ('Ada', 'READER'), ('Grace', 'READER'), ('Linus', 'READER')";
  await users.query(`insert into users ${columns}`);
});
afterAll(async () => {
  await users.stop();
  await Promise.all([issuer.stop(), otlp.stop()]);
});

const accepted = [200, undefined, 200];
const rejected = [401, "UNAUTHENTICATED", 401];

test("the tokens of a deactivated account are rejected at both endpoints, also after their restart; others are not", async () => {
  const [ada, grace, linus] = await Promise.all(["1", "2", "3"].map((id) => issuer.token(id, ["users:write"])));
  const first = await startEndpoints();
  for (const token of [ada, grace, linus]) expect(await first.readAs(token!)).toEqual(accepted);
  await first.graphql(`mutation { deactivateUser(input: { id: "1" }) { user { id } } }`, ada!);
  await expect.poll(() => first.readAs(ada!)).toEqual(rejected);
  // A change that the service did not make itself.
  await users.query("update users set deactivated_at = now() where id = 3");
  await expect.poll(() => first.readAs(linus!)).toEqual(rejected);
  expect(await first.readAs(grace!)).toEqual(accepted);
  await users.query("update users set deactivated_at = null where id = 3");
  await expect.poll(() => first.readAs(linus!)).toEqual(accepted);
  expect(await first.readAs(ada!)).toEqual(rejected);
  await users.query("update users set deactivated_at = now() where id = 3");
  await expect.poll(() => first.readAs(linus!)).toEqual(rejected);
  await first.stop();

  const restarted = await startEndpoints();
  await expect.poll(() => restarted.readAs(ada!)).toEqual(rejected);
  expect([await restarted.readAs(linus!), await restarted.readAs(grace!)]).toEqual([rejected, accepted]);
  await restarted.stop();
});

async function startEndpoints(): Promise<Endpoints> {
  const feedUrl = new URL(users.feedUrl).origin;
  const identity = { ISSUER: issuer.issuer, JWKS_URL: issuer.jwksUrl };
  const others = ["POSTS", "COMMENTS", "ORDERS"].map((name) => [`${name}_FEED_URL`, "none"]);
  const [gateway, proxy] = await Promise.all([
    startObservedEntryPoint("gateway", otlp.url, {
      ...identity,
      SUPERGRAPH_FILE: "supergraph/supergraph.graphql",
      SETTINGS_FILE: "supergraph/gateway.yaml",
      SUBGRAPH_URL_USERS: `${users.url}/graphql`,
      ENTITY_CACHE_USERS: "on",
      SUBGRAPH_FEED_URL_USERS: feedUrl,
    }),
    startObservedEntryPoint("rest-proxy", otlp.url, {
      ...identity,
      ...(Object.fromEntries(others) as Record<string, string>),
      ROUTES_FILE: "supergraph/routes.json",
      USERS_URL: users.url,
      USERS_FEED_URL: feedUrl,
    }),
  ]);
  const headersOf = (token: string) => ({ authorization: `Bearer ${token}`, "content-type": "application/json" });
  const graphql = async (query: string, token: string) => {
    const body = JSON.stringify({ query });
    const response = await fetch(`${gateway.url}/graphql`, { method: "POST", headers: headersOf(token), body });
    const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
    return [response.status, errors?.[0]?.extensions.code];
  };
  return {
    graphql,
    async readAs(token) {
      const response = await fetch(`${proxy.url}/v2/users/2`, { headers: headersOf(token) });
      await response.body?.cancel();
      return [...(await graphql("{ me { id } }", token)), response.status];
    },
    async stop() {
      await Promise.all([gateway.stop(), proxy.stop()]);
    },
  };
}
