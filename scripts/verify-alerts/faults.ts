import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { postAt } from "../journey/seeded.ts";
import { createHttpClient, type HttpClientRequest } from "../processes/http-client.ts";
import { startLoad } from "../processes/open-loop.ts";
import { type Platform, supergraphSource, type UnitName } from "./platform.ts";

/** An alert about a unit. */
export type Expected = readonly [alert: string, unit: UnitName];

export interface Fault {
  readonly name: string;
  readonly what: string;
  /** Makes it. @returns what mends it. */
  make(platform: Platform): Promise<Mend>;
  /** Have to be told somebody. */
  readonly told: readonly Expected[];
  /** Have to fire and be told nobody: they follow from what is told. */
  readonly silenced?: readonly Expected[];
  /** May be told as well: they are true, and come or not as it happens. */
  readonly follow?: readonly string[];
}

type Mend = () => Promise<unknown>;

/** One more than is usual, each running for so long that Prometheus sees it. */
const restartsPlayed = 3;
const seenMs = 2_000;

/** What many faults cost at the doors. */
const promises = ["ServiceLevelBurnsFast"];
const whatAServiceCosts = [...promises, "ServiceFails", "RetryBudgetEmpty", "RequestsShed"];

export const faults: readonly Fault[] = [
  {
    name: "unit-gone",
    what: "both processes of posts are killed",
    told: [["UnitGone", "posts"]],
    silenced: [
      ["ServiceFails", "posts"],
      ["ReplicaDown", "posts"],
      ["ServiceLevelBurnsFast", "gateway"],
      ["ServiceLevelBurnsFast", "rest-proxy"],
    ],
    follow: [...whatAServiceCosts, "ReplicaEjected"],
    make: ({ units }) => kill(units.posts),
  },
  {
    name: "replica-down",
    what: "one of two processes of posts is killed",
    told: [
      ["ReplicaDown", "posts"],
      ["ReplicaEjected", "posts"],
    ],
    // Its metrics are gone, and what the doors failed to send there.
    follow: whatAServiceCosts,
    make: ({ units }) => kill(units.posts.slice(0, 1)),
  },
  {
    name: "door-gone",
    what: "the REST proxy is killed",
    told: [["UnitGone", "rest-proxy"]],
    silenced: [["ReplicaDown", "rest-proxy"]],
    make: ({ units }) => kill(units["rest-proxy"]),
  },
  {
    name: "answers-500",
    what: "comments answers everything with 500",
    told: [
      ["ServiceFails", "comments"],
      ["ServiceLevelBurnsFast", "gateway"],
      ["ServiceLevelBurnsFast", "rest-proxy"],
    ],
    // What came with the 500 was no GraphQL answer either.
    follow: [...whatAServiceCosts, "AnswersMisshapen"],
    make: ({ relay }) => answer(relay, "500"),
  },
  {
    name: "answers-nonsense",
    what: "comments answers with a web page",
    told: [
      ["AnswersMisshapen", "comments"],
      ["ServiceFails", "comments"],
      ["ServiceLevelBurnsFast", "gateway"],
    ],
    follow: whatAServiceCosts,
    make: ({ relay }) => answer(relay, "nonsense"),
  },
  {
    name: "database-gone",
    what: "PostgreSQL is stopped",
    told: [
      ["StatementsFail", "users"],
      ["StatementsFail", "posts"],
      ["StatementsFail", "comments"],
      ["StatementsFail", "orders"],
      ["ServiceFails", "comments"],
      ["ServiceLevelBurnsFast", "gateway"],
      ["ServiceLevelBurnsFast", "rest-proxy"],
    ],
    follow: [...whatAServiceCosts, "DatabasePoolExhausted", "StatementsSlow"],
    async make({ postgres }) {
      await postgres.stop();
      return () => postgres.start();
    },
  },
  {
    name: "table-locked",
    what: "somebody keeps the table of comments locked",
    told: [["DatabasePoolExhausted", "comments"]],
    follow: [...whatAServiceCosts, "StatementsFail", "StatementsSlow"],
    make: lockComments,
  },
  {
    name: "restarts",
    what: "one of two processes of posts is restarted three times",
    told: [["RestartsOften", "posts"]],
    follow: [...whatAServiceCosts, "ReplicaDown", "ReplicaEjected"],
    async make({ units: { posts } }) {
      for (let count = 0; count < restartsPlayed; count++) {
        await posts[0]?.killAndRestart();
        await sleep(seenMs);
      }
      return async () => {};
    },
  },
  {
    name: "tokens-refused",
    what: "a client sends a token that nobody signed",
    told: [["TokensRefused", "orders"]],
    // What is refused is not answered by the cache.
    follow: ["CacheHitsCollapsed"],
    make: ({ restUrl }) =>
      load(restUrl, () => ({ method: "GET", path: "/v2/orders", headers: { authorization: "Bearer a.b.c" } })),
  },
  {
    name: "literals",
    what: "a client writes its values into its documents",
    told: [["PlansMissed", "gateway"]],
    make: ({ graphqlUrl, token }) =>
      load(graphqlUrl, (count) => ask(token, `{ user(id: "${count}") { id a${count}: name } }`)),
  },
  {
    name: "supergraph-refused",
    what: "a supergraph comes that cannot be used",
    told: [
      ["SupergraphRefused", "gateway"],
      ["ErrorsInLog", "gateway"],
    ],
    async make({ supergraphFile }) {
      writeFileSync(supergraphFile, "type Query {");
      return () => putSupergraphBack(supergraphFile);
    },
  },
  {
    name: "supergraph-unavailable",
    what: "the supergraph's file is taken away",
    told: [["SupergraphUnavailable", "gateway"]],
    async make({ supergraphFile }) {
      rmSync(supergraphFile);
      return () => putSupergraphBack(supergraphFile);
    },
  },
  {
    name: "supergraph-missing",
    what: "the gateway starts without a supergraph: all its requests fail",
    told: [
      ["SupergraphMissing", "gateway"],
      ["ServiceLevelBurnsFast", "gateway"],
    ],
    follow: ["RequestsShed", "SupergraphUnavailable"],
    async make({ units, supergraphFile }) {
      rmSync(supergraphFile);
      await Promise.all(units.gateway.map((unit) => unit.end("SIGKILL")));
      const ready = Promise.all(units.gateway.map((unit) => unit.start()));
      return async () => {
        await putSupergraphBack(supergraphFile);
        await ready;
      };
    },
  },
];

