import { codegen } from "@graphql-codegen/core";
import * as typescriptPlugin from "@graphql-codegen/typescript";
import * as resolversPlugin from "@graphql-codegen/typescript-resolvers";
import type { DocumentNode } from "graphql";
import { Kind, parse, visit } from "graphql";
import type { CodegenConfig } from "./codegen-config.ts";

const notice =
  "// Made from schema.graphql and codegen.json by `npm run generate`. Do not edit.\n/* oxlint-disable */\n";

const declarationPattern = /^\s*export (?:type|interface) (\w+)/gm;

/** Of kit/src/graphql/resolver-types.ts: they do not depend on the schema. */
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
  return `${notice}${tidy(importSharedTypes(requireResolvers(text)))}`;
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

/** The generator writes two blocks into every file: helpers before the scalars, and resolver signatures before the first mapping. */
function importSharedTypes(text: string): string {
  const helpers = findBlock(text, "export type Maybe<T>", "/** All built-in");
  const signatures = findBlock(text, "export type ResolverTypeWrapper<T>", "/** Mapping");
  const withoutBlocks = text.replace(helpers, "").replace(signatures, "");
  // Only the signatures use GraphQLResolveInfo. Its import statement may be empty without it.
  const rest = withoutBlocks.replace(/GraphQLResolveInfo(?:, )?/, "").replace("import type {  } from 'graphql';\n", "");
  const declarations = `${helpers}${signatures}`.matchAll(declarationPattern);
  const declaredNames = [...declarations].map(([, name = ""]) => name);
  // The generator declares `Omit` again. Without that declaration, the file uses TypeScript's own.
  const usedNames = declaredNames.filter((name) => name !== "Omit" && new RegExp(`\\b${name}<`).test(rest));
  const missingName = usedNames.find((name) => !sharedTypes.has(name));
  if (missingName !== undefined)
    throw new Error(`kit/src/graphql/resolver-types.ts does not export ${missingName} yet.`);
  return `import type { ${[...usedNames, "RequireResolvers"].join(", ")} } from '@tributary/kit/graphql/resolver-types';\n${rest}`;
}

function findBlock(text: string, start: string, end: string): string {
  const from = text.indexOf(start);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`The generated types have no block from "${start}" to "${end}".`);
  return text.slice(from, to);
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.trimEnd());
  const withSingleEmptyLines = lines.join("\n").replaceAll(/\n{3,}/g, "\n\n");
  return `${withSingleEmptyLines.trim()}\n`;
}
