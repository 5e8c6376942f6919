import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import type { ValueOrErrors } from "../composition/composition-errors.ts";
import { defaultRestPaths } from "../contract/rest-paths.ts";
import { findRouteProblems } from "./route-problems.ts";
import type { RouteSource } from "./route-sources.ts";

/** An entry of routes.json: a declaration without what only the service uses. */
export interface Route extends Omit<RouteDeclaration, "freshness" | "privateWith"> {
  readonly query: readonly string[];
  readonly service: string;
  /** Of the service's own path, if it is not `/rest/v{version}`. */
  readonly prefix?: string;
}

export type MergedRoutes = ValueOrErrors<{ readonly routes: readonly Route[] }>;

/** Sorted by path, then method; or every problem with its owner. */
export function mergeRoutes(sources: readonly RouteSource[]): MergedRoutes {
  const errors = findRouteProblems(sources);
  if (errors.length > 0) return { ok: false, errors };
  const routes = sources.flatMap(({ name, declarations, contract }) => {
    const prefix = contract?.rest.prefix ?? defaultRestPaths.prefix;
    const prefixMember = prefix === defaultRestPaths.prefix ? {} : { prefix };
    return (declarations as readonly RouteDeclaration[]).map((declaration) => ({
      ...toRoute(declaration, name),
      ...prefixMember,
    }));
  });
  return {
    ok: true,
    routes: routes.toSorted((a, b) => compare(a.path, b.path) || compare(a.method, b.method)),
  };
}

/** One route per line for readable diffs. */
export function printRoutes(routes: readonly Route[]): string {
  const lines = routes.map((route) => `    ${JSON.stringify(route)}`);
  return `{\n  "routes": [\n${lines.join(",\n")}\n  ]\n}\n`;
}

function toRoute(declaration: RouteDeclaration, service: string): Route {
  const { id, method, path, versions, query, cache, heuristicSecondsMax, idempotencyKey, priority, summary } =
    declaration;
  const heuristicMember = heuristicSecondsMax === undefined ? {} : { heuristicSecondsMax };
  const keyMember = idempotencyKey === undefined ? {} : { idempotencyKey };
  const priorityMember = priority === undefined ? {} : { priority };
  // The sequence is that of the members in routes.json.
  return {
    id,
    method,
    path,
    versions,
    query: query ?? [],
    cache,
    ...heuristicMember,
    ...keyMember,
    ...priorityMember,
    service,
    summary,
  };
}

/** By UTF-16 code units, so that the order does not depend on a locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
