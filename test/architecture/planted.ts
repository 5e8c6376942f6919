/** A small repository that violates one rule. */
export interface Planted {
  readonly rule: string;
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  /** "path:line" of every violation. */
  readonly at: readonly string[];
}

const other = "export const other = 1;";

/** A violation of every rule, so that each rule is seen to fail. */
export const planted: readonly Planted[] = [
  {
    rule: "packages-import-only-the-kit",
    what: "a service that imports another service by its path, and a proxy that imports the gateway by its name, even for a type",
    files: {
      "services/users/src/app.ts": '\nimport { other } from "../../posts/src/model.ts";',
      "services/posts/src/model.ts": other,
      "rest-proxy/src/server.ts": 'import type { Config } from "@tributary/gateway";',
    },
    at: ["services/users/src/app.ts:2", "rest-proxy/src/server.ts:1"],
  },
  {
    rule: "kit-imports-no-package",
    what: "a dynamic import of a service",
    files: {
      "kit/src/seed.ts": 'export const seed = () => import("../../services/users/src/model.ts");',
      "services/users/src/model.ts": other,
    },
    at: ["kit/src/seed.ts:1"],
  },
  {
    rule: "supergraph-imports-only-the-kit",
    what: "composition that imports a service's routes",
    files: {
      "supergraph/compose.ts": 'import { other } from "../services/users/src/model.ts";',
      "services/users/src/model.ts": other,
    },
    at: ["supergraph/compose.ts:1"],
  },
  {
    rule: "no-test-code-in-production",
    what: "an app that uses a test's database",
    files: { "services/users/src/app.ts": 'import { createTestDatabase } from "@tributary/kit/testing/database";' },
    at: ["services/users/src/app.ts:1"],
  },
  {
    rule: "services-export-nothing",
    what: "a service that exports its model, and one without exports in its manifest",
    files: {
      "services/users/package.json": '{ "exports": { "./model": "./src/model.ts" } }',
      "services/posts/package.json": "{}",
    },
    at: ["services/users/package.json:1", "services/posts/package.json:1"],
  },
  {
    rule: "service-layers",
    what: "endpoints that import each other, even for a type, a resolver that imports the store, and a model that imports the actions",
    files: {
      "services/users/src/rest/read.ts": 'import type { Context } from "../graphql/context.ts";',
      "services/users/src/graphql/context.ts": "export type Context = object;",
      "services/users/src/graphql/resolvers.ts":
        'import { other } from "../rest/v1.ts";\nimport { other as store } from "../store.ts";',
      "services/users/src/rest/v1.ts": other,
      "services/users/src/store.ts": other,
      "services/users/src/model.ts": 'import { other } from "./actions.ts";',
      "services/users/src/actions.ts": other,
    },
    at: [
      "services/users/src/rest/read.ts:1",
      "services/users/src/graphql/resolvers.ts:1",
      "services/users/src/graphql/resolvers.ts:2",
      "services/users/src/model.ts:1",
    ],
  },
  {
    rule: "sql-only-in-stores",
    what: "an action and a module of the kit that contain SQL, and a gateway with a database",
    files: {
      "services/users/src/actions.ts":
        "export const find = (id: string) => `\n  select name from users where id = ${id}`;",
      "kit/src/lists/count.ts": "export const text = 'select count(*) from users';",
      "kit/src/idempotency/records.ts": "export const text = 'select key from idempotency_keys';",
      "gateway/src/cache/memory.ts": 'import pg from "pg";\nexport const text = "DELETE FROM cache";',
    },
    at: [
      "services/users/src/actions.ts:1",
      "kit/src/lists/count.ts:1",
      "gateway/src/cache/memory.ts:2",
      "gateway/src/cache/memory.ts:1",
    ],
  },
  {
    rule: "column-types-stay",
    what: "a migration that changes the types of two columns",
    files: {
      "services/users/migrations/0009-types.sql":
        "-- Wider.\nalter table users alter column age type bigint,\n  alter role set data type text;",
    },
    at: ["services/users/migrations/0009-types.sql:2", "services/users/migrations/0009-types.sql:3"],
  },
  {
    rule: "generated-ids-are-bigint-identities",
    what: "an integer identity and a serial",
    files: {
      "services/users/migrations/0009-ids.sql":
        "create table a (id integer primary key generated always as identity);\ncreate table b (id bigserial);",
    },
    at: ["services/users/migrations/0009-ids.sql:1", "services/users/migrations/0009-ids.sql:2"],
  },
  {
    rule: "stages-flow-one-way",
    what: "a stage that imports a type of a later stage",
    files: {
      "gateway/src/engine/parse/limits.ts": 'import type { Plan } from "../plan/planner.ts";',
      "gateway/src/engine/plan/planner.ts": "export type Plan = object;",
    },
    at: ["gateway/src/engine/parse/limits.ts:1"],
  },
  {
    rule: "stages-share-only-types",
    what: "a stage that imports code of an earlier stage",
    files: {
      "gateway/src/engine/run/fetch.ts": 'import { other } from "../plan/planner.ts";',
      "gateway/src/engine/plan/planner.ts": other,
    },
    at: ["gateway/src/engine/run/fetch.ts:1"],
  },
  {
    rule: "engine-knows-no-http",
    what: "a type of HTTP and a stage of HTTP below execute.ts",
    files: {
      "gateway/src/engine/execute.ts": 'import { send } from "./run/fetch.ts";\nexport const execute = send;',
      "gateway/src/engine/run/fetch.ts":
        'import type { ServerResponse } from "node:http";\nimport type { Exchange } from "../../admit/exchange.ts";\nexport const send = 1;',
      "gateway/src/admit/exchange.ts": 'import type { IncomingMessage } from "node:http";',
    },
    at: ["gateway/src/engine/run/fetch.ts:1", "gateway/src/engine/run/fetch.ts:2"],
  },
  {
    rule: "rest-proxy-stages-flow-one-way",
    what: "a stage that imports a type of a later one",
    files: {
      "rest-proxy/src/route/version.ts": 'import type { Proxy } from "../respond/headers.ts";',
      "rest-proxy/src/respond/headers.ts": "export type Proxy = object;",
    },
    at: ["rest-proxy/src/route/version.ts:1"],
  },
  {
    rule: "shared-cache-is-independent",
    what: "a cache that imports a type of a route",
    files: {
      "rest-proxy/src/cache/entry.ts": 'import type { Route } from "../route/routes.ts";',
      "rest-proxy/src/route/routes.ts": "export type Route = object;",
    },
    at: ["rest-proxy/src/cache/entry.ts:1"],
  },
  {
    rule: "no-domain-words-in-the-kit",
    what: "a kit module with a scope of orders and a type for posts, and a gateway that treats one field specially",
    files: {
      "kit/src/paging.ts": 'export const first = "orders:read";\nexport interface Post { commentCount: number }',
      "gateway/src/engine/run/fetch.ts": "export const productsFirst = true;",
    },
    at: ["kit/src/paging.ts:2", "kit/src/paging.ts:1", "gateway/src/engine/run/fetch.ts:1"],
  },
  {
    rule: "no-cycles",
    what: "a cycle of three files, with one import of a type",
    files: {
      "gateway/src/engine/run/a.ts": '\nimport { b } from "./b.ts";\nexport const a = b;',
      "gateway/src/engine/run/b.ts": 'import { c } from "./c.ts";\nexport const b = c;',
      "gateway/src/engine/run/c.ts": 'import type { a } from "./a.ts";\nexport const c: typeof a = 1;',
    },
    at: ["gateway/src/engine/run/c.ts:1"],
  },
  {
    rule: "no-barrels",
    what: "an index.ts, a file of re-exports, and one that re-exports all of another file",
    files: {
      "kit/src/index.ts": other,
      "kit/src/all.ts": 'export { other } from "./index.ts";\nexport type { Log } from "./log.ts";',
      "kit/src/more.ts": 'export const own = 1;\nexport * from "./log.ts";',
      "kit/src/process/log.ts": "export type Log = object;",
    },
    at: ["kit/src/more.ts:2", "kit/src/index.ts:1", "kit/src/all.ts:1"],
  },
  {
    rule: "imports-end-in-ts",
    what: "an import without extension, and one of a .js",
    files: {
      "gateway/src/engine/run/fetch.ts": 'import "./deadline";\nimport "./plan.js";',
      "gateway/src/engine/run/deadline.ts": other,
    },
    at: ["gateway/src/engine/run/fetch.ts:1", "gateway/src/engine/run/fetch.ts:2"],
  },
  {
    rule: "environment-only-in-main",
    what: "each way to read the environment",
    files: {
      "gateway/src/config.ts":
        'export const a = process.env["PORT"];\nexport const b = globalThis.process.env.PORT;\nexport const c = process["env"];',
      "gateway/src/engine/run/fetch.ts": 'import { env } from "node:process";\nexport const d = env;',
      "gateway/src/engine/run/plan.ts": "const { env } = process;\nexport const e = env;",
    },
    at: [
      "gateway/src/config.ts:1",
      "gateway/src/config.ts:2",
      "gateway/src/config.ts:3",
      "gateway/src/engine/run/fetch.ts:1",
      "gateway/src/engine/run/plan.ts:1",
    ],
  },
  {
    rule: "no-console",
    what: "a store that writes to the console",
    files: { "services/users/src/store.ts": 'console.log("here");' },
    at: ["services/users/src/store.ts:1"],
  },
  {
    rule: "one-logger",
    what: "a service that creates a logger",
    files: { "services/users/src/app.ts": 'import pino from "pino";' },
    at: ["services/users/src/app.ts:1"],
  },
  {
    rule: "one-telemetry",
    what: "a store that creates spans through the library",
    files: {
      "services/users/src/store.ts": 'import { trace } from "@opentelemetry/api";',
      "gateway/src/telemetry/counts.ts": 'import { Counter } from "prom-client";',
    },
    at: ["services/users/src/store.ts:1", "gateway/src/telemetry/counts.ts:1"],
  },
  {
    rule: "stages-report-observations",
    what: "a stage that logs instead of reporting",
    files: { "gateway/src/engine/run/fetch.ts": 'export const run = (deps: Deps) => deps.log.warn("slow");' },
    at: ["gateway/src/engine/run/fetch.ts:1"],
  },
  {
    rule: "folders-are-small",
    what: "a folder of 21 source files",
    files: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`kit/src/http/module-${index}.ts`, other])),
    at: ["kit/src/http:1"],
  },
  {
    rule: "no-folder-cycles",
    what: "two folders that import each other through different files",
    files: {
      "kit/src/http/accept.ts": 'import { other } from "../errors/codes.ts";',
      "kit/src/errors/codes.ts": other,
      "kit/src/errors/problem.ts": '\nimport type { A } from "../http/header.ts";',
      "kit/src/http/header.ts": "export type A = object;",
    },
    at: ["kit/src/errors/problem.ts:2"],
  },
  {
    rule: "unique-type-names",
    what: "a type name of the kit that the gateway declares again",
    files: {
      "kit/src/http/accept.ts": "export interface MediaType {}",
      "gateway/src/admit/accept.ts": "\nexport type MediaType = string;",
    },
    at: ["gateway/src/admit/accept.ts:2"],
  },
  {
    rule: "field-terms",
    what: "a banned word in a comment, an identifier, a message and a document",
    files: {
      "kit/src/http/accept.ts":
        '// Nobody waits.\nexport const requestsUnderWay = 0;\nexport const text = "Was told twice, told.";',
      "docs/seats.md": "All is well.",
    },
    at: [
      "kit/src/http/accept.ts:1",
      "kit/src/http/accept.ts:2",
      "kit/src/http/accept.ts:3",
      "kit/src/http/accept.ts:3",
      "docs/seats.md:1",
    ],
  },
];

