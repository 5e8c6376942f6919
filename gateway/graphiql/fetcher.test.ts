import { expect, test } from "vitest";
import { createFetcher } from "./fetcher.ts";

const operation = { query: "{ a }", operationName: null, variables: { x: 1 } };

test("an operation goes by POST, as JSON, with the caller's token", async () => {
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

test("what stands in the header editor goes before the chosen caller", async () => {
  const { fetcher, sent } = setUp();
  await fetcher(operation, { headers: { Authorization: "Bearer mine", "x-count": 2 } });
  expect(sent[0]?.headers).toMatchObject({ authorization: "Bearer mine", "x-count": "2" });
});

test("nobody sends no token", async () => {
  const { fetcher, sent } = setUp({ authorization: async () => undefined });
  await fetcher(operation);
  expect(sent[0]?.headers).not.toHaveProperty("authorization");
});

test("introspection does not wait for a token", async () => {
  const { fetcher, sent } = setUp({ authorization: () => Promise.reject(new Error("no issuer")) });
  expect(await fetcher({ ...operation, operationName: "IntrospectionQuery" })).toEqual({ data: { a: 1 } });
  expect(sent[0]?.headers).not.toHaveProperty("authorization");
});

test("without a token nothing is sent, and the answer says why", async () => {
  const { fetcher, sent } = setUp({ authorization: () => Promise.reject(new Error("no issuer")) });
  expect(await fetcher(operation)).toEqual({ errors: [{ message: "no issuer" }] });
  expect(sent).toEqual([]);
});

test("an answer with errors is shown as it is, whatever its status", async () => {
  const answer = { errors: [{ message: "Syntax Error" }] };
  const { fetcher } = setUp({ answer: new Response(JSON.stringify(answer), { status: 400 }) });
  expect(await fetcher(operation)).toEqual(answer);
});

test.each(["<html>", "7", "null", ""])("an answer that holds %j is told from GraphQL", async (body) => {
  const { fetcher } = setUp({ answer: new Response(body, { status: 502 }) });
  const message = `The gateway answered 502, and not with JSON: ${body}`;
  expect(await fetcher(operation)).toEqual({ errors: [{ message }] });
});

test("a gateway that is gone is said to be gone", async () => {
  const { fetcher } = setUp({ answer: new TypeError("Failed to fetch") });
  expect(await fetcher(operation)).toEqual({ errors: [{ message: "The gateway does not answer at /graphql." }] });
});

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Circumstances {
  readonly answer?: Response | Error;
  readonly authorization?: () => Promise<string | undefined>;
}

function setUp({ answer, authorization = async () => "Bearer ada" }: Circumstances = {}) {
  const sent: Sent[] = [];
  const fetcher = createFetcher({
    endpoint: "/graphql",
    authorization,
    fetch: async (url, init) => {
      const headers = Object.fromEntries(new Headers(init?.headers));
      sent.push({ url, method: init?.method, headers, body: JSON.parse(init?.body as string) });
      if (answer instanceof Error) throw answer;
      return answer ?? new Response('{"data":{"a":1}}');
    },
  });
  return { fetcher, sent };
}
