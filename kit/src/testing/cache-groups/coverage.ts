import type { RouteDeclaration } from "../../rest/routes.ts";
import type { TestedColumn } from "./column-writes.ts";
import { findUncoveredReads } from "./graphql-reads.ts";
import { type CacheGroupsCases, findRoute, listWrites, readMutations } from "./cases.ts";

/** Each begins with the member of the declaration to which a case has to be added. */
export function findUncovered(
  cases: CacheGroupsCases,
  columns: readonly TestedColumn[],
  urls: readonly string[],
): readonly string[] {
  const writes = listWrites(cases).map(({ write }) => write);
  const restWrites = writes.flatMap((write) => ("rest" in write ? [write.rest] : []));
  const requests = [...urls.map((url) => `GET ${url}`), ...restWrites];
  const covered = new Set(requests.flatMap((request) => findRouteCases(cases.routes, request)));
  const mutated = new Set(writes.flatMap((write) => ("mutation" in write ? [write.mutation] : [])));
  const mutations = readMutations(cases.schema).map(({ name }) => name.value);
  const uncoveredColumns = columns.filter((column) => !hasCase(cases.tables, column));
  return [
    ...cases.routes.flatMap((route) =>
      listRouteCases(route)
        .filter((routeCase) => !covered.has(routeCase))
        .map((routeCase) => `${route.method === "GET" ? "reads" : "writes.visible or .hidden"}: ${routeCase}`),
    ),
    ...findUncoveredReads(cases),
    ...mutations.filter((name) => !mutated.has(name)).map((name) => `writes.visible or .hidden: ${name}`),
    ...uncoveredColumns.map(({ table, column }) => `tables.${table}.update: ${column}`),
  ];
}

/** The cases that a route needs: `v1 listThings` and `v1 listThings?limit`, for each of its versions. */
function listRouteCases({ id, method, versions, cache, query = [] }: RouteDeclaration): readonly string[] {
  if (method === "GET" && cache === "none") return [];
  return versions.flatMap((version) => [`v${version} ${id}`, ...query.map((name) => `v${version} ${id}?${name}`)]);
}

/** Method, version, and path with query. */
const requestPattern = /^(\w+) \/(v\d+)(\/.*)$/;

/** A GraphQL read gets the id `unknown`, which no route has. */
function findRouteCases(routes: readonly RouteDeclaration[], request: string): readonly string[] {
  const [, method = "", version = "", path = ""] = requestPattern.exec(request) ?? [];
  const id = findRoute(routes, method, path)?.id ?? "unknown";
  const [, query] = path.split("?");
  const names = [...new URLSearchParams(query).keys()];
  return [`${version} ${id}`, ...names.map((name) => `${version} ${id}?${name}`)];
}

function hasCase(tables: CacheGroupsCases["tables"], { table, column }: TestedColumn): boolean {
  const tableCases = tables[table];
  if (tableCases === undefined) return false;
  // `hidden`: no response that shared caches may store has data of the table.
  return tableCases === "hidden" || Object.hasOwn(tableCases.update, column);
}
