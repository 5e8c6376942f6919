// Translates a request of the gateway to a subgraph into operations on the public API of the remote. Root fields remain as they are;
// `_entities` becomes one aliased look-up for each entity.
import {
  type FieldNode,
  type FragmentDefinitionNode,
  getOperationAST,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type SelectionNode,
  valueFromASTUntyped,
} from "graphql";
import { failedResult, type ResultError, type SubgraphOperation, type SubgraphResult } from "../graphql-messages.ts";
import { createEntityDocuments, type EntityRequest, typenameAlias } from "./entity-documents.ts";
import type { EntityLookup, EntityLookups } from "./lookups.ts";

export interface Translation {
  readonly isMutation: boolean;
  /** Independent of each other. Empty if the response needs no data of the remote. */
  readonly operations: readonly SubgraphOperation[];
  /** The subgraph's response. @param results of the operations, in their order. */
  merge(results: readonly SubgraphResult[]): SubgraphResult;
}

export interface TranslationOptions {
  /** The API of the remote. */
  readonly api: GraphQLSchema;
  readonly lookups: EntityLookups;
}

/**
 * Translates one request.
 * @throws GraphQLError if the document has a syntax error.
 */
export function translate(request: SubgraphOperation, o: TranslationOptions): Translation {
  const document = parse(request.query, { noLocation: true });
  const operation = getOperationAST(document, request.operationName);
  const isMutation = operation?.operation === OperationTypeNode.MUTATION;
  const roots = operation?.selectionSet.selections ?? [];
  // The request is forwarded unchanged, so there is one result: `??` is only for the type.
  if (!operation || !roots.some(isEntities))
    return { isMutation, operations: [request], merge: ([result]) => result ?? failedResult("", "No response.") };
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return translateEntities({ operation, roots, fragments, request }, o);
}

function isEntities(selection: SelectionNode): selection is FieldNode {
  return selection.kind === Kind.FIELD && selection.name.value === "_entities";
}

interface EntitiesDocument {
  readonly operation: OperationDefinitionNode;
  readonly roots: readonly SelectionNode[];
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly request: SubgraphOperation;
}

/** One `_entities` field of the request. */
interface EntityList {
  readonly responseName: string;
  /** For each representation: the request of its entity, `null` if it has no key, or why the remote cannot return the entity. */
  readonly entries: readonly (EntityRequest | ResultError | null)[];
}

function translateEntities(document: EntitiesDocument, { api, lookups }: TranslationOptions): Translation {
  const { operation, roots, fragments, request } = document;
  const requestsByKey = new Map<string, EntityRequest>();
  const entityLists = roots.filter(isEntities).map((field, index): EntityList => {
    const toEntry = createEntryReader(lookups, requestsByKey, { field, index });
    const responseName = field.alias?.value ?? field.name.value;
    return { responseName, entries: readRepresentations(field, request).map(toEntry) };
  });
  const documents = createEntityDocuments([...requestsByKey.values()], {
    api,
    operation,
    fragments,
    variables: request.variables,
    otherRoots: roots.filter((selection) => !isEntities(selection)),
  });
  return {
    isMutation: false,
    operations: documents.map(({ query, variables }) => ({ query, variables })),
    merge(results) {
      const documentResults = documents.map(({ aliases }, index) => ({ aliases, result: results[index] }));
      return mergeEntities(entityLists, documentResults);
    },
  };
}

function readRepresentations(field: FieldNode, { variables }: SubgraphOperation): readonly unknown[] {
  const argument = field.arguments?.find(({ name }) => name.value === "representations");
  const representations = argument && valueFromASTUntyped(argument.value, variables);
  return Array.isArray(representations) ? representations : [];
}

/** Adds requests to `requestsByKey`. Equal representations of one `_entities` field share one request. */
function createEntryReader(
  lookups: EntityLookups,
  requestsByKey: Map<string, EntityRequest>,
  { field, index }: { readonly field: FieldNode; readonly index: number },
): (representation: unknown) => EntityRequest | ResultError | null {
  return (value) => {
    const representation = Object(value) as Readonly<Record<string, unknown>>;
    const type = String(representation["__typename"]);
    const lookupsOfType = lookups.get(type) ?? [];
    if (lookupsOfType.length === 0) return missingLookupError(type);
    const lookup = lookupsOfType.find((candidate) => hasKey(representation, candidate));
    if (!lookup) return null;
    const values = lookup.arguments.map(({ keyField }) => representation[keyField]);
    const key = JSON.stringify([index, type, lookup.field, values]);
    const known = requestsByKey.get(key);
    if (known) return known;
    const alias = `e${requestsByKey.size}`;
    const entity: EntityRequest = { alias, type, lookup, values, field };
    requestsByKey.set(key, entity);
    return entity;
  };
}

function hasKey(representation: Readonly<Record<string, unknown>>, lookup: EntityLookup): boolean {
  return lookup.arguments.every(({ keyField }) =>
    ["string", "number", "boolean"].includes(typeof representation[keyField]),
  );
}

/** The gateway forwards errors with this code to the client, so the developer reads the message. */
function missingLookupError(type: string): ResultError {
  const message = `The API of the remote has no root field that returns one ${type} by its key. Run the service of ${type} locally, or mock it.`;
  return { message, extensions: { code: "BAD_USER_INPUT" } };
}

interface DocumentResult {
  /** The aliases of the entities in the document. Its other response names are root fields. */
  readonly aliases: ReadonlySet<string>;
  readonly result: SubgraphResult | undefined;
}

function mergeEntities(entityLists: readonly EntityList[], documentResults: readonly DocumentResult[]): SubgraphResult {
  const errors: ResultError[] = [];
  const data: Record<string, unknown> = {};
  for (const { aliases, result } of documentResults) {
    for (const [name, value] of Object.entries(result?.data ?? {})) if (!aliases.has(name)) data[name] = value;
  }
  for (const { responseName, entries } of entityLists) {
    data[responseName] = entries.map((entry, index) => {
      const path = [responseName, index];
      if (entry === null) return null;
      // Only errors have a message, requests do not.
      if ("message" in entry) {
        errors.push({ ...entry, path });
        return null;
      }
      const result = documentResults.find(({ aliases }) => aliases.has(entry.alias))?.result;
      const entity = readEntity(entry, result);
      errors.push(...listErrors(entry, result, { path, isMissing: entity === null }));
      return entity;
    });
  }
  return { data, errors };
}

/** Null if the remote returned an object of another type than the requested one, which an interface or a union permits. */
function readEntity({ alias, type, lookup }: EntityRequest, result: SubgraphResult | undefined): unknown {
  const entity = (result?.data?.[alias] ?? null) as Readonly<Record<string, unknown>> | null;
  if (entity === null || !Object.hasOwn(entity, typenameAlias)) return entity;
  const { [typenameAlias]: typename, ...fields } = entity;
  return lookup.returns === type || typename === type ? fields : null;
}

/** The errors of the entity. An error without a path is reported at each entity that is missing. */
function listErrors(
  { alias }: EntityRequest,
  result: SubgraphResult | undefined,
  { path, isMissing }: { readonly path: readonly (string | number)[]; readonly isMissing: boolean },
): readonly ResultError[] {
  const errors: ResultError[] = [];
  for (const error of result?.errors ?? []) {
    const [remoteName, ...pathInEntity] = error.path ?? [];
    if (remoteName === undefined && isMissing) errors.push({ ...error, path });
    if (remoteName === alias) errors.push({ ...error, path: [...path, ...pathInEntity] });
  }
  return errors;
}
