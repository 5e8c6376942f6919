import { readWritePosition } from "../feed/position.ts";
import { beforeAll, expect, test, vi } from "vitest";
import { lockNumberOf } from "../idempotency/idempotency-records.ts";
import type { RestTestAnswer, TestService } from "./service.ts";

export interface IdempotentOperation {
  /** Returns the service that the test file's `beforeAll` has started. */
  readonly service: () => TestService;
  readonly scope: string;
  /** Of the POST, without the version: `/things`. */
  readonly path: string;
  readonly table: string;
  readonly statement: string;
  /** With the variable `$input`, and the created row as `{ created: { row: { id … } } }`. */
  readonly mutation: string;
  /** Other texts are other input. @param number for values that must be unique: the same for requests with the same key and text. */
  bodies(text: string, number: number): { readonly v1: object; readonly v2: object; readonly graphql: object };
  /** The SQL of a statement after which the row with the id `$1` differs from the created one. */
  readonly change: string;
}

type RestVersionName = "v1" | "v2";

interface Created {
  /** The status, or the error code of GraphQL if there is one. */
  readonly outcome: number | string;
  readonly id: string | undefined;
  /** Whether the response has `Idempotency-Replayed: true`. Undefined for GraphQL, whose responses do not show a replay. */
  readonly replayed: boolean | undefined;
}

/** Defines the tests. Call it once in a test file. */
export function defineIdempotencyTests(operation: IdempotentOperation): void {
  let ada: string;
  let grace: string;
  beforeAll(async () => {
    const { token } = operation.service().issuer;
    [ada, grace] = await Promise.all([token("1", [operation.scope]), token("2", [operation.scope])]);
  });

  defineReplayTests(operation, () => ada);
  defineRejectionTests(operation, () => ada);
  defineMethodTests(operation, () => ada);
  defineRecordTests(operation, () => ada);

  test("keys are separate for each caller", async () => {
    const own = await send(operation, "v2", { key: "shared", token: ada });
    const other = await send(operation, "v2", { key: "shared", token: grace, text: "Other." });
    expect([own.outcome, other.outcome, other.replayed]).toEqual([201, 201, false]);
    expect(other.id).not.toBe(own.id);
  });

  test("keys are case-sensitive", async () => {
    const lower = await send(operation, "v2", { key: "case", token: ada });
    const upper = await send(operation, "v2", { key: "CASE", token: ada, text: "Other." });
    expect([lower.outcome, upper.outcome, upper.replayed]).toEqual([201, 201, false]);
  });
}

function defineReplayTests(operation: IdempotentOperation, ada: () => string): void {
  const { service } = operation;

  test.each(["v1", "v2"] as const)(
    "a repeated request gets the same response and creates nothing, in %s",
    async (version) => {
      const request = { key: `same-${version}`, token: ada() };
      const first = await sendRest(operation, version, request);
      const before = await countRows(operation);
      await rows(service(), operation.change, [first.body.id]);
      const laterRequest = { key: `later-${version}`, token: ada(), text: "A later write." };
      const later = await sendRest(operation, version, laterRequest);
      const again = await sendRest(operation, version, request);
      expect([first.status, first.headers.has("idempotency-replayed")]).toEqual([201, false]);
      expect([again.status, again.text, again.headers.get("idempotency-replayed")]).toEqual([201, first.text, "true"]);
      for (const name of ["location", "etag", "last-modified", "content-type", "cache-control", "cache-groups"])
        expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
      // Its caller's receipt keeps the writes that it made since.
      const [xidOfLater = 0, xidOfAgain = 0] = [later, again].map(
        ({ headers }) => readWritePosition(headers.get("write-position") ?? "")?.xid,
      );
      expect(xidOfAgain).toBeGreaterThan(xidOfLater);
      expect(await countRows(operation)).toBe(before + 1);
    },
  );

  test("GraphQL replays the row as it was created", async () => {
    const request = { key: "graph", token: ada() };
    const first = await sendGraphql(operation, request);
    await rows(service(), operation.change, [first.data.created.row.id]);
    expect(await sendGraphql(operation, request)).toEqual(first);
  });

  test("both versions of REST and GraphQL share keys", async () => {
    for (const [index, from] of endpoints.entries()) {
      const request = { key: `shared-from-${from}`, token: ada(), text: `Shared ${index}.` };
      const first = await send(operation, from, request);
      const before = await countRows(operation);
      for (const to of endpoints) {
        const replay = await send(operation, to, request);
        const expectedReplayed = to === "graphql" ? undefined : true;
        expect([from, to, replay.id, replay.replayed]).toEqual([from, to, first.id, expectedReplayed]);
      }
      expect(await countRows(operation)).toBe(before);
    }
  });

  test("of fifty concurrent requests with one key, through both endpoints, one creates a row", async () => {
    const before = await countRows(operation);
    // Opens all connections of the pool: otherwise the first request would be done before the others have one.
    await Promise.all(Array.from({ length: 10 }, () => rows(service(), "select pg_sleep(0.1)")));
    const request = { key: "fifty", token: ada(), text: "One of fifty." };
    const sendToBoth = () => [send(operation, "graphql", request), send(operation, "v2", request)];
    const responses = await Promise.all(Array.from({ length: 25 }, sendToBoth).flat());
    // A request that meets another one in flight is rejected; all others return the id of the one row.
    const inFlightOutcomes = new Set<unknown>([409, "IDEMPOTENCY_KEY_IN_FLIGHT"]);
    const accepted = responses.filter(({ outcome }) => !inFlightOutcomes.has(outcome));
    const ids = new Set(accepted.map(({ id }) => id));
    expect([...ids]).toEqual([expect.stringMatching(/^\d+$/)]);
    expect(await countRows(operation)).toBe(before + 1);
    expect(await rows(service(), "select 1 from idempotency_keys where key = 'fifty'")).toHaveLength(1);
  });
}

