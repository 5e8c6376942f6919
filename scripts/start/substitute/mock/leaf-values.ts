// The mocked values of scalars and enums. A value follows from its seed, a text with the object's identity, the field and its arguments, which
// mock-objects.ts writes: there is no randomness and no clock.
import { createHash } from "node:crypto";
import { type GraphQLLeafType, isEnumType } from "graphql";

/** A number from 0 to `size` - 1 for this seed. */
export function pickNumber(seed: string, size: number): number {
  return createHash("sha1").update(seed).digest().readUInt32BE() % size;
}

/** Writes a value as JSON with sorted names: the order in which the schema declares arguments and input fields does not change a seed. */
export function writeSeed(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => sortMembers(part));
}

/** Objects with sorted names; other values are unchanged. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).toSorted(([name], [otherName]) => (name < otherName ? -1 : 1));
  return Object.fromEntries(members);
}

export function pickFrom<T>(seed: string, list: readonly T[]): T | undefined {
  return list[pickNumber(seed, list.length)];
}

const secondsOfYear = 31_536_000;
const firstInstantMs = Date.UTC(2026, 0, 1);

type CreateValue = (seed: string, fieldName: string) => unknown;

const instant: CreateValue = (seed) => new Date(firstInstantMs + pickNumber(seed, secondsOfYear) * 1_000).toISOString();

/** By name in lower case. A custom scalar that is not listed gets a text. */
const scalars: Readonly<Record<string, CreateValue>> = {
  id: (seed) => String(1 + pickNumber(seed, 100)),
  int: (seed) => pickNumber(seed, 1_000),
  float: (seed) => pickNumber(seed, 100_000) / 100,
  boolean: (seed) => pickNumber(seed, 2) === 1,
  string: (seed, fieldName) => createText(seed, fieldName),
  datetime: instant,
  timestamp: instant,
  date: (seed, fieldName) => String(instant(seed, fieldName)).slice(0, 10),
  time: (seed, fieldName) => String(instant(seed, fieldName)).slice(11),
  localtime: (seed, fieldName) => String(instant(seed, fieldName)).slice(11, 19),
  duration: (seed) => `PT${1 + pickNumber(seed, 59)}M`,
  long: (seed) => pickNumber(seed, 1_000_000),
  bigint: (seed) => String(pickNumber(seed, 1_000_000)),
  decimal: (seed) => (pickNumber(seed, 100_000) / 100).toFixed(2),
  json: (seed) => ({ mock: pickNumber(seed, 1_000) }),
  jsonobject: (seed) => ({ mock: pickNumber(seed, 1_000) }),
  url: (seed) => `https://example.com/${pickNumber(seed, 1_000)}`,
  uri: (seed) => `https://example.com/${pickNumber(seed, 1_000)}`,
  email: (seed) => `mock${pickNumber(seed, 1_000)}@example.com`,
  emailaddress: (seed) => `mock${pickNumber(seed, 1_000)}@example.com`,
  uuid: (seed) => createUuid(seed),
};

/** Texts whose format the name of the field implies. */
const textsByName: readonly (readonly [fieldName: RegExp, create: CreateValue])[] = [
  [/(?:url|uri|link)$/i, (seed) => `https://example.com/${pickNumber(seed, 1_000)}`],
  [/email$/i, (seed) => `mock${pickNumber(seed, 1_000)}@example.com`],
  [/currency$/i, (seed) => pickFrom(seed, ["EUR", "GBP", "JPY", "USD"])],
  [/locale$/i, (seed) => pickFrom(seed, ["de", "en-GB", "fr", "ja"])],
  [/timeZone$/i, (seed) => pickFrom(seed, ["Africa/Nairobi", "Asia/Tokyo", "Europe/London"])],
  [/html$/i, (seed) => `<p>Mock ${pickNumber(seed, 1_000)}</p>`],
];

/** The value of a scalar or an enum for this seed. */
export function createLeaf(type: GraphQLLeafType, fieldName: string, seed: string): unknown {
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => name);
    return pickFrom(seed, names.toSorted());
  }
  const create = scalars[type.name.toLowerCase()] ?? createText;
  return create(seed, fieldName);
}

/** In `createdAt`, between `d` and `A`. */
const wordBoundary = /(?<=[a-z])(?=[A-Z])/g;

function createText(seed: string, fieldName: string): string {
  for (const [pattern, create] of textsByName) if (pattern.test(fieldName)) return String(create(seed, fieldName));
  const words = fieldName.replaceAll(wordBoundary, " ").toLowerCase();
  return `Mock ${words} ${pickNumber(seed, 1_000)}`;
}

/** Version 8: a layout of the implementation's own (RFC 9562, section 5.8). */
function createUuid(seed: string): string {
  const hex = createHash("sha1").update(seed).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
