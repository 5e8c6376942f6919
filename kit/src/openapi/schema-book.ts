import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Json } from "../json/json.ts";

/** Writes zod schemas as JSON Schemas. One with a name (`meta({ id })`) becomes a reference to `components/schemas`. */
export interface SchemaBook {
  /** @throws Error for a schema without a JSON equivalent, and for two different schemas with one name. */
  write(schema: z.ZodType, io: "input" | "output"): Json;
  /** Of all calls of `write` before this one, sorted by name. */
  named(): Json;
}

export function createSchemaBook(): SchemaBook {
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
      // A schema at the top level would lose its name.
      const wrapper = z.toJSONSchema(z.strictObject({ it: schema }), { io, target: "draft-2020-12" });
      for (const [name, definition] of Object.entries(wrapper.$defs ?? {})) {
        addDefinition(name, toComponents(definition));
      }
      return toComponents(wrapper.properties?.["it"]) as Json;
    },
    named: () => Object.fromEntries([...definitions].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Replaces references to `$defs` by references to `components/schemas`. */
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
