import type { Repository, Rule, Violation } from "../repository.ts";
import { isProductCode, isTestCode, findImports } from "../repository.ts";

/** How files import each other, in every package. */
export const codeRules: readonly Rule[] = [
  {
    name: "no-cycles",
    sentence: "Files do not import each other in a cycle, not even for types.",
    find: findCycles,
  },
  {
    name: "no-barrels",
    sentence: "No barrels: no index.ts, no file of re-exports only, no `export * from`.",
    find: ({ modules }) => [
      ...findImports(modules, ({ star, target }) => star && target !== undefined),
      ...modules
        .filter(({ path, isBarrel }) => isBarrel || path.endsWith("/index.ts"))
        .map(({ path }) => ({ path, line: 1, found: "is a barrel" })),
    ],
  },
  {
    name: "imports-end-in-ts",
    sentence: "Every import of our own files names the file, with its .ts.",
    find: ({ modules }) =>
      findImports(modules, ({ target }) => target !== undefined && !/\.(?:ts|mjs|json)$/.test(target)),
  },
  {
    name: "environment-only-in-main",
    sentence: "process.env is read only in main.ts.",
    find: ({ modules }) =>
      modules
        .filter(
          ({ path }) =>
            (isProductCode(path) || path.startsWith("supergraph/")) && !isTestCode(path) && !path.endsWith("/main.ts"),
        )
        .flatMap(({ path, uses, imports }) =>
          [...uses, ...imports.map(({ specifier, line }) => ({ text: specifier, line }))]
            .filter(({ text }) => /(?:^|\.)process\.env$|^(?:node:)?process$/.test(text))
            .map(({ text, line }) => ({ path, line, found: `uses ${text}` })),
        ),
  },
];

/** Each import that closes a cycle, once. */
function findCycles({ modules }: Repository): Violation[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const done = new Set<string>();
  const violations: Violation[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (done.has(path)) return;
    for (const { target = "", line } of byPath.get(path)?.imports ?? []) {
      const start = [...trail, path].indexOf(target);
      if (start >= 0) {
        const cycle = [...trail, path].slice(start);
        violations.push({ path, line, found: `closes a cycle: ${[...cycle, target].join(" → ")}` });
      } else {
        visit(target, [...trail, path]);
      }
    }
    done.add(path);
  };
  for (const { path } of modules) visit(path, []);
  return violations;
}
