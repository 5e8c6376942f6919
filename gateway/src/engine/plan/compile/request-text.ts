// Writes the text of one subgraph request: the operation of one fetch, or several entity fetches as one operation whose `_entities` fields have
// different aliases. compile-requests.ts calls it for each request of a plan; a text is written again when key checks are stopped or resumed.
import {
  type ArgumentNode,
  type FieldNode,
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  print,
  type SelectionSetNode,
  stripIgnoredCharacters,
  type VariableDefinitionNode,
  type VariableNode,
} from "graphql";
import type { CompiledRequest, RequestText, ResponseForm } from "./compiled-plan.ts";
import { type FetchDocument, findEntities } from "./fetch-document.ts";
import { addKeys, type CheckedKey, type StoppedKeyAdditions } from "./key-checks.ts";
import { createResponseForm } from "./response-form.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

export interface FetchNames {
  readonly variable: string;
  readonly entitiesKey: string;
}

/** Used if the request has one fetch. No variable of the client has this name, see `plannerVariable` in ../normalize/normalize.ts. */
const plannerNames: FetchNames = { variable: "representations", entitiesKey: "_entities" };

export function nameFetch(index: number, fetchCount: number): FetchNames {
  return fetchCount === 1 ? plannerNames : { variable: `representations${index}`, entitiesKey: `_entities${index}` };
}

export interface RequestTextOptions {
  readonly stoppedKeyAdditions: StoppedKeyAdditions;
  readonly types: SupergraphTypes;
}

/** @param documents of one fetch, or of several entity fetches. */
export function createRequestText(
  service: string,
  documents: readonly FetchDocument[],
  { stoppedKeyAdditions, types }: RequestTextOptions,
): Pick<CompiledRequest, "currentText"> {
  const write = () => writeRequest(documents, types, (key) => !stoppedKeyAdditions.has(service, key.typeCondition));
  const hasAddedKeys = documents.some(({ checkedKeys }) => checkedKeys.some(({ isAdded }) => isAdded));
  let { version } = stoppedKeyAdditions;
  let current = write();
  if (!hasAddedKeys) return { currentText: () => current };
  return {
    currentText() {
      const currentVersion = stoppedKeyAdditions.version;
      if (version !== currentVersion) {
        version = currentVersion;
        current = write();
      }
      return current;
    },
  };
}

function writeRequest(
  documents: readonly FetchDocument[],
  types: SupergraphTypes,
  isIncluded: (key: CheckedKey) => boolean,
): RequestText {
  const addedKeys = new Map<string, string>();
  const operations: OperationDefinitionNode[] = [];
  for (const [i, { operation, checkedKeys }] of documents.entries()) {
    const keys = checkedKeys.filter((key) => key.isAdded && isIncluded(key));
    const { entitiesKey } = nameFetch(i, documents.length);
    for (const { responseName, typeCondition } of keys) addedKeys.set(`${entitiesKey}.${responseName}`, typeCondition);
    operations.push(keys.length === 0 ? operation : addToEntities(operation, keys));
  }
  const operation = mergeOperations(operations);
  let responseForm: ResponseForm | undefined;
  return {
    head: `{"query":${JSON.stringify(stripIgnoredCharacters(print(operation)))}`,
    addedKeys,
    get responseForm() {
      return (responseForm ??= createResponseForm(operation, types));
    },
  };
}

function addToEntities(operation: OperationDefinitionNode, keys: readonly CheckedKey[]): OperationDefinitionNode {
  const entities = findEntities(operation);
  if (!entities) throw new Error("Key fields are added to entity fetches only");
  const withKeys = { ...entities, selectionSet: addKeys(entities.selectionSet, keys) };
  return { ...operation, selectionSet: { ...operation.selectionSet, selections: [withKeys] } };
}

function mergeOperations(operations: readonly OperationDefinitionNode[]): OperationDefinitionNode {
  const [first] = operations;
  if (!first) throw new Error("A request without an operation");
  if (operations.length === 1) return first;
  const parts = operations.map((operation, i) => renameParts(operation, nameFetch(i, operations.length)));
  const allDefinitions = parts.flatMap(({ variableDefinitions }) => variableDefinitions);
  // Variables that several fetches use are defined once.
  const definitionByName = new Map(allDefinitions.map((node) => [node.variable.name.value, node]));
  return {
    ...first,
    variableDefinitions: [...definitionByName.values()],
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: parts.flatMap(({ selectionSet }) => selectionSet.selections),
    },
  };
}

interface OperationParts {
  readonly variableDefinitions: readonly VariableDefinitionNode[];
  readonly selectionSet: SelectionSetNode;
}

/** Renames the `_entities` field and the variable of the representations. The other variables have equal definitions in all fetches. */
function renameParts(operation: OperationDefinitionNode, { variable, entitiesKey }: FetchNames): OperationParts {
  const entities = findEntities(operation);
  if (!entities) throw new Error("Only entity fetches can be merged into one request");
  const isRepresentations = (name: NameNode) => name.value === plannerNames.variable;
  const renamedVariable: VariableNode = { kind: Kind.VARIABLE, name: toName(variable) };
  // `_entities(representations: $representations0)`: the argument keeps its name.
  const argument: ArgumentNode = { kind: Kind.ARGUMENT, name: toName("representations"), value: renamedVariable };
  const renamedEntities: FieldNode = { ...entities, alias: toName(entitiesKey), arguments: [argument] };
  return {
    variableDefinitions: (operation.variableDefinitions ?? []).map((definition) =>
      isRepresentations(definition.variable.name) ? { ...definition, variable: renamedVariable } : definition,
    ),
    selectionSet: { kind: Kind.SELECTION_SET, selections: [renamedEntities] },
  };
}

function toName(value: string): NameNode {
  return { kind: Kind.NAME, value };
}
