import { codegen } from "@graphql-codegen/core";
import * as typescriptPlugin from "@graphql-codegen/typescript";
import * as resolversPlugin from "@graphql-codegen/typescript-resolvers";
import type { DocumentNode } from "graphql";
import { parse } from "graphql";
import type { CodegenConfig } from "./codegen-config.ts";

const notice =
  "// Made from schema.graphql and codegen.json by `npm run generate`. Do not edit.\n/* oxlint-disable */\n";

/** The types that `kit/src/graphql/resolver-types.ts` exports: they do not depend on the schema. */
const sharedTypes = new Set([
  "GraphQLRecursivePick",
  "InputMaybe",
  "Maybe",
  "ReferenceResolver",
  "RequireFields",
  "Resolver",
  "ResolverTypeWrapper",
]);

/**
 * Generates the resolver types of one service from its schema. They satisfy the repository's tsconfig: enums are unions (erasable
 * syntax), types are imported with `import type` and .ts extensions, nullable values may also be undefined, and all fields are readonly.
 * @throws Error if a mapper names a type that the schema does not define, or a custom scalar has no type.
 */
export async function generateResolverTypes(sdl: string, config: CodegenConfig): Promise<string> {
  const schema = parse(sdl);
  const { mappers = {}, scalars = {}, contextType } = config;
  requireTypes(schema, mappers);
  const text = await codegen({
    filename: "schema-types.ts",
    schema,
    documents: [],
    plugins: [{ typescript: {} }, { resolvers: {} }],
    pluginMap: { typescript: typescriptPlugin, resolvers: resolversPlugin },
    config: {
      federation: true,
      enumsAsTypes: true,
      useTypeImports: true,
      immutableTypes: true,
      maybeValue: "T | null | undefined",
      strictScalars: true,
      // _FieldSet is the argument type of @key and @requires; the generator adds it to the schema.
      scalars: { _FieldSet: "string", ID: "string", DateTime: "Date", ...scalars },
      mappers: Object.fromEntries(Object.entries(mappers).map(([type, reference]) => [type, withAlias(reference)])),
      ...(contextType !== undefined && { contextType }),
    },
  });
  return `${notice}${tidy(importSharedTypes(text))}`;
}

/** "../model.ts#User" → "../model.ts#User as UserModel", because the generated file has a type User for the schema's User. */
function withAlias(reference: string): string {
  return `${reference} as ${reference.split("#")[1]}Model`;
}

function requireTypes({ definitions }: DocumentNode, mappers: Readonly<Record<string, string>>): void {
  const types = new Set(definitions.map((definition) => ("name" in definition ? definition.name?.value : undefined)));
  const unknownType = Object.keys(mappers).find((type) => !types.has(type));
  if (unknownType !== undefined)
    throw new Error(`codegen.json maps ${unknownType}, but schema.graphql does not define this type.`);
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.trimEnd());
  return `${lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()}\n`;
}
