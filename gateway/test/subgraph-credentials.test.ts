import { startStubFeed } from "@tributary/kit/testing/stub-feed";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseSettings } from "../src/settings/parse-settings.ts";
import { describeSettings } from "../src/settings/effective-settings.ts";
import { validateSettings } from "../src/settings/validate.ts";
import { createSettingsStore, readSettingsFile } from "../src/settings-store.ts";
import { readConfig } from "../src/config.ts";
import { startEchoPlatform } from "./helpers/echo-platform.ts";
import { startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, respondJson, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

const query = '{ one(name: "authorization") }';
const token = { authorization: "Bearer of-the-client" };
const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
const withUser = (url: string, userInfo: string) => url.replace("//", `//${userInfo}@`);
const urlsOf = (userInfo: string) => (first: RunningSubgraph) =>
  `subgraphs: { first: { urls: ["${withUser(first.url, userInfo)}"] } }`;

describe("user and password in the URL of a subgraph", () => {
  test.each([
    ["gateway:s3cr3t", "gateway:s3cr3t"],
    ["user%40example.com:p%3Aa%2Fs%C3%A9", "user@example.com:p:a/sé"],
    ["only-user", "only-user:"],
    [":only-password", ":only-password"],
    ["a:100%25%zz", "a:100%25%zz"],
    ["a:p@ss", "a:p@ss"],
  ])("%s are sent instead of the client's token, in no other place", async (userInfo, sent) => {
    const platform = await startEchoPlatform(urlsOf(userInfo));
    const both = '{ one(name: "authorization") two(name: "authorization") }';
    const { body } = await platform.sendOnBothPaths(both, token);
    expect(body).toEqual({ data: { one: basic(sent), two: token.authorization } });
    expect((await platform.gateway.send('mutation { oneWrite(name: "authorization") }')).body.data).toEqual({
      oneWrite: basic(sent),
    });
  });

  test("of the supergraph and of a variable have the same effect", async () => {
    const first = await startSubgraph({
      name: "first",
      typeDefs: "type Query { one: String }",
      resolvers: {
        Query: { one: (_: unknown, __: unknown, c: { headers: object }) => Object(c.headers).authorization },
      },
    });
    const sdl = (url: string) => composeSupergraph([{ ...first, url }]);
    const gateways = [
      await startGateway({ supergraphSdl: sdl(withUser(first.url, "a:b")) }),
      await startGateway({
        supergraphSdl: sdl(first.url),
        environment: { SUBGRAPH_URL_FIRST: withUser(first.url, "a:b") },
      }),
    ];
    for (const gateway of gateways) {
      expect((await gateway.send("{ one }", { headers: token })).body).toEqual({ data: { one: basic("a:b") } });
      await gateway.drain();
    }
    await first.close();
  });

  test("give way to a header rule that inserts another Authorization", async () => {
    const platform = await startEchoPlatform(
      (first) => `${urlsOf("a:b")(first)}
headers: { subgraphs: { first: { request: [{ insert: { name: authorization, value: "Key k" } }] } } }`,
    );
    expect((await platform.sendOnBothPaths(query, token)).body.data).toEqual({ one: "Key k" });
  });

  test("stay if a header rule removes the client's", async () => {
    const platform = await startEchoPlatform(
      (first) => `${urlsOf("a:b")(first)}
headers: { subgraphs: { first: { request: [{ remove: { named: authorization } }] } } }`,
    );
    expect((await platform.sendOnBothPaths(query, token)).body.data).toEqual({ one: basic("a:b") });
  });

  test("are in no observation of a failing subgraph, which names replicas and causes", async () => {
    const { gateway, first, sendOnBothPaths } = await startEchoPlatform(urlsOf("us3r:s3cr3t"));
    first.fault = (response) => response.destroy();
    await sendOnBothPaths(query, token);
    first.fault = (response) => response.writeHead(500).end();
    await sendOnBothPaths(query, token);
    await first.close();
    const { body, headers } = await sendOnBothPaths(query, token);
    const failures = gateway.observations.filter(({ kind }) => kind === "subgraph-fetch-failed");
    expect(failures.length).toBe(6);
    const seen = [gateway.observations, body, [...headers]].map((value) => inspectDeeply(value)).join("\n");
    expect(seen).toContain(new URL(first.url).host);
    expect(seen).not.toMatch(/us3r|s3cr3t/);
  });

  test("of two URLs have to be the same", () => {
    const problemsOf = (yaml: string) => {
      try {
        parseSettings(yaml, "gateway.yaml", {});
        return "";
      } catch (error) {
        return String(error);
      }
    };
    const urls = (a: string, b: string) => `subgraphs: { first: { urls: ["http://${a}/", "http://${b}/"] } }`;
    expect(problemsOf(urls("u:p@a", "u:p@b"))).toBe("");
    expect(problemsOf(urls("u:p@a", "u:s3cr3t@b"))).toMatch(/urls: have to have the same user and password/);
    expect(problemsOf(urls("u:p@a", "b"))).toMatch(/have to have the same user and password/);
    const environment = { SUPERGRAPH_FILE: "x", SUBGRAPH_URL_FIRST: "http://u:s3cr3t@a/,http://b/" };
    const problems = validateSettings(environment, undefined).join("\n");
    expect(problems).toContain("The URLs of SUBGRAPH_URL_FIRST have to have the same user and password");
    expect(problems).not.toContain("s3cr3t");
  });

  test.each([
    "http://us3r:s3cr3t@a/x",
    "http://us3r:p@s3cr3t@a",
    "HTTP:us3r:s3cr3t@a/@x",
    "http:\\\\us3r:s3 cr3t@a/?x=@",
  ])("are not on the admin page /config: %s", (url) => {
    const environment = { SUPERGRAPH_FILE: "x", SUBGRAPH_URL_FIRST: url, SUPERGRAPH_URL: `http://b,${url}` };
    const file = readSettingsFile(undefined, environment);
    const store = createSettingsStore(file, readConfig({ SUPERGRAPH_FILE: "x", SUBGRAPH_URL_FIRST: url }), environment);
    const gateway = {
      listSubgraphs: () => [{ service: "first", url }],
      supergraphId: () => "f00",
      supergraphStatus: () => ({ staleSeconds: 0, rejected: undefined }),
      documentsStatus: () => undefined,
    };
    const page = JSON.stringify(describeSettings(store, environment, gateway));
    expect(page).toContain("redacted@a");
    expect(page).not.toMatch(/us3r|cr3t/);
  });
});

test("clients with different tokens share a fetch of a subgraph that gets its own credentials, and none of another", async () => {
  const { gateway, first, second } = await startEchoPlatform(urlsOf("a:b"));
  const both = '{ one(name: "authorization") two(name: "authorization") }';
  await gateway.send(both);
  first.requests.length = second.requests.length = 0;
  const arrived: (() => void)[] = [];
  for (const subgraph of [first, second])
    subgraph.fault = (response, _body, _request, resolve) =>
      arrived.push(() => void resolve().then((result) => response.end(JSON.stringify(result))));
  const responses = ["a", "b", "c"].map((name) => gateway.send(both, { headers: { authorization: `Bearer ${name}` } }));
  await expect.poll(() => arrived.length).toBe(4);
  for (const respond of arrived) respond();
  expect((await Promise.all(responses)).map(({ body }) => body.data)).toEqual(
    ["a", "b", "c"].map((name) => ({ one: basic("a:b"), two: `Bearer ${name}` })),
  );
  expect([first.requests.length, second.requests.length]).toEqual([1, 3]);
});

test("with the entity cache, a result for all callers is fetched once with the subgraph's credentials", async () => {
  const feed = await startStubFeed();
  onTestFinished(() => feed.close());
  const { gateway, first } = await startEchoPlatform(urlsOf("a:b"), {
    ENTITY_CACHE_FIRST: "on",
    SUBGRAPH_FEED_URL_FIRST: feed.url,
  });
  const extensions = { cache: { seconds: 60, groups: ["a"] } };
  first.fault = (response, _body, _request, resolve) =>
    void resolve().then((result) => respondJson(response, 200, JSON.stringify({ ...result, extensions })));
  // The gateway verifies no tokens here, so the last client does not read from the cache.
  for (const headers of [{}, {}, token])
    expect((await gateway.send(query, { headers })).body.data).toEqual({ one: basic("a:b") });
  expect(first.requests.map(({ headers }) => headers.authorization)).toEqual([basic("a:b"), basic("a:b")]);
});

/** Errors and their causes too, which JSON leaves out. */
function inspectDeeply(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    member instanceof Error ? { stack: member.stack, cause: member.cause } : member,
  );
}
