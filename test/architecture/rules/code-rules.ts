import type { House, Rule, Violation } from "../house.ts";
import { isProductCode, isTestCode, refuseImports } from "../house.ts";

/** Everywhere: how files import one another. */
export const codeRules: readonly Rule[] = [
  {
    name: "no-cycles",
    sentence: "No cycles, not even of types.",
    find: findCycles,
  },
  {
    name: "no-barrels",
    sentence: "No barrels: no index.ts, no file that only passes on what others export, no `export * from`.",
    find: ({ modules }) => [
      ...refuseImports(modules, ({ star, target }) => star && target !== undefined),
      ...modules
        .filter(({ path, passesOnOnly }) => passesOnOnly || path.endsWith("/index.ts"))
        .map(({ path }) => ({ path, line: 1, found: "is a barrel" })),
    ],
  },
  {
    name: "imports-end-in-ts",
    sentence: "Every import of our own files names the file, with its .ts.",
    find: ({ modules }) =>
      refuseImports(modules, ({ target }) => target !== undefined && !/\.(?:ts|mjs|json)$/.test(target)),
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

/** Every import that closes a circle, reported once, at the file of the circle that comes first. */
function findCycles({ modules }: House): Violation[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const done = new Set<string>();
  const violations: Violation[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (done.has(path)) return;
    for (const { target = "", line } of byPath.get(path)?.imports ?? []) {
      const start = [...trail, path].indexOf(target);
      if (start >= 0) {
        const circle = [...trail, path].slice(start);
        violations.push({ path, line, found: `closes a circle: ${[...circle, target].join(" → ")}` });
      } else {
        visit(target, [...trail, path]);
      }
    }
    done.add(path);
  };
  for (const { path } of modules) visit(path, []);
  return violations;
}
