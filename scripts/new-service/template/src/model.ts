import { parseShape } from "@tributary/kit/errors/validate";
import { type ChangesOf, defineFields, type NewValuesOf, type ValuesOf } from "@tributary/kit/fields/fields";
import { idempotencyKeyInput } from "@tributary/kit/idempotency/idempotency-key";
// BEGIN parent
import { optionalFilter } from "@tributary/kit/lists/list-order";
// END parent
import { listOrder, type ListOrder } from "@tributary/kit/lists/list-order";
// BEGIN parent
import { isRowId } from "@tributary/kit/postgres/row-id";
// END parent
import { z } from "zod";

/** The fields with one name in the graph and in both REST versions. CONTRIBUTING.md, "Add a field". */
export const spareGadgetFields = defineFields({
  title: { text: { min: 1, max: 200, what: "A title" }, description: "What it is called.", example: "My first" },
});

/** The fields that ETags and Last-Modified depend on. */
export interface SpareGadgetState {
  readonly id: string;
  readonly updatedAt: Date;
  readonly rowVersion: string;
}

export interface SpareGadget extends SpareGadgetState, ValuesOf<typeof spareGadgetFields> {
  // BEGIN parent
  readonly parentThingId: string;
  // END parent
  readonly authorId: string;
  readonly createdAt: Date;
}

/** An entity of another service; this service knows only the id. */
export interface Reference {
  readonly id: string;
}

export interface SpareGadgetFilters {
  // BEGIN parent
  readonly parentThingId?: string | undefined;
  // END parent
  readonly sort?: ListOrder;
}
// BEGIN parent

/** The first `limit` spare gadgets of one parent thing after an id, newest first. */
export interface ParentPageRequest {
  readonly parentThingId: string;
  /** 1 to 101: one more than requested, to find out whether there is a next page. */
  readonly limit: number;
  /** The id of the last spare gadget of the previous page, from a cursor, so it is well-formed; null for the first page. */
  readonly afterId: string | null;
}

const parentThingIdInput = z
  .string("parentThingId is a string.")
  .refine(isRowId, { error: "This is not a valid parent thing id.", params: { code: "invalid" } });
// END parent

/** The body of a POST request. Add rules about several members with `.refine`; rules about other rows belong in actions.ts or in a constraint. */
export const newSpareGadget = z.strictObject({
  // BEGIN parent
  parentThingId: parentThingIdInput,
  // END parent
  ...spareGadgetFields.created,
});
/** The body of a PATCH request, a merge patch (RFC 7396): an absent field keeps its value. */
export const spareGadgetChange = z.strictObject(spareGadgetFields.changed);

const createInput = newSpareGadget.extend({ idempotencyKey: idempotencyKeyInput });
const filters = z.strictObject({
  // BEGIN parent
  parentThingId: optionalFilter(z.string()),
  // END parent
  sort: listOrder,
});

export interface NewSpareGadget extends NewValuesOf<typeof spareGadgetFields> {
  // BEGIN parent
  readonly parentThingId: string;
  // END parent
  /** From `input.idempotencyKey` in GraphQL, from the header `Idempotency-Key` in REST. Without a key a repeated request creates another row. */
  readonly idempotencyKey?: string | undefined;
}
export type SpareGadgetChange = ChangesOf<typeof spareGadgetFields>;

export const readNewInput = (input: unknown): NewSpareGadget => parseShape(createInput, input);
export const readNewBody = (body: unknown): NewSpareGadget => parseShape(newSpareGadget, body);
export const readChangedFields = (input: unknown): SpareGadgetChange => parseShape(spareGadgetChange, input);
/** A malformed id in a filter is accepted: no row has it, so the list is empty. @throws AppError BAD_USER_INPUT for an unknown sort order. */
export const readListFilters = (input: unknown): SpareGadgetFilters => parseShape(filters, input);
