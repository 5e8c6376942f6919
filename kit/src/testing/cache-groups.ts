// The generated test of a service's cache groups (RFC 9875): every write × every response that shared caches may store. Each write runs on the same
// rows. If it alters a response, that response's groups must be among those of the recorded changes, and a REST write must invalidate it too.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Kind, parse, print } from "graphql";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RecordedChange } from "../feed/outbox.ts";
import type { RouteDeclaration } from "../rest/routes.ts";
import { findColumns, type TestedColumn, toOtherValue } from "./column-writes.ts";
import { etagOf, findLink } from "./response-headers.ts";
import type { RestTestAnswer, TestService } from "./service.ts";

interface RestWrite {
  /**
   * Method and path: `PATCH /v1/things/1`, or for every version of the route `PATCH /things/1`. It is sent with `If-Match: *` and a new idempotency
   * key.
   */
  readonly rest: string;
  /** One of `callers`. */
  readonly as: string;
  readonly body?: unknown;
}

interface GraphqlWrite {
  readonly mutation: string;
  readonly as: string;
  /** Of the mutation's only argument. */
  readonly input: object;
}

interface SqlWrite {
  readonly sql: string;
}

type Write = RestWrite | GraphqlWrite | SqlWrite;

/** The writes by their effect. */
interface WriteCases {
  /** They alter a response that shared caches may store. Only these may name groups. */
  readonly visible: readonly Write[];
  /** They succeed, but alter no such response. */
  readonly hidden: readonly Write[];
  /** They fail. */
  readonly rejected: readonly Write[];
}

interface TableCases {
  /** The columns and values of a public row. */
  readonly insert: string;
  /** A condition for public rows: they are updated and deleted. */
  readonly where: string;
  /** The new value of each column, as SQL; each is a write of its own. A text, boolean or integer column has one by default. */
  readonly update: Readonly<Record<string, string>>;
}

export interface CacheGroupsCases {
  /** The prefix of every group name. */
  readonly service: string;
  readonly start: () => Promise<TestService>;
  readonly routes: readonly RouteDeclaration[];
  readonly schema: URL;
  readonly groupsOfChange: (change: RecordedChange) => readonly string[] | undefined;
  /** SQL statements for more rows than those of `start`. */
  readonly seed?: string;
  /** By name: user id and scopes. */
  readonly callers: Readonly<Record<string, readonly [userId: string, ...scopes: string[]]>>;
  /** Paths without the version, for anonymous GETs in every version. Of a list, all pages from this one on are read, and one page back. */
  readonly reads: readonly string[];
  readonly writes: WriteCases;
  /** Every table, after those that it refers to. `hidden`: no response that shared caches may store has data of it. */
  readonly tables: Readonly<Record<string, TableCases | "hidden">>;
}

/** Registers the tests. They fail if a route, query parameter, mutation, table or column has no case. */
export function testCacheGroups(given: CacheGroupsCases): void {
  let o = given;
  let columns: readonly TestedColumn[];
  let reads: readonly Read[];
  let outcomes: readonly Outcome[];
  let stop = async () => {};

  beforeAll(async () => {
    const service = await o.start();
    const client = new pg.Client({ connectionString: service.database.url });
    stop = async () => {
      await client.end();
      await service.stop();
    };
    await client.connect();
    await client.query(o.seed ?? "");
    await client.query(Object.keys(o.tables).map(toSave).join(";"));
    columns = await findColumns(client);
    o = withOtherValues(o, columns);
    reads = await readAll(service, await findUrls(o, service));
    outcomes = await runWrites(o, service, client, reads);
  });
  afterAll(() => stop());

  test("every route, query parameter, mutation, table and column has a case", () => {
    expect(findUncovered(o, columns, reads)).toEqual([]);
  });

  test("every write has its effect, and every response in a cache group is altered by a write", () => {
    expect(outcomes.filter(({ effect, expected }) => effect !== expected).map(describeOutcome)).toEqual([]);
    const altered = new Set(outcomes.flatMap((outcome) => outcome.altered.map(({ url }) => url)));
    const grouped = reads.filter(({ isStorable, groups }) => isStorable && groups.length > 0);
    expect(grouped.map(({ url }) => url).filter((url) => !altered.has(url))).toEqual([]);
  });

  test("the recorded changes of a write name a group of each response that it alters", () => {
    expect(findMissed(outcomes, "recorded")).toEqual([]);
  });

  test("a REST write invalidates each response that it alters", () => {
    const written = outcomes.filter(({ target }) => target !== undefined);
    expect(findMissed(written, "invalidated")).toEqual([]);
  });

  test("a hidden or rejected write names no group", () => {
    const others = outcomes.filter(({ expected }) => expected !== "visible");
    const naming = others.filter(({ recorded, invalidated }) => recorded.length + invalidated.length > 0);
    expect(naming.map(describeOutcome)).toEqual([]);
  });

  test("every group that a write names is the only one by which some response is invalidated", () => {
    expect(findUnneeded(reads, outcomes, "recorded")).toEqual([]);
    expect(findUnneeded(reads, outcomes, "invalidated")).toEqual([]);
  });

  test("a response has at most 32 groups, and their names have the service's prefix and at most 32 characters", () => {
    const lists = [
      ...withAltered(reads, outcomes).map(({ groups }) => groups),
      ...outcomes.map(({ invalidated }) => invalidated),
    ];
    expect(lists.filter((groups) => groups.length > 32)).toEqual([]);
    const names = new Set([...lists, ...outcomes.map(({ recorded }) => recorded)].flat());
    const hasPrefix = (name: string) => name === o.service || name.startsWith(`${o.service}:`);
    expect([...names].filter((name) => !hasPrefix(name) || name.length > 32)).toEqual([]);
  });

  test("shared caches may not store an error response", () => {
    const errors = withAltered(reads, outcomes).filter(({ status }) => status >= 400);
    expect(errors.filter(({ isStorable }) => isStorable).map(({ url }) => url)).toEqual([]);
  });
}

