import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { isMirrored } from "./helpers/compare-paths.ts";
import { type EchoPlatform, startEchoPlatform } from "./helpers/echo-platform.ts";
import { respondJson, startSubgraph } from "./helpers/subgraphs.ts";

const query = '{ one(name: "authorization") }';
const followed = "subgraphs: { first: { redirects: same_origin } }";
const secret = "/login?key=s3cr3t";

/** The first subgraph redirects all paths but `/final`. @returns method and path of each request that it got. */
function redirect({ first }: EchoPlatform, status: number, location: (request: IncomingMessage) => string | undefined) {
  const got: string[] = [];
  first.fault = (response, _body, request, resolve) => {
    if (!isMirrored(request.headers)) got.push(`${request.method} ${request.url}`);
    const to = request.url === "/final?a=1" ? undefined : location(request);
    if (to !== undefined) return response.writeHead(status, { location: to }).end();
    return resolve().then((result) => respondJson(response, 200, JSON.stringify(result)));
  };
  return got;
}

async function failureOf(platform: EchoPlatform, text = query): Promise<string> {
  const { body } = await platform.gateway.send(text);
  expect(body.errors).toMatchObject([{ extensions: { code: "SUBGRAPH_INVALID_RESPONSE" } }]);
  expect(JSON.stringify(body)).not.toMatch(/redirect|30\d/);
  const failure = platform.gateway.observations.findLast(({ kind }) => kind === "subgraph-fetch-failed");
  expect(JSON.stringify(failure)).not.toContain("s3cr3t");
  return failure && "cause" in failure ? String(failure.cause) : "none";
}

describe("redirects: reject, the default", () => {
  test.each([301, 302, 303, 307, 308])("follows no %i; the log names it without its location", async (status) => {
    const platform = await startEchoPlatform("{}");
    const got = redirect(platform, status, () => secret);
    expect(await failureOf(platform)).toMatch(new RegExp(`responded with the redirect ${status}: redirects are off`));
    expect(got).toEqual(["POST /graphql"]);
  });
});

describe("redirects: same_origin", () => {
  test.each([301, 302, 307, 308])("follows %i with method, body and headers", async (status) => {
    const platform = await startEchoPlatform(followed);
    const got = redirect(platform, status, ({ url }) => (url === "/graphql" ? "v2/x" : "/final?a=1"));
    const { body } = await platform.sendOnBothPaths(query, { authorization: "Bearer t" });
    expect(body).toEqual({ data: { one: "Bearer t" } });
    expect(got.slice(0, 3)).toEqual(["POST /graphql", "POST /v2/x", "POST /final?a=1"]);
  });

  test("follows neither 303 nor a redirect of a mutation", async () => {
    const platform = await startEchoPlatform(followed);
    const got303 = redirect(platform, 303, () => "/final?a=1");
    expect(await failureOf(platform)).toMatch(/the redirect 303: followed are only 301, 302, 307 and 308 of queries/);
    expect(got303).toEqual(["POST /graphql"]);
    const got = redirect(platform, 307, () => "/final?a=1");
    expect(await failureOf(platform, 'mutation { oneWrite(name: "x") }')).toMatch(/the redirect 307/);
    expect(got).toEqual(["POST /graphql"]);
  });

  test("follows no redirect to another host, port or scheme, without or with an unreadable location", async () => {
    const platform = await startEchoPlatform(followed);
    const other = await startSubgraph({ name: "other", typeDefs: "type Query { a: Int }", resolvers: {} });
    const { port } = new URL(platform.first.url);
    const locations = [
      other.url,
      `//localhost:${port}/final?a=1`,
      `https://127.0.0.1:${port}/final?a=1`,
      "http://[",
      "",
    ];
    for (const location of locations) {
      const got = redirect(platform, 307, () => location);
      await failureOf(platform);
      // "" is the same path (RFC 3986, 5.2.2).
      expect(got.length).toBe(location === "" ? 6 : 1);
    }
    expect(other.requests).toEqual([]);
    await other.close();
  });

  test("ends a loop after five redirects", async () => {
    const platform = await startEchoPlatform(followed);
    const got = redirect(platform, 308, () => secret);
    expect(await failureOf(platform)).toMatch(/the redirect 308/);
    expect(got).toHaveLength(6);
  });

  test("the last response decides on retries: of 503, the whole request is sent to another replica", async () => {
    const replica = await startSubgraph({ name: "first", typeDefs: "type Query { one: Int }", resolvers: {} });
    replica.fault = (response) => respondJson(response, 200, '{"data":{"one":"other replica"}}');
    const platform = await startEchoPlatform(
      ({ url }) => `subgraphs: { first: { redirects: same_origin, urls: ["${url}", "${replica.url}"] } }`,
    );
    platform.first.fault = (response, _body, { url }) =>
      url === "/graphql" ? response.writeHead(307, { location: "/final" }).end() : respondJson(response, 503, "{}");
    for (let i = 0; i < 20; i++)
      expect((await platform.gateway.send(query)).body).toEqual({ data: { one: "other replica" } });
    expect(platform.gateway.observations.filter(({ kind }) => kind === "retried")).not.toEqual([]);
    await replica.close();
  });

  test("all redirects are within the deadline of the fetch", async () => {
    const platform = await startEchoPlatform("subgraphs: { first: { redirects: same_origin, timeout_ms: 100 } }");
    platform.first.fault = (response, _body, { url }) => {
      if (url === "/graphql") response.writeHead(307, { location: "/silent" }).end();
    };
    const { body } = await platform.gateway.send(query);
    expect(body.errors[0].extensions.code).toBe("SUBGRAPH_TIMEOUT");
  });
});
