import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestIssuer } from "@tributary/kit/testing/issuer";
import { describe, expect, onTestFinished, test } from "vitest";
import { type EchoPlatform, startEchoPlatform } from "./helpers/echo-platform.ts";
import { startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, respondJson } from "./helpers/subgraphs.ts";

const one = '{ one(name: "x-a") }';
const both = '{ one(name: "x-a") two(name: "x-a") }';

describe("a changed file", () => {
  test("takes effect without a failed request, a new plan or new connections to other subgraphs", async () => {
    const platform = await startEchoPlatform("{}");
    const { gateway, first, second, sendRaw, writeSettings } = platform;
    const sockets = new Set<unknown>();
    second.fault = (response, _body, request, resolve) => {
      sockets.add(request.socket);
      void resolve().then((result) => respondJson(response, 200, JSON.stringify(result)));
    };
    await sendRaw(both, []);
    await sendRaw(both, []);
    const planned = () => gateway.observations.filter(({ kind }) => kind === "plan-built").length;
    const plannedBefore = planned();
    const stopped = new AbortController();
    const failures: unknown[] = [];
    const load = (async () => {
      while (!stopped.signal.aborted) {
        const { status, body } = await sendRaw(both, [["x-a", "1"]]);
        if (status !== 200 || body.errors) failures.push(body);
      }
    })();
    const files = [
      "subgraphs: { first: { timeout_ms: 9000 } }",
      "subgraphs: { first: { attempts: 2 } }",
      "subgraphs: { first: { requests_in_flight: 500 } }",
      "subgraphs: { first: { body_bytes_max: 100000 } }",
      `subgraphs: { first: { urls: ["${first.url}?replica=2"] } }`,
      "subgraphs: { first: { authorization: remove } }",
      `subgraphs: { first: { urls: ["${first.url.replace("//", "//user:password@")}"] } }`,
      "subgraphs: { first: { compressed_responses: true, operation_names: true } }",
      "subgraphs: { first: { redirects: same_origin } }",
      "headers: { subgraphs: { first: { request: [{ propagate: { named: x-a } }] } } }",
      "headers: { subgraphs: { first: { response: [{ propagate: { named: x-b } }] } } }",
      "errors: { subgraphs: { first: { codes: all } } }",
      "cors: { origins: [https://a.example] }",
      "csrf: { required_headers: [x-a] }",
      "blocked: [{ operation: Other, reason: test }]",
      "log: { level: error }",
      "http: { draft: 2026-08 }",
    ];
    for (const [i, file] of files.entries()) {
      writeSettings(file);
      await gateway.seen("settings-loaded", i + 1);
      // With the new settings.
      await sendRaw(both, [["x-a", "1"]]);
    }
    stopped.abort();
    await load;
    expect(failures).toEqual([]);
    expect(planned()).toBe(plannedBefore);
    // The load and this test each use one at once.
    expect(sockets.size).toBeLessThanOrEqual(2);
    expect(gateway.observations.filter(({ kind }) => kind === "settings-rejected")).toEqual([]);
  });

  test("with a problem changes nothing, and is reported with its line", async () => {
    const { gateway, first, sendRaw, writeSettings } = await startEchoPlatform(
      "headers: { all: { request: [{ propagate: { named: x-a } }] } }",
    );
    writeSettings("headers:\n  all:\n    request:\n      - propagate: { named: host }\n");
    await gateway.seen("settings-rejected");
    expect(gateway.observations.findLast(({ kind }) => kind === "settings-rejected")).toMatchObject({
      problems: [expect.stringMatching(/gateway\.yaml:4: .*host is reserved/)],
    });
    expect((await sendRaw(one, [["x-a", "kept"]])).body).toEqual({ data: { one: "kept" } });
    writeSettings("{}");
    await gateway.seen("settings-loaded");
    expect((await sendRaw(one, [["x-a", "kept"]])).body).toEqual({ data: { one: null } });
    expect(first.requests).toHaveLength(2);
  });

  test("is noticed when Kubernetes swaps the folder by a symbolic link", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gateway-config-map-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const publish = (version: string, yaml: string) => {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, "gateway.yaml"), yaml);
      symlinkSync(version, join(folder, "..data_tmp"));
      renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    };
    publish("v1", "{}");
    symlinkSync("..data/gateway.yaml", join(folder, "gateway.yaml"));
    const { gateway } = await startEchoPlatform("{}", { SETTINGS_FILE: join(folder, "gateway.yaml") });
    publish("v2", "log: { level: error }");
    await gateway.seen("settings-loaded");
  });

  test("a name without a subgraph is reported, and a key that needs a restart too", async () => {
    const { gateway, writeSettings } = await startEchoPlatform("subgraphs: { frist: { attempts: 2 } }", {
      SUBGRAPH_URL_FRIST: "http://127.0.0.1:1",
    });
    expect(gateway.observations).toContainEqual({ kind: "setting-without-subgraph", key: "subgraphs.frist" });
    writeSettings("subgraphs: { first: { entity_cache: true } }");
    await gateway.seen("settings-need-restart");
    expect(gateway.observations.filter(({ kind }) => kind === "variable-without-subgraph")).toHaveLength(1);
    expect(gateway.observations).toContainEqual({
      kind: "settings-need-restart",
      keys: ["subgraphs.first.entity_cache"],
    });
  });
});

