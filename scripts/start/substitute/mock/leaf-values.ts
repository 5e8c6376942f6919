// The mocked values of scalars and enums. A value follows from its seed: there is no randomness and no clock.
import { createHash } from "node:crypto";
import { type GraphQLLeafType, isEnumType } from "graphql";

export function pickNumber(seed: string, size: number): number {
  return createHash("sha1").update(seed).digest().readUInt32BE() % size;
}

/** Writes a value as JSON with sorted names: the order in which the schema declares arguments and input fields does not change a seed. */
export function writeSeed(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([name], [other]) => (name < other ? -1 : 1)));
  });
}

export function pickFrom<T>(seed: string, list: readonly T[]): T | undefined {
  return list[pickNumber(seed, list.length)];
}

const secondsOfYear = 31_536_000;
const firstInstantMs = Date.UTC(2026, 0, 1);

/** By name. A custom scalar that is not listed gets a text. */
const scalars: Readonly<Record<string, (seed: string) => unknown>> = {
  ID: (seed) => String(1 + pickNumber(seed, 100)),
  Int: (seed) => pickNumber(seed, 1_000),
  Float: (seed) => pickNumber(seed, 100_000) / 100,
  Boolean: (seed) => pickNumber(seed, 2) === 1,
  DateTime: (seed) => new Date(firstInstantMs + pickNumber(seed, secondsOfYear) * 1_000).toISOString(),
};

const textsByName: readonly (readonly [fieldName: RegExp, create: (seed: string) => unknown])[] = [
  [/(?:url|uri|link)$/i, (seed) => `https://example.com/${pickNumber(seed, 1_000)}`],
  [/email$/i, (seed) => `mock${pickNumber(seed, 1_000)}@example.com`],
  [/currency$/i, (seed) => pickFrom(seed, ["EUR", "GBP", "JPY", "USD"])],
  [/locale$/i, (seed) => pickFrom(seed, ["de", "en-GB", "fr", "ja"])],
  [/timeZone$/i, (seed) => pickFrom(seed, ["Africa/Nairobi", "Asia/Tokyo", "Europe/London"])],
  [/html$/i, (seed) => `<p>Mock ${pickNumber(seed, 1_000)}</p>`],
];

export function createLeaf(type: GraphQLLeafType, fieldName: string, seed: string): unknown {
  if (!isEnumType(type)) return scalars[type.name]?.(seed) ?? createText(seed, fieldName);
  const names = type.getValues().map(({ name }) => name);
  return pickFrom(seed, names.toSorted());
}

/** In `createdAt`, between `d` and `A`. */
const wordBoundary = /(?<=[a-z])(?=[A-Z])/g;

function createText(seed: string, fieldName: string): unknown {
  const [, create] = textsByName.find(([pattern]) => pattern.test(fieldName)) ?? [];
  if (create) return create(seed);
  const words = fieldName.replaceAll(wordBoundary, " ").toLowerCase();
  return `Mock ${words} ${pickNumber(seed, 1_000)}`;
}
