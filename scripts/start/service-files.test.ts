import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { formerSubgraph } from "../../supergraph/subgraphs.ts";
import { requireServiceFiles } from "./service-files.ts";

let root: string;
const list = ["users", "reviews"].map(formerSubgraph);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tributary-service-files-"));
  const folder = root;
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["users", "reviews"]) {
    for (const file of [
      "package.json",
      "schema.graphql",
      "src/main.ts",
      "src/rest/routes.ts",
      "src/rest/openapi.ts",
      "migrations/0001-a.sql",
    ])
      write(`services/${name}/${file}`);
  }
  write("package-lock.json", JSON.stringify({ packages: { "services/users": {}, "services/reviews": {} } }));
  write("supergraph/routes.json", JSON.stringify({ routes: [{ service: "users" }] }));
});

test("a listed service with all of its files starts", () => {
  requireServiceFiles(root, list);
});

test("every file that a listed service lacks is named, with its owner and what to do", () => {
  rmSync(join(root, "services/reviews/migrations"), { recursive: true });
  rmSync(join(root, "services/reviews/src"), { recursive: true });
  expect(() => requireServiceFiles(root, list)).toThrow(
    [
      "supergraph/subgraphs.ts lists the service reviews (@tributary/reviews-team), but these files are missing:",
      "  services/reviews/src/main.ts: its process",
      "  services/reviews/src/rest/routes.ts: its REST routes; a service without any exports an empty list",
      "  services/reviews/src/rest/openapi.ts: the OpenAPI documents of its REST routes; a service without any exports documents without operations",
      "  services/reviews/migrations: the folder of its database's migrations",
      'Add them (CONTRIBUTING.md, "Adding a service"), or remove reviews from supergraph/subgraphs.ts.',
    ].join("\n"),
  );
});

test("a service that package-lock.json lacks is reported, because npm ci would fail", () => {
  write("package-lock.json", JSON.stringify({ packages: { "services/users": {} } }));
  expect(() => requireServiceFiles(root, list)).toThrow(
    "package-lock.json lacks the workspace services/reviews. Add it: npm install",
  );
});

test("an unlisted service in the committed route table is reported before the REST proxy starts", () => {
  const check = () => requireServiceFiles(root, list.slice(1));
  expect(check).toThrow(
    "supergraph/routes.json has routes of the service users, which supergraph/subgraphs.ts does not",
  );
  expect(check).toThrow("npm run generate");
});

test("a route table with merge conflict markers is reported", () => {
  write("supergraph/routes.json", "<<<<<<< HEAD\n");
  expect(() => requireServiceFiles(root, list)).toThrow("supergraph/routes.json is not valid JSON");
});

function write(path: string, content = ""): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}
