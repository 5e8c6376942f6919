// Splits a request into parts that can be sent singly: its entity fetches, or the root fields of its fetch. compile-requests.ts calls it for each
// request of a plan; run/split-request.ts sends the parts.
import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode, visit } from "graphql";
import { responseNameOf } from "../normalize/collect-fields.ts";
import type { CompiledFetch, CompiledRequest, RequestSplit } from "./compiled-plan.ts";
import type { FetchDocument } from "./fetch-document.ts";
import type { StoppedKeyAdditions } from "./key-checks.ts";
import { createRequestText, nameFetch } from "./request-text.ts";

type WholeRequest = Pick<CompiledRequest, "service" | "isMutation" | "variables" | "fetches">;

/** One entity fetch, or one root field of a fetch. */
interface Part {
  readonly fetch: CompiledFetch;
  readonly document: FetchDocument;
}

/** The most parts of a request that is split: further requests for each client request. */
const partsMax = 10;

/** @param documents one for each fetch of the request. */
export function createRequestSplit(
  whole: WholeRequest,
  documents: readonly FetchDocument[],
  stoppedKeyAdditions: StoppedKeyAdditions,
): RequestSplit | undefined {
  if (whole.isMutation) return undefined;
  const parts = listParts(whole.fetches, documents);
  if (parts.length < 2 || parts.length > partsMax) return undefined;
  let requests: readonly CompiledRequest[] | undefined;
  return {
    finding: undefined,
    parts: () => (requests ??= parts.map((part) => toRequest(part, whole, stoppedKeyAdditions))),
  };
}

function listParts(fetches: readonly CompiledFetch[], documents: readonly FetchDocument[]): readonly Part[] {
  const parts: Part[] = [];
  for (const [i, fetch] of fetches.entries()) {
    const document = documents[i];
    if (document) parts.push(...(fetch.representations ? [{ fetch, document }] : splitRootFields(fetch, document)));
  }
  return parts;
}

function splitRootFields(fetch: CompiledFetch, document: FetchDocument): readonly Part[] {
  const { operation, selected } = document;
  const fields = selected.selections.filter(isField);
  // A fragment may contain several root fields.
  if (fields.length < selected.selections.length) return [];
  const fieldsByName = Map.groupBy(fields, responseNameOf);
  return Array.from(fieldsByName.values(), (selections) => {
    const selectionSet = { ...selected, selections };
    const partOperation = { ...operation, selectionSet };
    return {
      fetch: { ...fetch, selected: selectionSet },
      document: { ...document, operation: partOperation, selected: selectionSet },
    };
  });
}

function isField(selection: SelectionNode): selection is FieldNode {
  return selection.kind === Kind.FIELD;
}

function toRequest(
  { fetch, document }: Part,
  { service, variables }: WholeRequest,
  stoppedKeyAdditions: StoppedKeyAdditions,
): CompiledRequest {
  const { operation } = document;
  const used = listVariables(operation);
  const definitions = operation.variableDefinitions ?? [];
  const variableDefinitions = definitions.filter(({ variable }) => used.has(variable.name.value));
  const ownDocument = { ...document, operation: { ...operation, variableDefinitions } };
  const { representations } = fetch;
  return {
    service,
    isMutation: false,
    rootFieldsBefore: 0,
    ...createRequestText(service, [ownDocument], stoppedKeyAdditions),
    mayRepeat: false,
    fetches: [{ ...fetch, representations: representations && { ...representations, ...nameFetch(0, 1) } }],
    variables: variables.filter(({ name }) => used.has(name)),
    split: undefined,
  };
}

function listVariables(operation: OperationDefinitionNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(operation.selectionSet, { Variable: ({ name }) => void names.add(name.value) });
  return names;
}
