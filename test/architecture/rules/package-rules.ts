import type { Rule } from "../repository.ts";
import { isProductCode, isTestCode, packageOf, findImports } from "../repository.ts";

/** Which packages may import which. */
export const packageRules: readonly Rule[] = [
  {
    name: "packages-import-only-the-kit",
    sentence: "Of this repository, services, gateway, rest-proxy and infra import only @tributary/kit/<module>.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => /^(?:services|gateway|rest-proxy|infra)\//.test(path)),
        ({ specifier, target }, { path }) =>
          target === undefined
            ? specifier.startsWith("@tributary/") && !/^@tributary\/kit\/[\w/-]+$/.test(specifier)
            : packageOf(target) !== packageOf(path) && !(isTestCode(path) && isTestCode(target)),
      ),
  },
  {
    name: "kit-imports-no-package",
    sentence: "The kit imports no other package of this repository.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => path.startsWith("kit/")),
        ({ specifier, target }) =>
          specifier.startsWith("@tributary/") || (target !== undefined && packageOf(target) !== "kit"),
      ),
  },
  {
    name: "supergraph-imports-only-the-kit",
    sentence:
      "The supergraph's tools read schemas and routes as data: of this repository they import only @tributary/kit/<module>.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => path.startsWith("supergraph/") && !isTestCode(path)),
        ({ specifier, target }) =>
          target === undefined
            ? specifier.startsWith("@tributary/") && !specifier.startsWith("@tributary/kit/")
            : packageOf(target) !== "supergraph",
      ),
  },
  {
    name: "no-test-code-in-production",
    sentence: "Production code imports no test code.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => isProductCode(path)),
        ({ specifier, target }) =>
          target === undefined ? /^@tributary\/kit\/testing\b/.test(specifier) : isTestCode(target),
      ),
  },
  {
    name: "services-export-nothing",
    sentence: 'Each service has "exports": {} in its package.json: no package imports a service.',
    find: ({ manifests }) =>
      [...manifests].flatMap(([path, manifest]) => {
        const { exports } = manifest as { readonly exports?: unknown };
        const closed = typeof exports === "object" && exports !== null && Object.keys(exports).length === 0;
        if (closed || !/^services\/[^/]+\/package\.json$/.test(path)) return [];
        return [{ path, line: 1, found: `has "exports": ${JSON.stringify(exports)}` }];
      }),
  },
];
