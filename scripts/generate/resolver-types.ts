import { codegen } from "@graphql-codegen/core";
import * as typescriptPlugin from "@graphql-codegen/typescript";
import * as resolversPlugin from "@graphql-codegen/typescript-resolvers";
import type { DocumentNode } from "graphql";
import { Kind, parse, visit } from "graphql";
import type { CodegenConfig } from "./codegen-config.ts";

/** Not linted: GraphQL Code Generator writes its helper types into each file, used or not, some with `any`. The next version may write others. */
const notice =
  "// Made from schema.graphql and codegen.json by `npm run generate`. Do not edit.\n/* oxlint-disable */\nimport type { RequireResolvers } from '@tributary/kit/graphql/resolver-types';\n";

/**
 * They satisfy the repository's tsconfig: enums become unions (erasable syntax), type imports are marked and end in .ts, and a nullable field
 * may also be undefined.
 * @throws Error if a mapper names a type that the schema does not define, or a custom scalar has no type.
 */
export async function generateResolverTypes(sdl: string, config: CodegenConfig): Promise<string> {
  const schema = withoutDefinedDirectives(parse(sdl));
  const { mappers = {}, scalars = {}, contextType } = config;
  requireTypes(schema, mappers);
  const aliasedMappers = Object.entries(mappers).map(([type, reference]) => [type, withAlias(reference)] as const);
  const contextOption = contextType === undefined ? {} : { contextType };
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
      // The generator adds _FieldSet, the argument type of @key and @requires.
      scalars: { _FieldSet: "string", ID: "string", DateTime: "Date", ...scalars },
      mappers: Object.fromEntries(aliasedMappers),
      ...contextOption,
    },
  });
  return `${notice}${tidy(requireResolvers(text))}`;
}

/** No resolver reads the directives that the schema defines, such as `@priority`. */
function withoutDefinedDirectives(schema: DocumentNode): DocumentNode {
  const definitions = schema.definitions.filter((node) => node.kind === Kind.DIRECTIVE_DEFINITION);
  const definedNames = new Set(definitions.map(({ name }) => name.value));
  // A visitor function removes the node by null, and keeps it by undefined.
  return visit(schema, {
    DirectiveDefinition: () => null,
    Directive: ({ name }) => (definedNames.has(name.value) ? null : undefined),
  });
}

/** The generated file declares the schema's type User. */
function withAlias(reference: string): string {
  return `${reference} as ${reference.split("#")[1]}Model`;
}

function requireTypes({ definitions }: DocumentNode, mappers: Readonly<Record<string, string>>): void {
  const names = new Set(definitions.map((definition) => ("name" in definition ? definition.name?.value : undefined)));
  const unknownType = Object.keys(mappers).find((type) => !names.has(type));
  if (unknownType !== undefined)
    throw new Error(`codegen.json maps ${unknownType}, but schema.graphql does not define this type.`);
}

/** The generator declares every resolver as optional. */
function requireResolvers(text: string): string {
  const optional = text.replace(/^export type Resolvers(?=<ContextType)/m, "type OptionalResolvers");
  return `${optional}\nexport type Resolvers = RequireResolvers<OptionalResolvers, ResolversParentTypes>;\n`;
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.trimEnd());
  const withSingleEmptyLines = lines.join("\n").replaceAll(/\n{3,}/g, "\n\n");
  return `${withSingleEmptyLines.trim()}\n`;
}
