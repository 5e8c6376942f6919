import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

/** A part of a document. */
export type Json = Readonly<Record<string, unknown>>;

/** JSON Schemas from the schemas that validate; what has a name (`meta({ id })`) stands once, in `named`. */
export interface SchemaBook {
  /**
   * @param io whether it is read by us (`input`) or sent (`output`).
   * @throws Error for a schema that JSON cannot say, and for two different ones of one name.
   */
  write(schema: z.ZodType, io: "input" | "output"): Json;
  named(): Json;
}

export function createSchemaBook(): SchemaBook {
  const named = new Map<string, unknown>();

  function keep(name: string, schema: unknown): void {
    const standing = named.get(name);
    if (standing !== undefined && !isDeepStrictEqual(standing, schema)) {
      throw new Error(`Two different schemas are called ${name}.`);
    }
    named.set(name, schema);
  }

  return {
    write(schema, io) {
      // Inside of another one: a schema at the top loses its name.
      const around = z.toJSONSchema(z.strictObject({ it: schema }), { io, target: "draft-2020-12" });
      for (const [name, definition] of Object.entries(around.$defs ?? {})) keep(name, toComponents(definition));
      return toComponents(around.properties?.["it"]) as Json;
    },
    named: () => Object.fromEntries([...named].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Where OpenAPI keeps what JSON Schema has in `$defs`. */
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