describe("precedence", () => {
  test("a subgraph's variable, its key, the variable for all, the key for all, the default", async () => {
    const slowly = async (platform: EchoPlatform) => {
      for (const subgraph of [platform.first, platform.second])
        subgraph.fault = (response, _body, _request, resolve) =>
          setTimeout(() => void resolve().then((result) => respondJson(response, 200, JSON.stringify(result))), 300);
      const { body } = await platform.sendRaw(both, []);
      return (body.errors ?? []).map(({ extensions }: { extensions: { service: string } }) => extensions.service);
    };
    const own = "subgraphs: { first: { timeout_ms: 9000 } }";
    expect(await slowly(await startEchoPlatform("{}"))).toEqual([]);
    expect(await slowly(await startEchoPlatform("all: { timeout_ms: 100 }"))).toEqual(["first", "second-one"]);
    expect(await slowly(await startEchoPlatform(`{ ${own}, all: { timeout_ms: 100 } }`))).toEqual(["second-one"]);
    expect(await slowly(await startEchoPlatform(own, { SUBGRAPH_TIMEOUT_MS: "100" }))).toEqual(["second-one"]);
    expect(await slowly(await startEchoPlatform("all: { timeout_ms: 100 }", { SUBGRAPH_TIMEOUT_MS: "9000" }))).toEqual(
      [],
    );
  });
});

describe("errors", () => {
  const error = {
    message: "Too many of them.",
    extensions: { code: "TOO_MANY", hint: { retry: [1, "a"] }, secret: "s", stacktrace: ["at x"], service: "other" },
  };
  const fail = (
    { first }: EchoPlatform,
    text = JSON.stringify({ data: { one: null }, errors: [{ ...error, path: ["one"] }] }),
  ) => {
    first.fault = (response) => respondJson(response, 200, text);
  };

  test.each([
    [
      "{}",
      { message: "The service behind this field failed.", extensions: { code: "SUBGRAPH_ERROR", service: "first" } },
    ],
    [
      "errors: { subgraphs: { first: { codes: [TOO_MANY] } } }",
      { message: "Too many of them.", extensions: { code: "TOO_MANY", service: "first" } },
    ],
    [
      "errors: { all: { codes: [TOO_MANY], extensions: [hint, stacktrace, service] } }",
      { message: "Too many of them.", extensions: { code: "TOO_MANY", hint: { retry: [1, "a"] }, service: "first" } },
    ],
    [
      "errors: { all: { codes: all }, subgraphs: { first: { messages: mask } } }",
      {
        message: "The service behind this field rejected the request.",
        extensions: { code: "TOO_MANY", service: "first" },
      },
    ],
    [
      "errors: { subgraphs: { second-one: { codes: [TOO_MANY] } } }",
      { message: "The service behind this field failed.", extensions: { code: "SUBGRAPH_ERROR", service: "first" } },
    ],
  ])("with %s", async (yaml, expected) => {
    const platform = await startEchoPlatform(yaml);
    fail(platform);
    for (const _path of ["full", "fast"])
      expect((await platform.sendRaw(one, [])).body.errors).toEqual([{ ...expected, path: ["one"] }]);
  });

  test("extensions that are too deep or too long are left out, and an unexpected exception stays masked", async () => {
    const platform = await startEchoPlatform("errors: { all: { codes: all, extensions: [deep, long] } }");
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    fail(
      platform,
      `{"data":{"one":null},"errors":[{"message":"m","path":["one"],"extensions":{"code":"A","deep":${deep}}}]}`,
    );
    const { body } = await platform.sendRaw(one, []);
    expect(body.errors[0].extensions).toEqual({ code: "A", service: "first" });
    fail(
      platform,
      JSON.stringify({ errors: [{ message: "SELECT", extensions: { code: "INTERNAL_SERVER_ERROR", long: [] } }] }),
    );
    const masked = await platform.sendRaw(one, []);
    expect(masked.body.errors[0]).toMatchObject({ extensions: { code: "SUBGRAPH_ERROR" } });
    expect(JSON.stringify(masked.body)).not.toContain("SELECT");
  });
});