function defineRejectionTests(operation: IdempotentOperation, ada: () => string): void {
  const { service } = operation;

  test("a key with other input is rejected", async () => {
    await send(operation, "v1", { key: "reused", token: ada() });
    const before = await countRows(operation);
    for (const endpoint of endpoints) {
      const { outcome } = await send(operation, endpoint, { key: "reused", token: ada(), text: "Other." });
      expect([endpoint, outcome]).toEqual([endpoint, endpoint === "graphql" ? "IDEMPOTENCY_KEY_REUSED" : 422]);
    }
    const { body } = await sendRest(operation, "v2", { key: "reused", token: ada(), text: "Other." });
    expect(body.type).toBe("/problems/idempotency-key-reused");
    expect(await countRows(operation)).toBe(before);
  });

  test("while a request with the key is in flight, another gets 409 with Retry-After", async () => {
    const request = { key: "busy", token: ada() };
    const lockNumber = lockNumberOf({ callerId: "1", key: "busy" });
    await service().database.database.transaction(async (transaction) => {
      await transaction.rows("hold", "select pg_advisory_xact_lock($1::bigint)", [lockNumber]);
      const { status, headers, body } = await sendRest(operation, "v2", request);
      expect([status, headers.get("retry-after"), body.type]).toEqual([
        409,
        "1",
        "/problems/idempotency-key-in-flight",
      ]);
      expect((await send(operation, "graphql", request)).outcome).toBe("IDEMPOTENCY_KEY_IN_FLIGHT");
    });
    expect((await send(operation, "v2", request)).outcome).toBe(201);
  });

  test("an invalid key is rejected after a missing permission, and nothing is created", async () => {
    const before = await countRows(operation);
    const reader = await service().issuer.token("1", []);
    for (const key of ["two words", '"two words"', "k".repeat(256), '"a", "b"', "a, a"]) {
      for (const endpoint of endpoints) {
        const expected = endpoint === "graphql" ? ["BAD_USER_INPUT", "FORBIDDEN"] : [400, 403];
        const outcomes = [
          (await send(operation, endpoint, { key, token: ada() })).outcome,
          (await send(operation, endpoint, { key, token: reader })).outcome,
        ];
        expect([endpoint, key, ...outcomes]).toEqual([endpoint, key, ...expected]);
      }
    }
    const { errors } = await sendGraphql(operation, { key: "two words", token: ada() });
    expect(errors?.[0]?.extensions.problems?.map(({ pointer }) => pointer)).toEqual(["#/idempotencyKey"]);
    expect(await countRows(operation)).toBe(before);
  });

  test("in REST a key in the body is an unknown field", async () => {
    for (const version of ["v1", "v2"] as const) {
      const body = { ...operation.bodies("Text.", numberOf({}))[version], idempotencyKey: "in-body" };
      const response = await service().rest("POST", `/${version}${operation.path}`, { token: ada(), body });
      expect([response.status, response.body.errors]).toMatchObject([
        422,
        [{ pointer: "#/idempotencyKey", code: "unknown_field" }],
      ]);
    }
  });
}

function defineMethodTests(operation: IdempotentOperation, ada: () => string): void {
  const { service } = operation;

  test("other methods than POST ignore the header, valid or not", async () => {
    const records = "select 1 from idempotency_keys";
    const first = await send(operation, "v2", { key: "ignored", token: ada() });
    const recordsBefore = (await rows(service(), records)).length;
    for (const method of ["GET", "PATCH", "DELETE"] as const) {
      const { id } = await send(operation, "v2", { token: ada(), text: method });
      const statusWith = async (path: string, headers: Record<string, string>) => {
        const body = method === "PATCH" ? {} : undefined;
        return (await service().rest(method, `/v2${path}`, { token: ada(), body, headers })).status;
      };
      const path = `${operation.path}/${method === "DELETE" ? first.id : id}`;
      const expected = await statusWith(path, {});
      for (const key of ["ignored", "two words"]) {
        const { id: other } = await send(operation, "v2", { token: ada(), text: `${method} ${key}` });
        const status = await statusWith(`${operation.path}/${other}`, { "idempotency-key": key });
        expect([method, key, status]).toEqual([method, key, expected]);
      }
    }
    expect((await rows(service(), records)).length).toBe(recordsBefore);
  });
}

