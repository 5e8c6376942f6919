// Stage 3 of 5: plan. The text of one request: one fetch, or several entity fetches under names that keep them apart.
import {
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  print,
  type SelectionSetNode,
  stripIgnoredCharacters,
  type VariableDefinitionNode,
} from "graphql";
import type { CompiledRequest, RequestText } from "./compiled-plan.ts";
import { type FetchDocument, findEntities } from "./fetch-document.ts";
import { addKeys, type CheckedKey, type StoppedKeyChecks } from "./key-checks.ts";

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

/**
 * The texts of one request.
 * @param documents of one fetch, or of entity fetches only; in the order in which they are named.
 */
export function createRequestTexts(
  service: string,
  documents: readonly FetchDocument[],
  stoppedKeyChecks: StoppedKeyChecks,
): Pick<CompiledRequest, "text" | "textWithoutKeys"> {
  const write = () => writeRequest(documents, (key) => !stoppedKeyChecks.has(service, key.typeCondition));
  let stoppedCount = stoppedKeyChecks.count;
  let text = write();
  let withoutKeys: RequestText | undefined;
  return {
    text() {
      if (stoppedCount !== stoppedKeyChecks.count) {
        stoppedCount = stoppedKeyChecks.count;
        text = write();
      }
      return text;
    },
    textWithoutKeys: () => (withoutKeys ??= writeRequest(documents, () => false)),
  };
}

function writeRequest(documents: readonly FetchDocument[], isWanted: (key: CheckedKey) => boolean): RequestText {
  const addedKeys = new Map<string, string>();
  const operations = documents.map(({ operation, checkedKeys }, i) => {
    const keys = checkedKeys.filter((key) => key.isAdded && isWanted(key));
    const { entitiesKey } = nameFetch(i, documents.length);
    for (const { responseName, typeCondition } of keys) addedKeys.set(`${entitiesKey}.${responseName}`, typeCondition);
    return keys.length === 0 ? operation : addToEntities(operation, keys);
  });
  return { head: `{"query":${JSON.stringify(writeOperations(operations))}`, addedKeys };
}

function addToEntities(operation: OperationDefinitionNode, keys: readonly CheckedKey[]): OperationDefinitionNode {
  const entities = findEntities(operation);
  if (!entities) throw new Error("Only entity fetches have keys");
  const withKeys = { ...entities, selectionSet: addKeys(entities.selectionSet, keys) };
  return { ...operation, selectionSet: { ...operation.selectionSet, selections: [withKeys] } };
}

function writeOperations(operations: readonly OperationDefinitionNode[]): string {
  const [first] = operations;
  if (!first) throw new Error("A request has operations");
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
