// Where a service has its REST routes: by default below /rest/vN, otherwise as `external.rest` of service.json says.

export interface RestPaths {
  /** Such as `/api/v{version}`. */
  readonly prefix: string;
  /** Of all routes, if the prefix has no `{version}`. Otherwise undefined: each path has its version. */
  readonly versions: readonly number[] | undefined;
}

export interface RoutePath {
  readonly versions: readonly number[];
  /** Without the prefix. */
  readonly path: string;
}

export const versionPlace = "{version}";
export const defaultRestPaths: RestPaths = { prefix: `/rest/v${versionPlace}`, versions: undefined };

/** Undefined for a path that is no route's. @param servicePath of a request or of OpenAPI. */
export function findRoutePath(servicePath: string, { prefix, versions }: RestPaths): RoutePath | undefined {
  const [before = "", ...others] = prefix.split(versionPlace);
  if (others.length === 0) return toRoutePath(servicePath, prefix, versions ?? []);
  const [digits] = /^[1-9]\d{0,2}/.exec(servicePath.slice(before.length)) ?? [];
  return digits === undefined
    ? undefined
    : toRoutePath(servicePath, [before, ...others].join(digits), [Number(digits)]);
}

function toRoutePath(servicePath: string, prefix: string, versions: readonly number[]): RoutePath | undefined {
  return servicePath.startsWith(`${prefix}/`) ? { versions, path: servicePath.slice(prefix.length) } : undefined;
}

export function joinServicePath(path: string, version: number, { prefix }: RestPaths): string {
  return prefix.replaceAll(versionPlace, String(version)) + path;
}
