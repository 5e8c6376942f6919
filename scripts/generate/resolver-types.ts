import { codegen } from "@graphql-codegen/core";
import * as typescriptPlugin from "@graphql-codegen/typescript";
import * as resolversPlugin from "@graphql-codegen/typescript-resolvers";
import type { DocumentNode } from "graphql";
import { parse } from "graphql";
import type { CodegenConfig } from "./codegen-config.ts";

const notice =
  "// Made from schema.graphql and codegen.json by `npm run generate`. Do not edit.\n/* oxlint-disable */\n";

/**
 * The resolver types of one service, from its schema. They satisfy the repository's tsconfig: enums are unions (nothing is
 * left to erase), imports of types say so and end in .ts, and what is nullable may also be undefined. Everything is readonly.
 * @throws Error when a mapper names no type of the schema, or a custom scalar has no type.
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
      // _FieldSet is what @key and @requires take: the generator adds it.
      scalars: { _FieldSet: "string", ID: "string", DateTime: "Date", ...scalars },
      mappers: Object.fromEntries(Object.entries(mappers).map(([type, reference]) => [type, withAlias(reference)])),
      ...(contextType !== undefined && { contextType }),
    },
  });
  return `${notice}${tidy(text)}`;
}

/** "../model.ts#User" → "../model.ts#User as UserModel": the schema's own User bears the name already. */
function withAlias(reference: string): string {
  return `${reference} as ${reference.split("#")[1]}Model`;
}

function requireTypes({ definitions }: DocumentNode, mappers: Readonly<Record<string, string>>): void {
  const types = new Set(definitions.map((definition) => ("name" in definition ? definition.name?.value : undefined)));
  const stranger = Object.keys(mappers).find((type) => !types.has(type));
  if (stranger !== undefined) throw new Error(`codegen.json maps ${stranger}, which is no type of schema.graphql.`);
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.trimEnd());
  return `${lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()}\n`;
}
