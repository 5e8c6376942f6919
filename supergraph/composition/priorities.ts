// Apollo's composition does not know the classes of `@priority(class:)`: of two, it uses the first subgraph's and warns; without
// `@composeDirective` it drops the declarations silently.
import { priorityClasses, priorityDirectiveUrl } from "@tributary/kit/admission/priority";
import { type ConstDirectiveNode, Kind, OperationTypeNode } from "graphql";
import { compositionAdviceFor } from "./advice.ts";
import type { CompositionError } from "./composition-errors.ts";
import { isNamedDefinition, type ParsedSubgraph, type Place, placeOfNode } from "./places.ts";

interface Declaration {
  /** With the default name of the root type, which a subgraph may change. */
  readonly coordinate: string;
  readonly isRootField: boolean;
  /** Undefined if the argument is missing or not a string: then Apollo's composition reports it. */
  readonly priority: string | undefined;
  readonly node: ConstDirectiveNode;
  readonly subgraph: ParsedSubgraph;
}

/** Declarations with an unknown class, without effect, or with another class than the same field has in another subgraph. */
export function findPriorityProblems(parsed: readonly ParsedSubgraph[]): CompositionError[] {
  const declarations = parsed.flatMap(findDeclarations);
  const byField = Map.groupBy(declarations, ({ coordinate }) => coordinate);
  return [
    ...parsed.flatMap((subgraph) => findMissingLink(declarations.find((found) => found.subgraph === subgraph))),
    ...declarations.flatMap(checkDeclaration),
    ...[...byField.values()].flatMap(findMismatch),
  ];
}

function findDeclarations(subgraph: ParsedSubgraph): Declaration[] {
  const rootNames = rootNamesOf(subgraph);
  const declarations: Declaration[] = [];
  for (const type of subgraph.document.definitions.filter(isNamedDefinition)) {
    const rootName = rootNames.get(type.name.value);
    const isRootField = rootName !== undefined;
    const fields = "fields" in type ? (type.fields ?? []) : [];
    for (const { name, directives = [] } of fields) {
      const coordinate = `${rootName ?? type.name.value}.${name.value}`;
      for (const node of directives.filter(isNamed("priority")))
        declarations.push({ coordinate, isRootField, priority: stringOf(node, "class"), node, subgraph });
    }
  }
  return declarations;
}

/** The default name of each root type, by the name in this subgraph. */
function rootNamesOf({ document }: ParsedSubgraph): ReadonlyMap<string, string> {
  const renamed = document.definitions.flatMap((node) => ("operationTypes" in node ? (node.operationTypes ?? []) : []));
  const nameOf = (operation: OperationTypeNode) => renamed.find((one) => one.operation === operation)?.type.name.value;
  return new Map([
    [nameOf(OperationTypeNode.QUERY) ?? "Query", "Query"],
    [nameOf(OperationTypeNode.MUTATION) ?? "Mutation", "Mutation"],
  ]);
}

/** @param first the first declaration of a subgraph; undefined if it has none. */
function findMissingLink(first: Declaration | undefined): CompositionError[] {
  if (!first) return [];
  const directives = first.subgraph.document.definitions.flatMap((node) =>
    node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION ? (node.directives ?? []) : [],
  );
  const isLinked = directives.some((one) => stringOf(one, "url") === priorityDirectiveUrl);
  const isComposed = directives
    .filter(isNamed("composeDirective"))
    .some((one) => stringOf(one, "name") === "@priority");
  if (isLinked && isComposed) return [];
  return [toError(first, "PRIORITY_NOT_COMPOSED", "The supergraph does not get @priority.")];
}

function checkDeclaration(declaration: Declaration): CompositionError[] {
  const { coordinate, isRootField, priority } = declaration;
  if (!isRootField)
    return [toError(declaration, "PRIORITY_NOT_AT_ROOT", `${coordinate} is not a field of Query or Mutation.`)];
  if (priority === undefined || (priorityClasses as readonly string[]).includes(priority)) return [];
  const message = `${coordinate} has the unknown priority class ${JSON.stringify(priority)}.`;
  return [toError(declaration, "PRIORITY_UNKNOWN", message)];
}

function findMismatch([first, ...others]: readonly Declaration[]): CompositionError[] {
  if (!first || others.every(({ priority }) => priority === first.priority)) return [];
  const classes = [first, ...others].map(({ priority, subgraph }) => `${priority} in ${subgraph.source.name}`);
  const error = toError(first, "PRIORITY_MISMATCH", `The priority of ${first.coordinate} is ${classes.join(", ")}.`);
  return [{ ...error, elsewhere: others.flatMap((other) => placeOf(other) ?? []) }];
}

function toError(declaration: Declaration, code: string, message: string): CompositionError {
  return { message, code, ...placeOf(declaration), advice: compositionAdviceFor(code) };
}

function placeOf({ node, subgraph }: Declaration): Place | undefined {
  return placeOfNode(node, [subgraph.source]);
}

function isNamed(name: string): (directive: ConstDirectiveNode) => boolean {
  return (directive) => directive.name.value === name;
}

function stringOf(directive: ConstDirectiveNode, argument: string): string | undefined {
  const value = directive.arguments?.find(({ name }) => name.value === argument)?.value;
  return value?.kind === Kind.STRING ? value.value : undefined;
}
