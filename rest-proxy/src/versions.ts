/** Which version of the API a request means, and the path within it. */
export interface VersionedPath {
  readonly version: number;
  /** Without the version, such as `/things/7`. */
  readonly path: string;
}

/**
 * `/v2/things` is version 2 of `/things`; a path without a version means the default one. Nothing else is a version: `/v02`, `/V2` and
 * `/v2` alone are paths like others, and lead nowhere.
 */
export function readVersion(path: string, defaultVersion: number): VersionedPath {
  const [prefix, digits] = /^\/v([1-9]\d{0,2})(?=\/)/.exec(path) ?? [];
  if (prefix === undefined) return { version: defaultVersion, path };
  return { version: Number(digits), path: path.slice(prefix.length) };
}
