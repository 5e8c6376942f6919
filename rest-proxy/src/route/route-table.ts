/**
 * Stage 2 of 5: route. Finds the route of a path and version. `version.ts` calls it for each request; for a repeated `GET`, `route-cache.ts` has the
 * result.
 */
import type { ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { ConfigError } from "@tributary/kit/process/env";
import { decodePathParameter, encodePathParameter } from "./path-parameter.ts";
import type { Route } from "./routes.ts";

/** The routes of one path in one version. */
export interface RouteEntry {
  /** By method; `HEAD` exists wherever `GET` does. */
  readonly routes: ReadonlyMap<string, Route>;
  /** The canonical path, with the version: built from the table and the parameters, never from the client's spelling. */
  readonly path: string;
  /** The decoded values of the path parameters, in order. */
  readonly params: readonly string[];
  /** Methods for `Allow`, such as `GET, HEAD, OPTIONS`. */
  readonly allow: string;
}

export interface RouteTable {
  /**
   * The entry of a path without its version. Literal segments are case-sensitive; a path with a slash at the end or with needless encoding has none.
   */
  find(version: number, path: string): RouteEntry | undefined;
  /** The versions that have this path, ascending. */
  versionsAt(path: string): readonly number[];
  /** Every version of any route, ascending. */
  readonly versions: readonly number[];
  /** Every service of any route, each once. */
  readonly services: readonly string[];
}

/** A path of the table, or the beginning of one: a node of the tree that `descend` walks by segments. */
interface Node {
  /** The literal text before each parameter, and after the last one. */
  readonly pieces: readonly string[];
  readonly literals: Map<string, Node>;
  param: Node | undefined;
  readonly routes: Map<string, Route>;
  /** The value of `Allow`; undefined until the node is first matched. */
  allow: string | undefined;
}

interface Match {
  readonly node: Node;
  readonly params: readonly string[];
}

/** @throws ConfigError naming both routes if two of them have the same method, version and path. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const roots = new Map<number, Node>();
  const problems: string[] = [];
  for (const route of routes) {
    for (const version of route.versions) {
      const root = roots.get(version) ?? emptyNode([`/v${version}`]);
      roots.set(version, root);
      const duplicate = add(root, route);
      if (duplicate)
        problems.push(`${duplicate.id} and ${route.id} are both ${route.method} /v${version}${route.path}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const versions = [...roots.keys()].toSorted((a, b) => a - b);
  return {
    find: (version, path) => toEntry(match(roots.get(version), path)),
    versionsAt: (path) => versions.filter((version) => match(roots.get(version), path)),
    versions,
    services: [...new Set(routes.map(({ service }) => service))].toSorted(),
  };
}

/** @throws AppError METHOD_NOT_ALLOWED, after it has set `Allow` on the response. */
export function selectRoute(entry: RouteEntry, method: string, response: ServerResponse): Route {
  const route = entry.routes.get(method);
  if (route) return route;
  response.setHeader("Allow", entry.allow);
  throw methodNotAllowed(entry.allow);
}

/** @param allow the value of `Allow`, such as `GET, HEAD, OPTIONS`: at least two methods. */
export function methodNotAllowed(allow: string): AppError {
  const methods = allow.replace(/, (?=[A-Z]+$)/, " or ");
  return new AppError("METHOD_NOT_ALLOWED", `Use ${methods} for this path.`);
}

/** The path at the service, `/rest/v2/things/7`, for a canonical path with or without a query. */
export function upstreamPath(path: string): string {
  return `/rest${path}`;
}

function emptyNode(pieces: readonly string[]): Node {
  return { pieces, literals: new Map(), param: undefined, routes: new Map(), allow: undefined };
}

/** @returns the route that already has this method and path, if any. */
function add(root: Node, route: Route): Route | undefined {
  let node = root;
  for (const segment of route.path.slice(1).split("/")) {
    const before = node.pieces.slice(0, -1);
    const last = node.pieces.at(-1) ?? "";
    if (segment.startsWith(":")) {
      node = node.param ??= emptyNode([...before, `${last}/`, ""]);
      continue;
    }
    const next = node.literals.get(segment) ?? emptyNode([...before, `${last}/${segment}`]);
    node.literals.set(segment, next);
    node = next;
  }
  const duplicate = node.routes.get(route.method);
  node.routes.set(route.method, route);
  if (route.method === "GET") node.routes.set("HEAD", route);
  return duplicate;
}

function match(root: Node | undefined, path: string): Match | undefined {
  if (!root || !path.startsWith("/")) return undefined;
  return descend(root, path.slice(1).split("/"), 0, []);
}

/** A literal segment has precedence over a parameter. The depth is bounded by the table, not by the path. */
function descend(node: Node, segments: readonly string[], depth: number, params: readonly string[]): Match | undefined {
  const segment = segments[depth];
  if (segment === undefined) return node.routes.size > 0 ? { node, params } : undefined;
  const literal = node.literals.get(segment);
  const literalMatch = literal && descend(literal, segments, depth + 1, params);
  if (literalMatch || !node.param) return literalMatch;
  const value = decodePathParameter(segment);
  return value === undefined ? undefined : descend(node.param, segments, depth + 1, [...params, value]);
}

function toEntry(matched: Match | undefined): RouteEntry | undefined {
  if (!matched) return undefined;
  const { node, params } = matched;
  const { routes } = node;
  node.allow ??= [...[...routes.keys()].toSorted(), "OPTIONS"].join(", ");
  return { routes, path: canonicalPath(node.pieces, params), params, allow: node.allow };
}

function canonicalPath(pieces: readonly string[], params: readonly string[]): string {
  let path = pieces[0] ?? "";
  for (let at = 0; at < params.length; at++) path += encodePathParameter(params[at] ?? "") + (pieces[at + 1] ?? "");
  return path;
}
