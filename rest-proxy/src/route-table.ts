import { ConfigError } from "@tributary/kit/env";
import type { Route } from "./routes.ts";
import { readSegment, writeSegment } from "./segment.ts";

/** What lies at one path in one version. */
export interface Place {
  /** By method; `HEAD` is there wherever `GET` is. */
  readonly routes: ReadonlyMap<string, Route>;
  /** The values of the path's parameters, decoded, in their order. */
  readonly params: readonly string[];
  /** Methods for `Allow`, such as `GET, HEAD, OPTIONS`. */
  readonly allow: string;
}

export interface RouteTable {
  /** The place at exactly this path; no second spelling of a path leads anywhere. */
  find(version: number, path: string): Place | undefined;
  /** The versions in which there is something at this path, ascending. */
  versionsAt(path: string): readonly number[];
  /** Every version that some route has, ascending. */
  readonly versions: readonly number[];
  /** Every service that some route names, each once. */
  readonly services: readonly string[];
}

interface Node {
  readonly literals: Map<string, Node>;
  param: Node | undefined;
  readonly routes: Map<string, Route>;
}

interface Found {
  readonly node: Node;
  readonly params: readonly string[];
}

/** @throws ConfigError naming both routes when two of them answer the same requests. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const versions = new Map<number, Node>();
  const problems: string[] = [];
  for (const route of routes) {
    for (const version of route.versions) {
      const root = versions.get(version) ?? emptyNode();
      versions.set(version, root);
      const clash = add(root, route);
      if (clash) problems.push(`${clash.id} and ${route.id} both answer ${route.method} /v${version}${route.path}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const known = [...versions.keys()].toSorted((a, b) => a - b);
  return {
    find: (version, path) => toPlace(find(versions.get(version), path)),
    versionsAt: (path) => known.filter((version) => find(versions.get(version), path)),
    versions: known,
    services: [...new Set(routes.map(({ service }) => service))].toSorted(),
  };
}

/** The one spelling of a public path: built from the table and the parameters, never from what the client sent. */
export function publicPath({ path }: Route, version: number, params: readonly string[]): string {
  if (params.length === 0) return `/v${version}${path}`;
  let next = 0;
  return `/v${version}${path.replaceAll(/:[A-Za-z0-9]+/g, () => writeSegment(params[next++] ?? ""))}`;
}

/** The service's own path for a public one. */
export function upstreamPath(path: string): string {
  return `/rest${path}`;
}

function emptyNode(): Node {
  return { literals: new Map(), param: undefined, routes: new Map() };
}

function add(root: Node, route: Route): Route | undefined {
  let node = root;
  for (const segment of route.path.slice(1).split("/")) {
    if (segment.startsWith(":")) {
      node = node.param ??= emptyNode();
      continue;
    }
    const next = node.literals.get(segment) ?? emptyNode();
    node.literals.set(segment, next);
    node = next;
  }
  const clash = node.routes.get(route.method);
  node.routes.set(route.method, route);
  if (route.method === "GET") node.routes.set("HEAD", route);
  return clash;
}

function find(root: Node | undefined, path: string): Found | undefined {
  if (!root || !path.startsWith("/")) return undefined;
  return descend(root, path.slice(1).split("/"), 0, []);
}

/** A literal goes before a parameter; the depth is bounded by the table, not by the path. */
function descend(node: Node, segments: readonly string[], depth: number, params: readonly string[]): Found | undefined {
  const segment = segments[depth];
  if (segment === undefined) return node.routes.size > 0 ? { node, params } : undefined;
  const literal = node.literals.get(segment);
  const found = literal && descend(literal, segments, depth + 1, params);
  if (found || !node.param) return found;
  const value = readSegment(segment);
  return value === undefined ? undefined : descend(node.param, segments, depth + 1, [...params, value]);
}

function toPlace(found: Found | undefined): Place | undefined {
  if (!found) return undefined;
  const { routes } = found.node;
  return { routes, params: found.params, allow: [...[...routes.keys()].toSorted(), "OPTIONS"].join(", ") };
}
