import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "graphql";
import { expect, test } from "vitest";
import { listOwners } from "../src/owners-page.ts";
import { startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, startSubgraph } from "./helpers/subgraphs.ts";

async function start(profile: Readonly<Record<string, string>>) {
  const subgraphs = await Promise.all([
    startSubgraph({
      name: "people",
      typeDefs: `type Query { me(role: Role): Person } enum Role { AUTHOR }
        type Person @key(fields: "id") { id: ID! name: String }`,
      resolvers: {},
    }),
    startSubgraph({
      name: "notes",
      typeDefs: `type Note @key(fields: "id") { id: ID! author: Person }
        type Person @key(fields: "id") { id: ID! name: String @external notes: [Note] @requires(fields: "name") }`,
      resolvers: {},
    }),
    startSubgraph({
      name: "likes",
      typeDefs: `type Query { likes: Int } type Like { by: Person } type Person @key(fields: "id", resolvable: false) { id: ID! }`,
      resolvers: {},
    }),
  ]);
  const settings = join(mkdtempSync(join(tmpdir(), "owners-")), "gateway.yaml");
  writeFileSync(settings, `subgraphs: { people: { owner: "@a/<people>" } }`);
  const environment = { SETTINGS_FILE: settings, ...profile };
  const gateway = await startGateway({ supergraphSdl: composeSupergraph(subgraphs), environment });
  return { gateway, stop: () => Promise.all([gateway.drain(), ...subgraphs.map((one) => one.close())]) };
}

test("/owners has each subgraph with its team, its entities and the fields that it resolves", async () => {
  const { gateway, stop } = await start({});
  const response = await fetch(`${gateway.url}/owners`);
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
  const text = (await response.text()).replaceAll(/<style>[^]*?<\/style>|<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
  expect(text).toContain("people @a/&#60;people&#62; Person entity, key id id, name Query me Role no fields");
  expect(text).toContain(
    "notes no owner in gateway.yaml Note entity, key id id, author Person entity, key id id, notes",
  );
  expect(text).toMatch(/likes no owner in gateway\.yaml Like by Query likes (?!Person)/);
  expect((await fetch(`${gateway.url}/owners`, { method: "POST" })).status).toBe(405);
  await stop();
});

test("GraphiQL gets the same as JSON", async () => {
  const { gateway, stop } = await start({});
  const response = await fetch(`${gateway.url}/owners`, { headers: { accept: "application/json" } });
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("vary")).toMatch(/\bAccept,/);
  const owners = (await response.json()) as readonly object[];
  expect(owners).toContainEqual({
    subgraph: "people",
    team: "@a/<people>",
    types: [
      { name: "Person", keys: ["id"], fields: ["id", "name"] },
      { name: "Query", keys: [], fields: ["me"] },
      { name: "Role", keys: [], fields: [] },
    ],
  });
  await stop();
});

test("a field that another subgraph overrides, and that its former one still reads, is the other's", () => {
  const join = (fields: string) =>
    parse(`
    enum join__Graph { A @join__graph(name: "a", url: "http://a") B @join__graph(name: "b", url: "http://b") }
    type T @join__type(graph: A, key: "id") @join__type(graph: B, key: "id") { id: ID! ${fields} }`);
  const supergraph = join(`n: Int @join__field(graph: A, override: "b") @join__field(graph: B, usedOverridden: true)
    m: Int @join__field(graph: B)`);
  expect(listOwners(supergraph, () => undefined)).toEqual([
    { subgraph: "a", team: null, types: [{ name: "T", keys: ["id"], fields: ["id", "n"] }] },
    { subgraph: "b", team: null, types: [{ name: "T", keys: ["id"], fields: ["id", "m"] }] },
  ]);
});

test("in production /owners is 404", async () => {
  const { gateway, stop } = await start({
    PROFILE: "production",
    TRUSTED_PROXIES: "none",
    CONSISTENCY_KEYS: "a key for tests only",
  });
  expect((await fetch(`${gateway.url}/owners`)).status).toBe(404);
  await stop();
});
