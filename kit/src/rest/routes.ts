export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** Whole seconds; of a browser's copy and of a shared cache's (RFC 9111, 5.2.2; RFC 5861; RFC 9213). */
export interface Freshness {
  readonly browserSeconds: number;
  /** At most 10: a write by the GraphQL door reaches no shared cache. */
  readonly sharedSeconds: number;
  readonly staleWhileRevalidateSeconds: number;
  readonly staleIfErrorSeconds: number;
}

/**
 * One REST route as the team that owns it declares it. `path` is the public path without its version; a service serves it under
 * `/rest/v<N>`. `HEAD` is implied by `GET`.
 */
export interface RouteDeclaration {
  readonly id: string;
  readonly method: Method;
  readonly path: `/${string}`;
  readonly versions: readonly number[];
  /** The query parameters that it knows; every other one is refused with 400. */
  readonly query?: readonly string[];
  /** `public`: one body for everybody. `private`: the caller can change the body. `none`: not to be kept. */
  readonly cache: "public" | "private" | "none";
  /**
   * How long copies may be used of what everybody gets: a `public` route's answers, and a `private` one's to nobody in particular. Without
   * it they are asked about each time.
   */
  readonly freshness?: Freshness;
  /** Query parameters with which a `public` route's answer is the caller's own, such as `status`. */
  readonly privateWith?: readonly string[];
  /** The versions in which a `POST` takes an `Idempotency-Key`, and those that refuse it without one. A request with a key may be sent again. */
  readonly idempotencyKey?: { readonly optional: readonly number[]; readonly required: readonly number[] };
  readonly summary: string;
}
