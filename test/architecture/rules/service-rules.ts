import type { Repository, Rule, Violation } from "../repository.ts";
import { isProductCode, findImports } from "../repository.ts";

/**
 * The layers of a service from the top down, with the layers that each may import. A file of another name, such as `states.ts`, is
 * at the level of the model: every layer above may import it, and it imports only the model.
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
    // Prose may contain "select … from". A statement starts with it, or with a bracket before it.
    String.raw`(?:^|[(;]|\bas\s)\s*select\b[^;]*?\bfrom\b`,
    String.raw`\binsert\s+into\b|\bdelete\s+from\b|\bupdate\s+\S+\s+(?:as\s+\w+\s+)?set\b|\bfor\s+update\b`,
    String.raw`\b(?:create|alter|drop|truncate)\s+(?:unique\s+)?(?:table|index|type|schema|role|database)\b`,
    String.raw`\bcopy\s+\w+[^;]*\bfrom\s+stdin\b|\bon\s+conflict\s*\(`,
  ].join("|"),
  "i",
);
/** The folders of the kit that contain SQL: that of the kit's own tables (feed, idempotency), and of no table. */
const sqlInKit = /^kit\/src\/(?:feed|idempotency|postgres|local-postgres|testing)\//;
const sqlPackage = /^(?:pg|pg-[\w-]+|postgres|node-pg-migrate)(?:\/|$)/;

/** The layers of a service, and the modules that may access a database. */
export const serviceRules: readonly Rule[] = [
  {
    name: "service-layers",
    sentence:
      "In a service: main → app → graphql | rest → actions → store → model. The two endpoints never import each other.",
    find: ({ modules }) =>
      findImports(
        modules.filter(({ path }) => isProductCode(path) && layerOf(path) !== undefined),
        ({ target }, { path }) => {
          const from = layerOf(path);
          const to = target === undefined ? undefined : layerOf(target);
          return from !== undefined && to !== undefined && !mayUse[from]?.includes(to);
        },
      ),
  },
  {
    name: "sql-only-in-stores",
    sentence:
      "Only store.ts contains SQL, and in the kit feed, idempotency and the folders of PostgreSQL; the gateway and the REST proxy have no database.",
    find: (repository) => [...findSqlTexts(repository), ...findSqlPackages(repository)],
  },
];

function layerOf(path: string): string | undefined {
  const [, first, nested] = /^services\/[^/]+\/src\/([\w-]+)(\/)?/.exec(path) ?? [];
  if (first === undefined) return undefined;
  const known = Object.hasOwn(mayUse, first) && (nested === undefined) !== (first === "graphql" || first === "rest");
  // A store of several files is a folder of the same name.
  return known || (nested !== undefined && ["actions", "store", "model"].includes(first)) ? first : "other";
}

function findSqlTexts({ modules }: Repository): Violation[] {
  return modules
    .filter(({ path }) => isProductCode(path) && !sqlInKit.test(path) && layerOf(path) !== "store")
    .flatMap(({ path, texts }) =>
      texts
        .filter(({ text }) => isSql(text))
        .map(({ text, line }) => ({ path, line, found: `contains SQL: ${text.trim().split("\n")[0]}` })),
    );
}

function isSql(text: string): boolean {
  const keyword = /\w+/.exec(sqlPattern.exec(text)?.[0] ?? "")?.[0] ?? "";
  // "Select a name from the list" is prose: a statement has its keywords in one case.
  return keyword !== "" && (keyword === keyword.toLowerCase() || keyword === keyword.toUpperCase());
}

function findSqlPackages({ modules }: Repository): Violation[] {
  return findImports(
    modules.filter(({ path }) => isProductCode(path) && !path.startsWith("kit/") && layerOf(path) !== "store"),
    ({ specifier }) => sqlPackage.test(specifier),
  );
}
