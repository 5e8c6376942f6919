import type { PriorityClass } from "../admission/priority.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** How long responses may be used from a cache, in whole seconds (RFC 9111, 5.2.2; RFC 5861; RFC 9213). */
export interface Freshness {
  readonly browserSeconds: number;
  /** At most 10, since caches other than the REST proxy's do not follow writes. */
  readonly sharedSeconds: number;
  readonly staleWhileRevalidateSeconds: number;
  readonly staleIfErrorSeconds: number;
}

/**
 * A REST route, declared in the rest/routes.ts of its service. The service serves it with `createRestEndpoint`, and the REST proxy gets it in
 * supergraph/routes.json.
 */
export interface RouteDeclaration {
  /** The name of its handler. */
  readonly id: string;
  /** `GET` implies `HEAD`. */
  readonly method: Method;
  /** The public path without its version, with parameters as in Express: `/users/:id`. The service serves it under `/rest/v<N>`. */
  readonly path: `/${string}`;
  readonly versions: readonly number[];
  /** The accepted query parameters. Any other is rejected with 400. */
  readonly query?: readonly string[];
  /**
   * `public`: the body is the same for all callers. `private`: it may differ by caller; the handler decides by the `audience` of each response.
   * `none`: it must not be stored, such as the response to a write.
   */
  readonly cache: "public" | "private" | "none";
  /** Only for responses that are the same for all callers. Without it caches must revalidate them at each use. */
  readonly freshness?: Freshness;
  /**
   * Only for a `public` route of a service without `createRestEndpoint`, which sets `Cache-Control` on every response. A response without explicit
   * freshness may be used from the REST proxy's cache for a tenth of the time since its last modification (RFC 9111, 4.2.2), but at most this
   * long: 1 to `heuristicSecondsLimit` seconds. A write through GraphQL does not invalidate it.
   */
  readonly heuristicSecondsMax?: number;
  /** Query parameters with which the response of a `public` route differs by caller, such as `status`. */
  readonly privateWith?: readonly string[];
  /** The versions in which a `POST` accepts an `Idempotency-Key`, and those that require one. The REST proxy may retry a request with a key. */
  readonly idempotencyKey?: { readonly optional: readonly number[]; readonly required: readonly number[] };
  /** The priority class under overload, if it is not the default: `critical` for a write, `normal` for a read. */
  readonly priority?: PriorityClass;
  readonly summary: string;
}

/** The priority class of a route's requests, `HEAD` included. @param declared undefined for the default. */
export function priorityOfRoute(method: Method, declared: PriorityClass | undefined): PriorityClass {
  if (declared !== undefined) return declared;
  return method === "GET" ? "normal" : "critical";
}

/** The upper bound of a route's `heuristicSecondsMax`: a day. */
export const heuristicSecondsLimit = 86_400;
