export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

interface Metadata extends JsonObject {
  readonly name: string;
}

/** @throws Error if the value has no apiVersion, kind or name. */
export function readManifest(value: Json, source: string): Manifest {
  if (isObject(value) && typeof value["apiVersion"] === "string" && typeof value["kind"] === "string") {
    const { metadata } = value;
    if (isObject(metadata ?? null) && typeof (metadata as JsonObject)["name"] === "string") return value as Manifest;
  }
  throw new Error(`${source}: a manifest has apiVersion, kind and metadata.name`);
}

export function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `Deployment users`: identifies an object in its namespace. */
export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}

/** True if the labels contain all of a selector's `matchLabels`. */
export function hasLabels(
  labels: Readonly<Record<string, string>>,
  matchLabels: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}
