import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import type { CompositionError } from "../composition/composition-errors.ts";
import { describeRouteProblems } from "./route-problems.ts";
import type { RouteSource } from "./route-sources.ts";

/** A route of routes.json: what its service declared, and which service that is. */
export interface Route extends Omit<RouteDeclaration, "freshness" | "privateWith"> {
  readonly query: readonly string[];
  readonly service: string;
}

export type MergedRoutes =
  | { readonly ok: true; readonly routes: readonly Route[] }
  | { readonly ok: false; readonly errors: readonly CompositionError[] };

/** One list of routes from all services', sorted by path, then method; or every problem, with its owners. */
export function mergeRoutes(sources: readonly RouteSource[]): MergedRoutes {
  const errors = describeRouteProblems(sources);
  if (errors.length > 0) return { ok: false, errors };
  const routes = sources.flatMap(({ name, declarations }) =>
    (declarations as readonly RouteDeclaration[]).map((one) => toRoute(one, name)),
  );
  return {
    ok: true,
    routes: routes.toSorted((a, b) => compare(a.path, b.path) || compare(a.method, b.method)),
  };
}

/** The bytes of supergraph/routes.json: a route a line, so that a diff shows routes. */
export function printRoutes(routes: readonly Route[]): string {
  const lines = routes.map((route) => `    ${JSON.stringify(route)}`);
  return `{\n  "routes": [\n${lines.join(",\n")}\n  ]\n}\n`;
}

/** What the proxy reads; the rest of a declaration is the service's own business. */
function toRoute(declaration: RouteDeclaration, service: string): Route {
  const { id, method, path, versions, query, cache, idempotencyKey, summary } = declaration;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  return { id, method, path, versions, query: query ?? [], cache, ...key, service, summary };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
