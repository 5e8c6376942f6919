import { buildSchema } from "graphql";
import { expect, test } from "vitest";
import { Refusal } from "../errors.ts";
import { createBoundedCache } from "../parse/bounded-cache.ts";
import type { Engine, EngineAnswer } from "../run/engine.ts";
import { createRequestScope } from "../run/request-scope.ts";
import type { Observation } from "../telemetry/observations.ts";
import { createApolloLane } from "./apollo.ts";

const secret = "SELECT password FROM users at db.internal";

test.each(["application/json", "application/graphql-response+json"] as const)(
  "a bug is 500 for %s, masked, and logged whole with the request's id",
  async (answerType) => {
    const cause = new TypeError(secret);
    const { answer, observations } = await setUp(() => Promise.reject(cause), answerType);
    expect(answer.status).toBe(500);
    expect(JSON.parse(String(answer.body))).toEqual({
      errors: [{ message: "Something went wrong on our side.", extensions: { code: "INTERNAL_SERVER_ERROR" } }],
    });
    expect(observations).toContainEqual({ kind: "internal-error", requestId: "r-1", cause });
  },
);

test("something thrown that is no error is a bug too", async () => {
  // oxlint-disable-next-line prefer-promise-reject-errors -- that is what is tested
  const { answer } = await setUp(() => Promise.reject(secret));
  expect(answer.status).toBe(500);
  expect(String(answer.body)).not.toContain("SELECT");
});

test("what the engine refuses is the client's business", async () => {
  const { answer, observations } = await setUp(
    () => Promise.reject(new Refusal("OPERATION_TOO_COMPLEX")),
    "application/graphql-response+json",
  );
  expect(answer.status).toBe(400);
  expect(JSON.parse(String(answer.body)).errors[0].extensions).toEqual({ code: "OPERATION_TOO_COMPLEX" });
  expect(observations.map(({ kind }) => kind)).not.toContain("internal-error");
});

test("the engine's bytes come to the client as they are", async () => {
  const body = Buffer.from('{ "data" : 1 }');
  const { answer } = await setUp(() => Promise.resolve({ status: 200, body }));
  expect(answer.body).toBe(body);
});

async function setUp(
  execute: () => Promise<EngineAnswer>,
  answerType: "application/json" | "application/graphql-response+json" = "application/json",
) {
  const observations: Observation[] = [];
  const engine: Engine = {
    apiSchema: buildSchema("type Query { a: Int list: [Int] }"),
    execute,
    close: () => Promise.resolve(),
  };
  const lane = await createApolloLane({
    engine,
    introspection: true,
    documentTokensMax: 1_000,
    operationLimits: {
      depthMax: 50,
      aliasesMax: 100,
      rootFieldsMax: 50,
      directivesMax: 100,
      listEntriesMax: 100,
      selectionsMax: 1_000,
    },
    persistedQueries: createBoundedCache({ entriesMax: 1, charactersMax: 1_000 }),
    observe: (observation) => observations.push(observation),
  });
  const scope = createRequestScope({
    requestId: "r-1",
    trace: { traceId: "0af7651916cd43dd8448eb211c80319c", flags: "00" },
    authorization: undefined,
    signal: new AbortController().signal,
  });
  const graphql = { query: "{ a }", operationName: undefined, variables: undefined, extensions: undefined };
  const answer = await lane.answer({ method: "POST", answerType, graphql, scope });
  await lane.close();
  return { answer, observations };
}
