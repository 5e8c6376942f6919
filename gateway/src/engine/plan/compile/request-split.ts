// Splits a request into its entity fetches, or the root fields of its fetch. run/split-request.ts sends the parts.
import { type FieldNode, Kind, type SelectionNode } from "graphql";
import { listVariables, responseNameOf } from "../normalize/collect-fields.ts";
import type { CompiledRequest, RequestSplit } from "./compiled-plan.ts";
import type { BatchedFetch } from "./fetch-document.ts";
import { createRequestText, type RequestTextOptions } from "./request-text.ts";

export type WholeRequest = Omit<CompiledRequest, "split" | "forContexts">;

/** Each part is a further request for each client request. */
const partsMax = 10;

export function createRequestSplit(
  whole: WholeRequest,
  batched: readonly BatchedFetch[],
  o: RequestTextOptions,
): RequestSplit | undefined {
  if (whole.isMutation) return undefined;
  const [first] = batched;
  const isOfRootFields = first !== undefined && first.fetch.representationPlan === undefined;
  if (!isOfRootFields) return createEntitySplit(whole);
  const fields = splitRootFields(first);
  return createSplit(fields.length, () => fields.map((field) => toRequest(field, whole, o)));
}

export function createEntitySplit({
  fetches,
  subset,
}: Pick<CompiledRequest, "fetches" | "subset">): RequestSplit | undefined {
  return createSplit(fetches.length, () => fetches.flatMap(({ members }) => subset(members)));
}

function createSplit(partCount: number, compileParts: () => readonly CompiledRequest[]): RequestSplit | undefined {
  if (partCount < 2 || partCount > partsMax) return undefined;
  let parts: readonly CompiledRequest[] | undefined;
  return { finding: undefined, parts: () => (parts ??= compileParts()) };
}

/** One for each response name. Empty if the operation has a fragment, which may contain several root fields. */
function splitRootFields({ fetch, document, variableNames }: BatchedFetch): readonly BatchedFetch[] {
  const { operation, selected } = document;
  const fields = selected.selections.filter(isField);
  if (fields.length < selected.selections.length) return [];
  return Array.from(Map.groupBy(fields, responseNameOf).values(), (selections) => {
    const selectionSet = { ...selected, selections };
    const partOperation = { ...operation, selectionSet };
    return {
      fetch: { ...fetch, selected: selectionSet },
      document: { ...document, operation: partOperation, selected: selectionSet },
      variableNames,
    };
  });
}

function isField(selection: SelectionNode): selection is FieldNode {
  return selection.kind === Kind.FIELD;
}

function toRequest({ fetch, document }: BatchedFetch, whole: WholeRequest, o: RequestTextOptions): CompiledRequest {
  const { operation } = document;
  const used = listVariables(operation.selectionSet);
  const definitions = operation.variableDefinitions ?? [];
  const variableDefinitions = definitions.filter(({ variable }) => used.has(variable.name.value));
  const ownDocument = { ...document, operation: { ...operation, variableDefinitions } };
  return {
    ...whole,
    ...createRequestText(whole.service, [ownDocument], o),
    mayRepeat: false,
    fetches: [fetch],
    variables: whole.variables.filter(({ name }) => used.has(name)),
    split: undefined,
    forContexts: undefined,
  };
}
