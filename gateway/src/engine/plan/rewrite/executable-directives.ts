// Executable directives of subgraphs, which the planner must forward.
import {
  type ASTNode,
  type ConstArgumentNode,
  type DirectiveDefinitionNode,
  type DirectiveNode,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  print,
  visit,
} from "graphql";
import { choosePrefix } from "../normalize/normalize.ts";
import { isNamed, stringOf } from "./supergraph-directives.ts";

const executableLocations = new Set([
  "QUERY",
  "MUTATION",
  "FIELD",
  "FRAGMENT_DEFINITION",
  "FRAGMENT_SPREAD",
  "INLINE_FRAGMENT",
  "VARIABLE_DEFINITION",
]);

/** federation-internals defines these itself, and removes `@defer`: a subgraph's directives get other names. */
const builtInNames: ReadonlySet<string> = new Set(["defer", "stream"]);

/** New names by old name. */
export type DirectiveNames = ReadonlyMap<string, string>;

export function chooseDirectiveNames({ definitions }: DocumentNode): DirectiveNames {
  const definedNames = definitions.flatMap((node) => (node.kind === Kind.DIRECTIVE_DEFINITION ? node.name.value : []));
  const prefix = choosePrefix("d", definedNames);
  const renamed = definedNames.filter((name) => builtInNames.has(name));
  return new Map(renamed.map((name) => [name, prefix + name]));
}

export function renameDirectives<N extends ASTNode>(node: N, names: DirectiveNames): N {
  if (names.size === 0) return node;
  // For `visit`, undefined means that the node remains unchanged.
  const rename = (directive: DirectiveNode | DirectiveDefinitionNode) => {
    const newName = names.get(directive.name.value);
    return newName === undefined ? undefined : { ...directive, name: { kind: Kind.NAME, value: newName } };
  };
  return visit(node, { Directive: rename, DirectiveDefinition: rename });
}

/** Without foreign links (of `@composeDirective`): the schema by which federation-internals reads operations would lack their directives. */
export function withoutForeignLinks(document: DocumentNode): DocumentNode {
  const definitions = document.definitions.map((node) => {
    if (node.kind !== Kind.SCHEMA_DEFINITION && node.kind !== Kind.SCHEMA_EXTENSION) return node;
    const directives = node.directives ?? [];
    return { ...node, directives: directives.filter((directive) => !isForeignLink(directive)) };
  });
  return { ...document, definitions };
}

const isLink = isNamed("link");

function isForeignLink(directive: DirectiveNode): boolean {
  if (!isLink(directive)) return false;
  const isApolloFeature = stringOf(directive, "url")?.startsWith("https://specs.apollo.dev/") === true;
  return !isApolloFeature;
}

/** federation-internals leaves them out of the API schema. */
export function withExecutableDirectives(apiSdl: string, supergraph: DocumentNode): string {
  const missing = findExecutableDirectives(supergraph).filter(({ name }) => !definesDirective(apiSdl, name.value));
  return [apiSdl, ...missing.map(print)].join("\n\n");
}

function definesDirective(sdl: string, name: string): boolean {
  const definition = new RegExp(`^directive @${name}\\b`, "m");
  return definition.test(sdl);
}

function findExecutableDirectives({ definitions }: DocumentNode): readonly DirectiveDefinitionNode[] {
  return definitions.flatMap((node) => {
    if (node.kind !== Kind.DIRECTIVE_DEFINITION) return [];
    const locations = node.locations.filter(({ value }) => executableLocations.has(value));
    if (locations.length === 0) return [];
    const args = (node.arguments ?? []).map((argument) => ({ ...argument, directives: [] }));
    return [{ ...node, locations, arguments: args }];
  });
}

/** Adds the supergraph's defaults to an operation's directives: a subgraph can require the argument and have no default. */
export function createDirectiveDefaults(supergraph: DocumentNode) {
  const definitions = findExecutableDirectives(supergraph);
  const defaultsByDirective = new Map(definitions.map((node) => [node.name.value, defaultsOf(node)]));
  const hasDefaults = [...defaultsByDirective.values()].some((defaults) => defaults.length > 0);

  function addDefaults(directive: DirectiveNode): DirectiveNode | undefined {
    const args = directive.arguments ?? [];
    const presentNames = new Set(args.map(({ name }) => name.value));
    const defaults = defaultsByDirective.get(directive.name.value) ?? [];
    const missing = defaults.filter(({ name }) => !presentNames.has(name.value));
    return missing.length === 0 ? undefined : { ...directive, arguments: [...args, ...missing] };
  }

  return (operation: OperationDefinitionNode): OperationDefinitionNode =>
    hasDefaults ? visit(operation, { Directive: addDefaults }) : operation;
}

function defaultsOf(node: DirectiveDefinitionNode): readonly ConstArgumentNode[] {
  return (node.arguments ?? []).flatMap(({ name, defaultValue }) =>
    defaultValue === undefined ? [] : [{ kind: Kind.ARGUMENT, name, value: defaultValue }],
  );
}
