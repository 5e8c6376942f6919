import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createHouse, isProductCode, packageOf, readHouse } from "./architecture/house.ts";
import { planted, upright } from "./architecture/planted.ts";
import { listViolations, rules } from "./architecture/rules.ts";
import { writeRepository } from "./supergraph/house.ts";

const house = readHouse(fileURLToPath(new URL("..", import.meta.url)));

test("the house keeps its rules", () => {
  expect(listViolations(house)).toEqual([]);
});

/** How many product files each package has at the least, so that a rule cannot pass by looking at nothing. */
test.each([
  ["kit", 20],
  ["services/users", 10],
  ["services/posts", 10],
  ["services/comments", 10],
  ["services/orders", 10],
  ["gateway", 20],
  ["rest-proxy", 10],
  ["infra/issuer", 5],
])("the rules look at %s: at least %i files, whose imports are seen", (name, filesMin) => {
  const modules = house.modules.filter(({ path }) => packageOf(path) === name && isProductCode(path));
  expect(modules.length).toBeGreaterThanOrEqual(filesMin);
  expect(modules.flatMap(({ imports }) => imports).length).toBeGreaterThanOrEqual(filesMin);
});

test("the rules look at every service's manifest", () => {
  const manifests = [...house.manifests.keys()].filter((path) => path.startsWith("services/"));
  expect(manifests).toEqual(["comments", "orders", "posts", "users"].map((name) => `services/${name}/package.json`));
});

test.each(planted.map((plant) => [plant.what, plant] as const))("%s is found", (_, { rule, files, at }) => {
  const found = rules.find(({ name }) => name === rule)?.find(createHouse(files)) ?? [];
  expect(found.map(({ path, line }) => `${path}:${line}`)).toEqual(at);
});

test("every rule has a planted violation", () => {
  expect(new Set(planted.map(({ rule }) => rule))).toEqual(new Set(rules.map(({ name }) => name)));
});

test("what comes near to a violation is none", () => {
  expect(listViolations(createHouse(upright))).toEqual([]);
});

test("a violation on disk is found, with path, line and the rule's sentence", () => {
  const root = writeRepository({
    "services/users/src/store.ts": "export const a = 1;\nconsole.log(a);\n",
    "services/users/node_modules/x/index.ts": "",
    "services/users/package.json": '{ "exports": {} }',
  });
  expect(listViolations(readHouse(root))).toEqual([
    "services/users/src/store.ts:2 calls console.log. Nothing writes to the console: a process logs JSON lines through @tributary/kit/log.",
  ]);
});

test("a file that cannot be parsed fails with its name", () => {
  expect(() => createHouse({ "kit/src/process/log.ts": "export const = 1" })).toThrow("kit/src/process/log.ts");
});