export const faultNames: readonly string[] = faults.map(({ name }) => name);

async function kill(processes: Platform["units"][UnitName]): Promise<Mend> {
  await Promise.all(processes.map((process) => process.end("SIGKILL")));
  return () => Promise.all(processes.map((process) => process.start()));
}

async function answer(relay: Platform["relay"], what: "500" | "nonsense"): Promise<Mend> {
  relay.answer(what);
  return async () => relay.answer("truly");
}

const loadPerSecond = 10;

/** Beside what other clients ask; what comes of it does not matter. */
async function load(url: string, toQuestion: (count: number) => HttpClientRequest): Promise<Mend> {
  const client = createHttpClient(url);
  const running = startLoad({
    perSecond: loadPerSecond,
    send: (count) => client.send(toQuestion(count)).then(() => undefined),
  });
  return async () => {
    await running.stop();
    client.close();
  };
}

const commentsOfPost = "query ($id: ID!) { post(id: $id) { comments(first: 3) { body } } }";

/** More come than connections are, and none gets on. */
async function lockComments({ databaseUrls, graphqlUrl, token }: Platform): Promise<Mend> {
  const locker = new pg.Client({ connectionString: databaseUrls.comments });
  await locker.connect();
  await locker.query("begin; lock table comments in access exclusive mode");
  const endLoad = await load(graphqlUrl, (count) => ask(token, commentsOfPost, { id: postAt(count) }));
  return async () => {
    await locker.end();
    await endLoad();
  };
}

function ask(token: string, query: string, variables: object = {}): HttpClientRequest {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return { method: "POST", path: "/graphql", headers, body: JSON.stringify({ query, variables }) };
}

async function putSupergraphBack(file: string): Promise<void> {
  writeFileSync(file, readFileSync(supergraphSource));
}
