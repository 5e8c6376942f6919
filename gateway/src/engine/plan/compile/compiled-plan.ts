// The compiled plan: what `run` follows and `shape` reads, so that requests do no work on texts and types. The terms (planner key, response position,
// layout, data join) are in the glossary of ARCHITECTURE.md.
// For `{ books { title stock: inStock } }`, where `stocks` has `Book.inStock` and the key is `isbn`:
// - parts: two requests, the second one waits for the first;
// - fetches: 0 books, path []. 1 stocks, path ["books"], whose representation of a Book is {"__typename":"Book","isbn":"…"};
// - root: the position of the Query object, whose client field `books` leads to the position ["books"]. Its layout reads `title` from the object
// itself, and `stock` as `a_stock` from what fetch 1 joined to the object.
import type { OperationTypeNode, SelectionSetNode } from "graphql";
import type { FetchPath } from "./fetch-path.ts";

/** Immutable, except for layouts and positions below them, subsets, texts without stopped keys, response forms, and `RequestSplit.finding`. */
export interface CompiledPlan {
  readonly kind: OperationTypeNode;
  /** Each part comes after those that it waits for. Empty if the operation selects only introspection fields and `__typename` at the root. */
  readonly parts: readonly RequestPart[];
  readonly fetches: readonly CompiledFetch[];
  readonly root: ResponsePosition;
  /**
   * Two fetches provide fields of one object without a key, or a fetch has contextual arguments, which depend on the objects above: the data of all
   * fetches is copied into one tree, and nothing is joined.
   */
  readonly isMerged: boolean;
  /** The client's `__schema` and `__type` fields as root fields of one query. */
  readonly introspection: SelectionSetNode | undefined;
}

/** The members of one request that wait for the same parts. Most requests have one part. */
export interface RequestPart {
  readonly request: CompiledRequest;
  /** See `CompiledRequest.subset`. */
  readonly members: readonly number[];
  /** The number of parts that must be complete before this one is sent. */
  readonly waitsFor: number;
  /** Indexes in `CompiledPlan.parts` of those that wait for this one. */
  readonly next: readonly number[];
}

/** One request to a subgraph. A fetch of the planner is a **member**; members that differ in their position only are one CompiledFetch. */
export interface CompiledRequest {
  readonly partCount: number;
  readonly service: string;
  readonly isMutation: boolean;
  /** Root fields of a mutation that are executed before it: it is not sent if an error of one of them has made `data` null. */
  readonly rootFieldsBefore: number;
  /** Without the added key fields whose checks are stopped. The same object until a check is stopped or resumed. */
  currentText(): RequestText;
  /** Whether another request of the plan has the same text: with equal variables, a query is then sent once for both. */
  readonly mayRepeat: boolean;
  readonly fetches: readonly CompiledFetch[];
  /** The request for some of its members: a list of one, or one request per member after many other subsets. */
  subset(members: readonly number[]): readonly CompiledRequest[];
  /** `name` in the request's text, `clientName` in the client's operation. */
  readonly variables: readonly { readonly name: string; readonly clientName: string }[];
  /** Undefined for a mutation, and for a request with a single part or too many. */
  readonly split: RequestSplit | undefined;
  /** If its only fetch has contextual arguments: the request for this many combinations of their values, with one copy of the fetch for each. */
  readonly forContexts: ((count: number) => CompiledRequest) | undefined;
}

/** Entity fetches or root fields, sent singly if a replica of an earlier release rejects the whole document for one of them. */
export interface RequestSplit {
  /** Their fetches have the `joinIndex` of the whole fetch. Compiled at the first call. */
  parts(): readonly CompiledRequest[];
  finding: SplitFinding | undefined;
}

interface SplitFinding {
  /** If one of the parts got data, the parts are sent at once. Otherwise the rejection is final. */
  readonly helps: boolean;
  /** By the monotonic clock: then the whole document is tried again. */
  readonly endsAtMs: number;
}

export interface RequestText {
  /** The request's JSON up to the variables: `{"query":"…"`. */
  readonly head: string;
  /** The entity types of the key fields that the gateway added, by `entitiesKey.responseName`. */
  readonly addedKeys: ReadonlyMap<string, string>;
  /** Compiled at the first read. */
  readonly responseForm: ResponseForm;
}

