import { priorityClasses } from "@tributary/kit/admission/priority";
import { heuristicSecondsLimit, type RouteDeclaration } from "@tributary/kit/rest/routes";
import type { CompositionError } from "../composition/composition-errors.ts";
import type { Place } from "../composition/places.ts";
import type { RouteSource } from "./route-sources.ts";

interface DeclaredRoute {
  readonly declaration: RouteDeclaration;
  readonly place: Place;
}

const methods: readonly string[] = ["GET", "POST", "PATCH", "DELETE"];
const caches: readonly string[] = ["public", "private", "none"];
const priorities: readonly string[] = priorityClasses;
const pathPattern = /^(?:\/(?:[a-z0-9][a-z0-9-]*|:[a-z][A-Za-z0-9]*))+$/;
/** Paths that the proxy handles itself; a first segment like `v1` is a version. */
const reservedPattern = /^\/(?:v\d+|health|openapi|docs|problems|graphql)(?:\/|$)/;

/** All problems that prevent merging the services' routes: every invalid declaration; if there is none, every duplicate. */
export function describeRouteProblems(sources: readonly RouteSource[]): CompositionError[] {
  const problems = sources.flatMap(describeShapeProblems);
  // A malformed declaration has no method or path to compare.
  if (problems.length > 0) return problems;
  const routes = sources.flatMap(declaredRoutesOf);
  return [
    ...describeDuplicates(routes, shapeOf, "ROUTE_DUPLICATE"),
    ...describeDuplicates(routes, idOf, "ROUTE_ID_DUPLICATE"),
  ];
}

/** Method and path without the names of parameters. Two routes with the same shape match the same requests. */
export function shapeOf({ method, path }: Pick<RouteDeclaration, "method" | "path">): string {
  return `${method} ${path.replaceAll(/:[^/]+/g, ":")}`;
}

/** Finds a route's declaration in the text of its file by its id; undefined if it is not written as `id: "…"`. */
export function findRouteLine(
  text: string,
  id: string,
): { readonly line: number; readonly column: number } | undefined {
  const lines = text.split("\n");
  const property = `id: ${JSON.stringify(id)}`;
  const index = lines.findIndex((line) => line.includes(property));
  return index < 0 ? undefined : { line: index + 1, column: (lines[index]?.indexOf(property) ?? 0) + 1 };
}

const routesMissing =
  "This file is missing. Restore it, or delete the service's service.json; a service without routes exports an empty list.";

function describeShapeProblems(source: RouteSource): CompositionError[] {
  const { text, declarations, failure } = source;
  if (text === undefined) {
    return [problemIn(source, "ROUTES_MISSING", routesMissing)];
  }
  if (!Array.isArray(declarations)) {
    return [problemIn(source, "ROUTES_INVALID", failure ?? "This file does not export a list called routes.")];
  }
  return declarations.flatMap((declaration: unknown, index) => {
    const id = idOfUnknown(declaration);
    const place = findRouteLine(text, id ?? "");
    const name = `Route ${id ?? `number ${index + 1}`}`;
    return problemsOfDeclaration(declaration).map((problem) =>
      problemIn(source, "ROUTES_INVALID", `${name}: ${problem}`, place),
    );
  });
}

function problemIn(
  { name, owner, file }: RouteSource,
  code: string,
  message: string,
  place?: { readonly line: number; readonly column: number },
): CompositionError {
  return { message, code, subgraph: name, owner, file, ...place };
}

