import type { Change, ChangePlace } from "./changes.ts";
import { findRoutePosition, shapeOf } from "../routes/route-problems.ts";
import type { Route } from "../routes/routes.ts";
import type { Subgraph } from "../subgraphs.ts";

export interface RouteState {
  readonly routes: readonly Route[];
  read(path: string): string | undefined;
}

interface ComparedRoutes {
  readonly base: RouteState;
  readonly now: RouteState;
  readonly subgraphs: readonly Subgraph[];
}

/** The names of path parameters are not part of the contract. */
export function findRouteChanges(base: RouteState, now: RouteState, subgraphs: readonly Subgraph[]): Change[] {
  const currentRoutes = new Map(now.routes.map((route) => [shapeOf(route), route]));
  return base.routes.flatMap((route) => {
    const successor = currentRoutes.get(shapeOf(route));
    const changes = successor ? findRemovedParts(route, successor) : [describeRemoval(route)];
    const places = placesOf(successor ?? route, { base, now, subgraphs });
    return changes.map((change) => ({ ...change, level: "breaking" as const, places }));
  });
}

/** @param id an OpenAPI `operationId`. */
export function findRoutePlaces(
  id: string,
  base: RouteState,
  now: RouteState,
  subgraphs: readonly Subgraph[],
): readonly ChangePlace[] {
  const route = [...now.routes, ...base.routes].find((candidate) => candidate.id === id);
  return route === undefined ? [] : placesOf(route, { base, now, subgraphs });
}

type RouteChange = Pick<Change, "code" | "subject" | "message" | "advice">;

function describeRemoval({ method, path }: Route): RouteChange {
  const advice = "keep the route, or retire a whole version with Deprecation and Sunset.";
  const subject = `${method} ${path}`;
  return { code: "ROUTE_REMOVED", subject, message: `Route ${subject} was removed.`, advice };
}

function findRemovedParts(before: Route, after: Route): RouteChange[] {
  const name = `${before.method} ${before.path}`;
  const versions = before.versions.filter((version) => !after.versions.includes(version));
  const parameters = before.query.filter((parameter) => !after.query.includes(parameter));
  return [
    ...versions.map((version) => ({
      code: "ROUTE_VERSION_REMOVED",
      subject: `${name} v${version}`,
      message: `Route ${name} is no longer served in v${version}.`,
      advice: "keep the version until its sunset has passed.",
    })),
    ...parameters.map((parameter) => ({
      code: "ROUTE_PARAMETER_REMOVED",
      subject: `${name} ?${parameter}`,
      message: `Route ${name} no longer accepts the query parameter ${parameter}: requests with it get 400.`,
      advice: "keep the parameter; add the new one beside it.",
    })),
  ];
}

/** If neither file has the id, the place is line 1 of the base's file. The place in a contract is line 1: the id may be in its overlay. */
function placesOf({ service, id }: Route, { base, now, subgraphs }: ComparedRoutes): ChangePlace[] {
  const subgraph = subgraphs.find(({ name }) => name === service);
  if (!subgraph) return [];
  const { owner, folder, external } = subgraph;
  if (external)
    return [{ subgraph: service, owner, file: `${folder}/openapi.yaml`, line: 1, column: 1, onlyInBase: false }];
  const file = `${folder}/src/rest/routes.ts`;
  const current = findRoutePosition(now.read(file) ?? "", id);
  if (current) return [{ subgraph: service, owner, file, ...current, onlyInBase: false }];
  const former = findRoutePosition(base.read(file) ?? "", id);
  const { line, column } = former ?? { line: 1, column: 1 };
  return [{ subgraph: service, owner, file, line, column, onlyInBase: true }];
}
