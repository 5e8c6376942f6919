// Plain fields: one column each, which GraphQL and every REST version read and write under one name.
import type { z } from "zod";
import { text, type TextLimits } from "../errors/validate.ts";

type PlainValue = string | number | boolean;

interface CommonDeclaration {
  /** Can be null: a new entity does not need it, and a change can clear it. */
  readonly isOptional?: true;
  readonly description?: string;
  readonly example: PlainValue;
}

interface TextDeclaration extends CommonDeclaration {
  readonly text: TextLimits;
  readonly input?: never;
}

interface OtherDeclaration extends CommonDeclaration {
  /** Must reject null, which `isOptional` adds, and have no default: a change that omits the field would set it. */
  readonly input: z.ZodType<PlainValue>;
  readonly text?: never;
}

export type FieldMap = Readonly<Record<string, TextDeclaration | OtherDeclaration>>;

type InputOf<Declaration> = Declaration extends OtherDeclaration ? Declaration["input"] : ReturnType<typeof text>;
type Optional = { readonly isOptional: true };

export type NewShape<Map extends FieldMap> = {
  readonly [Name in keyof Map]: Map[Name] extends Optional
    ? z.ZodOptional<z.ZodNullable<InputOf<Map[Name]>>>
    : InputOf<Map[Name]>;
};

/** Every field may be absent. */
export type ChangesShape<Map extends FieldMap> = {
  readonly [Name in keyof Map]: Map[Name] extends Optional
    ? z.ZodOptional<z.ZodNullable<InputOf<Map[Name]>>>
    : z.ZodOptional<InputOf<Map[Name]>>;
};

export type FieldValues<Map extends FieldMap> = {
  readonly [Name in keyof Map]: z.output<InputOf<Map[Name]>> | (Map[Name] extends Optional ? null : never);
};

export interface PlainField {
  readonly input: z.ZodType<PlainValue>;
  readonly isOptional: boolean;
  readonly description: string | undefined;
  readonly example: PlainValue;
  /** In code points. */
  readonly limits: Pick<TextLimits, "min" | "max"> | undefined;
}

export interface Fields<Map extends FieldMap> {
  readonly declared: Map;
  readonly all: Readonly<Record<string, PlainField>>;
  readonly names: readonly (keyof Map & string)[];
  /** The name in snake case. */
  readonly columns: { readonly [Name in keyof Map]: string };
  readonly created: NewShape<Map>;
  readonly changed: ChangesShape<Map>;
  of(entity: FieldValues<Map>): FieldValues<Map>;
  readonly examples: { readonly [Name in keyof Map]: z.output<InputOf<Map[Name]>> };
  /** Null for each optional field: erases them. */
  readonly cleared: {
    readonly [Name in keyof Map as Map[Name] extends Optional ? Name : never]: null;
  };
}

interface Declared {
  readonly declared: FieldMap;
}

export type ValuesOf<F extends Declared> = FieldValues<F["declared"]>;
export type NewValuesOf<F extends Declared> = Readonly<z.output<z.ZodObject<NewShape<F["declared"]>>>>;
/** An undefined field remains unchanged. */
export type ChangesOf<F extends Declared> = Readonly<z.output<z.ZodObject<ChangesShape<F["declared"]>>>>;

/** In the order of the REST responses. @throws Error if an example breaks the rule of its field. */
export function defineFields<const Map extends FieldMap>(declared: Map): Fields<Map> {
  const names = Object.keys(declared);
  const all = Object.fromEntries(Object.entries(declared).map(([name, declaration]) => [name, toField(declaration)]));
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
    // TypeScript cannot infer that each member has the type of its declared field.
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
