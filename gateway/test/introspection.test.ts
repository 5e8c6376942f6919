import { buildClientSchema, getIntrospectionQuery, printSchema } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    environment: { INTROSPECTION_BYTES_MAX: "200000" },
  });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

test("a result that would be too large is rejected, with status 400 if the media type allows it", async () => {
  const query = writeQuery(180);
  const refused = await gateway.send(query);
  expect(refused.status).toBe(200);
  expect(refused.body.errors[0]).toMatchObject({
    message: expect.stringContaining("longer than 200000 bytes"),
    extensions: { code: "INTROSPECTION_TOO_LARGE" },
  });
  expect((await gateway.send(query, { headers: { accept: "application/graphql-response+json" } })).status).toBe(400);
});

test("a large result is written in a planner thread", async () => {
  const { body, text } = await gateway.send(writeQuery(20));
  expect(text.length).toBeGreaterThan(64_000);
  expect(body.data.__schema.a19).toEqual(body.data.__schema.a0);
  expect(body.data.__schema.a0.map(({ name }: { name: string }) => name)).toContain("Book");
});

test("a client can build the schema from the query that tools send", async () => {
  const { body } = await gateway.send(getIntrospectionQuery());
  expect(printSchema(buildClientSchema(body.data))).toContain("type Book {");
});

test("a long name in a fragment that is spread often is rejected before the fragment is expanded", async () => {
  const alias = "a".repeat(10_000);
  const types = ["queryType", "mutationType", "subscriptionType"].map((type) => `${type} { ${"...F ".repeat(40)} }`);
  const { body } = await gateway.send(`{ __schema { ${types.join(" ")} } } fragment F on __Type { ${alias}: name }`);
  expect(body.errors[0].extensions).toEqual({ code: "LENGTH_LIMIT_EXCEEDED" });
});

/** Every type, field and argument of the schema, once for each alias. */
function writeQuery(aliases: number): string {
  const fields = "types { name fields { name args { name } type { name } } }";
  return `{ __schema { ${Array.from({ length: aliases }, (_, i) => `a${i}: ${fields}`).join(" ")} } }`;
}