/** The form of `{"data":…}`, as the selection sets of the request let expect. A response may have another one. */
export interface ResponseForm {
  readonly root: ObjectForm;
  /** Of the next responses, those that are not read by it. */
  skipsLeft: number;
}

/** Of all types that the objects can have. */
export interface ObjectForm {
  /** In the order of the request. */
  readonly fields: readonly FieldForm[];
  /** Without members. Objects of one constructor have one hidden class (V8). */
  readonly Instance: new () => Record<string | symbol, unknown>;
  /** Its own among the forms of a generation. */
  readonly number: number;
}

export interface FieldForm {
  readonly key: string;
  /** `"name":` */
  readonly token: Uint8Array;
  /** Of a composite field: of the objects in its value, which may be a list. */
  readonly object: ObjectForm | undefined;
  /** Strings without escapes become spans (`spanSource`). */
  readonly isForwarded: boolean;
  /** The last string, if it is short and ASCII. */
  lastText: string;
}

export interface CompiledFetch {
  /** Its index in `CompiledPlan.fetches`. */
  readonly joinIndex: number;
  readonly service: string;
  readonly paths: readonly FetchPath[];
  /** One for each path. */
  readonly members: readonly number[];
  readonly selected: SelectionSetNode;
  /** Undefined for a fetch of root fields. */
  readonly representationPlan: RepresentationPlan | undefined;
  /** Empty for most fetches. */
  readonly contextArguments: readonly ContextArgument[];
  /** Only a merged plan renames data; joined data keeps its names. */
  readonly renames: readonly KeyRename[];
  /** The key fields to compare with the requested object. The same list for each call. */
  keyChecks(layout: ObjectLayout): readonly KeyCheck[];
  /** Whether an entity with this `__typename` is possible for an object of this layout. */
  acceptsEntity(layout: ObjectLayout, typename: string): boolean;
}

/** An argument of `@fromContext`: its value is a field of the requested object, or of an object above it in the response. */
export interface ContextArgument {
  /** As `clientName` of a variable of the request, but no name that a client's variable can have. */
  readonly variable: string;
  /** For different types of the object: the first that has a value counts. */
  readonly sources: readonly ContextSource[];
}

export interface ContextSource {
  /** 0 for the requested object, 1 for the object that has the field that leads to it. */
  readonly level: number;
  /** Undefined if the object has another type, or no fetch has returned the field. */
  read(object: Readonly<Record<string, unknown>>, layout: ObjectLayout, dataJoins: DataJoins): unknown;
}

export interface KeyRename {
  /** Response names, and `... on Type` for a rename that applies to that type only. */
  readonly path: readonly string[];
  readonly to: string;
}

/** The field of the entity must be null, equal to the value that `access` reads from the requesting object, or, if the gateway added it, absent. */
export interface KeyCheck {
  readonly responseName: string;
  /** If false, letter case and surrounding white space are ignored: a subgraph may normalize a string. */
  readonly isExact: boolean;
  readonly access: FieldAccess;
}

export interface RepresentationPlan {
  /** `representations` and `_entities`; with a number, `representations0` and `_entities0`, if several fetches share the request. */
  readonly variable: string;
  readonly entitiesKey: string;
  /** Fetches of the plan with the same number send the same representations. */
  readonly group: number;
  readonly fieldsOf: RepresentationFieldsOf;
  /** Defined if the representation has one field besides constants, a leaf of the object itself: only this value is compared. */
  singleKeyOf(layout: ObjectLayout): SingleKey | undefined;
}

export interface SingleKey {
  readonly key: string;
  /** JSON. */
  readonly textBefore: string;
  readonly textAfter: string;
}

/** Undefined if a required field or a whole key is missing: the object is not requested. A nested object may be sent as `{}`. */
export type RepresentationFieldsOf = (layout: ObjectLayout) => readonly RepresentationField[] | undefined;

export interface RepresentationField {
  /** `"name":`, followed by the value if it is constant. */
  readonly text: string;
  readonly value:
    | { readonly kind: "constant" }
    | { readonly kind: "leaf"; readonly access: FieldAccess }
    | { readonly kind: "object"; readonly access: FieldAccess; readonly fieldsOf: RepresentationFieldsOf };
}