test.each(["constructor", "toString", "__proto__"])("an error of the code %s has the default message", async (code) => {
  const { first, sendRaw } = await startEchoPlatform("errors: { all: { codes: all, messages: mask } }");
  const text = JSON.stringify({ data: null, errors: [{ message: "m", path: ["one"], extensions: { code } }] });
  first.fault = (response) => respondJson(response, 200, text);
  expect((await sendRaw(one, [])).body.errors).toMatchObject([
    { message: "The service behind this field rejected the request.", extensions: { code } },
  ]);
});

describe("blocked", () => {
  const query = 'query Expensive { one(name: "x") }';

  test.each([
    ["{ operation: Expensive, reason: overload }", [403, 200]],
    [`{ operation: ${createHash("sha256").update(query).digest("hex")}, reason: overload }`, [403, 200]],
    ["{ client: web, reason: overload }", [403, 403]],
    ["{ operation: Expensive, client: web, reason: overload }", [403, 200]],
    ["{ operation: Expensive, client: app, reason: overload }", [200, 200]],
    ['{ client: web, reason: overload, until: "2020-01-01T00:00:00Z" }', [200, 200]],
  ])("%s", async (entry, statuses) => {
    const { gateway } = await startEchoPlatform(`blocked: [${entry}]`);
    const headers = { "apollographql-client-name": "web", accept: "application/graphql-response+json" };
    for (const _path of ["full", "fast"]) {
      const responses = [await gateway.send(query, { headers }), await gateway.send(one, { headers })];
      expect(responses.map(({ status }) => status)).toEqual(statuses);
      for (const { status, body } of responses)
        if (status === 403)
          expect(body.errors[0]).toMatchObject({
            message: "The operator has blocked this request: overload",
            extensions: { code: "BLOCKED" },
          });
    }
  });
});

describe("claims", () => {
  test("are sent as headers, and a client without the claim, or without a token, sends none of its own", async () => {
    const issuer = await startTestIssuer();
    onTestFinished(() => issuer.stop());
    const { first, gateway } = await startEchoPlatform(
      `
headers:
  all:
    request:
      - insert: { name: x-user, claim: sub }
      - insert: { name: x-roles, claim: roles }
      - propagate: { matching: "^x" }
`,
      { ISSUER: issuer.issuer, AUDIENCE: issuer.audience, JWKS_URL: issuer.jwksUrl },
    );
    const spoofed = { "x-user": "1", "x-roles": "admin", x_user: "1" };
    const withRoles = await issuer.token("7", [], { roles: ["a", "b"] });
    const without = await issuer.token("8", [], { roles: { admin: "a\r\nb: c" } });
    for (const token of [withRoles, without, undefined]) {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      await gateway.send(one, { headers: { ...spoofed, ...authorization } });
    }
    const received = first.requests.map(({ headers }) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => /^x.(user|roles)$/.test(name))),
    );
    expect(received).toEqual([{ "x-user": "7", "x-roles": "a,b" }, { "x-user": "8" }, {}]);
  });

  test("of any user id are sent, and none of which the subgraph would read another value", async () => {
    const issuer = await startTestIssuer();
    onTestFinished(() => issuer.stop());
    const { first, gateway } = await startEchoPlatform(
      "headers: { all: { request: [{ insert: { name: x-user, claim: sub } }, { insert: { name: x-org, claim: org } }] } }",
      { ISSUER: issuer.issuer, AUDIENCE: issuer.audience, JWKS_URL: issuer.jwksUrl },
    );
    const user = "auth0|5f7c8ec7c33c6c004bbafe82";
    const unusable = [" acme", "acme ", [" acme"], ["a,admin"], ["a", ""], [], 2 ** 53];
    for (const org of ["acme", ...unusable]) {
      const headers = { authorization: `Bearer ${await issuer.token(user, [], { org })}` };
      expect((await gateway.send(one, { headers })).status).toBe(200);
    }
    const received = first.requests.map(({ headers }) => [headers["x-user"], headers["x-org"]]);
    expect(received).toEqual([[user, "acme"], ...unusable.map(() => [user, undefined])]);
  });
});

