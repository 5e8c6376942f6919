import { describe, expect, test } from "vitest";
import { startEchoPlatform } from "./helpers/echo-platform.ts";
import { respondJson } from "./helpers/subgraphs.ts";

// Each operation is sent twice: the first time it takes the full path, then the fast path.
const both = '{ a: one(name: "x-a") b: two(name: "x-a") }';

describe("request headers", () => {
  test("are propagated, renamed, defaulted, inserted and removed, for all subgraphs or one", async () => {
    const platform = await startEchoPlatform(
      `
headers:
  all:
    request:
      - propagate: { named: x-tenant }
      - propagate: { named: X-Old, rename: x-new }
      - propagate: { named: x-region, default: eu }
      - propagate: { matching: "^x-app-" }
      - insert: { name: x-key, value: "\${env.API_KEY}" }
      - remove: { matching: "^x-app-secret" }
  subgraphs:
    second-one:
      request:
        - remove: { named: x-tenant }
        - propagate: { named: x-only }
`,
      { API_KEY: "k-1" },
    );
    const { first, second, sendRaw } = platform;
    for (const _path of ["full", "fast"]) {
      await sendRaw(both, [
        ["x-tenant", "t1"],
        ["x-old", "o"],
        ["x-app-a", "1"],
        ["x-app-secret-b", "2"],
        ["x-key", "of the client"],
        ["x-only", ""],
        ["x-other", "never"],
      ]);
      const names = new Set([
        "x-tenant",
        "x-old",
        "x-new",
        "x-region",
        "x-app-a",
        "x-app-secret-b",
        "x-key",
        "x-only",
        "x-other",
      ]);
      const pick = (headers: object) => Object.fromEntries(Object.entries(headers).filter(([name]) => names.has(name)));
      expect(pick(first.requests.at(-1)!.headers)).toEqual({
        "x-tenant": "t1",
        "x-new": "o",
        "x-region": "eu",
        "x-app-a": "1",
        "x-key": "k-1",
      });
      expect(pick(second.requests.at(-1)!.headers)).toEqual({
        "x-new": "o",
        "x-region": "eu",
        "x-app-a": "1",
        "x-key": "k-1",
        "x-only": "",
      });
    }
  });

  test("an inserted name is never taken from the client, in any spelling", async () => {
    const { first, sendRaw } = await startEchoPlatform(`
headers:
  all:
    request:
      - insert: { name: X-User-Id, value: "7" }
      - propagate: { named: [x-user-id, x_user_id] }
      - propagate: { matching: "^x" }
`);
    await sendRaw('{ one(name: "x-user-id") }', [
      ["x-user-id", "1"],
      ["x_user_id", "2"],
      ["X-User_Id", "3"],
    ]);
    const { headers } = first.requests[0]!;
    expect(Object.entries(headers).filter(([name]) => /user.id/.test(name))).toEqual([["x-user-id", "7"]]);
  });

  test("an inserted cookie is the only one", async () => {
    const { first, sendRaw } = await startEchoPlatform(`
headers:
  all:
    request:
      - insert: { name: Cookie, value: "session=gateway" }
      - propagate: { cookie: session }
`);
    await sendRaw('{ one(name: "cookie") }', [["cookie", "session=client"]]);
    expect(first.requests[0]!.headers["cookie"]).toBe("session=gateway");
  });

  test("no pattern propagates credentials, hop-by-hop headers and the gateway's own", async () => {
    const { first, sendRaw } = await startEchoPlatform(
      'headers: { all: { request: [{ propagate: { matching: "." } }] } }',
    );
    await sendRaw('{ one(name: "x") }', [
      ["cookie", "session=1"],
      ["x-forwarded-for", "1.2.3.4"],
      ["x_forwarded_host", "evil"],
      ["forwarded", "for=1.2.3.4"],
      ["accept-language", "de"],
      ["x-client-key", "key"],
      ["tracestate", "a=b"],
      ["consistency-token", ""],
      ["x-deadline-ms", "99999"],
      ["te", "trailers"],
      ["connection", "keep-alive, x-hop"],
      ["x-hop", "1"],
      ["x-custom", "2"],
    ]);
    const own = ["accept", "connection", "content-length", "content-type", "host", "traceparent", "x-request-id"];
    const { headers } = first.requests[0]!;
    expect(Object.keys(headers).toSorted()).toEqual([...own, "x-custom", "x-deadline-ms"].toSorted());
    expect(headers["x-deadline-ms"]).not.toBe("99999");
  });

  test("callers that differ in a forwarded header share no fetch, an absent one differs from an empty one", async () => {
    const { first, sendRaw } = await startEchoPlatform(
      "headers: { all: { request: [{ propagate: { named: x-tenant } }] } }",
    );
    const query = '{ one(name: "x-tenant") }';
    let isHeld = true;
    const held: (() => void)[] = [];
    first.fault = (response, _body, _request, resolve) => {
      const respond = async () => respondJson(response, 200, JSON.stringify(await resolve()));
      if (isHeld) held.push(() => void respond());
      else void respond();
    };
    const tenants = ["a", "b", "", undefined, "a", undefined];
    const responses = tenants.map((tenant) => sendRaw(query, tenant === undefined ? [] : [["x-tenant", tenant]]));
    await expect.poll(() => held.length).toBe(4);
    isHeld = false;
    for (const respond of held) respond();
    const values = (await Promise.all(responses)).map(({ body }) => body.data.one);
    expect(values).toEqual(["a", "b", "", null, "a", null]);
    expect(first.requests).toHaveLength(4);
  });

  test("a header that varies nothing does not divide fetches", async () => {
    const { first, sendRaw } = await startEchoPlatform(
      "headers: { all: { request: [{ propagate: { named: sentry-trace, varies: false } }] } }",
    );
    const held: (() => void)[] = [];
    first.fault = (response, _body, _request, resolve) =>
      held.push(() => void resolve().then((result) => respondJson(response, 200, JSON.stringify(result))));
    const responses = ["1", "2"].map((id) => sendRaw('{ one(name: "sentry-trace") }', [["sentry-trace", id]]));
    await expect.poll(() => held.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const respond of held) respond();
    await Promise.all(responses);
    expect(first.requests).toHaveLength(1);
  });

  test("the token can be kept from a subgraph, and replaced", async () => {
    const { first, second, sendRaw } = await startEchoPlatform(
      `
subgraphs: { first: { authorization: remove } }
headers: { subgraphs: { second-one: { request: [{ insert: { name: authorization, value: "Basic \${env.CREDENTIALS}" } }] } } }
`,
      { CREDENTIALS: "dTpw" },
    );
    await sendRaw(both, [["authorization", "Bearer of-the-client"]]);
    expect(first.requests[0]!.headers.authorization).toBeUndefined();
    expect(second.requests[0]!.headers.authorization).toBe("Basic dTpw");
  });

  test.each(["named: authorization", 'matching: "^auth"'])(
    "the token is removed by `%s`, as other headers are",
    async (selection) => {
      const { first, second, sendRaw } = await startEchoPlatform(`
headers:
  all:
    request:
      - remove: { ${selection} }
  subgraphs: { second-one: { request: [{ insert: { name: authorization, value: Basic } }] } }
`);
      await sendRaw(both, [["authorization", "Bearer of-the-client"]]);
      expect(first.requests[0]!.headers.authorization).toBeUndefined();
      expect(second.requests[0]!.headers.authorization).toBe("Basic");
    },
  );

  test("a removed pattern is removed in any spelling", async () => {
    const { first, sendRaw } = await startEchoPlatform(`
headers: { all: { request: [{ propagate: { matching: "^x" } }, { remove: { matching: "^x-internal" } }] } }
`);
    await sendRaw('{ one(name: "x") }', [
      ["x_internal-role", "admin"],
      ["x-other", "1"],
    ]);
    const names = Object.keys(first.requests[0]!.headers);
    expect(names).toContain("x-other");
    expect(names).not.toContain("x_internal-role");
  });

  test("a pattern with nested quantifiers ends also for a long name", async () => {
    const { first, sendRaw } = await startEchoPlatform(
      'headers: { all: { request: [{ propagate: { matching: "^x-([a-z]+-?)+$" } }] } }',
    );
    const almost = `x-${"a".repeat(4_000)}_`;
    await sendRaw('{ one(name: "x") }', [
      [almost, "1"],
      ["x-some-name", "2"],
    ]);
    const names = Object.keys(first.requests[0]!.headers);
    expect([names.includes(almost), names.includes("x-some-name")]).toEqual([false, true]);
  });

  test("a name that objects inherit is a header as any other", async () => {
    const names = "[constructor, __proto__, toString]";
    const { first, sendRaw } = await startEchoPlatform(`
headers:
  all:
    request: [{ propagate: { named: ${names} } }]
    response: [{ propagate: { named: ${names} } }]
`);
    expect((await sendRaw('{ one(name: "x") }', [])).body).toEqual({ data: { one: null } });
    expect(Object.keys(first.requests[0]!.headers)).not.toContain("constructor");
    const query = '{ one(name: "constructor") }';
    first.fault = (response, _body, _request, resolve) =>
      void resolve().then((result) => respondJson(response, 200, JSON.stringify(result), { constructor: "of one" }));
    const { body, headers } = await sendRaw(query, [["constructor", "of a client"]]);
    expect(body).toEqual({ data: { one: "of a client" } });
    expect(headers["constructor"]).toBe("of one");
  });

  test("single cookies are forwarded by their names", async () => {
    const { first, sendRaw } = await startEchoPlatform(`
headers:
  all:
    request:
      - propagate: { cookie: session }
      - propagate: { cookie: theme }
`);
    await sendRaw('{ one(name: "cookie") }', [["cookie", "a=1; session=s=2; xsession=3; theme=dark"]]);
    expect(first.requests[0]!.headers.cookie).toBe("session=s=2; theme=dark");
    await sendRaw('{ one(name: "cookie") }', [["cookie", "a=1"]]);
    expect(first.requests[1]!.headers.cookie).toBeUndefined();
  });
});

