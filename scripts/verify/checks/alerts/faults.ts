// The faults of the verification alerts, each with the alerts that it must cause.
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type PartName, type Replica, replicaOf, supergraphFile } from "../../platform/platform.ts";
import { createHttpClient, type HttpClientRequest } from "../../traffic/http-client.ts";
import { startLoad } from "../../traffic/open-loop.ts";
import { postAt } from "../../traffic/seeded.ts";
import type { AlertPlatform } from "./alert-platform.ts";

/** An alert's name, and its label `unit`: the part of the platform that the alert is about. */
type ExpectedAlert = readonly [alert: string, unit: PartName | "rate-limit-store"];

export interface Fault {
  readonly name: string;
  readonly description: string;
  /** Causes the fault. @returns a function that undoes it. */
  inject(platform: AlertPlatform): Undo | Promise<Undo>;
  /** Alerts of which Alertmanager must notify a receiver. */
  readonly notified: readonly ExpectedAlert[];
  /** Alerts that must fire without a notification, because Alertmanager's inhibition rules suppress them. */
  readonly inhibited?: readonly ExpectedAlert[];
  /** Alerts that may be notified too: they are correct, but depend on timing. */
  readonly possible?: readonly string[];
}

type Undo = () => Promise<unknown>;

/** One restart more than the alert RestartsOften tolerates. Between restarts the process runs long enough for a scrape. */
const restartCount = 3;
const runningMs = 2_000;

/** Alerts that many faults cause at the gateway and the REST proxy. */
const alertsOfFailingService = ["ServiceLevelBurnsFast", "ServiceFails", "RetryBudgetEmpty", "RequestsShed"];

export const faults: readonly Fault[] = [
  {
    name: "unit-down",
    description: "both processes of posts are killed",
    notified: [["UnitDown", "posts"]],
    inhibited: [
      ["ServiceFails", "posts"],
      ["ReplicaDown", "posts"],
      ["FeedDown", "posts"],
      ["ServiceLevelBurnsFast", "gateway"],
      ["ServiceLevelBurnsFast", "rest-proxy"],
    ],
    possible: [...alertsOfFailingService, "ReplicaEjected"],
    inject: ({ replicas }) => kill(replicas.posts),
  },
  {
    name: "replica-down",
    description: "one of two processes of posts is killed",
    notified: [
      ["ReplicaDown", "posts"],
      ["ReplicaEjected", "posts"],
    ],
    // The killed process has no metrics, and requests to it fail until it is ejected.
    possible: alertsOfFailingService,
    inject: ({ replicas }) => kill(replicas.posts.slice(0, 1)),
  },
  {
    name: "rest-proxy-down",
    description: "the REST proxy is killed",
    notified: [["UnitDown", "rest-proxy"]],
    inhibited: [["ReplicaDown", "rest-proxy"]],
    inject: ({ replicas }) => kill(replicas["rest-proxy"]),
  },
  {
    name: "responses-500",
    description: "comments responds to every request with 500",
    notified: [
      ["ServiceFails", "comments"],
      ["ServiceLevelBurnsFast", "gateway"],
      ["ServiceLevelBurnsFast", "rest-proxy"],
    ],
    // The body of the 500 is no GraphQL response.
    possible: [...alertsOfFailingService, "SubgraphResponsesInvalid"],
    inject: ({ setFault }) => {
      setFault({ status: 500, contentType: "application/problem+json", body: '{"status":500}' });
      return async () => setFault(undefined);
    },
  },
  {
    name: "responses-html",
    description: "comments responds with an HTML page",
    notified: [
      ["SubgraphResponsesInvalid", "comments"],
      ["ServiceFails", "comments"],
      ["ServiceLevelBurnsFast", "gateway"],
    ],
    possible: alertsOfFailingService,
    inject: ({ setFault }) => {
      setFault({ status: 200, contentType: "text/html", body: "<h1>It works!</h1>" });
      return async () => setFault(undefined);
    },
  },
  {
    name: "database-down",
    description: "PostgreSQL is stopped",
    notified: [
      ["StatementsFail", "users"],
      ["StatementsFail", "posts"],
      ["StatementsFail", "comments"],
      ["StatementsFail", "orders"],
      // A service that cannot read its database ends the streams of its feed.
      ["FeedDown", "users"],
      ["FeedDown", "posts"],
      ["FeedDown", "comments"],
      ["FeedDown", "orders"],
      ["ServiceFails", "comments"],
      ["ServiceLevelBurnsFast", "gateway"],
      ["ServiceLevelBurnsFast", "rest-proxy"],
    ],
    possible: [...alertsOfFailingService, "DatabasePoolExhausted", "StatementsSlow"],
    async inject({ postgres }) {
      await postgres.stop();
      return () => postgres.start();
    },
  },
  {
    name: "table-locked",
    description: "a session holds a lock on the table comments",
    notified: [["DatabasePoolExhausted", "comments"]],
    possible: [...alertsOfFailingService, "StatementsFail", "StatementsSlow"],
    inject: lockComments,
  },
  {
    name: "restarts",
    description: "one of two processes of posts is restarted three times",
    notified: [["RestartsOften", "posts"]],
    possible: [...alertsOfFailingService, "ReplicaDown", "ReplicaEjected"],
    async inject(platform) {
      for (let restarts = 0; restarts < restartCount; restarts++) {
        await replicaOf(platform, "posts").killAndRestart();
        await sleep(runningMs);
      }
      return async () => {};
    },
  },
  {
    name: "tokens-rejected",
    description: "a client sends an invalid token",
    notified: [["TokensRejected", "orders"]],
    // Rejected requests are not served from the cache.
    possible: ["CacheHitsCollapsed"],
    inject: ({ restUrl }) =>
      addLoad(restUrl, () => ({ method: "GET", path: "/v2/orders", headers: { authorization: "Bearer a.b.c" } })),
  },
  {
    name: "caller-limited",
    description: "a client exceeds its rate limit at both endpoints",
    notified: [
      ["CallersLimited", "gateway"],
      ["CallersLimited", "rest-proxy"],
    ],
    inject: exceedRateLimit,
  },
  {
    name: "store-down",
    description: "the rate limit store is killed",
    notified: [["RateLimitStoreDown", "rate-limit-store"]],
    async inject({ rateLimitStore }) {
      await rateLimitStore.kill();
      return () => rateLimitStore.start();
    },
  },
  {
    name: "literals",
    description: "a client sends literals instead of variables in its documents",
    notified: [["PlansMissed", "gateway"]],
    inject: ({ graphqlUrl, token }) =>
      addLoad(graphqlUrl, (requestNumber) => {
        const document = `{ user(id: "${requestNumber}") { id a${requestNumber}: name } }`;
        return createGraphqlRequest(token, document);
      }),
  },
  {
    name: "supergraph-rejected",
    description: "the supergraph file is invalid",
    notified: [
      ["SupergraphRejected", "gateway"],
      ["ErrorsInLog", "gateway"],
    ],
    possible: ["SupergraphStale"],
    async inject({ supergraphCopy }) {
      writeFileSync(supergraphCopy, "type Query {");
      return async () => copyFileSync(supergraphFile, supergraphCopy);
    },
  },
  {
    name: "supergraph-unavailable",
    description: "the supergraph file is deleted",
    notified: [["SupergraphStale", "gateway"]],
    async inject({ supergraphCopy }) {
      rmSync(supergraphCopy);
      return async () => copyFileSync(supergraphFile, supergraphCopy);
    },
  },
  {
    name: "supergraph-missing",
    description: "the gateway starts without a supergraph, so all its requests fail",
    notified: [
      ["SupergraphMissing", "gateway"],
      ["ServiceLevelBurnsFast", "gateway"],
    ],
    possible: ["RequestsShed"],
    async inject(platform) {
      const gateway = replicaOf(platform, "gateway");
      rmSync(platform.supergraphCopy);
      await gateway.end("SIGKILL");
      // Not awaited: the gateway is not ready before it has a supergraph.
      const ready = gateway.start();
      return async () => {
        copyFileSync(supergraphFile, platform.supergraphCopy);
        await ready;
      };
    },
  },
];

