import { AppError } from "@tributary/kit/errors/app-error";
import { type Chosen, createVersionChooser, isPlain, type Media } from "./accept.ts";
import type { Place, RouteTable } from "./route-table.ts";

/** Which version of the API a path names, and the path within it. */
export interface VersionedPath {
  /** Undefined for a path without a version. */
  readonly version: number | undefined;
  /** Without the version, such as `/things/7`. */
  readonly path: string;
}

/**
 * `/v2/things` is version 2 of `/things`. Nothing else is a version: `/v02`, `/V2` and `/v2` alone are paths like others, and lead nowhere.
 */
export function readVersion(path: string): VersionedPath {
  const [prefix, digits] = /^\/v([1-9]\d{0,2})(?=\/)/.exec(path) ?? [];
  if (prefix === undefined) return { version: undefined, path };
  return { version: Number(digits), path: path.slice(prefix.length) };
}

/** What a request is about. */
export interface Found {
  readonly place: Place;
  readonly version: number;
  readonly media: Media;
  /** The path within the version, as it was sent. */
  readonly path: string;
  /** The path names no version: `Accept` did, or the default is meant. */
  readonly isNegotiated: boolean;
}

export interface Asked {
  readonly method: string;
  /** As sent, with its version if it has one. */
  readonly path: string;
  readonly accept: string | undefined;
}

export interface VersionsOptions {
  readonly table: RouteTable;
  /** What a path without a version means where `Accept` names none either. */
  readonly defaultVersion: number;
}

/**
 * Finds what lies at a path: in the version that the path names; in a path that names none, in the one that `Accept` names, or the default.
 * @throws AppError NOT_FOUND; NOT_ACCEPTABLE with the choices.
 */
export function createVersions({ table, defaultVersion }: VersionsOptions): (asked: Asked) => Found {
  const choose = createVersionChooser();

  function settle(chosen: Chosen, path: string, version?: number): Found {
    const isThere = version === undefined || table.find(version, path) !== undefined;
    if (chosen.kind === "not-acceptable" && isThere && chosen.choices.length > 0) throw notAcceptable(chosen.choices);
    const place = chosen.kind === "chosen" ? table.find(chosen.version, path) : undefined;
    if (chosen.kind !== "chosen" || !place) throw nothingHere();
    return { place, version: chosen.version, media: chosen.media, path, isNegotiated: version === undefined };
  }

  /** Which version the request to come will ask for is not known: a page may ask for any of them, and its browser must not stop it. */
  function allowInAny(path: string): string {
    const places = table.versionsAt(path).map((version) => table.find(version, path));
    const methods = new Set(places.flatMap((place) => [...(place?.routes.keys() ?? [])]));
    return [...[...methods].toSorted(), "OPTIONS"].join(", ");
  }

  return ({ method, path: fullPath, accept }) => {
    const { version, path } = readVersion(fullPath);
    // Who asks for the options asks for a request that is yet to come, and whose Accept nobody knows: any version that is there will do.
    const wanted = method === "OPTIONS" ? undefined : accept;
    if (version !== undefined) return settle(choose(wanted, [version], version), path, version);
    const offered = isPlain(wanted) && method !== "OPTIONS" ? [defaultVersion] : table.versionsAt(path);
    const isThere = method !== "OPTIONS" || offered.includes(defaultVersion);
    const found = settle(choose(wanted, offered, isThere ? defaultVersion : (offered.at(-1) ?? defaultVersion)), path);
    return method === "OPTIONS" ? { ...found, place: { ...found.place, allow: allowInAny(path) } } : found;
  };
}

function nothingHere(): AppError {
  return new AppError("NOT_FOUND", "There is nothing at this path.");
}

function notAcceptable(choices: readonly string[]): AppError {
  return new AppError("NOT_ACCEPTABLE", `This path answers as ${choices.join(", ")}.`, { choices });
}
