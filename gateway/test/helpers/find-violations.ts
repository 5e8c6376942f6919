import { codes, fieldMessageOf } from "../../src/errors/codes.ts";
import type { FaultyFetch } from "./fault-places.ts";

type Path = readonly (string | number)[];

interface ErrorEntry {
  readonly message?: unknown;
  readonly path?: Path;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface FaultyResponse {
  readonly status: number;
  readonly text: string;
}

/** Checks a response to a faulty fetch: correct values, or null with an error, at allowed paths only; and no text of the subgraph. */
export function findViolations(
  response: FaultyResponse,
  place: Pick<FaultyFetch, "service" | "data" | "mayBeNull">,
  codesExpected: readonly string[],
): readonly string[] {
  const body = parse(response.text);
  if (response.status !== 200) return [`status ${response.status}: ${response.text.slice(0, 200)}`];
  if (body === undefined) return [`no JSON: ${response.text.slice(0, 200)}`];
  const errors = body.errors ?? [];
  const nullPaths: Path[] = [];
  return [
    ...compare(place.data, body.data, [], nullPaths),
    ...nullPaths.flatMap((path) => checkNull(path, errors, place.mayBeNull)),
    ...errors.flatMap((error) => checkError(error, nullPaths, place.service, codesExpected)),
    ...(errors.length === 0 ? ["no error"] : []),
    ...findLeaks(response.text),
  ];
}

/** Values that differ from the correct ones; nulls are collected in `nullPaths`. */
function compare(correct: unknown, value: unknown, path: Path, nullPaths: Path[]): readonly string[] {
  if (value === null && correct !== null) {
    nullPaths.push(path);
    return [];
  }
  if (typeof correct !== "object" || correct === null)
    return correct === value ? [] : [`${show(path)} is ${JSON.stringify(value)}, not ${JSON.stringify(correct)}`];
  if (typeof value !== "object" || value === null || Array.isArray(correct) !== Array.isArray(value))
    return [`${show(path)} is ${JSON.stringify(value)}`];
  if (Object.keys(correct).join() !== Object.keys(value).join())
    return [`${show(path)} has ${Object.keys(value).join()}`];
  const fields = Object.entries(correct);
  return fields.flatMap(([key, below]) =>
    compare(
      below,
      (value as Record<string, unknown>)[key],
      [...path, Array.isArray(correct) ? Number(key) : key],
      nullPaths,
    ),
  );
}

function checkNull(path: Path, errors: readonly ErrorEntry[], mayBeNull: readonly string[]): readonly string[] {
  const place = path.map((step) => (typeof step === "number" ? "*" : step)).join(".");
  return [
    ...(mayBeNull.includes(place) ? [] : [`${show(path)} must not be null`]),
    ...(errors.some((error) => isWithin(error.path ?? [], path)) ? [] : [`no error for the null at ${show(path)}`]),
  ];
}

function checkError(
  { path = [], message, extensions = {} }: ErrorEntry,
  nullPaths: readonly Path[],
  service: string,
  codesExpected: readonly string[],
): readonly string[] {
  const { code, service: named, retryAfterSeconds: _ofSubgraph, ...more } = extensions;
  const known = typeof code === "string" && Object.hasOwn(codes, code) ? code : undefined;
  return [
    ...(nullPaths.some((place) => isWithin(path, place)) ? [] : [`an error at ${show(path)}, which is not null`]),
    ...(known !== undefined && codesExpected.includes(known) ? [] : [`code ${String(code)}`]),
    ...(known !== undefined && fieldMessageOf(known) === message ? [] : [`message ${String(message)}`]),
    ...(named === service || (named === undefined && known === "INVALID_FIELD_VALUE")
      ? []
      : [`service ${String(named)}`]),
    ...(Object.keys(more).length === 0 ? [] : [`extensions ${Object.keys(more).join()}`]),
  ];
}

function findLeaks(text: string): readonly string[] {
  const leaked = /127\.0\.0\.1|localhost|db\.internal|SELECT|stack|node_modules|file:|ECONN|<h1>/i.exec(text);
  return leaked ? [`the response contains ${leaked[0]}`] : [];
}

function isWithin(path: Path, place: Path): boolean {
  return place.every((step, i) => path[i] === step);
}

function show(path: Path): string {
  return path.length === 0 ? "data" : path.join(".");
}

function parse(text: string): { readonly data?: unknown; readonly errors?: readonly ErrorEntry[] } | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}
