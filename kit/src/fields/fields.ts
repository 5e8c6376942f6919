// The plain fields of an entity: those that are one column, and that GraphQL and every REST version read and write under one name. Each is declared
// once, in the service's model.ts. From the declaration follow its column, its types, its validation, its member of the REST bodies, and its
// OpenAPI schemas and examples (kit/src/openapi/field-schemas.ts).
import type { z } from "zod";
import { text, type TextLimits } from "../errors/validate.ts";

/** A value that is the same in the row, in GraphQL and in JSON. */
type PlainValue = string | number | boolean;

interface Field<Input extends z.ZodType<PlainValue> = z.ZodType<PlainValue>, Optional extends boolean = boolean> {
  /** The rule for values in requests. */
  readonly input: Input;
  /** An optional field can be null: a new entity does not need it, and a change can clear it with null. */
  readonly isOptional: Optional;
  /** For the OpenAPI documents. */
  readonly description?: string | undefined;
  readonly example: z.output<Input>;
  /** Of a text, in characters. */
  readonly limits?: Pick<TextLimits, "min" | "max">;
}

export type FieldMap = Readonly<Record<string, Field>>;
type NullIf<Optional> = Optional extends true ? null : never;

export type NewShape<Map extends FieldMap> = {
  readonly [Name in keyof Map]: Map[Name]["isOptional"] extends true
    ? z.ZodOptional<z.ZodNullable<Map[Name]["input"]>>
    : Map[Name]["input"];
};

export type ChangesShape<Map extends FieldMap> = {
  readonly [Name in keyof Map]: Map[Name]["isOptional"] extends true
    ? z.ZodOptional<z.ZodNullable<Map[Name]["input"]>>
    : z.ZodOptional<Map[Name]["input"]>;
};

export type FieldValues<Map extends FieldMap> = {
  readonly [Name in keyof Map]: z.output<Map[Name]["input"]> | NullIf<Map[Name]["isOptional"]>;
};

export interface Fields<Map extends FieldMap> {
  readonly declared: Map;
  readonly names: readonly (keyof Map & string)[];
  /** The column of each field: its name in snake case. */
  readonly columns: { readonly [Name in keyof Map]: string };
  /** The schemas of a new entity's fields. */
  readonly created: NewShape<Map>;
  /** The schemas of changed fields: each may be absent. */
  readonly changed: ChangesShape<Map>;
  /** The values of these fields alone. */
  of(entity: FieldValues<Map>): FieldValues<Map>;
  readonly examples: { readonly [Name in keyof Map]: z.output<Map[Name]["input"]> };
  /** Null for each optional field. */
  readonly cleared: {
    readonly [Name in keyof Map as Map[Name]["isOptional"] extends true ? Name : never]: null;
  };
}

interface Declared {
  readonly declared: FieldMap;
}

/** The fields of an entity. */
export type ValuesOf<F extends Declared> = FieldValues<F["declared"]>;
/** The fields of a new entity. */
export type NewValuesOf<F extends Declared> = Readonly<z.output<z.ZodObject<NewShape<F["declared"]>>>>;
/** An undefined field remains unchanged. */
export type ChangesOf<F extends Declared> = Readonly<z.output<z.ZodObject<ChangesShape<F["declared"]>>>>;

/** Declares the plain fields of an entity, in the sequence of the REST responses. */
export function defineFields<const Map extends FieldMap>(declared: Map): Fields<Map> {
  const names = Object.keys(declared);
  const derive = <Value>(toValue: (field: Field, name: string) => Value) =>
    Object.fromEntries(Object.entries(declared).map(([name, field]) => [name, toValue(field, name)]));
  const optionalNames = names.filter((name) => declared[name]?.isOptional);
  return {
    declared,
    names,
    columns: derive((_, name) => toSnakeCase(name)),
    created: derive(({ input, isOptional }) => (isOptional ? input.nullish() : input)),
    changed: derive(({ input, isOptional }) => (isOptional ? input.nullish() : input.optional())),
    of(entity: Readonly<Record<string, unknown>>) {
      const values: Record<string, unknown> = {};
      for (const name of names) values[name] = entity[name];
      return values;
    },
    examples: derive(({ example }) => example),
    cleared: Object.fromEntries(optionalNames.map((name) => [name, null])),
    // The types of the members follow from those of the declared fields.
  } as unknown as Fields<Map>;
}

interface TextFieldOptions extends TextLimits {
  /** Default: every entity has a value. */
  readonly isOptional?: boolean;
  readonly description?: string;
  readonly example: string;
}

type TextField<Optional extends boolean> = Field<ReturnType<typeof text>, Optional>;

/** @throws Error if the example breaks the rule. */
export function textField(o: TextFieldOptions & { readonly isOptional: true }): TextField<true>;
export function textField(o: TextFieldOptions & { readonly isOptional?: false }): TextField<false>;
export function textField({
  isOptional = false,
  description,
  example,
  ...limits
}: TextFieldOptions): TextField<boolean> {
  const input = text(limits);
  return { input, isOptional, limits, description, example: input.parse(example) };
}

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
