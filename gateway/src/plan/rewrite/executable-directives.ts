// Stage 3 of 5: plan. Executable directives that subgraphs define and clients may use in operations.
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
import { choosePrefix } from "../normalize.ts";
import { isNamed, stringOf } from "./supergraph-draft.ts";

const executableLocations = new Set([
  "QUERY",
  "MUTATION",
  "FIELD",
  "FRAGMENT_DEFINITION",
  "FRAGMENT_SPREAD",
  "INLINE_FRAGMENT",
  "VARIABLE_DEFINITION",
]);

/** Built into federation-internals: it replaces a supergraph's own definitions of them, and removes `@defer` from operations. */
const builtInNames: ReadonlySet<string> = new Set(["defer", "stream"]);

/** Old names of directives to new ones. */
export type DirectiveNames = ReadonlyMap<string, string>;

/** The planner's names of the directives that a supergraph defines under a built-in name. */
export function findPlannerNames({ definitions }: DocumentNode): DirectiveNames {
  const names = definitions.flatMap((node) => (node.kind === Kind.DIRECTIVE_DEFINITION ? node.name.value : []));
  const prefix = choosePrefix("d", names);
  return new Map(names.filter((name) => builtInNames.has(name)).map((name) => [name, prefix + name]));
}

/** Renames directives where they are defined and where they are used. */
export function renameDirectives<N extends ASTNode>(node: N, names: DirectiveNames): N {
  if (names.size === 0) return node;
  const rename = (directive: DirectiveNode | DirectiveDefinitionNode) => {
    const name = names.get(directive.name.value);
    return name === undefined ? undefined : { ...directive, name: { kind: Kind.NAME, value: name } };
  };
  return visit(node, { Directive: rename, DirectiveDefinition: rename });
}

/**
 * Features that are not of federation itself come by `@composeDirective`. While they are linked, federation-internals takes their
 * directives out of the schema that operations are read by, executable ones among them.
 */
export function withoutForeignLinks(document: DocumentNode): DocumentNode {
  const definitions = document.definitions.map((node) => {
    if (node.kind !== Kind.SCHEMA_DEFINITION && node.kind !== Kind.SCHEMA_EXTENSION) return node;
    return { ...node, directives: (node.directives ?? []).filter((one) => !isLink(one) || isOfFederation(one)) };
  });
  return { ...document, definitions };
}

const isLink = isNamed("link");

function isOfFederation(link: Parameters<typeof isLink>[0]): boolean {
  return stringOf(link, "url")?.startsWith("https://specs.apollo.dev/") === true;
}

/** The API schema with the executable directives that it lost. */
export function withExecutableDirectives(apiSdl: string, supergraph: DocumentNode): string {
  const definitions = findExecutableDirectives(supergraph).filter(
    ({ name }) => !new RegExp(`^directive @${name.value}\\b`, "m").test(apiSdl),
  );
  return [apiSdl, ...definitions.map(print)].join("\n\n");
}

/** With what an operation may use of them. */
function findExecutableDirectives({ definitions }: DocumentNode): readonly DirectiveDefinitionNode[] {
  return definitions.flatMap((node) => {
    if (node.kind !== Kind.DIRECTIVE_DEFINITION) return [];
    const locations = node.locations.filter(({ value }) => executableLocations.has(value));
    const given = (node.arguments ?? []).map((argument) => ({ ...argument, directives: [] }));
    return locations.length === 0 ? [] : [{ ...node, locations, arguments: given }];
  });
}

/**
 * Writes the defaults of the supergraph into directives that leave them out: a subgraph may have none for an argument that it must get.
 */
export function createDefaultWriter(supergraph: DocumentNode) {
  const defaults = new Map(findExecutableDirectives(supergraph).map((node) => [node.name.value, defaultsOf(node)]));
  const hasDefaults = [...defaults.values()].some(({ length }) => length > 0);
  return (operation: OperationDefinitionNode): OperationDefinitionNode => {
    if (!hasDefaults) return operation;
    return visit(operation, {
      Directive(node) {
        const given = node.arguments ?? [];
        const missing = (defaults.get(node.name.value) ?? []).filter(
          ({ name }) => !given.some((one) => one.name.value === name.value),
        );
        return missing.length === 0 ? undefined : { ...node, arguments: [...given, ...missing] };
      },
    });
  };
}

function defaultsOf(node: DirectiveDefinitionNode): readonly ConstArgumentNode[] {
  return (node.arguments ?? []).flatMap(({ name, defaultValue }) =>
    defaultValue === undefined ? [] : [{ kind: Kind.ARGUMENT, name, value: defaultValue }],
  );
}
