// Stage 1 of 5: admit. Recognizes GET requests whose responses HTTP caches may store: equal requests have equal URLs, with the id or the hash of a document.
import type { IncomingMessage } from "node:http";
import { Rejection } from "../errors/rejections.ts";

/** The members of a GraphQL request with the id of a trusted document. */
const idNames: readonly string[] = ["documentId", "doc_id", "id"];

/** With any other parameter, a client could fill a cache with any number of URLs for one response. */
const parameterNames: ReadonlySet<string> = new Set(["extensions", "operationName", "variables", ...idNames]);

/** The same for members of `extensions`. In `clientLibrary`, which changes nothing, Apollo's clients send their name and version by default. */
const extensionNames: ReadonlySet<string> = new Set(["clientLibrary", "persistedQuery"]);

/**
 * Needs no CSRF header: it changes nothing and depends on no credentials of a browser, and a CDN could not add the header. A `Cookie` does not matter:
 * the gateway does not read it, and where a rule forwards it, the caller requires more (paths/full.ts).
 */
export function isCacheableGet({ method, url = "" }: IncomingMessage): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const search = readSearchParameters(url);
  const names = [...search.keys()];
  const hasOtherParameter = names.some((name) => !parameterNames.has(name));
  if (hasOtherParameter) return false;
  const isRepeated = new Set(names).size < names.length;
  if (isRepeated) return false;
  const extensions = listExtensions(search.get("extensions"));
  if (!extensions.every((name) => extensionNames.has(name))) return false;
  const hasId = hasPathId(url) || idNames.some((name) => search.has(name));
  return hasId || extensions.includes("persistedQuery");
}

/** `/graphql/<id>`, also in absolute form (RFC 9112, 3.2.2), which Express routes too. */
const idPath = /^(?:https?:\/\/[^/?]*)?\/graphql\/([^/?]+)(?:\?|$)/i;

function hasPathId(url: string): boolean {
  return idPath.test(url);
}

/** Undefined for `/graphql`. @throws Rejection */
export function readPathId(url: string): string | undefined {
  const id = idPath.exec(url)?.[1];
  try {
    return id === undefined ? undefined : decodeURIComponent(id);
  } catch {
    throw new Rejection("MALFORMED_REQUEST", "The id in the path is not encoded correctly.");
  }
}

/** A query may contain further `?` (RFC 3986, 3.4). */
export function readSearchParameters(url: string): URLSearchParams {
  const searchStart = url.indexOf("?");
  return new URLSearchParams(searchStart === -1 ? "" : url.slice(searchStart));
}

/** The names of its members. @param json null if the parameter is missing. */
function listExtensions(json: string | null): readonly string[] {
  try {
    return Object.keys(Object(JSON.parse(json ?? "{}")));
  } catch {
    return ["not valid JSON"];
  }
}
