import type { z } from "zod";
import type { ChangesShape, FieldMap, Fields, FieldValues, NewShape, PlainField } from "../fields/fields.ts";
import { responseText, withTextLimits } from "./schemas.ts";

type ResponseShape<Map extends FieldMap> = {
  readonly [Name in keyof Map]: z.ZodType<FieldValues<Map>[Name]>;
};

export function documentFields<Map extends FieldMap>(fields: Fields<Map>) {
  const shape = buildShape(fields.all, (field) => {
    return field.isOptional ? toResponse(field).nullable() : toResponse(field);
  });
  return shape as ResponseShape<Map>;
}

export function documentNewFields<Map extends FieldMap>(fields: Fields<Map>) {
  const shape = buildShape(fields.all, (field) => {
    return field.isOptional ? toRequest(field).nullish() : toRequest(field);
  });
  return shape as NewShape<Map>;
}

/** JSON Merge Patch (RFC 7396). */
export function documentChanges<Map extends FieldMap>(fields: Fields<Map>) {
  const shape = buildShape(fields.all, (field) => {
    return field.isOptional ? toRequest(field).nullish() : toRequest(field).optional();
  });
  return shape as ChangesShape<Map>;
}

/** Each caller casts the object to the types of the declared fields. */
function buildShape(fields: Readonly<Record<string, PlainField>>, toSchema: (field: PlainField) => z.ZodType): unknown {
  const schemas = Object.entries(fields).map(([name, field]) => [name, toSchema(field)] as const);
  return Object.fromEntries(schemas);
}

/** `input` of a text trims it: JSON Schema cannot express the result of a transformation. */
function toResponse({ input, limits, description, example }: PlainField): z.ZodType {
  const schema = limits === undefined ? input.meta({ examples: [example] }) : responseText(limits.max, String(example));
  return describe(schema, description);
}

function toRequest({ input, limits, description }: PlainField): z.ZodType {
  return describe(limits === undefined ? input : withTextLimits(input, limits), description);
}

function describe(schema: z.ZodType, description: string | undefined): z.ZodType {
  return description === undefined ? schema : schema.meta({ description });
}
