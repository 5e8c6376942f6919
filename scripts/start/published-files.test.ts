import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { publishIfChanged, publishCommitted, hasBreakingChanges } from "./published-files.ts";

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

test("a published file is replaced only if its content differs", () => {
  const folder = newFolder();
  const file = join(folder, "supergraph.graphql");
  expect(publishIfChanged(file, "one")).toBe(true);
  expect(publishIfChanged(file, "one")).toBe(false);
  expect(publishIfChanged(file, "two")).toBe(true);
  expect(readFileSync(file, "utf8")).toBe("two");
  expect(existsSync(`${file}.tmp`)).toBe(false);
});

test("the error for missing generated files names the command that generates them", () => {
  const root = newFolder();
  expect(() => publishCommitted(root, join(root, ".data"))).toThrow("is missing. Generate it: npm run generate");
  mkdirSync(join(root, "supergraph"));
  writeFileSync(join(root, "supergraph/supergraph.graphql"), "graph");
  writeFileSync(join(root, "supergraph/routes.json"), "routes");
  publishCommitted(root, join(root, ".data"));
  expect(readFileSync(join(root, ".data/supergraph/supergraph.graphql"), "utf8")).toBe("graph");
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tributary-supergraph-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
