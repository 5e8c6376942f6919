// What the whole platform returns while a service or its PostgreSQL is down.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import {
  type LocalPostgres,
  removeLocalPostgres,
  startLocalPostgres,
} from "../../kit/src/local-postgres/local-postgres.ts";
import { type Platform, type ServiceName, startPlatform } from "./platform.ts";

let folder: string;
/** The cluster of posts. The other services use the cluster of the test run. */
let postgres: LocalPostgres;
let platform: Platform;
let ada: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "end-to-end-"));
  // PostgreSQL runs under another account if the tests run as root.
  chmodSync(folder, 0o755);
  postgres = await startLocalPostgres({ directory: join(folder, "postgres"), port: 0, log: () => {} });
  platform = await startPlatform(inject("postgresUrl"), undefined, { posts: postgres.superuserUrl });
  ada = await platform.tokenOf("1");
});
afterAll(async () => {
  await platform.stop();
  await postgres.stop();
  removeLocalPostgres(join(folder, "postgres"));
  rmSync(folder, { recursive: true, force: true });
});

const outages: readonly (readonly [
  service: ServiceName,
  query: string,
  failedPath: readonly string[],
  completeField: string,
  route: string,
])[] = [
  [
    "users",
    `{ user(id: 1) { name } posts(first: 1) { nodes { title author { name } } } }`,
    ["user"],
    "posts",
    "/v1/users?limit=3",
  ],
  ["posts", `{ user(id: 1) { name posts { title } } }`, ["user", "posts"], "user", "/v1/posts?limit=3"],
  ["comments", `{ post(id: 1) { title comments { body } } }`, ["post", "comments"], "post", "/v1/comments?limit=3"],
  ["orders", `{ user(id: 1) { name orders { id } } }`, ["user", "orders"], "user", "/v1/products?limit=3"],
];

test.each(outages)(
  "while %s is down, other fields and its cached resources are returned, and afterwards everything is complete",
  async (service, query, failedPath, completeField, route) => {
    const complete = await platform.graphql(query, { token: ada });
    expect(complete.body.errors).toBeUndefined();
    const stored = await platform.rest("GET", `${route}0`);

    await platform.services[service].goDown();
    const partial = await platform.graphql(query, { token: ada });
    expect(partial.status).toBe(200);
    expect(partial.body.data[completeField]).not.toBeNull();
    const error = partial.body.errors.find(({ path }: { path: string[] }) => path.join() === failedPath.join());
    expect(error).toMatchObject({ path: failedPath, extensions: { service, code: expect.any(String) } });
    expect(JSON.stringify(partial.body)).not.toMatch(/127\.0\.0\.1|ECONN/);
    const problem = await platform.rest("GET", route);
    expect([problem.status, problem.headers.get("content-type")]).toEqual([502, "application/problem+json"]);
    expect(problem.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(problem.text).not.toMatch(/127\.0\.0\.1|ECONN/);
    // The cached response is served stale within its stale-if-error time.
    const stale = await platform.rest("GET", `${route}0`);
    expect([stale.status, stale.body]).toEqual([200, stored.body]);

    await platform.services[service].comeUp();
    expect((await platform.graphql(query, { token: ada })).body).toEqual(complete.body);
    expect((await platform.rest("GET", route)).status).toBe(200);
  },
);

// The last test: it stops the PostgreSQL of posts.
const query = `{ users(first: 2) { nodes { name posts(first: 1) { title } } } post(id: 1) { title } }`;
const mutation = `mutation { createPost(input: { title: "New" }) { post { id } } }`;
const unavailable = { code: "SUBGRAPH_UNAVAILABLE", service: "posts" };

test("while one service's PostgreSQL is stopped, GraphQL and REST report that service unavailable, and other data is complete", async () => {
  const before = (await platform.graphql(query)).body;
  expect(before.errors).toBeUndefined();
  await postgres.stop();
  // The first requests use idle connections that PostgreSQL has closed; new connections are refused.
  for (let round = 1; round <= 3; round++) {
    const { status, body } = await platform.graphql(query);
    const nodes = before.data.users.nodes.map(({ name }: { name: string }) => ({ name, posts: null }));
    expect([status, body.data]).toEqual([200, { users: { nodes }, post: null }]);
    const errors = body.errors.map(({ path, extensions }: never) => ({ path, extensions }));
    const paths = [["post"], ["users", "nodes", 0, "posts"], ["users", "nodes", 1, "posts"]];
    expect(errors).toHaveLength(paths.length);
    expect(errors).toEqual(expect.arrayContaining(paths.map((path) => ({ path, extensions: unavailable }))));
    const write = (await platform.graphql(mutation, { token: ada })).body;
    expect([write.data, write.errors[0].extensions]).toEqual([{ createPost: null }, unavailable]);
    const { status: restStatus, headers, body: problem } = await platform.rest("GET", `/v2/posts/${round}`);
    expect([restStatus, headers.get("retry-after"), problem.type]).toEqual([503, "1", "/problems/service-unavailable"]);
  }
});
