import { expect, test } from "vitest";
import { startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, startSubgraph } from "./helpers/subgraphs.ts";

// @apollo/composition leaves directives of these two names out of the supergraph without a message; other composers keep them.
const definitions = `
  directive @stream(every: Int! = 2, tags: [String]) on FIELD | QUERY
  directive @defer(why: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT | FIELD`;

test("a subgraph's own @stream and @defer are valid and are forwarded as the client wrote them", async () => {
  const feed = await startSubgraph({
    name: "feed",
    typeDefs: `${definitions} type Query { posts: [Post] } type Post { title: String likes(over: String): Int }`,
    resolvers: { Query: { posts: () => [{ title: "Engines", likes: 3 }] } },
  });
  const gateway = await startGateway({ supergraphSdl: composeSupergraph([feed]) + definitions });
  const query = `query ($why: String) @stream(every: 1) {
    posts @stream { ...Title @defer(why: $why) ... @defer(why: "@d_stream") { likes(over: "@stream") @defer } }
  } fragment Title on Post { title }`;
  for (const isFast of [false, true]) {
    const { body } = await gateway.send(query, { variables: { why: "late" } });
    expect(body).toEqual({ data: { posts: [{ title: "Engines", likes: 3 }] } });
    expect(gateway.tookFastPath()).toBe(isFast);
  }
  expect(feed.requests[0]?.body).toEqual({
    query:
      'query($why:String)@stream(every:1){posts@stream(every:2){...on Post@defer(why:$why){title}...@defer(why:"@d_stream"){likes(over:"@stream")@defer}}}',
    variables: { why: "late" },
  });
  expect((await gateway.send("{ posts @stream(every: null) { title } }")).body.errors[0].extensions.code).toBe(
    "GRAPHQL_VALIDATION_FAILED",
  );
  await gateway.drain();
  await feed.close();
});
