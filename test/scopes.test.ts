import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./kubernetes/folders.ts";
import { serviceNames, services } from "./services.ts";

const declared = new Set(services.flatMap(({ scopes }) => Object.keys(scopes)));

test.each(services)("$name requires only declared scopes, and each scope that it declares", ({ name, scopes }) => {
  const required = findScopes(name);
  expect([...required].filter((scope) => !declared.has(scope))).toEqual([]);
  expect(Object.keys(scopes).filter((scope) => !required.has(scope))).toEqual([]);
});

/** The scopes in the code of a service: texts such as `orders:read` that begin with a service's name, without cache groups. */
function findScopes(service: string): ReadonlySet<string> {
  const files = globSync(`services/${service}/src/**/*.ts`, { cwd: root }).filter(
    (file) => !file.endsWith("/groups.ts"),
  );
  const scope = new RegExp(`(?<=")(?:${serviceNames.join("|")})(?::[a-z-]+){1,2}(?=")`, "g");
  return new Set(files.flatMap((file) => readFileSync(join(root, file), "utf8").match(scope) ?? []));
}