function problemsOfDeclaration(declaration: unknown): string[] {
  // The declaration may be any value: null or a number becomes an object without members.
  const declared = { ...(declaration as Partial<RouteDeclaration>) };
  const { id, method, path, versions, query = [], cache, freshness, privateWith = [], summary } = declared;
  const { heuristicSecondsMax, priority } = declared;
  const checks: readonly (readonly [boolean, string])[] = [
    [typeof id === "string" && id !== "", "id is a name"],
    [methods.includes(String(method)), `method is one of ${methods.join(", ")}`],
    [pathPattern.test(String(path)), "path is like /books/:id/pages, without version and without a slash at the end"],
    [
      !reservedPattern.test(String(path)),
      "path does not begin with a version or with a path that the proxy handles itself",
    ],
    [isListOf(versions, isVersion) && versions.length > 0, "versions lists whole numbers from 1, ascending"],
    [isListOf(query, (name) => typeof name === "string"), "query lists the names of parameters"],
    [caches.includes(String(cache)), `cache is one of ${caches.join(", ")}`],
    [freshness === undefined || (cache !== "none" && isFreshness(freshness)), freshnessRule],
    [heuristicSecondsMax === undefined || (cache === "public" && isHeuristicBound(heuristicSecondsMax)), heuristicRule],
    [isListOf(privateWith, (name) => query.includes(String(name))), "privateWith lists names that query lists"],
    [hasValidKeyVersions(declared), "idempotencyKey lists versions of the route, which is a POST"],
    [priority === undefined || priorities.includes(priority), `priority is one of ${priorities.join(", ")}`],
    [typeof summary === "string" && summary !== "", "summary is a sentence"],
  ];
  return checks.flatMap(([holds, rule]) => (holds ? [] : [`${rule}.`]));
}

const freshnessRule =
  "freshness belongs to a route with cacheable responses, in whole seconds up to a day; sharedSeconds are at most 10, as shared caches other than the REST proxy do not follow writes";

const heuristicRule = `heuristicSecondsMax belongs to a public route, in whole seconds from 1 to ${heuristicSecondsLimit}`;

function isHeuristicBound(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= heuristicSecondsLimit;
}

function isFreshness(freshness: object): boolean {
  const names = ["browserSeconds", "sharedSeconds", "staleWhileRevalidateSeconds", "staleIfErrorSeconds"];
  const seconds: Readonly<Record<string, unknown>> = { ...freshness };
  const areSeconds = names.every((name) => Number.isInteger(seconds[name]) && Number(seconds[name]) >= 0);
  return areSeconds && names.every((name) => Number(seconds[name]) <= 86_400) && Number(seconds["sharedSeconds"]) <= 10;
}

function hasValidKeyVersions({ method, versions = [], idempotencyKey }: Partial<RouteDeclaration>): boolean {
  if (idempotencyKey === undefined) return true;
  const { optional, required } = idempotencyKey;
  const areVersions = (list: unknown) => isListOf(list, (version) => versions.includes(Number(version)));
  return method === "POST" && areVersions(optional) && areVersions(required);
}

function describeDuplicates(
  routes: readonly DeclaredRoute[],
  keyOf: (declaration: RouteDeclaration) => string,
  code: string,
): CompositionError[] {
  return [...Map.groupBy(routes, ({ declaration }) => keyOf(declaration)).values()].flatMap((same) => {
    const [first, ...others] = same;
    if (!first || others.length === 0) return [];
    const owners = [...new Set(same.map(({ place }) => place.owner))].join(" and ");
    const names = same.map(({ declaration: { id, method, path } }) => `${method} ${path} (${id})`).join(" and ");
    const message = `Declared twice: ${names}, by ${owners}. Remove or change one of them.`;
    return [{ message, code, ...first.place, elsewhere: others.map(({ place }) => place) }];
  });
}

function declaredRoutesOf({ name, owner, file, text, declarations }: RouteSource): DeclaredRoute[] {
  return (declarations as readonly RouteDeclaration[]).map((declaration) => {
    const place = {
      subgraph: name,
      owner,
      file,
      ...(findRouteLine(text ?? "", declaration.id) ?? { line: 1, column: 1 }),
    };
    return { declaration, place };
  });
}

function idOf({ id }: RouteDeclaration): string {
  return id;
}

function idOfUnknown(declaration: unknown): string | undefined {
  const { id } = { ...(declaration as { readonly id?: unknown }) };
  return typeof id === "string" ? id : undefined;
}

function isListOf(
  value: unknown,
  isItem: (item: unknown, index: number, list: readonly unknown[]) => boolean,
): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isItem);
}

function isVersion(version: unknown, index: number, list: readonly unknown[]): boolean {
  return Number.isInteger(version) && Number(version) > Number(index === 0 ? 0 : list[index - 1]);
}
