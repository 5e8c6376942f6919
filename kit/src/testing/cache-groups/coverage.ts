import type { RouteDeclaration } from "../../rest/routes.ts";
import type { TestedColumn } from "./column-writes.ts";
import { findUncoveredReads } from "./graphql-reads.ts";
import { type CacheGroupsCases, findRoute, listWrites, readMutations } from "./cases.ts";

// Which parts of a service have no case.

/** @returns the routes, query parameters, mutations and columns without a case. */
export function findUncovered(
  o: CacheGroupsCases,
  columns: readonly TestedColumn[],
  urls: readonly string[],
): readonly string[] {
  const writes = listWrites(o).map(({ write }) => write);
  const requests = [
    ...urls.map((url) => `GET ${url}`),
    ...writes.flatMap((write) => ("rest" in write ? [write.rest] : [])),
  ];
  const covered = new Set(requests.flatMap((request) => findRouteCases(o.routes, request)));
  const routeCases = o.routes.flatMap(({ id, method, versions, cache, query = [] }) => {
    // Its responses are never stored, so they need no groups.
    if (method === "GET" && cache === "none") return [];
    return versions.flatMap((version) => [`v${version} ${id}`, ...query.map((name) => `v${version} ${id}?${name}`)]);
  });
  const mutated = new Set(writes.flatMap((write) => ("mutation" in write ? [write.mutation] : [])));
  const mutations = readMutations(o.schema).map(({ name }) => name.value);
  return [
    ...routeCases.filter((routeCase) => !covered.has(routeCase)),
    ...findUncoveredReads(o),
    ...mutations.filter((name) => !mutated.has(name)),
    ...columns.filter((column) => !hasCase(o.tables, column)).map(({ table, column }) => `${table}.${column}`),
  ];
}

/** `v1 listThings` and `v1 listThings?limit` for `GET /v1/things?limit=1`. A GraphQL read gets the id `unknown`, which is no route's. */
function findRouteCases(routes: readonly RouteDeclaration[], request: string): readonly string[] {
  const [, method = "", version = "", path = ""] = /^(\w+) \/(v\d+)(\/.*)$/.exec(request) ?? [];
  const id = findRoute(routes, method, path)?.id ?? "unknown";
  const names = [...new URLSearchParams(path.split("?")[1]).keys()];
  return [`${version} ${id}`, ...names.map((name) => `${version} ${id}?${name}`)];
}

function hasCase(tables: CacheGroupsCases["tables"], { table, column }: TestedColumn): boolean {
  const cases = tables[table];
  return cases === "hidden" || (cases !== undefined && Object.hasOwn(cases.update, column));
}
