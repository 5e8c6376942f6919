import type { Rule } from "../house.ts";
import { isProductCode, isTestCode, packageOf, refuseImports } from "../house.ts";

/** Between packages: who may know whom. */
export const packageRules: readonly Rule[] = [
  {
    name: "packages-know-only-the-kit",
    sentence: "Services, gateway, rest-proxy and infra import of ours only @tributary/kit/<tool>.",
    find: ({ modules }) =>
      refuseImports(
        modules.filter(({ path }) => /^(?:services|gateway|rest-proxy|infra)\//.test(path)),
        ({ specifier, target }, { path }) =>
          target === undefined
            ? specifier.startsWith("@tributary/") && !/^@tributary\/kit\/[\w/-]+$/.test(specifier)
            : packageOf(target) !== packageOf(path) && !(isTestCode(path) && isTestCode(target)),
      ),
  },
  {
    name: "kit-knows-nobody",
    sentence: "The kit imports nothing of ours.",
    find: ({ modules }) =>
      refuseImports(
        modules.filter(({ path }) => path.startsWith("kit/")),
        ({ specifier, target }) =>
          specifier.startsWith("@tributary/") || (target !== undefined && packageOf(target) !== "kit"),
      ),
  },
  {
    name: "supergraph-knows-only-the-kit",
    sentence: "The supergraph's tools know schemas and routes as data: of ours they import only @tributary/kit/<tool>.",
    find: ({ modules }) =>
      refuseImports(
        modules.filter(({ path }) => path.startsWith("supergraph/") && !isTestCode(path)),
        ({ specifier, target }) =>
          target === undefined
            ? specifier.startsWith("@tributary/") && !specifier.startsWith("@tributary/kit/")
            : packageOf(target) !== "supergraph",
      ),
  },
  {
    name: "no-test-code-in-production",
    sentence: "What runs in production imports no test code.",
    find: ({ modules }) =>
      refuseImports(
        modules.filter(({ path }) => isProductCode(path)),
        ({ specifier, target }) =>
          target === undefined ? /^@tributary\/kit\/testing\b/.test(specifier) : isTestCode(target),
      ),
  },
  {
    name: "services-export-nothing",
    sentence: 'Each service says "exports": {} in its package.json: nobody imports a service.',
    find: ({ manifests }) =>
      [...manifests].flatMap(([path, manifest]) => {
        const { exports } = manifest as { readonly exports?: unknown };
        const closed = typeof exports === "object" && exports !== null && Object.keys(exports).length === 0;
        if (closed || !/^services\/[^/]+\/package\.json$/.test(path)) return [];
        return [{ path, line: 1, found: `says "exports": ${JSON.stringify(exports)}` }];
      }),
  },
];
