import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import {
  type LocalPostgres,
  removeLocalPostgres,
  startLocalPostgres,
} from "../../kit/src/local-postgres/local-postgres.ts";
import { type Platform, startPlatform } from "./platform.ts";

let folder: string;
let directory: string;
let postgres: LocalPostgres;
let platform: Platform;
let ada: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "database-down-"));
  // PostgreSQL runs under another account if the tests run as root.
  chmodSync(folder, 0o755);
  directory = join(folder, "postgres");
  postgres = await startLocalPostgres({ directory, port: 0, log: () => {} });
  platform = await startPlatform(inject("postgresUrl"), undefined, { posts: postgres.superuserUrl });
  ada = await platform.tokenOf("1");
});
afterAll(async () => {
  await platform.stop();
  await postgres.stop();
  removeLocalPostgres(directory);
  rmSync(folder, { recursive: true, force: true });
});

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
