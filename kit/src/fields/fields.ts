// The plain fields of an entity: those that are one column, and that GraphQL and every REST version read and write under one name. Each is declared
// once, in the service's model.ts. The declaration determines its column, its types, its validation, its member of the REST bodies, and its
// OpenAPI schemas and examples (kit/src/openapi/field-schemas.ts).
import type { z } from "zod";
import { text, type TextLimits } from "../errors/validate.ts";

/** A value that is the same in the row, in GraphQL and in JSON. */
type PlainValue = string | number | boolean;

interface CommonDeclaration {
  /** An optional field can be null: a new entity does not need it, and a change can clear it with null. Default: every entity has a value. */
  readonly isOptional?: true;
  /** For the OpenAPI documents. */
  readonly description?: string;
  /** For the OpenAPI documents. It obeys the rule of the field. */
  readonly example: PlainValue;
}

interface TextDeclaration extends CommonDeclaration {
  readonly text: TextLimits;
  readonly input?: never;
}

interface OtherDeclaration extends CommonDeclaration {
  /**
   * The rule for values in requests. It must reject null, which `isOptional` adds, and must not have a default: a change that omits the field would
   * set it.
   */
  readonly input: z.ZodType<PlainValue>;
  readonly text?: never;
}

export type FieldMap = Readonly<Record<string, TextDeclaration | OtherDeclaration>>;

type InputOf<Declaration> = Declaration extends OtherDeclaration ? Declaration["input"] : ReturnType<typeof text>;
type Optional = { readonly isOptional: true };

/** The zod shape of a new entity. */
export type NewShape<Map extends FieldMap> = {
  readonly [Name in keyof Map]: Map[Name] extends Optional
    ? z.ZodOptional<z.ZodNullable<InputOf<Map[Name]>>>
    : InputOf<Map[Name]>;
};

/** The zod shape of a change: every field may be absent. */
export type ChangesShape<Map extends FieldMap> = {
  readonly [Name in keyof Map]: Map[Name] extends Optional
    ? z.ZodOptional<z.ZodNullable<InputOf<Map[Name]>>>
    : z.ZodOptional<InputOf<Map[Name]>>;
};

export type FieldValues<Map extends FieldMap> = {
  readonly [Name in keyof Map]: z.output<InputOf<Map[Name]>> | (Map[Name] extends Optional ? null : never);
};

/** A field with its rule. */
export interface PlainField {
  readonly input: z.ZodType<PlainValue>;
  readonly isOptional: boolean;
  readonly description: string | undefined;
  readonly example: PlainValue;
  /** The length of a text, in code points. Undefined for other fields. */
  readonly limits: Pick<TextLimits, "min" | "max"> | undefined;
}

export interface Fields<Map extends FieldMap> {
  readonly declared: Map;
  readonly all: Readonly<Record<string, PlainField>>;
  readonly names: readonly (keyof Map & string)[];
  /** The column of each field: its name in snake case. */
  readonly columns: { readonly [Name in keyof Map]: string };
  /** The schemas of a new entity's fields. */
  readonly created: NewShape<Map>;
  /** The schemas of changed fields: each may be absent. */
  readonly changed: ChangesShape<Map>;
  /** The values of these fields alone. */
  of(entity: FieldValues<Map>): FieldValues<Map>;
  readonly examples: { readonly [Name in keyof Map]: z.output<InputOf<Map[Name]>> };
  /** Null for each optional field: erases them when an entity is deactivated or deleted. */
  readonly cleared: {
    readonly [Name in keyof Map as Map[Name] extends Optional ? Name : never]: null;
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

/**
 * Declares the plain fields of an entity, in the order of the REST responses.
 * @throws Error if an example breaks the rule of its field.
 */
export function defineFields<const Map extends FieldMap>(declared: Map): Fields<Map> {
  const names = Object.keys(declared);
  const all = Object.fromEntries(Object.entries(declared).map(([name, declaration]) => [name, toField(declaration)]));
  /** An object with one member for each field. */
  const mapFields = <Value>(toValue: (field: PlainField, name: string) => Value) =>
    Object.fromEntries(Object.entries(all).map(([name, field]) => [name, toValue(field, name)]));
  const optionalNames = names.filter((name) => all[name]?.isOptional);
  return {
    declared,
    all,
    names,
    columns: mapFields((_, name) => toSnakeCase(name)),
    created: mapFields(({ input, isOptional }) => (isOptional ? input.nullish() : input)),
    changed: mapFields(({ input, isOptional }) => (isOptional ? input.nullish() : input.optional())),
    of(entity: Readonly<Record<string, unknown>>) {
      const values: Record<string, unknown> = {};
      for (const name of names) values[name] = entity[name];
      return values;
    },
    examples: mapFields(({ example }) => example),
    cleared: Object.fromEntries(optionalNames.map((name) => [name, null])),
    // The cast: TypeScript cannot infer that each member of these objects has the type of its declared field.
  } as unknown as Fields<Map>;
}

function toField(declaration: FieldMap[string]): PlainField {
  const { text: limits } = declaration;
  const input = limits === undefined ? declaration.input : text(limits);
  const { isOptional = false, description, example } = declaration;
  return { input, limits, isOptional, description, example: input.parse(example) };
}

function toSnakeCase(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}
