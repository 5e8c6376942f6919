// What schemas of other teams have and those of this repository do not.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

let events: RunningSubgraph;
let gateway: RunningGateway;

beforeAll(async () => {
  events = await startSubgraph({
    name: "events",
    typeDefs: `
      schema { query: query_root mutation: mutation_root }
      scalar JSON
      directive @traced(tags: JSON = [1, "a"]) on FIELD
      input Filter { extra: JSON = { deep: [true] } }
      type query_root { events(where: JSON! = {}, filter: Filter = { extra: { a: 1 } }): String again: query_root }
      type mutation_root { clear: query_root }
    `,
    resolvers: {
      query_root: {
        events: (_: unknown, { where }: { where: unknown }) => JSON.stringify(where),
        again: () => ({}),
      },
      mutation_root: { clear: () => ({}) },
    },
  });
  gateway = await startGateway({ supergraphSdl: composeSupergraph([events]) });
});
afterAll(async () => {
  await gateway.drain();
  await events.close();
});
beforeEach(() => {
  events.requests.length = 0;
});

test("a default value of a custom scalar may be an object or a list", async () => {
  const schema = await (await fetch(`${gateway.url}/schema.graphql`)).text();
  expect(schema).toContain("events(where: JSON! = {}, filter: Filter = {extra: {a: 1}}): String");
  expect(schema).toContain('directive @traced(tags: JSON = [1, "a"]) on FIELD');
  expect(schema).toContain("extra: JSON = {deep: [true]}");
  const { body } = await gateway.send('{ __type(name: "Query") { fields { args { name defaultValue } } } }');
  expect(body.data.__type.fields[0].args).toEqual([
    { name: "where", defaultValue: "{}" },
    { name: "filter", defaultValue: "{extra: {a: 1}}" },
  ]);
  expect((await gateway.send("{ events }")).body).toEqual({ data: { events: "{}" } });
});

test.each(["mutation { clear { __typename events } }", "{ clear: again { __typename events } }"])(
  "a subgraph may have another name for a root type: %s",
  async (document) => {
    const { body } = await gateway.send(document);
    expect(body).toEqual({ data: { clear: { __typename: "Query", events: "{}" } } });
  },
);

test.each([
  ...["9007199254740993", "9007199254740993.0", "0.1234567890123456789", "123456789012345678901234567890.5"],
  ...["-1.000000000000000000001e5", "1e-400", "12345678.12345678"],
])("a number in a custom scalar reaches the subgraph with all its digits: %s", async (number) => {
  await gateway.send(`{ events(where: { of: [${number}] }) }`);
  expect(events.requests.at(-1)?.body.query).toBe(`{events(where:{of:[${number}]})}`);
});
