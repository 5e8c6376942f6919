// Responses that wait for a compression thread.
import { randomBytes } from "node:crypto";
import { request as sendRequest } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, startSubgraph } from "./helpers/subgraphs.ts";

test("beyond a number of bodies, responses are sent uncompressed instead of waiting", async () => {
  const text = randomBytes(300_000).toString("base64");
  const subgraph = await startSubgraph({
    name: "texts",
    typeDefs: "type Query { text: String! }",
    resolvers: { Query: { text: () => text } },
  });
  onTestFinished(() => subgraph.close());
  const gateway = await startGateway({ supergraphSdl: composeSupergraph([subgraph]) });
  onTestFinished(() => gateway.drain());
  const readEncoding = () =>
    new Promise<string | undefined>((resolve, reject) => {
      const headers = { "content-type": "application/json", "accept-encoding": "br" };
      const sent = sendRequest(`${gateway.url}/graphql`, { method: "POST", agent: false, headers }, (response) => {
        response.resume().once("end", () => resolve(response.headers["content-encoding"]));
      });
      sent.once("error", reject).end('{"query":"{ text }"}');
    });
  expect(await readEncoding()).toBe("br");
  const encodings = await Promise.all(Array.from({ length: 100 }, readEncoding));
  expect(new Set(encodings)).toEqual(new Set(["br", undefined]));
});