/** A response to an anonymous GET. */
interface Read {
  readonly url: string;
  readonly status: number;
  /** Whether shared caches may store it (RFC 9111, 3; RFC 9213). */
  readonly isStorable: boolean;
  readonly groups: readonly string[];
  readonly etag: string;
  readonly text: string;
}

interface Outcome {
  readonly write: string;
  readonly expected: keyof WriteCases;
  readonly effect: keyof WriteCases;
  /** The responses that caches may have stored before the write, and that are different after it. */
  readonly altered: readonly (Read & { readonly after: Read })[];
  /** The groups of the recorded changes. */
  readonly recorded: readonly string[];
  /** `Cache-Group-Invalidation` of the response to a REST write. */
  readonly invalidated: readonly string[];
  /** The URL of a REST write, whose cached responses it invalidates (RFC 9111, 4.4). */
  readonly target?: string;
}

/** The URLs of `reads` in every version of their routes, with the further pages of lists. */
async function findUrls({ reads, routes }: CacheGroupsCases, service: TestService): Promise<readonly string[]> {
  const urls = new Set<string>();
  for (const first of reads.flatMap((path) => toVersionPaths(routes, "GET", path))) {
    let back: string | undefined;
    for (let url: string | undefined = first; url !== undefined;) {
      urls.add(url);
      const page = await service.rest("GET", url);
      [url, back] = [findLink(page, "next"), findLink(page, "prev")];
    }
    if (back !== undefined) urls.add(back);
  }
  return [...urls];
}

/** @throws Error if no route has this path. */
function toVersionPaths(routes: readonly RouteDeclaration[], method: string, path: string): readonly string[] {
  const route = findRoute(routes, method, path);
  if (route === undefined) throw new Error(`No route is ${method} ${path}.`);
  return route.versions.map((version) => `/v${version}${path}`);
}

function findRoute(routes: readonly RouteDeclaration[], method: string, path: string): RouteDeclaration | undefined {
  const matches = (pattern: string) => new RegExp(`^${pattern.replaceAll(/:\w+/g, "[^/]+")}(?:[?]|$)`).test(path);
  return routes.find((route) => route.method === method && matches(route.path));
}

function readAll(service: TestService, urls: readonly string[]): Promise<readonly Read[]> {
  // Problem documents contain the request id.
  const headers = { "x-request-id": "groups" };
  return Promise.all(urls.map(async (url) => toRead(url, await service.rest("GET", url, { headers }))));
}

/** @throws Error if the service failed. */
function toRead(url: string, response: RestTestAnswer): Read {
  const { status, headers, text } = response;
  if (status >= 500) throw new Error(`${url} has status ${status}.`);
  const policies = [headers.get("cache-control") ?? "", headers.get("cdn-cache-control")];
  const isStorable = policies.some((policy) => policy !== null && !/\b(?:no-store|private)\b/.test(policy));
  return { url, status, isStorable, groups: readGroups(headers, "cache-groups"), etag: etagOf(response), text };
}

function readGroups(headers: Headers, name: string): readonly string[] {
  return [...(headers.get(name) ?? "").matchAll(/"([^"]*)"/g)].map(([, group = ""]) => group);
}