function defineRecordTests(operation: IdempotentOperation, ada: () => string): void {
  const { service } = operation;

  test("without a key each request creates a row, by one statement without a transaction", async () => {
    const before = await countRows(operation);
    const records = "select 1 from idempotency_keys";
    const recordsBefore = (await rows(service(), records)).length;
    const transaction = vi.spyOn(service().database.database, "transaction");
    service().database.takeStatements();
    for (const endpoint of endpoints) {
      expect((await send(operation, endpoint, { token: ada() })).id).toMatch(/^\d+$/);
      expect([endpoint, service().database.takeStatements()]).toEqual([endpoint, [operation.statement]]);
    }
    expect(transaction).not.toHaveBeenCalled();
    transaction.mockRestore();
    expect([await countRows(operation), (await rows(service(), records)).length]).toEqual([before + 3, recordsBefore]);
  });

  test("after 24 hours a key can be reused, and old records are deleted", async () => {
    const first = await send(operation, "v2", { key: "old", token: ada() });
    for (const key of ["older-1", "older-2"]) await send(operation, "v2", { key, token: ada(), text: key });
    await rows(service(), "update idempotency_keys set created_at = now() - interval '24 hours' where key like 'old%'");
    const again = await send(operation, "v2", { key: "old", token: ada(), text: "Other." });
    expect([again.outcome, again.replayed]).toEqual([201, false]);
    expect(again.id).not.toBe(first.id);
    expect(await rows(service(), "select key from idempotency_keys where key like 'old%'")).toEqual([{ key: "old" }]);
    expect((await send(operation, "v2", { key: "old", token: ada(), text: "Other." })).id).toBe(again.id);
  });

  test("just before 24 hours have passed, a key still replays", async () => {
    const request = { key: "almost", token: ada() };
    const first = await send(operation, "v2", request);
    const age = "update idempotency_keys set created_at = now() - interval '23 hours 59 minutes' where key = 'almost'";
    await rows(service(), age);
    expect((await send(operation, "v2", request)).id).toBe(first.id);
  });

  test("the row and the record of its key are written together or not at all", async () => {
    const before = await countRows(operation);
    await rows(service(), "alter table idempotency_keys add constraint broken check (false) not valid");
    expect((await send(operation, "v2", { key: "half", token: ada() })).outcome).toBe(500);
    await rows(service(), "alter table idempotency_keys drop constraint broken");
    expect(await countRows(operation)).toBe(before);
    const created = await send(operation, "v2", { key: "half", token: ada() });
    expect([created.outcome, created.replayed]).toEqual([201, false]);
  });
}

const endpoints = ["v1", "graphql", "v2"] as const;

interface SendOptions {
  readonly token: string;
  readonly key?: string;
  /** Different texts make different input. */
  readonly text?: string;
}

async function send(
  operation: IdempotentOperation,
  endpoint: (typeof endpoints)[number],
  request: SendOptions,
): Promise<Created> {
  if (endpoint === "graphql") {
    const { data, errors } = await sendGraphql(operation, request);
    return { outcome: errors?.[0]?.extensions.code ?? 200, id: data?.created?.row.id, replayed: undefined };
  }
  const { status, headers, body } = await sendRest(operation, endpoint, request);
  return { outcome: status, id: body.id, replayed: headers.get("idempotency-replayed") === "true" };
}

/** By key and text. */
const numbers = new Map<string, number>();
let lastNumber = 0;

/** The `number` of `IdempotentOperation.bodies`. Without a key each call returns a new one. */
function numberOf({ key, text }: { readonly key?: string | undefined; readonly text?: string }): number {
  const keyAndText = `${key}\n${text}`;
  const knownNumber = numbers.get(keyAndText);
  if (key !== undefined && knownNumber !== undefined) return knownNumber;
  lastNumber++;
  numbers.set(keyAndText, lastNumber);
  return lastNumber;
}

function sendRest(
  { service, path, bodies }: IdempotentOperation,
  version: RestVersionName,
  { token, key, text = "Text." }: SendOptions,
): Promise<RestTestAnswer> {
  const number = numberOf({ key, text });
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  return service().rest("POST", `/${version}${path}`, { token, body: bodies(text, number)[version], headers });
}

function sendGraphql({ service, mutation, bodies }: IdempotentOperation, { token, key, text = "Text." }: SendOptions) {
  const { graphql } = bodies(text, numberOf({ key, text }));
  const input = key === undefined ? graphql : { ...graphql, idempotencyKey: key };
  return service().graphql(mutation, { input }, token);
}

async function countRows({ service, table }: IdempotentOperation): Promise<number> {
  const [row] = await rows<{ count: number }>(service(), `select count(*)::int as count from ${table}`);
  return row?.count ?? Number.NaN;
}

let statementCount = 0;

/** Each statement has a unique name, because the pool prepares a name once. */
function rows<Row>(service: TestService, text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
  statementCount++;
  return service.database.database.rows<Row>(`test-${statementCount}`, text, values);
}
