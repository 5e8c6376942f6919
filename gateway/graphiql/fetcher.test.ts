import { expect, test } from "vitest";
import { createFetcher } from "./fetcher.ts";

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

test("a result with errors is shown unchanged, whatever its status", async () => {
  const result = { errors: [{ message: "Syntax Error" }] };
  const { fetcher } = setUp({ response: new Response(JSON.stringify(result), { status: 400 }) });
  expect(await fetcher(operation)).toEqual(result);
});

test.each(["<html>", "7", "null", ""])("a response with the body %j is reported as no JSON object", async (body) => {
  const { fetcher } = setUp({ response: new Response(body, { status: 502 }) });
  const message = `The gateway responded with status 502 and a body that is not JSON: ${body}`;
  expect(await fetcher(operation)).toEqual({ errors: [{ message }] });
});

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
  const fetcher = createFetcher({
    endpoint: "/graphql",
    authorization,
    fetch: async (url, init) => {
      const headers = Object.fromEntries(new Headers(init?.headers));
      sent.push({ url, method: init?.method, headers, body: JSON.parse(init?.body as string) });
      if (response instanceof Error) throw response;
      return response ?? new Response('{"data":{"a":1}}');
    },
  });
  return { fetcher, sent };
}
