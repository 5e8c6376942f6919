// Stage 3 of 5: how to answer? The text of one request: a fetch's own, or several entity fetches under names that keep them apart.
import {
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  print,
  type SelectionSetNode,
  stripIgnoredCharacters,
  type VariableDefinitionNode,
} from "graphql";
import { findEntities } from "./fetch-document.ts";

/** The names of one fetch among others of its request. The planner's own where it is alone. */
export interface FetchNames {
  /** Of the variable with its representations. */
  readonly variable: string;
  /** Of its entities in the answer. */
  readonly entitiesKey: string;
}

/** Clients' variables have other names, see `plannerVariable` in normalize.ts. */
const plannerNames: FetchNames = { variable: "representations", entitiesKey: "_entities" };

export function nameFetch(index: number, count: number): FetchNames {
  return count === 1 ? plannerNames : { variable: `representations${index}`, entitiesKey: `_entities${index}` };
}

/** @param operations of one fetch, or of entity fetches only; in the order in which they are named. */
export function writeRequestText(operations: readonly OperationDefinitionNode[]): string {
  const [first] = operations;
  if (!first) throw new Error("A request brings something");
  return stripIgnoredCharacters(print(operations.length === 1 ? first : mergeOperations(first, operations)));
}

function mergeOperations(
  first: OperationDefinitionNode,
  operations: readonly OperationDefinitionNode[],
): OperationDefinitionNode {
  const parts = operations.map((operation, i) => rename(operation, nameFetch(i, operations.length)));
  const definitions = new Map(
    parts.flatMap(({ variableDefinitions }) => variableDefinitions).map((node) => [node.variable.name.value, node]),
  );
  return {
    ...first,
    variableDefinitions: [...definitions.values()],
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: parts.flatMap(({ selectionSet }) => selectionSet.selections),
    },
  };
}

interface Part {
  readonly variableDefinitions: readonly VariableDefinitionNode[];
  readonly selectionSet: SelectionSetNode;
}

function rename(operation: OperationDefinitionNode, { variable, entitiesKey }: FetchNames): Part {
  const entities = findEntities(operation);
  if (!entities) throw new Error("Only entity fetches go together");
  const isPlanners = (name: NameNode) => name.value === plannerNames.variable;
  const renamed = { kind: Kind.VARIABLE, name: toName(variable) } as const;
  return {
    variableDefinitions: (operation.variableDefinitions ?? []).map((definition) =>
      isPlanners(definition.variable.name) ? { ...definition, variable: renamed } : definition,
    ),
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: [
        {
          ...entities,
          alias: toName(entitiesKey),
          arguments: [{ kind: Kind.ARGUMENT, name: toName(plannerNames.variable), value: renamed }],
        },
      ],
    },
  };
}

function toName(value: string): NameNode {
  return { kind: Kind.NAME, value };
}
