import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createRepository, isProductCode, packageOf, readRepository } from "./architecture/repository.ts";
import { planted, compliant } from "./architecture/planted.ts";
import { listViolations, rules } from "./architecture/rules.ts";
import { writeRepository } from "./supergraph/repository-fixture.ts";
import { serviceNames } from "./services.ts";

const repository = readRepository(fileURLToPath(new URL("..", import.meta.url)));

test.each(rules.map((rule) => [rule.name, rule] as const))("the repository complies with %s", (_, rule) => {
  expect(listViolations(rule, repository)).toEqual([]);
});

/** The least number of product files of each package, so that no rule passes because it reads no file. */
const filesMin: Readonly<Record<string, number>> = {
  kit: 20,
  ...Object.fromEntries(serviceNames.map((name) => [`services/${name}`, 5])),
  gateway: 20,
  "rest-proxy": 10,
  "infra/issuer": 5,
  "infra/purger": 5,
};

test("the rules read every package's files, imports and manifest", () => {
  for (const [name, min] of Object.entries(filesMin)) {
    const modules = repository.modules.filter(({ path }) => packageOf(path) === name && isProductCode(path));
    expect(modules.length, name).toBeGreaterThanOrEqual(min);
    expect(modules.flatMap(({ imports }) => imports).length, name).toBeGreaterThanOrEqual(min);
  }
  const manifests = [...repository.manifests.keys()].filter((path) => path.startsWith("services/"));
  expect(manifests).toEqual(serviceNames.toSorted().map((name) => `services/${name}/package.json`));
});

test.each(planted.map((plant) => [plant.rule, plant.what, plant] as const))(
  "%s finds %s",
  (_, __, { rule, files, at }) => {
    const found = rules.find(({ name }) => name === rule)?.find(createRepository(files)) ?? [];
    expect(found.map(({ path, line }) => `${path}:${line}`)).toEqual(at);
  },
);

test("every rule has one planted violation", () => {
  expect(planted.map(({ rule }) => rule).toSorted()).toEqual(rules.map(({ name }) => name).toSorted());
});

test("code that resembles a violation complies with every rule", () => {
  expect(rules.flatMap((rule) => listViolations(rule, createRepository(compliant)))).toEqual([]);
});

test("a violation on disk is found, with path, line and the rule's sentence", () => {
  const root = writeRepository({
    "services/users/src/store.ts": "export const a = 1;\nconsole.log(a);\n",
    "services/users/node_modules/x/index.ts": "",
    "services/users/package.json": '{ "exports": {} }',
  });
  expect(rules.flatMap((rule) => listViolations(rule, readRepository(root)))).toEqual([
    "services/users/src/store.ts:2 calls console.log. No code writes to the console: a process logs JSON lines through @tributary/kit/process/log.",
  ]);
});

test("a file that cannot be parsed fails with its name", () => {
  expect(() => createRepository({ "kit/src/process/log.ts": "export const = 1" })).toThrow("kit/src/process/log.ts");
});
