// Executable directives of subgraphs: clients may use them in operations, and the planner must forward them to the subgraphs. query-planner.ts calls
// these functions.
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

/**
 * Directives that federation-internals defines itself: it replaces the supergraph's definitions, and removes `@defer` from operations. So the planner
 * gets directives of subgraphs with these names under other names, and restore-plan.ts restores the names in the plan.
 */
const builtInNames: ReadonlySet<string> = new Set(["defer", "stream"]);

/** New names of directives by old name. */
export type DirectiveNames = ReadonlyMap<string, string>;

/** Chooses other names for the directives that the supergraph defines under a built-in name. */
export function chooseDirectiveNames({ definitions }: DocumentNode): DirectiveNames {
  const names = definitions.flatMap((node) => (node.kind === Kind.DIRECTIVE_DEFINITION ? node.name.value : []));
  const prefix = choosePrefix("d", names);
  return new Map(names.filter((name) => builtInNames.has(name)).map((name) => [name, prefix + name]));
}

/** Renames directives in definitions and in uses. */
export function renameDirectives<N extends ASTNode>(node: N, names: DirectiveNames): N {
  if (names.size === 0) return node;
  const rename = (directive: DirectiveNode | DirectiveDefinitionNode) => {
    const name = names.get(directive.name.value);
    return name === undefined ? undefined : { ...directive, name: { kind: Kind.NAME, value: name } };
  };
  return visit(node, { Directive: rename, DirectiveDefinition: rename });
}

/**
 * Removes the links to features that are not Apollo's (`@composeDirective` adds them). The schema by which federation-internals reads operations
 * lacks all directives of linked features, so an operation that uses one would fail.
 */
export function withoutForeignLinks(document: DocumentNode): DocumentNode {
  const definitions = document.definitions.map((node) => {
    if (node.kind !== Kind.SCHEMA_DEFINITION && node.kind !== Kind.SCHEMA_EXTENSION) return node;
    return { ...node, directives: (node.directives ?? []).filter((one) => !isLink(one) || isApolloFeature(one)) };
  });
  return { ...document, definitions };
}

const isLink = isNamed("link");

function isApolloFeature(link: Parameters<typeof isLink>[0]): boolean {
  return stringOf(link, "url")?.startsWith("https://specs.apollo.dev/") === true;
}

/** Adds the executable directives to the API schema: federation-internals leaves them out. */
export function withExecutableDirectives(apiSdl: string, supergraph: DocumentNode): string {
  const definitions = findExecutableDirectives(supergraph).filter(
    ({ name }) => !new RegExp(`^directive @${name.value}\\b`, "m").test(apiSdl),
  );
  return [apiSdl, ...definitions.map(print)].join("\n\n");
}

/** The definitions, reduced to executable locations and without directives on arguments. */
function findExecutableDirectives({ definitions }: DocumentNode): readonly DirectiveDefinitionNode[] {
  return definitions.flatMap((node) => {
    if (node.kind !== Kind.DIRECTIVE_DEFINITION) return [];
    const locations = node.locations.filter(({ value }) => executableLocations.has(value));
    const args = (node.arguments ?? []).map((argument) => ({ ...argument, directives: [] }));
    return locations.length === 0 ? [] : [{ ...node, locations, arguments: args }];
  });
}

/**
 * Creates a function that adds the supergraph's default values to directives in an operation that omit the argument: in a subgraph, the argument
 * can be required and have no default.
 */
export function createDirectiveDefaults(supergraph: DocumentNode) {
  const defaults = new Map(findExecutableDirectives(supergraph).map((node) => [node.name.value, defaultsOf(node)]));
  const hasDefaults = [...defaults.values()].some(({ length }) => length > 0);
  return (operation: OperationDefinitionNode): OperationDefinitionNode => {
    if (!hasDefaults) return operation;
    return visit(operation, {
      Directive(node) {
        const args = node.arguments ?? [];
        const missing = (defaults.get(node.name.value) ?? []).filter(
          ({ name }) => !args.some((one) => one.name.value === name.value),
        );
        return missing.length === 0 ? undefined : { ...node, arguments: [...args, ...missing] };
      },
    });
  };
}

function defaultsOf(node: DirectiveDefinitionNode): readonly ConstArgumentNode[] {
  return (node.arguments ?? []).flatMap(({ name, defaultValue }) =>
    defaultValue === undefined ? [] : [{ kind: Kind.ARGUMENT, name, value: defaultValue }],
  );
}
