import { getIntrospectionQuery } from "graphql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, federationLink } from "./helpers/subgraphs.ts";

let gateway: RunningGateway;

beforeAll(async () => {
  const typeDefs = `${federationLink}schema { query: Query subscription: Events }
  type Query { a: Int } type Events { changed: Change } type Change { a: Int }`;
  const supergraphSdl = composeSupergraph([{ name: "one", url: "http://127.0.0.1:1", typeDefs }]);
  expect(supergraphSdl).toContain("subscription: Subscription");
  gateway = await startGateway({ supergraphSdl, environment: { INTROSPECTION: "true" } });
});
afterAll(() => gateway.drain());

test("introspection and the schema that clients download have no subscriptions", async () => {
  const { body } = await gateway.send(getIntrospectionQuery());
  expect(body.data.__schema.subscriptionType).toBeNull();
  expect(body.data.__schema.types.map(({ name }: { name: string }) => name)).not.toContain("Subscription");
  const sdl = await (await fetch(`${gateway.url}/schema.graphql`)).text();
  expect(sdl).toContain("type Query");
  expect(sdl).not.toContain("Subscription");
});

test("a subscription is rejected with a message that says so", async () => {
  const { body } = await gateway.send("subscription { changed { a } }");
  expect(body).toEqual({
    errors: [{ message: "Subscriptions are not supported.", extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }],
  });
});
