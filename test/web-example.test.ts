// examples/web without its packages: its operations are those that clients/web says it sends.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type ASTNode, parse, print, visit } from "graphql";
import { expect, test } from "vitest";

const { version } = JSON.parse(read("../examples/web/package.json")) as { readonly version: string };
const manifest = JSON.parse(read(`../clients/web/${version}.json`)) as Readonly<Record<string, string>>;

test("the manifest of this release has the operations of the example; if not, `npm version minor` and `npm run manifest` in examples/web", () => {
  const operations = parse(read("../examples/web/src/operations.graphql")).definitions;
  expect(Object.values(manifest).map(normalize).toSorted()).toEqual(operations.map(normalize).toSorted());
});

test("each id is the hash of its document", () => {
  const hashes = Object.values(manifest).map((text) => createHash("sha256").update(text).digest("hex"));
  expect(Object.keys(manifest)).toEqual(hashes.map((hash) => `sha256:${hash}`));
});

/** GraphQL codegen sorts a document, and adds `__typename`. */
function normalize(document: ASTNode | string): string {
  const byText = (a: ASTNode, b: ASTNode) => (print(a) < print(b) ? -1 : 1);
  const normalized = visit(typeof document === "string" ? parse(document) : document, {
    OperationDefinition: {
      leave: (node) => ({ ...node, variableDefinitions: node.variableDefinitions?.toSorted(byText) }),
    },
    Field: {
      enter: ({ name }) => (name.value === "__typename" ? null : undefined),
      leave: (node) => ({ ...node, arguments: node.arguments?.toSorted(byText) }),
    },
    SelectionSet: { leave: (node) => ({ ...node, selections: node.selections.toSorted(byText) }) },
  });
  return print(normalized);
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}