/** Runs each write on the saved rows. @throws Error if the rows cannot be restored exactly. */
async function runWrites(
  o: CacheGroupsCases,
  service: TestService,
  client: pg.Client,
  reads: readonly Read[],
): Promise<readonly Outcome[]> {
  const urls = reads.map(({ url }) => url);
  const outcomes: Outcome[] = [];
  for (const { write, expected } of listWrites(o)) {
    await restore(client, Object.keys(o.tables));
    const sent = await send(o, service, client, write);
    const { rows } = await client.query<RecordedChange>("select kind, before, after from feed_changes");
    const after = await readAll(service, urls);
    const altered = reads.flatMap((read, index) => {
      const now = after[index] as Read;
      return read.isStorable && isAltered(read, now) ? [{ ...read, after: now }] : [];
    });
    const effect = sent.isRejected ? "rejected" : altered.length > 0 ? "visible" : "hidden";
    const recorded = rows.flatMap((change) => toGroups(o, change));
    outcomes.push({ write: describeWrite(write), expected, effect, altered, recorded, invalidated: [], ...sent });
  }
  await restore(client, Object.keys(o.tables));
  const restored = await readAll(service, urls);
  if (restored.some((read, index) => isAltered(read, reads[index] as Read))) throw new Error("Rows are not restored.");
  return outcomes;
}

interface ExpectedWrite {
  readonly write: Write;
  readonly expected: keyof WriteCases;
}

/** All writes, REST writes without a version in every version of their route. */
function listWrites({ writes, tables, routes }: CacheGroupsCases): readonly ExpectedWrite[] {
  const effects = ["visible", "hidden", "rejected"] as const;
  const cases = effects.flatMap((expected) => writes[expected].map((write) => ({ write, expected })));
  const ofTables = toSqlWrites(tables).map((write) => ({ write, expected: "visible" as const }));
  return [...cases, ...ofTables].flatMap(({ write, expected }) => {
    if (!("rest" in write) || / \/v\d/.test(write.rest)) return [{ write, expected }];
    const [method = "", path = ""] = write.rest.split(" ");
    const paths = toVersionPaths(routes, method, path);
    return paths.map((versionPath) => ({ write: { ...write, rest: `${method} ${versionPath}` }, expected }));
  });
}

function isAltered(one: Read, other: Read): boolean {
  return one.status !== other.status || one.etag !== other.etag || one.text !== other.text;
}

/** @throws Error for a kind that the service does not know. */
function toGroups({ groupsOfChange }: CacheGroupsCases, change: RecordedChange): readonly string[] {
  const groups = groupsOfChange(change);
  if (groups === undefined) throw new Error(`The groups of a change are unknown: ${JSON.stringify(change)}.`);
  return groups;
}

interface Sent extends Pick<Partial<Outcome>, "target" | "invalidated"> {
  readonly isRejected: boolean;
}

async function send(o: CacheGroupsCases, service: TestService, client: pg.Client, write: Write): Promise<Sent> {
  if ("sql" in write) {
    await client.query(write.sql);
    return { isRejected: false };
  }
  const [userId = "", ...scopes] = o.callers[write.as] ?? [];
  const token = await service.issuer.token(userId, scopes);
  if ("mutation" in write) {
    const { errors } = await service.graphql(toDocument(o.schema, write.mutation), { input: write.input }, token);
    return { isRejected: errors !== undefined };
  }
  const [method = "", target = ""] = write.rest.split(" ");
  const headers = { "if-match": "*", "idempotency-key": randomUUID() };
  const response = await service.rest(method, target, { token, body: write.body, headers });
  const invalidated = readGroups(response.headers, "cache-group-invalidation");
  return { isRejected: response.status >= 400, target, invalidated };
}

function toDocument(schema: URL, mutation: string): string {
  const input = readMutations(schema).find(({ name }) => name.value === mutation)?.arguments?.[0];
  if (input === undefined) throw new Error(`The schema has no mutation ${mutation} with an argument.`);
  return `mutation ($input: ${print(input.type)}) { ${mutation}(${input.name.value}: $input) { __typename } }`;
}

function readMutations(schema: URL) {
  return parse(readFileSync(schema, "utf8")).definitions.flatMap((definition) => {
    const isType = definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.OBJECT_TYPE_EXTENSION;
    return isType && definition.name.value === "Mutation" ? (definition.fields ?? []) : [];
  });
}

function toSqlWrites(tables: CacheGroupsCases["tables"]): readonly SqlWrite[] {
  return Object.entries(tables).flatMap(([table, cases]) => {
    if (cases === "hidden") return [];
    const updates = Object.entries(cases.update).map(([column, value]) => `${column} = ${value}`);
    return [
      `insert into ${table} ${cases.insert}`,
      ...updates.map((set) => `update ${table} set ${set} where ${cases.where}`),
      `delete from ${table} where ${cases.where}`,
    ].map((sql) => ({ sql }));
  });
}

function toSave(table: string): string {
  return `create temporary table saved_${table} as table ${table}`;
}

async function restore(client: pg.Client, tables: readonly string[]): Promise<void> {
  const inserts = tables.map((table) => `insert into ${table} select * from saved_${table}`);
  await client.query(
    ["begin", `truncate ${tables.join(", ")} cascade`, ...inserts, "truncate feed_changes", "commit"].join(";"),
  );
}

