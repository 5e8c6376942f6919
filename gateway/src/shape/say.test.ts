import { GraphQLError } from "graphql";
import { expect, test } from "vitest";
import type { EngineResult } from "../run/engine.ts";
import { createRequestScope } from "../run/request-scope.ts";
import type { Observation } from "../telemetry/observations.ts";
import { say } from "./say.ts";

test("an error of the engine's own beside data is masked and logged whole, and the data stays", () => {
  const cause = new GraphQLError("SELECT password FROM users at db.internal");
  const { answer, observations } = setUp({ data: { a: 1 }, errors: [cause] });
  expect(answer).toEqual({
    errors: [{ message: "Something went wrong on our side.", extensions: { code: "INTERNAL_SERVER_ERROR" } }],
    data: { a: 1 },
  });
  expect(observations).toEqual([{ kind: "internal-error", requestId: "r-1", cause }]);
});

test("values that broke the schema are cut to a hundred", () => {
  const valueCompletion = Array.from({ length: 500 }, (_, i) => new GraphQLError("x", { path: ["list", i] }));
  const { answer } = setUp({ data: { a: 1 }, extensions: { valueCompletion: [...valueCompletion, "odd"] } });
  expect(answer.errors).toHaveLength(100);
});

function setUp(result: EngineResult) {
  const observations: Observation[] = [];
  const scope = createRequestScope({
    requestId: "r-1",
    trace: { traceId: "0af7651916cd43dd8448eb211c80319c", flags: "00" },
    authorization: undefined,
    isTimed: false,
    deadline: new AbortController(),
  });
  const { body } = say(result, scope, (observation) => void observations.push(observation));
  return { answer: JSON.parse(body.toString()), observations };
}
