import type { ServerResponse } from "node:http";
import { findHeaderIndex, forEachHeader, listHeaderLines } from "@tributary/kit/http/raw-headers";

/** What the proxy itself says on one answer. Grows as more is known of the request; none of it is ever stored. */
export interface OwnHead {
  /** On every answer, refusals too: names and values in turn. */
  readonly lines: string[];
  /** On what a service or the cache answers: what would not be true of a problem of ours. */
  readonly ofAnswer: string[];
  /** Field names, besides the service's own. */
  readonly vary: string[];
  /** Stands for `application/json` where another type was asked for. */
  mediaType: string | undefined;
}

export function createOwnHead(): OwnHead {
  return { lines: [], ofAnswer: [], vary: [], mediaType: undefined };
}

/** Adds it to a head that is a list of names and values in turn; returns the same list. */
export function addOwnHead(headers: string[], { lines, ofAnswer, vary, mediaType }: OwnHead): string[] {
  if (mediaType !== undefined) retype(headers, mediaType);
  if (vary.length > 0) addVary(headers, vary);
  for (const one of lines) headers.push(one);
  for (const one of ofAnswer) headers.push(one);
  return headers;
}

/** Sets what is true of our own answers: refusals, `OPTIONS`. */
export function setOwnHead(response: ServerResponse, { lines, vary }: OwnHead): void {
  if (response.headersSent) return;
  forEachHeader(lines, (name, value) => void response.appendHeader(name, value));
  if (vary.length > 0) response.setHeader("Vary", vary.join(", "));
}

/** Only what is the resource itself has two names; a problem has one. */
function retype(headers: string[], mediaType: string): void {
  const at = findHeaderIndex(headers, "content-type");
  if (at !== -1 && /^application\/json(?:\s*;|$)/i.test(headers[at + 1] ?? "")) headers[at + 1] = mediaType;
}

/** One line: some caches in front of us read only one (nginx before 1.23). */
function addVary(headers: string[], names: readonly string[]): void {
  let at = findHeaderIndex(headers, "vary");
  if (at === -1) return void headers.push("Vary", names.join(", "));
  const values = listHeaderLines(headers, "vary");
  for (; at !== -1; at = findHeaderIndex(headers, "vary")) headers.splice(at, 2);
  headers.push("Vary", joinVary(values.join(","), names));
}

/** Each name once. */
function joinVary(theirs: string, ours: readonly string[]): string {
  const names = [...ours, ...theirs.split(",").map((name) => name.trim())].filter((name) => name !== "");
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()].join(", ");
}