describe("pages", () => {
  const cookieRules = `
cors: { origins: [{ origin: https://app.example, allow_credentials: true }, https://other.example] }
headers:
  all:
    request: [{ propagate: { cookie: session } }]
    response: [{ propagate: { named: set-cookie } }]
`;

  test("an allowed origin may send cookies, and no other origin reads with them", async () => {
    const { first, sendRaw } = await startEchoPlatform(cookieRules);
    const query = '{ one(name: "cookie") }';
    const cookie = ["cookie", "session=1"] as const;
    const allowed = await sendRaw(query, [cookie, ["origin", "https://app.example"]]);
    expect(allowed.headers).toMatchObject({
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-credentials": "true",
      vary: expect.stringContaining("Origin"),
    });
    expect(allowed.body.data.one).toBe("session=1");
    const withoutCredentials = await sendRaw(query, [["origin", "https://other.example"]]);
    expect(withoutCredentials.headers).not.toHaveProperty("access-control-allow-credentials");
    const other = await sendRaw(query, [cookie, ["origin", "https://evil.example"]]);
    expect(other.headers).not.toHaveProperty("access-control-allow-origin");
    const before = first.requests.length;
    // A page makes a browser send these without a preflight, and with the cookies of its visitor.
    const bySite: readonly (readonly [string, string])[][] = [
      [
        ["sec-fetch-site", "cross-site"],
        ["sec-fetch-mode", "no-cors"],
      ],
      [
        ["origin", "https://evil.example"],
        ["sec-fetch-mode", "cors"],
      ],
      [
        ["sec-fetch-site", "same-site"],
        ["sec-fetch-mode", "no-cors"],
      ],
      [["origin", "null"]],
      [["apollo-require-preflight", "1"]],
      [],
    ];
    for (const lines of bySite) {
      const { status, body } = await sendRaw(query, [cookie, ...lines], { method: "GET" });
      expect([status, body.errors[0].extensions.code]).toEqual([400, "CSRF_PREVENTED"]);
    }
    expect(first.requests).toHaveLength(before);
    const accepted: readonly (readonly [string, string])[][] = [
      [
        ["origin", "https://app.example"],
        ["apollo-require-preflight", "1"],
      ],
      [
        ["sec-fetch-site", "same-origin"],
        ["apollo-require-preflight", "1"],
      ],
    ];
    for (const lines of accepted)
      expect((await sendRaw(query, [cookie, ...lines], { method: "GET" })).body.data.one).toBe("session=1");
  });

  test("an automatic persisted query is no exception where cookies are forwarded", async () => {
    const { gateway } = await startEchoPlatform(cookieRules);
    const query = '{ one(name: "cookie") }';
    const extensions = { persistedQuery: { version: 1, sha256Hash: createHash("sha256").update(query).digest("hex") } };
    const register = await fetch(`${gateway.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, extensions }),
    });
    expect(register.status).toBe(200);
    const url = `${gateway.url}/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
    const read = await fetch(url, { headers: { cookie: "session=1", "sec-fetch-site": "cross-site" } });
    expect(read.status).toBe(400);
  });

  test("the headers that replace the required ones permit a GET", async () => {
    const { gateway, sendRaw } = await startEchoPlatform(
      "{ csrf: { required_headers: [X-Csrf] }, cors: { origins: [https://app.example] } }",
    );
    expect((await sendRaw(one, [["x-csrf", "1"]], { method: "GET" })).status).toBe(200);
    expect((await sendRaw(one, [["apollo-require-preflight", "1"]], { method: "GET" })).status).toBe(400);
    const preflight = await fetch(`${gateway.url}/graphql`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-method": "GET" },
    });
    expect(preflight.headers.get("access-control-allow-headers")?.split(", ")).toContain("x-csrf");
  });
});

test("a response that a forwarded header may change is stored by no cache, also without the header", async () => {
  const platform = await startEchoPlatform(`
headers: { subgraphs: { first: { request: [{ propagate: { named: x-a } }] } } }
`);
  const { gateway, first, second } = platform;
  for (const subgraph of [first, second])
    subgraph.fault = (response, _body, _request, resolve) =>
      void resolve().then((result) =>
        respondJson(
          response,
          200,
          JSON.stringify({ ...result, extensions: { cache: { seconds: 60, groups: ["a"] } } }),
        ),
      );
  const read = async (query: string, headers: Record<string, string>) => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: createHash("sha256").update(query).digest("hex") } };
    await gateway.send(query, {});
    await fetch(`${gateway.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, extensions }),
    });
    const url = `${gateway.url}/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
    return (await fetch(url, { headers })).headers.get("cache-control");
  };
  expect(await read('{ two(name: "x-a") }', { "x-a": "1" })).toContain("public");
  expect(await read(one, { "x-a": "1" })).toBe("no-store");
  expect(await read(one, {})).toBe("no-store");
  expect(await read(both, {})).toBe("no-store");
});

test("a gateway does not start with an invalid file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, "all:\n  timeout: 1\n");
  const platform = await startEchoPlatform("{}");
  const start = startGateway({
    supergraphSdl: composeSupergraph([platform.first, platform.second]),
    environment: { SETTINGS_FILE: file },
  });
  await expect(start).rejects.toThrow(/gateway\.yaml:2: all\.timeout is unknown; did you mean timeout_ms\?/);
});
