import { describe, expect, test } from "vitest";
import { type Callers, loadCallers } from "./callers.ts";
import {
  createExecutions,
  describeFailedAttempt,
  type Execution,
  explainAttempts,
  findPreparation,
  type PlannedRequest,
  toTree,
} from "./executions.ts";
import { createFetcher } from "./fetcher.ts";
import { describeOwners, loadOwners } from "./owners.ts";
import { rememberReceipts } from "./receipts.ts";

describe("callers", () => {
  const demoUsers = [
    { name: "grace", userId: "2", scopes: ["a"] },
    { name: "ada", userId: "1", scopes: ["a", "b"] },
  ];

  test("user 1 is chosen by default, and the choice survives a reload", async () => {
    const { load } = setUp();
    const first = await load();
    expect(first.all).toEqual(demoUsers);
    expect(first.chosen()).toBe("ada");
    first.choose("anonymous");
    expect((await load()).chosen()).toBe("anonymous");
  });

  test("a stored choice that the issuer no longer knows is ignored", async () => {
    const { load, storage } = setUp();
    storage.setItem("tributary:caller", "eve");
    expect((await load()).chosen()).toBe("ada");
  });

  test("a token is fetched once and used until a minute before it expires", async () => {
    const { load, requests, clock } = setUp();
    const callers = await load();
    expect(await callers.authorization()).toBe("Bearer ada-1");
    clock.ms += 3_539_000;
    expect(await callers.authorization()).toBe("Bearer ada-1");
    clock.ms += 1_000;
    expect(await callers.authorization()).toBe("Bearer ada-2");
    expect(requests).toEqual(["/demo-users", "/token ada", "/token ada"]);
  });

  test("requests that start together share one token", async () => {
    const { load, requests } = setUp();
    const callers = await load();
    const both = await Promise.all([callers.authorization(), callers.authorization()]);
    expect(both).toEqual(["Bearer ada-1", "Bearer ada-1"]);
    expect(requests).toEqual(["/demo-users", "/token ada"]);
  });

  test("each caller has a separate token, and the anonymous caller has none", async () => {
    const { load } = setUp();
    const callers = await load();
    expect(await authorizationOf(callers, "ada")).toBe("Bearer ada-1");
    expect(await authorizationOf(callers, "grace")).toBe("Bearer grace-2");
    expect(await authorizationOf(callers, "ada")).toBe("Bearer ada-1");
    expect(await authorizationOf(callers, "anonymous")).toBeUndefined();
  });

  test("the error names an issuer that does not respond, and the next call tries again", async () => {
    const { load, faults } = setUp();
    const callers = await load();
    faults.push(new TypeError("Failed to fetch"), new Response("", { status: 500 }));
    await expect(callers.authorization()).rejects.toThrow("The token issuer does not respond at http://issuer.test");
    await expect(callers.authorization()).rejects.toThrow(
      "The token issuer at http://issuer.test responded with 500 for /token.",
    );
    expect(await callers.authorization()).toBe("Bearer ada-1");
  });

  test("without the issuer's demo users loading fails, and the error suggests the anonymous caller", async () => {
    const { load, faults } = setUp();
    faults.push(new TypeError("Failed to fetch"));
    await expect(load()).rejects.toThrow('choose the caller "anonymous"');
  });

  function authorizationOf(callers: Callers, name: string): Promise<string | undefined> {
    callers.choose(name);
    return callers.authorization();
  }

  /** An issuer with numbered tokens. It sends the responses in `faults` first. */
  function setUp() {
    const requests: string[] = [];
    const faults: (Response | Error)[] = [];
    const clock = { ms: 1_000_000 };
    const stored = new Map<string, string>();
    const storage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
    };
    let tokens = 0;
    const issuerFetch = async (url: string, init?: RequestInit) => {
      const fault = faults.shift();
      if (fault instanceof Error) throw fault;
      if (fault) return fault;
      if (init?.method !== "POST") return record(url, JSON.stringify({ demoUsers }));
      const { user } = JSON.parse(init.body as string) as { user: string };
      tokens += 1;
      return record(`${url} ${user}`, JSON.stringify({ access_token: `${user}-${tokens}`, expires_in: 3_600 }));
    };
    const record = (what: string, body: string) => {
      requests.push(what.replace("http://issuer.test", ""));
      return new Response(body);
    };
    const load = () => loadCallers({ issuer: "http://issuer.test", fetch: issuerFetch, storage, now: () => clock.ms });
    return { load, requests, faults, clock, storage };
  }
});

