import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadSupergraphs } from "./supergraphs.ts";

const supergraph = readFileSync(new URL("../supergraph/supergraph.graphql", import.meta.url), "utf8");
const policy = "it links https://specs.apollo.dev/policy/v0.1, and the gateway does not enforce @policy";

test("the supergraphs of a folder are counted, and those that are refused by reason", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tributary-supergraphs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "more"));
  const files = {
    "good.graphql": supergraph,
    "one-of.graphql": `${supergraph}input By @join__type(graph: USERS) @oneOf { id: ID }`,
    "one-of-required.graphql": `${supergraph}input By @join__type(graph: USERS) @oneOf { id: ID! }`,
    "more/policy.graphqls": supergraph.replace(
      "schema\n",
      'schema\n  @link(url: "https://specs.apollo.dev/policy/v0.1")\n',
    ),
    "more/policy-too.graphql": supergraph.replace(
      "schema\n",
      'schema @link(url: "https://specs.apollo.dev/policy/v0.1")\n',
    ),
    "unknown-type.graphql": supergraph.replace("type Query\n", "type Query implements Unknown\n"),
    "join.graphql": supergraph.replace(/join\/v0\.\d/, "join/v0.9"),
    "syntax.graphql": "type {",
    "notes.txt": "not a supergraph",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const [summary, ...reasons] = await loadSupergraphs(folder);
  expect(summary).toBe("8 files: 2 load, 6 are refused");
  expect(reasons.slice(0, 3)).toEqual([
    `2 refused: The supergraph cannot be served: ${policy}.`,
    "  more/policy-too.graphql",
    "  more/policy.graphqls",
  ]);
  expect(reasons.slice(3)).toEqual([
    expect.stringMatching(/^1 refused: Invalid supergraph: uses unsupported join spec version v0\.9/),
    "  join.graphql",
    "1 refused: OneOf input field By.id must be nullable.",
    "  one-of-required.graphql",
    expect.stringMatching(/^1 refused: Syntax Error/),
    "  syntax.graphql",
    "1 refused: Cannot implement unknown type Unknown",
    "  unknown-type.graphql",
  ]);
});
