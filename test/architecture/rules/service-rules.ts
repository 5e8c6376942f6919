import type { House, Rule, Violation } from "../house.ts";
import { isProductCode, refuseImports } from "../house.ts";

/**
 * The floor plan of a service, from the street down to the cellar, and what each floor may use. `config` serves `main`. A file
 * of another name (a rule of its own, say `states.ts`) lies beside the model: floors above may use it, it uses only the model.
 */
const mayUse: Readonly<Record<string, readonly string[]>> = {
  main: ["config", "app", "graphql", "rest", "actions", "store", "model", "other"],
  config: ["model", "other"],
  app: ["config", "graphql", "rest", "actions", "store", "model", "other"],
  graphql: ["graphql", "actions", "model", "other"],
  rest: ["rest", "actions", "model", "other"],
  actions: ["actions", "store", "model", "other"],
  store: ["store", "model", "other"],
  model: ["model", "other"],
  other: ["model", "other"],
};

const sqlPattern = new RegExp(
  [
    // A sentence may hold "select … from"; a statement begins with it, or opens a bracket with it.
    String.raw`(?:^|[(;]|\bas\s)\s*select\b[^;]*?\bfrom\b`,
    String.raw`\binsert\s+into\b|\bdelete\s+from\b|\bupdate\s+\S+\s+(?:as\s+\w+\s+)?set\b|\bfor\s+update\b`,
    String.raw`\b(?:create|alter|drop|truncate)\s+(?:unique\s+)?(?:table|index|type|schema|role|database)\b`,
    String.raw`\bcopy\s+\w+[^;]*\bfrom\s+stdin\b|\bon\s+conflict\s*\(`,
  ].join("|"),
  "i",
);
const sqlPackage = /^(?:pg|pg-[\w-]+|postgres|node-pg-migrate)(?:\/|$)/;

/** Within a service, and who may speak to a database at all. */
export const serviceRules: readonly Rule[] = [
  {
    name: "service-floors",
    sentence: "In a service: main → app → graphql | rest → actions → store → model. The two doors never meet.",
    find: ({ modules }) =>
      refuseImports(
        modules.filter(({ path }) => isProductCode(path) && floorOf(path) !== undefined),
        ({ target }, { path }) => {
          const from = floorOf(path);
          const to = target === undefined ? undefined : floorOf(target);
          return from !== undefined && to !== undefined && !mayUse[from]?.includes(to);
        },
      ),
  },
  {
    name: "sql-only-in-stores",
    sentence: "Nothing but store.ts speaks SQL; the gateway and the proxy have no database.",
    find: (house) => [...findSqlTexts(house), ...findSqlPackages(house)],
  },
];

function floorOf(path: string): string | undefined {
  const [, first, nested] = /^services\/[^/]+\/src\/([\w-]+)(\/)?/.exec(path) ?? [];
  if (first === undefined) return undefined;
  const known = Object.hasOwn(mayUse, first) && (nested === undefined) !== (first === "graphql" || first === "rest");
  // A store that has outgrown one file is a folder of the same name.
  return known || (nested !== undefined && ["actions", "store", "model"].includes(first)) ? first : "other";
}

function findSqlTexts({ modules }: House): Violation[] {
  return modules
    .filter(({ path }) => isProductCode(path) && !path.startsWith("kit/") && floorOf(path) !== "store")
    .flatMap(({ path, texts }) =>
      texts
        .filter(({ text }) => isSql(text))
        .map(({ text, line }) => ({ path, line, found: `speaks SQL: ${text.trim().split("\n")[0]}` })),
    );
}

function isSql(text: string): boolean {
  const keyword = /\w+/.exec(sqlPattern.exec(text)?.[0] ?? "")?.[0] ?? "";
  // "Select a name from the list" is a sentence: statements are written in one case.
  return keyword !== "" && (keyword === keyword.toLowerCase() || keyword === keyword.toUpperCase());
}

function findSqlPackages({ modules }: House): Violation[] {
  return refuseImports(
    modules.filter(({ path }) => isProductCode(path) && !path.startsWith("kit/") && floorOf(path) !== "store"),
    ({ specifier }) => sqlPackage.test(specifier),
  );
}
