import { GraphQLError } from "graphql";
import pg from "pg";
import { expect, test } from "vitest";
import { AppError } from "./app-error.ts";
import { describeError } from "./describe-error.ts";

test("an error is described with its class, code, frames and causes", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:5432"), { code: "ECONNREFUSED", port: 5432 });
  const description = describeError(new AppError("SERVICE_UNAVAILABLE", "Try again shortly.", { cause }));
  expect(description).toMatchObject({
    type: "AppError",
    message: "Try again shortly.",
    code: "SERVICE_UNAVAILABLE",
    stack: expect.stringContaining("describe-error.test.ts"),
    cause: { message: "connect ECONNREFUSED 10.0.0.1:5432", code: "ECONNREFUSED", port: 5432 },
  });
  expect(description.stack).not.toContain("Try again");
});

const inJson = `{"password":"plum-secret"}`;

test.each([
  ["JSON that cannot be read", captured(() => JSON.parse(`plum-secret "is" no JSON`))],
  ["JSON with quotes in it", captured(() => JSON.parse(`${inJson} ${inJson}`))],
  ["a value that GraphQL refuses", new GraphQLError(`Int cannot represent non-integer value: "plum-secret"`)],
  ["a path that is no text", new URIError(`Failed to decode param '%E0plum-secret'`)],
  ["a body parser's error", Object.assign(new Error("no"), { body: inJson, expose: true })],
  ["PostgreSQL's refusal of a value", ofPostgres("22P02", `invalid input syntax for type uuid: "plum-secret"`)],
  [
    "PostgreSQL's refusal of a row",
    ofPostgres("23505", "duplicate key", { detail: "Key (name)=(plum-secret) exists" }),
  ],
  ["a token", new Error("Authorization was Bearer plum-secret")],
  ["an address with credentials", new Error("cannot reach postgres://ada:plum-secret@db/things")],
  ["what is thrown without being an error", "plum-secret"],
  ["what lies below", new Error("above", { cause: new SyntaxError(`Unexpected "plum-secret"`) })],
  ["one of many", new AggregateError([new SyntaxError(`Unexpected "plum-secret"`)], "all of them")],
])("%s is described without client data", (_, error) => {
  expect(JSON.stringify(describeError(error))).not.toContain("plum-secret");
});

test("email addresses and signed tokens are removed from all texts", () => {
  const { message } = describeError(
    new Error("no ada.l+x@mail.example.com with eyJhbGciOiJF.eyJzdWIiOiI.c2ln-x_ here"),
  );
  expect(message).toBe("no <email> with <token> here");
});

test("a cyclic chain of causes is cut", () => {
  const loop = new Error("again");
  loop.cause = loop;
  expect(JSON.stringify(describeError(loop)).match(/"again"/g)).toHaveLength(6);
});

function captured(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function ofPostgres(code: string, message: string, more: object = {}): Error {
  return Object.assign(new pg.DatabaseError(message, message.length, "error"), { code, ...more });
}
