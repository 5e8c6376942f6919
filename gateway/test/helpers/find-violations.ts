import { codes } from "../../src/errors/codes.ts";
import type { FaultPlace } from "./fault-places.ts";

type Path = readonly (string | number)[];

interface ToldError {
  readonly message?: unknown;
  readonly path?: Path;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface FaultyAnswer {
  readonly status: number;
  readonly text: string;
}

/** An answer says the truth, or null and an error there; only in places that the fault may cost; and nothing of what subgraphs said. */
export function findWrongs(
  answer: FaultyAnswer,
  place: Pick<FaultPlace, "service" | "data" | "mayBeNull">,
  codesExpected: readonly string[],
): readonly string[] {
  const body = parse(answer.text);
  if (answer.status !== 200) return [`status ${answer.status}: ${answer.text.slice(0, 200)}`];
  if (body === undefined) return [`no JSON: ${answer.text.slice(0, 200)}`];
  const errors = body.errors ?? [];
  const lost: Path[] = [];
  return [
    ...compare(place.data, body.data, [], lost),
    ...lost.flatMap((path) => findWrongsOfLoss(path, errors, place.mayBeNull)),
    ...errors.flatMap((error) => findWrongsOfError(error, lost, place.service, codesExpected)),
    ...(errors.length === 0 ? ["no error"] : []),
    ...findLeaks(answer.text),
  ];
}

/** Values that are not the true ones; nulls are collected in `lost`. */
function compare(truth: unknown, value: unknown, path: Path, lost: Path[]): readonly string[] {
  if (value === null && truth !== null) {
    lost.push(path);
    return [];
  }
  if (typeof truth !== "object" || truth === null)
    return truth === value ? [] : [`${show(path)} is ${JSON.stringify(value)}, not ${JSON.stringify(truth)}`];
  if (typeof value !== "object" || value === null || Array.isArray(truth) !== Array.isArray(value))
    return [`${show(path)} is ${JSON.stringify(value)}`];
  if (Object.keys(truth).join() !== Object.keys(value).join())
    return [`${show(path)} has ${Object.keys(value).join()}`];
  const fields = Object.entries(truth);
  return fields.flatMap(([key, below]) =>
    compare(below, (value as Record<string, unknown>)[key], [...path, Array.isArray(truth) ? Number(key) : key], lost),
  );
}

function findWrongsOfLoss(path: Path, errors: readonly ToldError[], mayBeNull: readonly string[]): readonly string[] {
  const place = path.map((step) => (typeof step === "number" ? "*" : step)).join(".");
  return [
    ...(mayBeNull.includes(place) ? [] : [`${show(path)} is lost too`]),
    ...(errors.some((error) => isWithin(error.path ?? [], path)) ? [] : [`no error tells that ${show(path)} is lost`]),
  ];
}

function findWrongsOfError(
  { path = [], message, extensions = {} }: ToldError,
  lost: readonly Path[],
  service: string,
  codesExpected: readonly string[],
): readonly string[] {
  const { code, service: named, ...more } = extensions;
  const known = typeof code === "string" && Object.hasOwn(codes, code) ? code : undefined;
  return [
    ...(lost.some((place) => isWithin(path, place)) ? [] : [`an error at ${show(path)}, where nothing is lost`]),
    ...(known !== undefined && codesExpected.includes(known) ? [] : [`code ${String(code)}`]),
    ...(known !== undefined && codes[known as keyof typeof codes].message === message
      ? []
      : [`message ${String(message)}`]),
    ...(named === service || (named === undefined && known === "INVALID_FIELD_VALUE")
      ? []
      : [`service ${String(named)}`]),
    ...(Object.keys(more).length === 0 ? [] : [`extensions ${Object.keys(more).join()}`]),
  ];
}

function findLeaks(text: string): readonly string[] {
  const found = /127\.0\.0\.1|localhost|db\.internal|SELECT|stack|node_modules|file:|ECONN|<h1>/i.exec(text);
  return found ? [`the client reads ${found[0]}`] : [];
}

function isWithin(path: Path, place: Path): boolean {
  return place.every((step, i) => path[i] === step);
}

function show(path: Path): string {
  return path.length === 0 ? "data" : path.join(".");
}

function parse(text: string): { readonly data?: unknown; readonly errors?: readonly ToldError[] } | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}
