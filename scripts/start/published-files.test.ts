import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hasBreakingChanges, publishCommitted } from "./published-files.ts";

const schema = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
type Query { user(id: ID!): User }
type User @key(fields: "id") { id: ID! name: String }
extend type Post @key(fields: "id") { id: ID! author: User }`;

test.each([
  ["a new field", schema.replace("name: String", "name: String nick: String"), false],
  ["the same", schema, false],
  ["a removed field", schema.replace("name: String", ""), true],
  ["a field of another type", schema.replace("name: String", "name: Int"), true],
  ["a removed query", schema.replace("user(id: ID!)", "person(id: ID!)"), true],
])("%s: the gateway loads the supergraph before the service restarts: %s", (_, after, first) => {
  expect(hasBreakingChanges(schema, after)).toBe(first);
});

test("the error for missing generated files names the command that generates them", () => {
  const root = mkdtempSync(join(tmpdir(), "tributary-supergraph-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  expect(() => publishCommitted(root, join(root, ".data"))).toThrow("is missing. Generate it: npm run generate");
});
