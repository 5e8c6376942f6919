import { priorityClasses } from "@tributary/kit/admission/priority";
import { heuristicSecondsLimit, type RouteDeclaration } from "@tributary/kit/rest/routes";
import type { CompositionError } from "../composition/composition-errors.ts";
import type { Place } from "../composition/places.ts";
import type { RouteSource } from "./route-sources.ts";

interface DeclaredRoute {
  readonly declaration: RouteDeclaration;
  readonly place: Place;
}

interface RoutePosition {
  readonly line: number;
  readonly column: number;
}

const methods: readonly unknown[] = ["GET", "POST", "PATCH", "DELETE"];
const caches: readonly unknown[] = ["public", "private", "none"];
const priorities: readonly unknown[] = priorityClasses;
const pathPattern = /^(?:\/(?:[a-z0-9][a-z0-9-]*|:[a-z][A-Za-z0-9]*))+$/;
/** Paths that the proxy handles itself; a first segment like `v1` is a version. */
const reservedPattern = /^\/(?:v\d+|health|openapi|docs|problems|graphql)(?:\/|$)/;

const freshnessNames = ["browserSeconds", "sharedSeconds", "staleWhileRevalidateSeconds", "staleIfErrorSeconds"];
const freshnessSecondsLimit = 86_400;
const sharedSecondsLimit = 10;
const freshnessRule =
  "freshness belongs to a route with cacheable responses, in whole seconds up to a day; sharedSeconds are at most 10, as shared caches other than the REST proxy do not follow writes";
const heuristicRule = `heuristicSecondsMax belongs to a public route, in whole seconds from 1 to ${heuristicSecondsLimit}`;
const routesMissing =
  "This file is missing. Restore it, or delete the service's service.json; a service without routes exports an empty list.";

/** All problems that prevent merging the services' routes: every invalid declaration; if there is none, every duplicate. */
export function findRouteProblems(sources: readonly RouteSource[]): CompositionError[] {
  const problems = sources.flatMap(findInvalidDeclarations);
  // A malformed declaration has no method or path to compare.
  if (problems.length > 0) return problems;
  const routes = sources.flatMap(declaredRoutesOf);
  return [...findDuplicates(routes, shapeOf, "ROUTE_DUPLICATE"), ...findDuplicates(routes, idOf, "ROUTE_ID_DUPLICATE")];
}

/** Two routes with the same shape match the same requests. */
export function shapeOf({ method, path }: Pick<RouteDeclaration, "method" | "path">): string {
  return `${method} ${path.replaceAll(/:[^/]+/g, ":")}`;
}

/** Undefined if the id is not written as `id: "…"`. */
export function findRoutePosition(text: string, id: string): RoutePosition | undefined {
  const property = `id: ${JSON.stringify(id)}`;
  for (const [index, line] of text.split("\n").entries()) {
    const start = line.indexOf(property);
    if (start >= 0) return { line: index + 1, column: start + 1 };
  }
  return undefined;
}

function findInvalidDeclarations(source: RouteSource): CompositionError[] {
  const { text, declarations, failure, contractProblems = [] } = source;
  if (text === undefined) {
    return [problemIn(source, "ROUTES_MISSING", routesMissing)];
  }
  if (!Array.isArray(declarations)) {
    return [problemIn(source, "ROUTES_INVALID", failure ?? "This file does not export a list called routes.")];
  }
  const problems = declarations.flatMap((declaration: unknown, index) => {
    const id = idOfUnknown(declaration);
    const position = id === undefined ? undefined : positionOf(source, id);
    const name = `Route ${id ?? `number ${index + 1}`}`;
    return listBrokenRules(declaration).map((rule) =>
      problemIn(source, "ROUTES_INVALID", `${name}: ${rule}`, position),
    );
  });
  return [...contractProblems, ...problems];
}

function positionOf({ text, positions }: RouteSource, id: string): RoutePosition | undefined {
  return positions ? positions.get(id) : findRoutePosition(text ?? "", id);
}

function problemIn(
  { name, owner, file }: RouteSource,
  code: string,
  message: string,
  position?: RoutePosition,
): CompositionError {
  return { message, code, subgraph: name, owner, file, ...position };
}

/** TypeScript does not check the services when they are composed. */
type UncheckedDeclaration = { readonly [Name in keyof RouteDeclaration]?: unknown };

