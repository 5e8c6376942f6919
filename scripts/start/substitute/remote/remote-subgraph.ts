// Responds to the gateway's requests to a subgraph from the public API of the remote. Root fields remain as they are; `_entities` becomes one
// aliased look-up for each entity.
import {
  type FieldNode,
  getOperationAST,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  parse,
  print,
  type SelectionNode,
  valueFromASTUntyped,
} from "graphql";
import { isJsonObject, type Json } from "@tributary/kit/json/json";
import type { ResultError, SubgraphOperation, SubgraphResult } from "../graphql-messages.ts";
import {
  type EntityRequest,
  type GatewayOperation,
  typenameAlias,
  writeDocument,
  writeEntityDocument,
} from "./entity-document.ts";
import type { EntityLookup, EntityLookups } from "./lookups.ts";

export interface RemoteApi {
  readonly api: GraphQLSchema;
  readonly lookups: EntityLookups;
  send(operation: SubgraphOperation): Promise<SubgraphResult>;
}

/** The default limit of a gateway. One with lower limits rejects the operation, which is then sent in two halves. */
const lookUpsMax = 50;
const limitCode = /_LIMIT_EXCEEDED$|^OPERATION_TOO_/;

/** @throws GraphQLError if the document has a syntax error. */
export async function executeOnRemote(request: SubgraphOperation, remote: RemoteApi): Promise<SubgraphResult> {
  const document = parse(request.query, { noLocation: true });
  const operation = getOperationAST(document, request.operationName);
  const roots = operation?.selectionSet.selections ?? [];
  const entityFields = roots.filter(isEntities);
  if (!operation || operation.operation === OperationTypeNode.MUTATION || entityFields.length === 0)
    return remote.send(request);
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const source = { operation, fragments, variables: request.variables ?? {} };
  const otherRoots = roots.filter((selection) => !isEntities(selection)).map((root) => print(root));
  const pending = entityFields.map((field) => resolveEntities(field, source, remote));
  if (otherRoots.length > 0) pending.push(remote.send(writeDocument(source, { roots: otherRoots })));
  const results = await Promise.all(pending);
  return {
    data: Object.assign({}, ...results.map(({ data }) => data)) as Json,
    errors: results.flatMap(({ errors }) => errors),
  };
}

function isEntities(selection: SelectionNode): selection is FieldNode {
  return selection.kind === Kind.FIELD && selection.name.value === "_entities";
}

interface EntityResult {
  readonly entity: unknown;
  /** Their paths begin in the entity. */
  readonly errors: readonly ResultError[];
}

async function resolveEntities(field: FieldNode, source: GatewayOperation, remote: RemoteApi): Promise<SubgraphResult> {
  const argument = field.arguments?.find(({ name }) => name.value === "representations");
  const representations = (argument && valueFromASTUntyped(argument.value, source.variables)) as readonly unknown[];
  // Equal representations share a request.
  const requests = new Map<string, EntityRequest>();
  const keysOrFailures = representations.map((representation) => {
    const request = toRequest(Object(representation) as Json, remote.lookups);
    if ("errors" in request) return request;
    const key = JSON.stringify([request.type, request.lookup.field, request.values]);
    requests.set(key, request);
    return key;
  });
  const found = await lookUp([...requests.values()]);
  const resultByKey = new Map([...requests.keys()].map((key, index) => [key, found[index]]));
  const results = keysOrFailures.map((entry) => (typeof entry === "string" ? resultByKey.get(entry) : entry));
  const responseName = field.alias?.value ?? field.name.value;
  return {
    data: { [responseName]: results.map((result) => result?.entity ?? null) },
    errors: results.flatMap((result, index) =>
      (result?.errors ?? []).map((error) => ({ ...error, path: [responseName, index, ...(error.path ?? [])] })),
    ),
  };

  async function lookUp(entities: readonly EntityRequest[]): Promise<readonly EntityResult[]> {
    if (entities.length === 0 || field.selectionSet === undefined) return [];
    const split = async (index: number) => {
      const parts = [entities.slice(0, index), entities.slice(index)];
      return (await Promise.all(parts.map(lookUp))).flat();
    };
    if (entities.length > lookUpsMax) return split(lookUpsMax);
    const result = await remote.send(writeEntityDocument(entities, field.selectionSet, source, remote.api));
    const isTooLarge = result.errors.some(({ extensions }) => limitCode.test(String(extensions?.["code"])));
    if (isTooLarge && entities.length > 1) return split(Math.ceil(entities.length / 2));
    return entities.map((entity, index) => readEntity(entity, `e${index}`, result));
  }
}

/** A representation without a key is an entity that does not exist. */
function toRequest(representation: Json, lookups: EntityLookups): EntityRequest | EntityResult {
  const type = String(representation["__typename"]);
  const lookupsOfType = lookups.get(type) ?? [];
  if (lookupsOfType.length === 0) return { entity: null, errors: [missingLookupError(type)] };
  const lookup = lookupsOfType.find((candidate) => hasKey(representation, candidate));
  if (!lookup) return { entity: null, errors: [] };
  return { type, lookup, values: lookup.arguments.map(({ keyField }) => representation[keyField]) };
}

function hasKey(representation: Json, lookup: EntityLookup): boolean {
  return lookup.arguments.every(({ keyField }) =>
    ["string", "number", "boolean"].includes(typeof representation[keyField]),
  );
}

/** The gateway forwards errors with this code to the client, so the developer reads the message. */
function missingLookupError(type: string): ResultError {
  const message = `The API of the remote has no root field that returns one ${type} by its key. Run the service of ${type} locally, or mock it.`;
  return { message, extensions: { code: "BAD_USER_INPUT" } };
}

/** Null if the remote returned an object of another type than the requested one. An error without a path is reported at each missing entity. */
function readEntity({ type }: EntityRequest, alias: string, { data, errors }: SubgraphResult): EntityResult {
  const returned = data?.[alias];
  const { [typenameAlias]: typename, ...fields } = isJsonObject(returned) ? returned : {};
  const entity = typename === type ? fields : null;
  const own = errors.flatMap((error) => {
    const [root, ...path] = error.path ?? [];
    if (root === alias) return [{ ...error, path }];
    return root === undefined && entity === null ? [error] : [];
  });
  return { entity, errors: own };
}