describe("response headers", () => {
  const rules = `
headers:
  all:
    response:
      - propagate: { named: x-first, algorithm: first }
      - propagate: { named: x-last }
      - propagate: { named: x-all, algorithm: append }
      - propagate: { named: set-cookie }
      - propagate: { named: x-internal, rename: x-public }
      - insert: { name: x-platform, value: tributary }
  subgraphs:
    second-one:
      response:
        - remove: { named: x-public }
`;
  const headersOf = (name: string) => ({
    "x-first": name,
    "x-last": name,
    "x-all": name,
    "x-internal": name,
    "x-unnamed": name,
    "set-cookie": [`${name}=1; HttpOnly`, `${name}2=2`],
    "access-control-allow-origin": "*",
  });

  function valuesOf(rawHeaders: readonly string[], wanted: string): readonly string[] {
    return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === wanted);
  }

  test("are combined in the order of the plan, whichever response comes first", async () => {
    const { first, second, sendRaw } = await startEchoPlatform(rules);
    const query = '{ one(name: "x") two(name: "x") }';
    for (const late of [first, second]) {
      for (const subgraph of [first, second])
        subgraph.fault = (response, _body, _request, resolve) =>
          setTimeout(
            () =>
              void resolve().then((result) =>
                respondJson(response, 200, JSON.stringify(result), headersOf(subgraph.name)),
              ),
            subgraph === late ? 50 : 0,
          );
      const { rawHeaders } = await sendRaw(query, []);
      expect(valuesOf(rawHeaders, "x-first")).toEqual(["first"]);
      expect(valuesOf(rawHeaders, "x-last")).toEqual(["second-one"]);
      expect(valuesOf(rawHeaders, "x-all")).toEqual(["first", "second-one"]);
      expect(valuesOf(rawHeaders, "x-public")).toEqual(["first"]);
      expect(valuesOf(rawHeaders, "x-platform")).toEqual(["tributary"]);
      expect(valuesOf(rawHeaders, "x-unnamed")).toEqual([]);
      expect(valuesOf(rawHeaders, "access-control-allow-origin")).toEqual([]);
      expect(valuesOf(rawHeaders, "set-cookie")).toEqual([]);
      expect(valuesOf(rawHeaders, "cache-control")).toEqual(["no-store"]);
    }
  });

  test("a value that is spelt as the name of another header takes nothing away", async () => {
    const { first, sendRaw } = await startEchoPlatform(rules);
    const headers = { "x-first": "Cache-Control", "x-last": "x-platform" };
    first.fault = (response, _body, _request, resolve) =>
      void resolve().then((result) => respondJson(response, 200, JSON.stringify(result), headers));
    const { rawHeaders } = await sendRaw('{ one(name: "x") }', []);
    const values = ["x-first", "x-last", "x-platform", "cache-control"].flatMap((name) => valuesOf(rawHeaders, name));
    expect(values).toEqual(["Cache-Control", "x-platform", "tributary", "no-store"]);
  });

  test("those that the subgraph declared as hop-by-hop are not propagated", async () => {
    const { first, sendRaw } = await startEchoPlatform(rules);
    const headers = { connection: "keep-alive, X_Last, x-internal", "x-first": "1", "x-last": "2", "x-internal": "3" };
    first.fault = (response, _body, _request, resolve) =>
      void resolve().then((result) => respondJson(response, 200, JSON.stringify(result), headers));
    const { rawHeaders } = await sendRaw('{ one(name: "x") }', []);
    const values = ["x-first", "x-last", "x-public"].flatMap((name) => valuesOf(rawHeaders, name));
    expect(values).toEqual(["1"]);
  });

  test("those by which proxies decide on caching and files are not propagated by a pattern", async () => {
    const { first, sendRaw } = await startEchoPlatform(
      'headers: { all: { response: [{ propagate: { matching: "." } }] } }',
    );
    const headers = {
      "x-accel-expires": "60",
      "x-accel-redirect": "/private",
      "x-sendfile": "/etc/passwd",
      "edge-control": "max-age=60",
      "cloudflare-cdn-cache-control": "public, max-age=60",
      "x-custom": "1",
    };
    first.fault = (response, _body, _request, resolve) =>
      void resolve().then((result) => respondJson(response, 200, JSON.stringify(result), headers));
    const received = Object.keys((await sendRaw('{ one(name: "x") }', [])).headers);
    expect(received.filter((name) => name in headers)).toEqual(["x-custom"]);
  });

  test("a later rule replaces or removes what an earlier one inserts", async () => {
    const { sendRaw } = await startEchoPlatform(`
headers:
  all:
    response:
      - insert: { name: x-replaced, value: one }
      - insert: { name: X-Replaced, value: two }
      - insert: { name: x-removed, value: one }
      - remove: { named: X_Removed }
`);
    const { rawHeaders } = await sendRaw('{ one(name: "x") }', []);
    expect([valuesOf(rawHeaders, "x-replaced"), valuesOf(rawHeaders, "x-removed")]).toEqual([["two"], []]);
  });

  test("a mutation's cookies are separate fields, also if it fails", async () => {
    const { first, second, sendRaw } = await startEchoPlatform(rules);
    first.fault = (response) => respondJson(response, 500, '{"errors":[{"message":"no"}]}', headersOf("first"));
    second.fault = (response, _body, _request, resolve) =>
      void resolve().then((result) => respondJson(response, 200, JSON.stringify(result), headersOf("second")));
    for (const _path of ["full", "fast"]) {
      const { rawHeaders, body } = await sendRaw('mutation { oneWrite(name: "x") twoWrite(name: "x") }', []);
      expect(body.errors[0].extensions.code).toBe("SUBGRAPH_ERROR");
      expect(valuesOf(rawHeaders, "set-cookie")).toEqual([
        "first=1; HttpOnly",
        "first2=2",
        "second=1; HttpOnly",
        "second2=2",
      ]);
    }
  });

  test("only the client whose request it was gets a query's headers, and with from_queries each client has its own request", async () => {
    const platform = await startEchoPlatform(rules);
    const { first, sendRaw, gateway } = platform;
    let count = 0;
    const held: (() => void)[] = [];
    first.fault = (response, _body, _request, resolve) => {
      const id = String(++count);
      held.push(
        () => void resolve().then((result) => respondJson(response, 200, JSON.stringify(result), { ...headersOf(id) })),
      );
    };
    const query = '{ one(name: "x") }';
    const joined = [sendRaw(query, []), sendRaw(query, [])];
    await expect.poll(() => held.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    held.pop()?.();
    const shared = await Promise.all(joined);
    expect(shared.flatMap(({ rawHeaders }) => valuesOf(rawHeaders, "x-last"))).toEqual(["1"]);
    platform.writeSettings(rules.replace("named: set-cookie", "named: set-cookie, from_queries: true"));
    await gateway.seen("settings-loaded");
    const own = [sendRaw(query, []), sendRaw(query, [])];
    await expect.poll(() => held.length).toBe(2);
    for (const respond of held) respond();
    const cookies = (await Promise.all(own)).map(({ rawHeaders }) => valuesOf(rawHeaders, "set-cookie")[0]);
    expect(new Set(cookies)).toEqual(new Set(["2=1; HttpOnly", "3=1; HttpOnly"]));
  });
});
