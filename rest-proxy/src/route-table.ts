import { ConfigError } from "@tributary/kit/process/env";
import type { Route } from "./routes.ts";
import { readSegment, writeSegment } from "./segment.ts";

/** What lies at one path in one version. */
export interface Place {
  /** By method; `HEAD` is there wherever `GET` is. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Its one spelling, with the version: built from the table and the parameters, never from what the client sent. */
  readonly path: string;
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
  /** What stands in its path before each parameter, and after the last one. */
  readonly pieces: readonly string[];
  readonly literals: Map<string, Node>;
  param: Node | undefined;
  readonly routes: Map<string, Route>;
  /** Written when it is first asked for. */
  allow: string | undefined;
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
      const root = versions.get(version) ?? emptyNode([`/v${version}`]);
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

/** The service's own path for a public one. */
export function upstreamPath(path: string): string {
  return `/rest${path}`;
}

function emptyNode(pieces: readonly string[]): Node {
  return { pieces, literals: new Map(), param: undefined, routes: new Map(), allow: undefined };
}

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
  const { node, params } = found;
  const { routes } = node;
  node.allow ??= [...[...routes.keys()].toSorted(), "OPTIONS"].join(", ");
  return { routes, path: spell(node.pieces, params), params, allow: node.allow };
}

function spell(pieces: readonly string[], params: readonly string[]): string {
  let path = pieces[0] ?? "";
  for (let at = 0; at < params.length; at++) path += writeSegment(params[at] ?? "") + (pieces[at + 1] ?? "");
  return path;
}