function listBrokenRules(declaration: unknown): string[] {
  const declared: UncheckedDeclaration = { ...(declaration as object) };
  const { id, method, path, cache, freshness, heuristicSecondsMax, priority, summary } = declared;
  const versions = toList(declared.versions);
  const query = toList(declared.query);
  const hasSharedCache = cache === "public";
  const hasCache = hasSharedCache || cache === "private";
  const idempotencyKeyVersions = declared.idempotencyKey;
  const isObeyed: Readonly<Record<string, boolean>> = {
    "id is a name": isText(id),
    [`method is one of ${methods.join(", ")}`]: methods.includes(method),
    "path is like /books/:id/pages, without version and without a slash at the end":
      isText(path) && pathPattern.test(path),
    "path does not begin with a version or with a path that the proxy handles itself":
      !isText(path) || !reservedPattern.test(path),
    "versions lists whole numbers from 1, ascending":
      versions !== undefined && versions.length > 0 && versions.every(isVersion),
    "query lists the names of parameters": declared.query === undefined || query?.every(isText) === true,
    [`cache is one of ${caches.join(", ")}`]: caches.includes(cache),
    [freshnessRule]: freshness === undefined || (hasCache && isFreshness(freshness)),
    [heuristicRule]: heuristicSecondsMax === undefined || (hasSharedCache && isHeuristicLimit(heuristicSecondsMax)),
    "privateWith lists names that query lists":
      declared.privateWith === undefined || isSubset(declared.privateWith, query ?? []),
    "idempotencyKey lists versions of the route, which is a POST":
      idempotencyKeyVersions === undefined || hasValidKeyVersions(idempotencyKeyVersions, method, versions ?? []),
    [`priority is one of ${priorities.join(", ")}`]: priority === undefined || priorities.includes(priority),
    "summary is a sentence": isText(summary),
  };
  const broken = Object.entries(isObeyed).filter(([, obeyed]) => !obeyed);
  return broken.map(([rule]) => `${rule}.`);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function toList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Above the version before it in the list; the first one is at least 1. */
function isVersion(version: unknown, index: number, versions: readonly unknown[]): boolean {
  const previous = index === 0 ? 0 : Number(versions[index - 1]);
  return isIntegerFrom(previous + 1, version);
}

function isIntegerFrom(min: number, value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= min;
}

function isHeuristicLimit(seconds: unknown): boolean {
  return isIntegerFrom(1, seconds) && seconds <= heuristicSecondsLimit;
}

function isFreshness(freshness: unknown): boolean {
  const seconds: Readonly<Record<string, unknown>> = { ...(freshness as object) };
  return freshnessNames.every((name) => {
    const limit = name === "sharedSeconds" ? sharedSecondsLimit : freshnessSecondsLimit;
    const value = seconds[name];
    return isIntegerFrom(0, value) && value <= limit;
  });
}

function hasValidKeyVersions(idempotencyKey: unknown, method: unknown, versions: readonly unknown[]): boolean {
  const { optional, required } = {
    ...(idempotencyKey as { readonly optional?: unknown; readonly required?: unknown }),
  };
  return method === "POST" && isSubset(optional, versions) && isSubset(required, versions);
}

function isSubset(value: unknown, all: readonly unknown[]): boolean {
  return Array.isArray(value) && value.every((item) => all.includes(item));
}

function findDuplicates(
  routes: readonly DeclaredRoute[],
  keyOf: (declaration: RouteDeclaration) => string,
  code: string,
): CompositionError[] {
  const routesByKey = Map.groupBy(routes, ({ declaration }) => keyOf(declaration));
  return [...routesByKey.values()].flatMap((duplicates) => {
    const [first, ...others] = duplicates;
    if (!first || others.length === 0) return [];
    const owners = [...new Set(duplicates.map(({ place }) => place.owner))].join(" and ");
    const declarations = duplicates.map(({ declaration }) => declaration);
    const names = declarations.map(({ id, method, path }) => `${method} ${path} (${id})`).join(" and ");
    const message = `Declared twice: ${names}, by ${owners}. Remove or change one of them.`;
    return [{ message, code, ...first.place, elsewhere: others.map(({ place }) => place) }];
  });
}

function declaredRoutesOf(source: RouteSource): DeclaredRoute[] {
  const { name, owner, file, declarations } = source;
  return (declarations as readonly RouteDeclaration[]).map((declaration) => {
    const { line, column } = positionOf(source, declaration.id) ?? { line: 1, column: 1 };
    return { declaration, place: { subgraph: name, owner, file, line, column } };
  });
}

function idOf({ id }: RouteDeclaration): string {
  return id;
}

function idOfUnknown(declaration: unknown): string | undefined {
  const { id } = { ...(declaration as { readonly id?: unknown }) };
  return typeof id === "string" ? id : undefined;
}
