import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

/** A JSON object: a part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * Writes zod schemas as the JSON Schemas of one OpenAPI document, for supergraph/documents/compose-documents.ts. A schema with a name
 * (`meta({ id })`) becomes a reference, and its definition is collected for `components/schemas`.
 */
export interface SchemaBook {
  /**
   * @param io `input` for requests, `output` for responses.
   * @throws Error for a schema without a JSON equivalent, and for two different schemas with one name.
   */
  write(schema: z.ZodType, io: "input" | "output"): Json;
  /** The named schemas of all calls of `write` before this one, sorted by name. */
  named(): Json;
}

export function createSchemaBook(): SchemaBook {
  const named = new Map<string, unknown>();

  function add(name: string, schema: unknown): void {
    const existing = named.get(name);
    if (existing !== undefined && !isDeepStrictEqual(existing, schema)) {
      throw new Error(`Two different schemas have the name ${name}.`);
    }
    named.set(name, schema);
  }

  return {
    write(schema, io) {
      // Wrapped in another schema: a schema at the top level would lose its name.
      const wrapper = z.toJSONSchema(z.strictObject({ it: schema }), { io, target: "draft-2020-12" });
      for (const [name, definition] of Object.entries(wrapper.$defs ?? {})) add(name, toComponents(definition));
      return toComponents(wrapper.properties?.["it"]) as Json;
    },
    named: () => Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Replaces references to `$defs` (JSON Schema) by those to `components/schemas` (OpenAPI). */
function toComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toComponents);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) =>
      name === "$ref" && typeof part === "string"
        ? [name, part.replace("#/$defs/", "#/components/schemas/")]
        : [name, toComponents(part)],
    ),
  );
}