async function kill(replicas: readonly Replica[]): Promise<Undo> {
  await Promise.all(replicas.map((replica) => replica.end("SIGKILL")));
  return () => Promise.all(replicas.map((replica) => replica.start()));
}

const loadPerSecond = 10;

/**
 * Sends requests in addition to the regular traffic. Their responses are not checked.
 * @param createRequest gets the number of the request, from 1.
 */
async function addLoad(url: string, createRequest: (requestNumber: number) => HttpClientRequest): Promise<Undo> {
  const client = createHttpClient(url);
  const load = startLoad({
    perSecond: loadPerSecond,
    send: (requestNumber) => client.send(createRequest(requestNumber)).then(() => undefined),
  });
  return async () => {
    await load.stop();
    client.close();
  };
}

/** An address for documentation (RFC 5737). The gateway and the REST proxy accept the header, because 127.0.0.1 is in TRUSTED_PROXIES. */
const limitedClientHeaders = { "x-forwarded-for": "192.0.2.1" };

async function exceedRateLimit({ graphqlUrl, restUrl }: AlertPlatform): Promise<Undo> {
  const headers = { ...limitedClientHeaders, "content-type": "application/json" };
  const body = JSON.stringify({ query: "{ users(first: 1) { nodes { id } } }" });
  const endGraphqlLoad = await addLoad(graphqlUrl, () => ({ method: "POST", path: "/graphql", headers, body }));
  const endRestLoad = await addLoad(restUrl, () => ({
    method: "GET",
    path: "/v2/users",
    headers: limitedClientHeaders,
  }));
  return () => Promise.all([endGraphqlLoad(), endRestLoad()]);
}

const commentsOfPost = "query ($id: ID!) { post(id: $id) { comments(first: 3) { body } } }";

/** Locks the table, and sends more requests than the connection pool of comments has connections, so that all connections wait for the lock. */
async function lockComments({ databaseUrls, graphqlUrl, token }: AlertPlatform): Promise<Undo> {
  const locker = new pg.Client({ connectionString: databaseUrls.comments });
  await locker.connect();
  await locker.query("begin; lock table comments in access exclusive mode");
  const endLoad = await addLoad(graphqlUrl, (requestNumber) =>
    createGraphqlRequest(token, commentsOfPost, { id: postAt(requestNumber) }),
  );
  return async () => {
    await locker.end();
    await endLoad();
  };
}

function createGraphqlRequest(token: string, query: string, variables: object = {}): HttpClientRequest {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return { method: "POST", path: "/graphql", headers, body: JSON.stringify({ query, variables }) };
}