export interface ResponsePosition {
  /** 2 for `[[User!]!]`. */
  readonly listDepth: number;
  /** Created for the first object of a type. Undefined if an object of this type is not possible here. */
  layoutOf(object: Readonly<Record<string, unknown>>, dataJoins: DataJoins): ObjectLayout | undefined;
  /** From planner keys to the client's response names. Stops before a field that the client did not select, and before a negative index. */
  toClientPath(steps: readonly (string | number)[]): readonly (string | number)[];
}

export interface ObjectLayout {
  /** An object type, or an interface if the object's type is not known. */
  readonly typename: string;
  /** If false, the objects are null for clients, with an error. True for an interface of the API schema. */
  readonly isInApiSchema: boolean;
  /** Created at the first read. */
  readonly fields: readonly ClientField[];
  /** The same object for each call. Undefined if no fetch provides the field. */
  access(plannerKey: string): FieldAccess | undefined;
  /** Whether the client selects a field with this planner key of objects of this type. True if the type is not known. */
  selects(plannerKey: string): boolean;
  /** Of the client's fields that this fetch, which may be for another position, provides here. Without `__typename` if the type is known. */
  responseNamesFrom(fetch: CompiledFetch): readonly string[];
}

export interface ClientField {
  readonly responseName: string;
  /** `,"name":`, or `{"name":` for the first field. */
  readonly nameToken: AsciiToken;
  /** JSON of a field that needs no data: a `__typename`, or null. */
  readonly constant: AsciiToken | undefined;
  /** Undefined if no fetch provides the field. */
  readonly access: FieldAccess | undefined;
  /** A non-null argument is null. */
  readonly isRejected: boolean;
  readonly shape: OutputShape;
}

/** ASCII text of `length` characters, four in each number, the first in the lowest byte: copying takes a quarter of the time. */
export interface AsciiToken {
  readonly words: readonly number[];
  readonly length: number;
}

export interface FieldAccess {
  /** Undefined if no fetch has returned the field. Never a span (`spanSource`). */
  read(object: Readonly<Record<string, unknown>>, dataJoins: DataJoins): unknown;
  /** Defined if `read` only reads this property, which may be a span, of the object itself or of the object that `joinIndex` finds for it. */
  readonly plainKey: string | undefined;
  /** Of the first provider if there are several. `noJoin` for the object itself. */
  readonly joinIndex: number;
  /** The first that provides the field. Undefined for an introspection field, and in a merged tree, where it is not known. */
  readonly service: string | undefined;
  /** Of the objects of a composite field. Undefined for a leaf field and for an introspection field. */
  readonly position: ResponsePosition | undefined;
}

export const noJoin = -1;

export type OutputShape =
  | { readonly kind: "leaf"; readonly isNonNull: boolean; readonly leaf: LeafKind }
  | EnumShape
  | { readonly kind: "list"; readonly isNonNull: boolean; readonly of: OutputShape }
  | { readonly kind: "object"; readonly isNonNull: boolean; readonly position: ResponsePosition }
  /** An introspection field. Its value is JSON in UTF-8, as a Uint8Array. */
  | { readonly kind: "json"; readonly isNonNull: boolean };

interface EnumShape {
  readonly kind: "enum";
  readonly isNonNull: boolean;
  /** Of the API schema. */
  readonly values: ReadonlySet<unknown>;
}

/** `custom`: any JSON value. */
export type LeafKind = "String" | "ID" | "Int" | "Float" | "Boolean" | "custom";

/** By `joinIndex`: what the fetches of a run have returned so far. */
export type DataJoins = readonly (DataJoin | undefined)[];

export interface DataJoin {
  /** Undefined if the fetch returned nothing for this object, or has not responded yet. */
  find(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined;
  /** The objects that the fetch was not sent for, although its input has arrived (`RepresentationSet.leftOut`). */
  readonly leftOut?: ReadonlySet<object> | undefined;
  /** The objects that the fetch was sent for, if it was sent for the others of its paths apart (`CompiledRequest.forContexts`). */
  readonly targets?: readonly Readonly<Record<string, unknown>>[] | undefined;
}
