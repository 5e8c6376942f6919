import { randomUUID } from "node:crypto";
import type pg from "pg";
import type { RecordedChange } from "../../feed/outbox.ts";
import { proxyPolicyHeader } from "../../rest/caching.ts";
import { etagOf, findLink } from "../response-headers.ts";
import type { RestTestAnswer, TestService } from "../service.ts";
import { findGraphqlRequests, readGraphql } from "./graphql-reads.ts";
import {
  type CacheGroupsCases,
  describeWrite,
  listWrites,
  type Read,
  toDocument,
  toVersionPaths,
  type Write,
  type WriteCases,
} from "./cases.ts";

export interface Outcome {
  readonly write: string;
  readonly expected: keyof WriteCases;
  readonly effect: keyof WriteCases;
  /** The responses that caches may have stored before the write, and that are different after it. */
  readonly altered: readonly (Read & { readonly after: Read })[];
  readonly recorded: readonly string[];
  /** `Cache-Group-Invalidation` of the response to a REST write. */
  readonly invalidated: readonly string[];
  /** The URL of a REST write, whose cached responses it invalidates (RFC 9111, 4.4). */
  readonly target?: string;
}

/** The URLs of `reads` in every version of their routes, with the further pages of lists. */
async function findUrls({ reads, routes }: CacheGroupsCases, service: TestService): Promise<readonly string[]> {
  const urls = new Set<string>();
  const firstUrls = reads.flatMap((path) => toVersionPaths(routes, "GET", path));
  for (const firstUrl of firstUrls) {
    let url: string | undefined = firstUrl;
    let previousUrl: string | undefined;
    while (url !== undefined) {
      urls.add(url);
      const page: RestTestAnswer = await service.rest("GET", url);
      url = findLink(page, "next");
      previousUrl = findLink(page, "prev");
    }
    // Of the last page: one page that is requested backward.
    if (previousUrl !== undefined) urls.add(previousUrl);
  }
  return [...urls];
}

export type ReadAll = () => Promise<readonly Read[]>;

/** Each call of the result reads the same responses in the same order: REST first, then GraphQL. */
export async function createReadAll(cases: CacheGroupsCases, service: TestService): Promise<ReadAll> {
  const urls = await findUrls(cases, service);
  const requests = await findGraphqlRequests(cases, service);
  // Problem documents contain the request id.
  const headers = { "x-request-id": "groups" };
  return async () => {
    const restReads = urls.map(async (url) => [toRead(url, await service.rest("GET", url, { headers }))]);
    const graphqlReads = requests.map((request) => readGraphql(service, request));
    const reads = await Promise.all([...restReads, ...graphqlReads]);
    return reads.flat();
  };
}

const privatePolicy = /\b(?:no-store|private)\b/;
const quotedName = /"([^"]*)"/g;

/** @throws Error if the service failed. */
function toRead(url: string, response: RestTestAnswer): Read {
  const { status, headers, text } = response;
  if (status >= 500) throw new Error(`${url} has status ${status}.`);
  // Without `Cache-Control` a cache may store the response; without `CDN-Cache-Control` there is no second policy.
  const policies = [headers.get("cache-control") ?? "", headers.get("cdn-cache-control")];
  const isForEveryCache = policies.some((policy) => policy !== null && !privatePolicy.test(policy));
  return {
    url,
    subject: url,
    status,
    isStorable: isForEveryCache || headers.has(proxyPolicyHeader),
    isForEveryCache,
    groups: readGroups(headers, "cache-groups"),
    etag: etagOf(response),
    text,
  };
}

function readGroups(headers: Headers, name: string): readonly string[] {
  const header = headers.get(name) ?? "";
  return [...header.matchAll(quotedName)].map(([, group = ""]) => group);
}

export async function runWrites(
  cases: CacheGroupsCases,
  service: TestService,
  client: pg.Client,
  readAll: ReadAll,
): Promise<readonly Outcome[]> {
  const reads = await readAll();
  const tables = Object.keys(cases.tables);
  await save(client, tables);
  const outcomes: Outcome[] = [];
  for (const { write, expected } of listWrites(cases)) {
    await restore(client, tables);
    const sent = await send(cases, service, client, write);
    const { rows } = await client.query<RecordedChange>("select kind, before, after from feed_changes");
    const altered = findAltered(reads, await readAll());
    const effect = effectOf(sent, altered);
    const recorded = rows.flatMap((change) => toGroups(cases, change));
    outcomes.push({ write: describeWrite(write), expected, effect, altered, recorded, invalidated: [], ...sent });
  }
  await restore(client, tables);
  const restored = await readAll();
  const isRestored = restored.every((read, index) => !isAltered(reads[index] as Read, read));
  if (!isRestored) throw new Error("Rows are not restored.");
  return outcomes;
}

function findAltered(reads: readonly Read[], readsAfter: readonly Read[]): Outcome["altered"] {
  return reads.flatMap((read, index) => {
    const after = readsAfter[index] as Read;
    return read.isStorable && isAltered(read, after) ? [{ ...read, after }] : [];
  });
}

function effectOf({ isRejected }: Sent, altered: Outcome["altered"]): Outcome["effect"] {
  if (isRejected) return "rejected";
  return altered.length > 0 ? "visible" : "hidden";
}

function isAltered(before: Read, after: Read): boolean {
  return before.status !== after.status || before.etag !== after.etag || before.text !== after.text;
}

/** @throws Error for a kind that the service does not know. */
function toGroups({ groupsOfChange }: CacheGroupsCases, change: RecordedChange): readonly string[] {
  const groups = groupsOfChange(change);
  if (groups === undefined) throw new Error(`The groups of a change are unknown: ${JSON.stringify(change)}.`);
  return groups;
}

/** The result of a sent write. Only a REST write has `target` and `invalidated`. */
interface Sent extends Pick<Partial<Outcome>, "target" | "invalidated"> {
  readonly isRejected: boolean;
}

async function send(cases: CacheGroupsCases, service: TestService, client: pg.Client, write: Write): Promise<Sent> {
  if ("sql" in write) {
    await client.query(write.sql);
    return { isRejected: false };
  }
  const [userId = "", ...scopes] = cases.callers[write.as] ?? [];
  const token = await service.issuer.token(userId, scopes);
  if ("mutation" in write) {
    const document = toDocument(cases.schema, write.mutation);
    const { errors } = await service.graphql(document, { input: write.input }, token);
    return { isRejected: errors !== undefined };
  }
  const [method = "", target = ""] = write.rest.split(" ");
  const headers = { "if-match": "*", "idempotency-key": randomUUID() };
  const response = await service.rest(method, target, { token, body: write.body, headers });
  const invalidated = readGroups(response.headers, "cache-group-invalidation");
  return { isRejected: response.status >= 400, target, invalidated };
}

async function save(client: pg.Client, tables: readonly string[]): Promise<void> {
  await client.query(tables.map((table) => `create temporary table saved_${table} as table ${table}`).join(";"));
}

/** Empties `feed_changes` last, since triggers record the inserts too. */
async function restore(client: pg.Client, tables: readonly string[]): Promise<void> {
  const truncate = `truncate ${tables.join(", ")} cascade`;
  const inserts = tables.map((table) => `insert into ${table} select * from saved_${table}`);
  const statements = ["begin", truncate, ...inserts, "truncate feed_changes", "commit"];
  await client.query(statements.join(";"));
}
