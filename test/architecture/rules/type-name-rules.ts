import { isProductCode, packageOf, type Repository, type Rule, type Violation } from "../repository.ts";

/** The packages that are read together: a service has its types' names in common with the other services. */
const readTogether = new Set(["kit", "gateway", "rest-proxy"]);

export const typeNameRules: readonly Rule[] = [
  {
    name: "unique-type-names",
    sentence: "An exported type has a name of its own within its package, and across kit, gateway and rest-proxy.",
    find: findRepeatedTypeNames,
  },
];

/** One violation for each declaration after the first one of a name. */
function findRepeatedTypeNames({ modules }: Repository): Violation[] {
  const firstPaths = new Map<string, string>();
  return modules
    .filter(({ path }) => isProductCode(path))
    .flatMap(({ path, exportedTypes }) =>
      exportedTypes.flatMap(({ text, line }) => {
        const owner = packageOf(path);
        const key = `${readTogether.has(owner) ? "kit, gateway, rest-proxy" : owner}: ${text}`;
        const firstPath = firstPaths.get(key);
        if (firstPath === undefined) firstPaths.set(key, path);
        return firstPath === undefined ? [] : [{ path, line, found: `exports ${text}, as ${firstPath} does` }];
      }),
    );
}