describe("the fetcher", () => {
  const operation = { query: "{ a }", operationName: null, variables: { x: 1 } };

  test("an operation is sent by POST, as JSON, with the caller's token", async () => {
    const { fetcher, sent } = setUp();
    expect(await fetcher(operation)).toEqual({ data: { a: 1 } });
    expect(sent).toEqual([
      {
        url: "/graphql",
        method: "POST",
        body: operation,
        headers: {
          accept: "application/json",
          "apollo-require-preflight": "true",
          authorization: "Bearer ada",
          "content-type": "application/json",
          "x-query-plan": "1",
        },
      },
    ]);
  });

  test("a header of the header editor takes precedence over the chosen caller's", async () => {
    const { fetcher, sent } = setUp();
    await fetcher(operation, { headers: { Authorization: "Bearer mine", "x-count": 2 } });
    expect(sent[0]?.headers).toMatchObject({ authorization: "Bearer mine", "x-count": "2" });
  });

  test("the anonymous caller sends no token", async () => {
    const { fetcher, sent } = setUp({ authorization: async () => undefined });
    await fetcher(operation);
    expect(sent[0]?.headers).not.toHaveProperty("authorization");
  });

  test("introspection does not wait for a token", async () => {
    const { fetcher, sent } = setUp({ authorization: () => Promise.reject(new Error("no issuer")) });
    expect(await fetcher({ ...operation, operationName: "IntrospectionQuery" })).toEqual({ data: { a: 1 } });
    expect(sent[0]?.headers).not.toHaveProperty("authorization");
  });

  test("if no token can be fetched nothing is sent, and the result has the reason", async () => {
    const { fetcher, sent } = setUp({ authorization: () => Promise.reject(new Error("no issuer")) });
    expect(await fetcher(operation)).toEqual({ errors: [{ message: "no issuer" }] });
    expect(sent).toEqual([]);
  });

  test("the plan is taken out of the result for its pane, with the ids of the response", async () => {
    const plan = [planned(0, [])];
    const headers = { "x-request-id": "r1", traceparent: "00-4bf92f-00f067-01" };
    const withPlan = (more: object) =>
      new Response(JSON.stringify({ data: {}, extensions: { queryPlan: plan, ...more } }), { headers });
    const alone = setUp({ response: withPlan({}) });
    expect(await alone.fetcher(operation)).toEqual({ data: {} });
    expect(alone.executed).toEqual([{ requestId: "r1", traceId: "4bf92f", plan }]);
    const more = setUp({ response: withPlan({ other: 1 }) });
    expect(await more.fetcher(operation)).toEqual({ data: {}, extensions: { other: 1 } });
  });

  test("a response without a plan, as in production, is an execution too; introspection is none, and asks for no plan", async () => {
    const { fetcher, sent, executed } = setUp();
    await fetcher(operation);
    await fetcher({ ...operation, operationName: "IntrospectionQuery" });
    expect(executed).toEqual([{ requestId: null, traceId: null, plan: null }]);
    expect(sent.map(({ headers }) => headers["x-query-plan"])).toEqual(["1", undefined]);
  });

  test("a result with errors is shown unchanged, whatever its status", async () => {
    const result = { errors: [{ message: "Syntax Error" }] };
    const { fetcher } = setUp({ response: new Response(JSON.stringify(result), { status: 400 }) });
    expect(await fetcher(operation)).toEqual(result);
  });

  test.each(["<html>", "7", "null", "[]", ""])(
    "a response with the body %j is reported as no JSON object",
    async (body) => {
      const { fetcher } = setUp({ response: new Response(body, { status: 502 }) });
      const message = `The gateway responded with status 502 and a body that is no JSON object: ${body}`;
      expect(await fetcher(operation)).toEqual({ errors: [{ message }] });
    },
  );

  test("a gateway that does not respond is reported", async () => {
    const { fetcher } = setUp({ response: new TypeError("Failed to fetch") });
    expect(await fetcher(operation)).toEqual({ errors: [{ message: "The gateway does not respond at /graphql." }] });
  });

  interface Sent {
    readonly url: string;
    readonly method: string | undefined;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: unknown;
  }

  interface FetcherSetup {
    readonly response?: Response | Error;
    readonly authorization?: () => Promise<string | undefined>;
  }

  function setUp({ response, authorization = async () => "Bearer ada" }: FetcherSetup = {}) {
    const sent: Sent[] = [];
    const executed: Execution[] = [];
    const fetcher = createFetcher({
      endpoint: "/graphql",
      authorization,
      onExecuted: (execution) => executed.push(execution),
      fetch: async (url, init) => {
        const headers = Object.fromEntries(new Headers(init?.headers));
        sent.push({ url, method: init?.method, headers, body: JSON.parse(init?.body as string) });
        if (response instanceof Error) throw response;
        return response ?? new Response('{"data":{"a":1}}');
      },
    });
    return { fetcher, sent, executed };
  }
});

