import { AppError } from "@tributary/kit/errors/app-error";
import type { ProxyHeaders } from "../admit/exchange.ts";
import {
  createVersionChooser,
  selectsDefaultVersion,
  type Media,
  mediaTypeOf,
  type VersionChoice,
} from "./accept-version.ts";
import { type Retirements, successorLink } from "./retirement.ts";
import { type RouteEntry, type RouteTable, toAllow } from "./route-table.ts";

export interface VersionedPath {
  /** Undefined for a path without a version. */
  readonly version: number | undefined;
  /** Without the version, such as `/things/7`. */
  readonly path: string;
}

const versionPrefix = /^\/v([1-9]\d{0,2})(?=\/)/;

/** `/v02`, `/V2` and `/v2` alone are not versions: no route has such a path. */
export function splitVersion(path: string): VersionedPath {
  const [prefix, digits] = versionPrefix.exec(path) ?? [];
  if (prefix === undefined) return { version: undefined, path };
  return { version: Number(digits), path: path.slice(prefix.length) };
}

export interface ResolvedVersion {
  readonly entry: RouteEntry;
  readonly version: number;
  readonly media: Media;
  /** Without its version, as it was sent. */
  readonly path: string;
  /** `Accept` selected the version, or it is the default. */
  readonly isNegotiated: boolean;
}

export interface VersionRequest {
  readonly method: string;
  /** As sent, with its version if it has one. */
  readonly path: string;
  readonly accept: string | undefined;
}

export interface VersionsOptions {
  readonly table: RouteTable;
  /** Unless path or `Accept` name one. */
  readonly defaultVersion: number;
}

/** @throws AppError NOT_FOUND; NOT_ACCEPTABLE with the acceptable media types. */
export function createVersionResolver({
  table,
  defaultVersion,
}: VersionsOptions): (request: VersionRequest) => ResolvedVersion {
  const choose = createVersionChooser();

  /** 406 if the path exists and the client accepts none of its media types, 404 if the chosen version does not have the path. */
  function resolveChoice(choice: VersionChoice, path: string, pathVersion?: number): ResolvedVersion {
    if (choice.kind === "not-acceptable") {
      // `choices` has only versions that have the path.
      const pathExists = pathVersion === undefined || table.find(pathVersion, path) !== undefined;
      if (pathExists && choice.choices.length > 0) throw notAcceptable(choice.choices);
    }
    if (choice.kind !== "chosen") throw notFound();
    const entry = table.find(choice.version, path);
    if (!entry) throw notFound();
    return { entry, version: choice.version, media: choice.media, path, isNegotiated: pathVersion === undefined };
  }

  /** In any version: the browser must not block the request after a preflight, whose version is not known yet. */
  function allowInAnyVersion(path: string): string {
    const methods = new Set<string>();
    for (const version of table.versionsAt(path)) {
      for (const method of table.find(version, path)?.routes.keys() ?? []) methods.add(method);
    }
    return toAllow(methods);
  }

  /** In the default version, or the latest one that has the path. @throws AppError NOT_FOUND */
  function resolvePreflight(path: string): ResolvedVersion {
    const offered = table.versionsAt(path);
    const latest = offered.at(-1) ?? defaultVersion;
    const version = offered.includes(defaultVersion) ? defaultVersion : latest;
    const resolved = resolveChoice(choose(undefined, offered, version), path);
    return { ...resolved, entry: { ...resolved.entry, allow: allowInAnyVersion(path) } };
  }

  return ({ method, path: fullPath, accept }) => {
    const { version, path } = splitVersion(fullPath);
    // A preflight does not have the Accept of the request that follows it.
    const effectiveAccept = method === "OPTIONS" ? undefined : accept;
    if (version !== undefined) return resolveChoice(choose(effectiveAccept, [version], version), path, version);
    if (method === "OPTIONS") return resolvePreflight(path);
    // The other versions need not be looked up then.
    const offered = selectsDefaultVersion(accept) ? [defaultVersion] : table.versionsAt(path);
    return resolveChoice(choose(accept, offered, defaultVersion), path);
  };
}

function notFound(): AppError {
  return new AppError("NOT_FOUND", "There is nothing at this path.");
}

function notAcceptable(choices: readonly string[]): AppError {
  return new AppError("NOT_ACCEPTABLE", `This path is available as ${choices.join(", ")}.`, { choices });
}

/** The deprecation, sunset and successor of the version too; `Vary` and media type if `Accept` selected them. */
export function addVersionHeaders(
  resolved: ResolvedVersion,
  proxyHeaders: ProxyHeaders,
  retirements: Retirements,
  table: RouteTable,
): void {
  const { version, media, path, isNegotiated } = resolved;
  proxyHeaders.onEvery.push("API-Version", String(version));
  // If the path names the version, `Accept` can only select the vendor media type, which other clients must not get.
  if (isNegotiated || media === "vendor") proxyHeaders.vary.push("Accept");
  if (media === "vendor") proxyHeaders.mediaType = mediaTypeOf(version, media);
  const headers = retirements.headersOf(version);
  if (!headers) return;
  proxyHeaders.onEvery.push(...headers);
  const successor = table.versionsAt(path).find((other) => other > version && !retirements.hasEnded(other));
  if (successor !== undefined) proxyHeaders.onEvery.push("Link", successorLink(`/v${successor}${path}`));
}

/** RFC 9110, 8.7. Not for `POST`: it would name the collection instead of the created resource. */
export function addContentLocation(
  { isNegotiated }: ResolvedVersion,
  method: string,
  location: string,
  { onResource }: ProxyHeaders,
): void {
  if (isNegotiated && (method === "GET" || method === "HEAD")) onResource.push("Content-Location", location);
}
