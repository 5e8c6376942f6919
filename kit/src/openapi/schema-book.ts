import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Json } from "../json/json.ts";

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
  /** The JSON Schemas of the named schemas. */
  const definitions = new Map<string, unknown>();

  function addDefinition(name: string, definition: unknown): void {
    const existing = definitions.get(name);
    if (existing !== undefined && !isDeepStrictEqual(existing, definition)) {
      throw new Error(`Two different schemas have the name ${name}.`);
    }
    definitions.set(name, definition);
  }

  return {
    write(schema, io) {
      // Wrapped in another schema: a schema at the top level would lose its name.
      const wrapper = z.toJSONSchema(z.strictObject({ it: schema }), { io, target: "draft-2020-12" });
      for (const [name, definition] of Object.entries(wrapper.$defs ?? {})) {
        addDefinition(name, toComponents(definition));
      }
      return toComponents(wrapper.properties?.["it"]) as Json;
    },
    named: () => Object.fromEntries([...definitions].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Replaces references to `$defs` (JSON Schema), at any depth, by references to `components/schemas` (OpenAPI). */
function toComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toComponents);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, toComponentsMember(name, member)] as const);
  return Object.fromEntries(members);
}

function toComponentsMember(name: string, value: unknown): unknown {
  if (name === "$ref" && typeof value === "string") return value.replace("#/$defs/", "#/components/schemas/");
  return toComponents(value);
}
