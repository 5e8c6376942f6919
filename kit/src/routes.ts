export type Method = "GET" | "POST" | "PATCH" | "DELETE";

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
  readonly summary: string;
}