describe("owners", () => {
  const owners = [
    {
      subgraph: "users",
      team: "@a/users",
      types: [
        { name: "User", fields: ["id", "name"] },
        { name: "Role", fields: [] },
      ],
    },
    { subgraph: "posts", team: null, types: [{ name: "User", fields: ["id", "posts"] }] },
  ];

  test("are part of the descriptions that the page shows of types, fields and inputs", () => {
    const field = (name: string, description: string | null) => ({ name, description, isDeprecated: false });
    const user = { name: "User", description: "A person.", fields: [field("name", null), field("posts", "All.")] };
    const types = [user, { name: "Role", description: null, fields: null }, { name: "Int", description: "Whole." }];
    const { data } = describeOwners({ data: { __schema: { types } } }, owners) as {
      readonly data: { readonly __schema: { readonly types: unknown } };
    };
    expect(data.__schema.types).toMatchObject([
      {
        description: "A person.\n\nOwners: @a/users (users), posts",
        fields: [
          { description: "Owner: @a/users (users)", isDeprecated: false },
          { description: "All.\n\nOwner: posts" },
        ],
      },
      { description: "Owner: @a/users (users)", fields: null },
      { description: "Whole." },
    ]);
  });

  test("an introspection that failed is shown unchanged, and without owners nothing is added", () => {
    const failed = { errors: [{ message: "No." }] };
    expect(describeOwners(failed, owners)).toBe(failed);
    const result = { data: { __schema: { types: [{ name: "User" }] } } };
    expect(describeOwners(result, [])).toBe(result);
  });

  test("a gateway that sends none is no error", async () => {
    expect(await loadOwners(async () => Response.json(owners))).toEqual(owners);
    expect(await loadOwners(async () => new Response("{}", { status: 404 }))).toEqual([]);
    expect(await loadOwners(() => Promise.reject(new TypeError("Failed to fetch")))).toEqual([]);
  });
});

describe("the plan", () => {
  test("as a tree has each request below the last one to end of those that it waited for", () => {
    const plan = [
      planned(0, [], 0, 10),
      planned(1, [0], 10, 5),
      planned(2, [0], 10, 20),
      planned(3, [1, 2], 30, 5),
      planned(4, [], 0, 1),
      // Another part of fetch 2, which did not wait for it.
      planned(2, [0], 35, 5),
      planned(5, [2], 31, 1),
    ];
    const rows = toTree(plan).map(({ request, depth }) => `${"-".repeat(depth)}${request.fetches.join()}`);
    expect(rows).toEqual(["0", "-1", "-2", "--3", "--5", "-2", "4"]);
  });

  test("a request names the others that it waited for, without the one above it", () => {
    const plan = [planned(0, [], 0, 10), planned(1, [], 0, 5), planned(2, [], 0, 7), planned(3, [0, 1, 2], 10, 5)];
    const row = toTree(plan).find(({ request }) => request.fetches.includes(3));
    expect([row?.depth, row?.otherParents.map(({ fetches }) => fetches)]).toEqual([1, [[1], [2]]]);
  });

  test("the time before the first fetch is named if it is more than 5 % of the whole", () => {
    expect(findPreparation([planned(1, [0], 20, 80), planned(0, [], 6, 10)])).toBe(6);
    expect(findPreparation([planned(0, [], 5, 95)])).toBeUndefined();
  });

  test("several attempts are explained by what failed, or by the entity cache", () => {
    const once = planned(0, []);
    expect(explainAttempts(once)).toBeUndefined();
    expect(explainAttempts({ ...once, attempts: 2 })).toMatch(/^The entity cache sent one request without the token/);
    expect(explainAttempts({ ...once, outcome: "retried", attempts: 2 })).toMatch(/again after the failed attempt/);
    expect(describeFailedAttempt("http://a:1/graphql attempt-timeout")).toBe("http://a:1/graphql: no response in time");
    expect(describeFailedAttempt("http://a:1/graphql breaker-open")).toMatch(/: no response, then the breaker opened$/);
    expect(describeFailedAttempt("http://a:1/graphql status 503")).toBe("http://a:1/graphql status 503");
  });

  test("the requests of a document that was split are beside one another", () => {
    const plan = [planned(0, [], 0, 5), planned(0, [], 5, 5), planned(1, [0], 10, 5)];
    expect(toTree(plan).map(({ depth }) => depth)).toEqual([0, 0, 1]);
  });

  test("listeners learn of each execution until they unsubscribe", () => {
    const executions = createExecutions();
    let calls = 0;
    const unsubscribe = executions.subscribe(() => calls++);
    const execution = { requestId: "r1", traceId: null, plan: null };
    expect(executions.last()).toBeNull();
    executions.add(execution);
    unsubscribe();
    executions.add(execution);
    expect([executions.last(), calls]).toEqual([execution, 1]);
  });
});

