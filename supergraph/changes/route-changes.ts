import type { Change, ChangePlace } from "./changes.ts";
import { findRouteLine, shapeOf } from "../routes/route-problems.ts";
import type { Route } from "../routes/routes.ts";
import type { Subgraph } from "../subgraphs.ts";

/** The routes of one state, and the text of each service's src/rest/routes.ts for line numbers. */
export interface RouteState {
  readonly routes: readonly Route[];
  /** Text by path from the root; undefined where there is no such file. */
  read(path: string): string | undefined;
}

/** What a client of the REST door can no longer call. Parameters' names in a path are no part of the contract. */
export function findRouteChanges(base: RouteState, now: RouteState, teams: readonly Subgraph[]): Change[] {
  const standing = new Map(now.routes.map((route) => [shapeOf(route), route]));
  return base.routes.flatMap((route) => {
    const successor = standing.get(shapeOf(route));
    const losses = successor ? lossesOf(route, successor) : [removalOf(route)];
    const places = placesOf(successor ?? route, { base, now, teams });
    return losses.map((loss) => Object.assign({ level: "breaking" as const, places }, loss));
  });
}

/** Where the route of an id is declared, or was. */
export function findRoutePlaces(
  id: string,
  base: RouteState,
  now: RouteState,
  teams: readonly Subgraph[],
): readonly ChangePlace[] {
  const route = [...now.routes, ...base.routes].find((one) => one.id === id);
  return route === undefined ? [] : placesOf(route, { base, now, teams });
}

type Loss = Pick<Change, "code" | "subject" | "message" | "advice">;

function removalOf({ method, path }: Route): Loss {
  const advice = "keep the route; retire a whole version by its Deprecation and Sunset.";
  const subject = `${method} ${path}`;
  return { code: "ROUTE_REMOVED", subject, message: `Route ${method} ${path} was removed.`, advice };
}

function lossesOf(before: Route, after: Route): Loss[] {
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
      message: `Route ${name} no longer knows the query parameter ${parameter}: requests with it get 400.`,
      advice: "keep the parameter; add the new one beside it.",
    })),
  ];
}

function placesOf(
  { service, id }: Route,
  { base, now, teams }: { readonly base: RouteState; readonly now: RouteState; readonly teams: readonly Subgraph[] },
): ChangePlace[] {
  const team = teams.find(({ name }) => name === service);
  if (!team) return [];
  const file = `${team.folder}/src/rest/routes.ts`;
  const place = { subgraph: service, owner: team.owner, file };
  const standing = findRouteLine(now.read(file) ?? "", id);
  if (standing) return [{ ...place, ...standing, gone: false }];
  return [{ ...place, ...(findRouteLine(base.read(file) ?? "", id) ?? { line: 1, column: 1 }), gone: true }];
}
