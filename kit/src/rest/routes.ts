import type { PriorityClass } from "../admission/priority.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** In whole seconds (RFC 9111, 5.2.2; RFC 5861; RFC 9213). */
export interface Freshness {
  readonly browserSeconds: number;
  /** At most 10, since other caches than the REST proxy's do not follow writes. */
  readonly sharedSeconds: number;
  readonly staleWhileRevalidateSeconds: number;
  readonly staleIfErrorSeconds: number;
}

/** Declared by a service, and read by the REST proxy from supergraph/routes.json. */
export interface RouteDeclaration {
  readonly id: string;
  /** `GET` implies `HEAD`. */
  readonly method: Method;
  /** Without the version, as in Express: `/users/:id`. */
  readonly path: `/${string}`;
  readonly versions: readonly number[];
  readonly query?: readonly string[];
  /** `public`: the same body for all callers. `private`: the handler decides by the `audience` of each response. `none`: never stored. */
  readonly cache: "public" | "private" | "none";
  /** Without it caches must revalidate responses at each use. */
  readonly freshness?: Freshness;
  /**
   * Only for a `public` route without `Cache-Control`: its response may be used for a tenth of the time since its last modification
   * (RFC 9111, 4.2.2), at most this long: 1 to `heuristicSecondsLimit`.
   */
  readonly heuristicSecondsMax?: number;
  /** Query parameters with which the response of a `public` route differs by caller. */
  readonly privateWith?: readonly string[];
  /** The versions in which a `POST` accepts a key, and those that require one. The REST proxy may retry a request with a key. */
  readonly idempotencyKey?: { readonly optional: readonly number[]; readonly required: readonly number[] };
  readonly priority?: PriorityClass;
  readonly summary: string;
}

/** @param declared undefined for the default. */
export function priorityOfRoute(method: Method, declared: PriorityClass | undefined): PriorityClass {
  if (declared !== undefined) return declared;
  return method === "GET" ? "normal" : "critical";
}

export const heuristicSecondsLimit = 86_400;