function planned(fetch: number, after: readonly number[], startMilliseconds = 0, milliseconds = 1): PlannedRequest {
  const sent = { subgraph: "posts", outcome: "sent", paths: [""], operation: "{ a }", attempts: 1, bytes: 9 } as const;
  return { ...sent, fetches: [fetch], after, startMilliseconds, milliseconds };
}

describe("receipts of mutations", () => {
  test("each request after a mutation sends its receipt, until a newer one replaces it", async () => {
    const { send, sent } = setUp();
    await send({ receipt: '"r1"' });
    await send({});
    await send({ receipt: '"r2"' });
    await send({});
    expect(sent).toEqual([null, '"r1"', '"r1"', '"r2"']);
  });

  test("after mutations in parallel, the receipts of all are sent, at most the eight newest", async () => {
    const { send, sent } = setUp();
    await send({ receipt: '"r0"' });
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    await Promise.all(numbers.map((number) => send({ receipt: `"r${number}"` })));
    await send({});
    expect(sent.at(-1)).toBe('"r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9"');
  });

  test("receipts that the gateway cannot read are forgotten, and the request is sent once more without them", async () => {
    const { send, sent } = setUp();
    await send({ receipt: '"old"' });
    expect(await (await send({ rejects: '"old"' })).text()).toBe("ok");
    await send({});
    expect(sent).toEqual([null, '"old"', null, null]);
  });

  test("another error does not repeat the request, and its receipt is remembered", async () => {
    const { send, sent } = setUp();
    await send({ receipt: '"r1"' });
    expect((await send({ status: 400, receipt: '"r2"' })).status).toBe(400);
    await send({});
    expect(sent).toEqual([null, '"r1"', '"r2"']);
  });

  test("a receipt of the header editor replaces the remembered ones, and its rejection is shown", async () => {
    const { send, sent } = setUp();
    await send({ receipt: '"r1"' });
    expect((await send({ headers: { "Consistency-Token": '"mine"' }, rejects: '"mine"' })).status).toBe(400);
    await send({});
    expect(sent).toEqual([null, '"mine"', '"r1"']);
  });

  interface Exchange {
    readonly headers?: Readonly<Record<string, string>>;
    readonly status?: number;
    /** Of the response. */
    readonly receipt?: string;
    /** The receipts that the gateway cannot read. */
    readonly rejects?: string;
  }

  /** `sent` has the receipts of each request, null without any. */
  function setUp() {
    const sent: (string | null)[] = [];
    let current: Exchange = {};
    const fetch = rememberReceipts(async (_, init) => {
      const { status = 200, receipt, rejects } = current;
      const receipts = new Headers(init?.headers).get("Consistency-Token");
      sent.push(receipts);
      if (receipts !== null && receipts === rejects)
        return new Response("Consistency-Token has no receipt", { status: 400 });
      return new Response("ok", { status, headers: receipt === undefined ? {} : { "Consistency-Token": receipt } });
    });
    const send = (exchange: Exchange) => {
      current = exchange;
      return fetch("/graphql", { method: "POST", headers: exchange.headers ?? {} });
    };
    return { send, sent };
  }
});
