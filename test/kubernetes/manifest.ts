/** What a manifest's place in an object may hold. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** One object of Kubernetes. */
export interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

interface Metadata extends JsonObject {
  readonly name: string;
}

/** @throws Error when it has no apiVersion, kind or name. */
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

/** `Deployment users`: what tells objects of one namespace apart. */
export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}

/** Whether labels have all that a selector's `matchLabels` says. */
export function hasLabels(labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