/** A small repository that complies with every rule and resembles violations of several. */
export const compliant: Readonly<Record<string, string>> = {
  "kit/src/process/log.ts": 'import pino from "pino";\nexport const createLog = pino;',
  "kit/src/telemetry/counting.ts": 'import type * as Client from "prom-client";\nexport type Gauge = Client.Gauge;',
  "kit/src/rest/rest-endpoint.ts":
    'export const methods = ["POST"]; // users, posts and orders in a comment are no dependency\nexport const userId = "user";',
  "kit/src/testing/cast.ts": 'export const order = "orders";',
  "kit/src/postgres/postgres.ts":
    'import pg from "pg";\nexport const ping = "select 1 from pg_database";\nexport const pool = pg;',
  "services/users/migrations/0009-types.sql":
    "-- type change: only the length, which rewrites nothing.\nalter table users alter column name type varchar(90);\n-- alter column x type y\ncreate table a (n int, id bigint generated by default as identity);\nalter type mood add value 'calm';",
  "services/users/package.json": '{ "exports": {} }',
  "services/users/src/main.ts":
    'import { createApp } from "./app.ts";\nimport { createLog } from "@tributary/kit/process/log";\ncreateApp(process.env, createLog);',
  "services/users/src/app.ts":
    'import { find } from "./actions.ts";\nimport { resolvers } from "./graphql/resolvers.ts";\nimport { store } from "./store.ts";\nexport const createApp = (...all: unknown[]) => [all, find, resolvers, store];',
  "services/users/src/graphql/resolvers.ts":
    'import { find } from "../actions.ts";\nexport const resolvers = { find };',
  "services/users/src/actions.ts":
    'import { store } from "./store.ts";\nexport const find = store;\nexport const hint = "Select a name from the list.".length;',
  "services/users/src/store.ts":
    'import { limit } from "./model.ts";\nexport const store = `select name from users limit ${limit}`;',
  "services/users/src/model.ts": 'import { states } from "./states.ts";\nexport const limit = states.length;',
  "services/users/src/states.ts": 'export const states = ["READER"];',
  "services/users/src/model.test.ts": 'import { cast } from "../test/cast.ts";\nconsole.log(cast, process.env.PORT);',
  "services/users/test/cast.ts": 'import { order } from "@tributary/kit/testing/cast";\nexport const cast = order;',
  "gateway/src/pipeline.ts":
    'import { parse } from "./engine/parse/document.ts";\nimport { run } from "./engine/run/fetch.ts";\nexport const pipeline = [parse, run];',
  "gateway/src/engine/parse/document.ts": "export type Document = object;\nexport const parse = 1;",
  "gateway/src/engine/run/fetch.ts":
    'import type { Document } from "../parse/document.ts";\nimport { type Document as D } from "../parse/document.ts";\nexport const run = (document: Document & D) => document;',
  "gateway/src/telemetry/logs.ts": 'export const write = (log: { warn(text: string): void }) => log.warn("slow");',
  "scripts/token.ts": "console.log(process.env.PORT);",
};