/** Adds a case for each column of which `toOtherValue` knows another value. */
function withOtherValues(o: CacheGroupsCases, columns: readonly TestedColumn[]): CacheGroupsCases {
  const complete = (table: string, cases: TableCases | "hidden") => {
    if (cases === "hidden") return cases;
    const values = columns.flatMap((one) => {
      const value = one.table === table ? toOtherValue(one) : undefined;
      return value === undefined ? [] : [[one.column, value] as const];
    });
    return { ...cases, update: { ...Object.fromEntries(values), ...cases.update } };
  };
  const tables = Object.entries(o.tables).map(([table, cases]) => [table, complete(table, cases)] as const);
  return { ...o, tables: Object.fromEntries(tables) };
}

function findUncovered(
  o: CacheGroupsCases,
  columns: readonly TestedColumn[],
  reads: readonly Read[],
): readonly string[] {
  const writes = listWrites(o).map(({ write }) => write);
  const requests = [
    ...reads.map(({ url }) => `GET ${url}`),
    ...writes.flatMap((write) => ("rest" in write ? [write.rest] : [])),
  ];
  const covered = new Set(requests.flatMap((request) => findRouteCases(o.routes, request)));
  const routeCases = o.routes.flatMap(({ id, method, versions, cache, query = [] }) => {
    if (method === "GET" && cache === "none") return [];
    return versions.flatMap((version) => [`v${version} ${id}`, ...query.map((name) => `v${version} ${id}?${name}`)]);
  });
  const mutated = new Set(writes.flatMap((write) => ("mutation" in write ? [write.mutation] : [])));
  const mutations = readMutations(o.schema).map(({ name }) => name.value);
  return [
    ...routeCases.filter((routeCase) => !covered.has(routeCase)),
    ...mutations.filter((name) => !mutated.has(name)),
    ...columns.filter((column) => !hasCase(o.tables, column)).map(({ table, column }) => `${table}.${column}`),
  ];
}

/** `v1 listThings` and `v1 listThings?limit` for `GET /v1/things?limit=1`. */
function findRouteCases(routes: readonly RouteDeclaration[], request: string): readonly string[] {
  const [, method = "", version = "", path = ""] = /^(\w+) \/(v\d+)(\/.*)$/.exec(request) ?? [];
  const id = findRoute(routes, method, path)?.id ?? "unknown";
  const names = [...new URLSearchParams(path.split("?")[1]).keys()];
  return [`${version} ${id}`, ...names.map((name) => `${version} ${id}?${name}`)];
}

function hasCase(tables: CacheGroupsCases["tables"], { table, column }: TestedColumn): boolean {
  const cases = tables[table];
  return cases === "hidden" || (cases !== undefined && Object.hasOwn(cases.update, column));
}

/** The responses before the writes, and those that were different after one. */
function withAltered(reads: readonly Read[], outcomes: readonly Outcome[]): readonly Read[] {
  return [...reads, ...outcomes.flatMap(({ altered }) => altered.map(({ after }) => after))];
}

/** Where a write names its groups. */
type Source = "recorded" | "invalidated";

/** The altered responses of which the write names no group. */
function findMissed(outcomes: readonly Outcome[], source: Source): readonly string[] {
  return outcomes.flatMap((outcome) => {
    const missed = outcome.altered.filter(({ url, groups }) => {
      const isTarget = source === "invalidated" && url === outcome.target;
      return !isTarget && !groups.some((group) => outcome[source].includes(group));
    });
    return missed.map(({ url }) => `${url} after ${outcome.write}`);
  });
}

/** Groups that are never the only one by which an altered response is invalidated: `findMissed` would not notice if they were missing. */
function findUnneeded(reads: readonly Read[], outcomes: readonly Outcome[], source: Source): readonly string[] {
  const ofReads = new Set(reads.flatMap(({ groups }) => groups));
  const named = new Set(outcomes.flatMap((outcome) => outcome[source]));
  const shared = outcomes.flatMap((outcome) =>
    outcome.altered.map(({ groups }) => groups.filter((group) => outcome[source].includes(group))),
  );
  const needed = new Set(shared.filter(({ length }) => length === 1).flat());
  return [...named].filter((group) => ofReads.has(group) && !needed.has(group));
}

function describeOutcome({ write, expected, effect, recorded, invalidated }: Outcome): string {
  return `${write}: ${effect}, expected ${expected}; groups ${[...recorded, ...invalidated].join(" ")}`;
}

function describeWrite(write: Write): string {
  if ("sql" in write) return write.sql;
  const [request, content] = "rest" in write ? [write.rest, write.body] : [write.mutation, write.input];
  return `${request} ${JSON.stringify(content)} as ${write.as}`;
}
