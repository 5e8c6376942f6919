/** Stage 2 of 5: route. Finds the route of a path and version. */
import type { ServerResponse } from "node:http";
import { AppError } from "@tributary/kit/errors/app-error";
import { ConfigError } from "@tributary/kit/process/env";
import { decodePathParameter, encodePathParameter } from "./path-parameter.ts";
import type { Route } from "./routes.ts";

export interface RouteEntry {
  /** `HEAD` exists wherever `GET` does. */
  readonly routes: ReadonlyMap<string, Route>;
  /** Canonical, with the version: never the client's spelling. */
  readonly path: string;
  readonly params: readonly string[];
  /** Such as `GET, HEAD, OPTIONS`. */
  readonly allow: string;
}

export interface RouteTable {
  /** @param path without its version. Literal segments are case-sensitive; a slash at the end or needless encoding matches nothing. */
  find(version: number, path: string): RouteEntry | undefined;
  versionsAt(path: string): readonly number[];
  /** Of any route, ascending. */
  readonly versions: readonly number[];
  readonly services: readonly string[];
}

/** A path of the table, or the beginning of one. */
interface Node {
  /** Before each parameter and after the last one: `/v2/things/` and `/parts` for `/things/:id/parts` in version 2. */
  readonly literalTexts: readonly string[];
  readonly literalChildren: Map<string, Node>;
  parameterChild: Node | undefined;
  /** Empty if the node is only the beginning of paths. */
  readonly routes: Map<string, Route>;
  /** Undefined until the node is first matched. */
  allow: string | undefined;
}

interface Match {
  readonly node: Node;
  readonly params: readonly string[];
}

const lastSeparator = /, (?=[A-Z]+$)/;

/** @throws ConfigError naming two routes with the same method, version and path. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const roots = new Map<number, Node>();
  const problems: string[] = [];
  for (const route of routes) {
    for (const version of route.versions) {
      const root = roots.get(version) ?? emptyNode([`/v${version}`]);
      roots.set(version, root);
      const duplicate = addRoute(root, route);
      if (duplicate) {
        problems.push(`${duplicate.id} and ${route.id} are both ${route.method} /v${version}${route.path}`);
      }
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const versions = [...roots.keys()].toSorted((a, b) => a - b);
  const services = new Set(routes.map(({ service }) => service));
  return {
    find(version, path) {
      const match = findMatch(roots.get(version), path);
      return match ? toEntry(match) : undefined;
    },
    versionsAt: (path) => versions.filter((version) => findMatch(roots.get(version), path) !== undefined),
    versions,
    services: [...services].toSorted(),
  };
}

/** @throws AppError METHOD_NOT_ALLOWED, after it has set `Allow`. */
export function selectRoute(entry: RouteEntry, method: string, response: ServerResponse): Route {
  const route = entry.routes.get(method);
  if (route) return route;
  response.setHeader("Allow", entry.allow);
  throw methodNotAllowed(entry.allow);
}

export function methodNotAllowed(allow: string): AppError {
  const methods = allow.replace(lastSeparator, " or ");
  return new AppError("METHOD_NOT_ALLOWED", `Use ${methods} for this path.`);
}

/** @param path canonical, with its version, with or without a query. */
export function upstreamPath(path: string, route: Pick<Route, "prefix">, version: number): string {
  return upstreamPrefix(route, version) + path.slice(`/v${version}`.length);
}

/**
 * The path for clients that a service means in `Location`, `Content-Location` or `Link`. Services of the default prefix send the paths of clients
 * themselves. A URL with another host than the service's own is left as it is.
 * @param readOrigins of the service: frameworks make a URL of the `Host` that they get, which clients cannot reach.
 */
export function clientPath(
  reference: string,
  { prefix }: Pick<Route, "prefix">,
  version: number,
  readOrigins: () => readonly string[],
): string {
  if (prefix === undefined) return reference;
  const origin = /^https?:/i.test(reference)
    ? readOrigins().find((candidate) => reference.startsWith(`${candidate}/`))
    : undefined;
  const path = origin === undefined ? reference : reference.slice(origin.length);
  const beginning = `${upstreamPrefix({ prefix }, version)}/`;
  const isOfPrefix = path.startsWith(beginning) && !path.startsWith("//");
  return isOfPrefix ? `/v${version}/${path.slice(beginning.length)}` : reference;
}

function upstreamPrefix({ prefix = "/rest/v{version}" }: Pick<Route, "prefix">, version: number): string {
  return prefix.replaceAll("{version}", String(version));
}

function emptyNode(literalTexts: readonly string[]): Node {
  return {
    literalTexts,
    literalChildren: new Map(),
    parameterChild: undefined,
    routes: new Map(),
    allow: undefined,
  };
}

function addRoute(root: Node, route: Route): Route | undefined {
  let node = root;
  for (const segment of route.path.slice(1).split("/")) {
    const earlierTexts = node.literalTexts.slice(0, -1);
    const lastText = node.literalTexts.at(-1) ?? "";
    if (segment.startsWith(":")) {
      node.parameterChild ??= emptyNode([...earlierTexts, `${lastText}/`, ""]);
      node = node.parameterChild;
      continue;
    }
    const child = node.literalChildren.get(segment) ?? emptyNode([...earlierTexts, `${lastText}/${segment}`]);
    node.literalChildren.set(segment, child);
    node = child;
  }
  const duplicate = node.routes.get(route.method);
  node.routes.set(route.method, route);
  if (route.method === "GET") node.routes.set("HEAD", route);
  return duplicate;
}

function findMatch(root: Node | undefined, path: string): Match | undefined {
  if (!root || !path.startsWith("/")) return undefined;
  return descend(root, path.slice(1).split("/"), 0, []);
}

/** A literal segment has precedence over a parameter. The depth is bounded by the table, not by the path. */
function descend(node: Node, segments: readonly string[], depth: number, params: readonly string[]): Match | undefined {
  const segment = segments[depth];
  if (segment === undefined) return node.routes.size > 0 ? { node, params } : undefined;
  const literalChild = node.literalChildren.get(segment);
  const literalMatch = literalChild && descend(literalChild, segments, depth + 1, params);
  if (literalMatch) return literalMatch;
  if (!node.parameterChild) return undefined;
  const value = decodePathParameter(segment);
  if (value === undefined) return undefined;
  return descend(node.parameterChild, segments, depth + 1, [...params, value]);
}

function toEntry({ node, params }: Match): RouteEntry {
  const { routes } = node;
  node.allow ??= toAllow(routes.keys());
  return { routes, path: canonicalPath(node.literalTexts, params), params, allow: node.allow };
}

export function toAllow(methods: Iterable<string>): string {
  const sortedMethods = [...methods].toSorted();
  return [...sortedMethods, "OPTIONS"].join(", ");
}

function canonicalPath(literalTexts: readonly string[], params: readonly string[]): string {
  let path = literalTexts[0] ?? "";
  for (let at = 0; at < params.length; at++) {
    const parameter = encodePathParameter(params[at] ?? "");
    const textAfter = literalTexts[at + 1] ?? "";
    path += parameter + textAfter;
  }
  return path;
}
