// The compiled plan: what `run` follows and `shape` reads. Created once per variant of an operation (../plan.ts explains variants), so that requests
// do no work on texts and types.
//
// An example: subgraph `books` has `Book.title`, subgraph `stocks` has `Book.inStock`, and the key of Book is `isbn`.
//
//   client's operation   { books { title stock: inStock } }
//   query plan           Sequence {
//                          Fetch(books)   { books { __typename isbn title } }
//                          Flatten(books.@) Fetch(stocks)   ... on Book { __typename isbn }  =>  ... on Book { a_stock: inStock }
//                        }
//   compiled plan
//     parts      two requests, each with its text and its fetch; the second one waits for the first
//     fetches    0: books, path [].   1: stocks, path ["books"]; its representation of a Book is {"__typename":"Book","isbn":"…"}
//     root       the position of the Query object. Its layout has the client field `books`: a list of objects at the next position
//                the position ["books"]: objects of type Book. Their layout has two client fields:
//                  title   read as `title` from the object itself
//                  stock   read as `a_stock` from what fetch 1 joined to the object
//
// Terms:
//   planner key   The name of a field in the data of subgraphs: the field's name, or the client's alias with a prefix (`a_stock`), so that no
//                 alias can be mistaken for another field of the supergraph. See ../normalize/planner-keys.ts.
//   position      A place in the response where objects occur: the planner keys from the root, without list indexes.
//   layout        How the objects of one object type at one position are read: the client's fields, and the source of each field.
//   join          The data of one fetch, found by the object to which it belongs. Responses of subgraphs are shared between requests and never
//                 changed, so the data of an entity fetch is not merged into the entity; it is looked up when a field is read.
import type { OperationTypeNode, SelectionSetNode } from "graphql";
import type { FetchPath } from "./fetch-path.ts";

/**
 * Any number of client requests use one compiled plan at once. It is immutable with four exceptions: layouts, and the positions below them, are added
 * when objects of new types occur in the data; subsets of requests are added when they are first sent (`CompiledRequest.subset`); added key fields are removed from request texts while key checks are stopped (key-checks.ts); and
 * a request whose document was rejected is split for a while (`RequestSplit`).
 */
export interface CompiledPlan {
  readonly kind: OperationTypeNode;
  /**
   * What is sent: each part is ready when the parts that it waits for are complete, and comes after them in the list. Empty if no subgraph is needed:
   * the operation selects nothing but introspection fields and `__typename` at the root.
   */
  readonly parts: readonly RequestPart[];
  readonly fetches: readonly CompiledFetch[];
  readonly root: ResponsePosition;
  /** Two fetches provide fields of one object without a key. Stage 4 (run) then copies the data of all fetches into one tree, and joins nothing. */
  readonly isMerged: boolean;
  /** The client's `__schema` and `__type` fields as root fields of one query, see ../introspection/introspection-fields.ts. */
  readonly introspection: SelectionSetNode | undefined;
}

/** The members of one request that wait for the same parts. Most requests have one part. */
export interface RequestPart {
  readonly request: CompiledRequest;
  /** See `CompiledRequest.subset`. */
  readonly members: readonly number[];
  /** How many parts it waits for. */
  readonly waitsFor: number;
  /** The parts that wait for it, by their indexes in `CompiledPlan.parts`. */
  readonly next: readonly number[];
}

/**
 * One request to a subgraph: a single fetch, or several entity fetches in one operation. A fetch of the planner is a **member** of the request;
 * members that differ in their position only are one CompiledFetch.
 */
export interface CompiledRequest {
  /** The number of RequestParts. */
  readonly partCount: number;
  readonly service: string;
  readonly isMutation: boolean;
  /**
   * For a mutation request: how many of the client's root fields are executed before it. If an error of one of these has made `data` null, the
   * request is not sent. 0 for a query, and for entity fetches in a mutation.
   */
  readonly rootFieldsBefore: number;
  /**
   * The text to send now: without the added key fields whose checks are stopped. The same object for each call, until a check is stopped or
   * resumed.
   */
  currentText(): RequestText;
  /**
   * True if another request of the plan has the same text. If both also have the same variables, and the client's operation is a query, stage 4
   * (run) sends one of them and uses its response for both.
   */
  readonly mayRepeat: boolean;
  readonly fetches: readonly CompiledFetch[];
  /**
   * The request for some of its members, by their indexes: a list of one, or one request for each member if many other subsets have been requested
   * before. Compiled when it is first called with these members. Throws for a request of one member.
   */
  subset(members: readonly number[]): readonly CompiledRequest[];
  /** The client's variables that the request uses: `name` in the request's text, `clientName` in the client's operation. */
  readonly variables: readonly { readonly name: string; readonly clientName: string }[];
  /** Undefined for a request that is never split: a mutation, and one with a single part or too many. */
  readonly split: RequestSplit | undefined;
}

/** A query request whose parts (each an entity fetch or a root field, not a RequestPart) can be sent singly, if a replica of an earlier release rejects the whole document for one of them. */
export interface RequestSplit {
  /**
   * The requests of its entity fetches, or of the root fields of its fetch: their fetches have the `joinIndex` of that fetch. Compiled at the first
   * call; the same list for each call.
   */
  parts(): readonly CompiledRequest[];
  /** What stage 4 (run) has found out when the document was rejected. */
  finding: SplitFinding | undefined;
}

interface SplitFinding {
  /** Whether one of the parts got data: the parts are then sent at once. Otherwise the rejection is final. */
  readonly helps: boolean;
  /** In milliseconds of the monotonic clock: then the whole document is tried again. */
  readonly endsAtMs: number;
}

export interface RequestText {
  /** The request's JSON up to the variables: `{"query":"…"`. */
  readonly head: string;
  /** The entity types of the key fields that the gateway added, by `entitiesKey.responseName`. */
  readonly addedKeys: ReadonlyMap<string, string>;
}

export interface CompiledFetch {
  /** The index of its data in the run's joins: its index in `CompiledPlan.fetches`. */
  readonly joinIndex: number;
  readonly service: string;
  /** The positions of the objects to which its data belongs. An entity may occur at several. */
  readonly paths: readonly FetchPath[];
  /** The member of the request for each of these paths. */
  readonly members: readonly number[];
  /** The selection of the operation, or of an entity for an entity fetch. */
  readonly selected: SelectionSetNode;
  /** Undefined for a fetch of root fields. Otherwise it is an entity fetch. */
  readonly representations: RepresentationPlan | undefined;
  /** Fields whose planner key differs from their response name. Data is renamed only in a merged plan; joined data keeps its names. */
  readonly renames: readonly KeyRename[];
  /** The key fields whose values in a returned entity are compared with the object for which it was requested. The same list for each call. */
  keyChecks(layout: ObjectLayout): readonly KeyCheck[];
  /** Whether an entity with this `__typename` is possible for an object of this layout. */
  acceptsEntity(layout: ObjectLayout, typename: string): boolean;
}

export interface KeyRename {
  /** Response names, and `... on Type` for a rename that applies to that type only. */
  readonly path: readonly string[];
  readonly to: string;
}

/**
 * The field of the entity must be null, equal to the value that `access` reads from the requesting object, or, if the gateway did not add the field
 * to the request, absent.
 */
export interface KeyCheck {
  readonly responseName: string;
  /** If false, letter case and surrounding white space are ignored: a subgraph may normalize a string. */
  readonly isExact: boolean;
  readonly access: FieldAccess;
}

/** How objects become the representations of an entity fetch. */
export interface RepresentationPlan {
  /** The variable for the list of representations. */
  readonly variable: string;
  /** The response name of the list of entities. */
  readonly entitiesKey: string;
  /** Fetches of the plan with the same number send the same representations. */
  readonly group: number;
  readonly fieldsOf: RepresentationFieldsOf;
  /**
   * Defined if the representation of an object with this layout has, besides constants, exactly one leaf field, and the object itself contains it.
   * Stage 4 (run) then compares and writes only one value per object.
   */
  singleKeyOf(layout: ObjectLayout): SingleKey | undefined;
}

export interface SingleKey {
  readonly key: string;
  /** The representation's JSON before and after the value. */
  readonly textBefore: string;
  readonly textAfter: string;
}

/**
 * The fields of the representation. Undefined if no fetch provides a required field, or if the fields contain no whole key: objects of this layout
 * are not requested. An object nested in a representation needs no key: it has an empty list, and is sent as `{}`, if no required field applies to
 * its type.
 */
export type RepresentationFieldsOf = (layout: ObjectLayout) => readonly RepresentationField[] | undefined;

export interface RepresentationField {
  /** `"name":`, followed by the value if it is constant. */
  readonly text: string;
  readonly value:
    | { readonly kind: "constant" }
    | { readonly kind: "leaf"; readonly access: FieldAccess }
    | { readonly kind: "object"; readonly access: FieldAccess; readonly fieldsOf: RepresentationFieldsOf };
}

/** A place in the response where objects occur; see the terms above. */
export interface ResponsePosition {
  /** How deep the objects are nested in lists, by the field's type: 2 for `[[User!]!]`. */
  readonly listDepth: number;
  /**
   * The layout of the object's type, as far as the data of `joins` shows the type. Created for the first object of a type. Undefined if an object
   * of this type is not possible at this position.
   */
  layoutOf(object: Readonly<Record<string, unknown>>, joins: Joins): ObjectLayout | undefined;
  /**
   * Turns planner keys and list indexes below this position into the client's response path. Stops before a field that the client did not select, and
   * before a negative index.
   */
  toClientPath(steps: readonly (string | number)[]): readonly (string | number)[];
}

/** How the objects of one type at one position are read. */
export interface ObjectLayout {
  /** An object type, or an interface if the object's type is not known. */
  readonly typename: string;
  /** If false, the objects are null for clients, with an error. True also for an interface of the API schema, if the object's type is not known. */
  readonly isInApiSchema: boolean;
  /** The client's fields, in the client's order. Created at the first read. */
  readonly fields: readonly ClientField[];
  /** The same object for each call. Undefined if no fetch provides the field. */
  access(plannerKey: string): FieldAccess | undefined;
  /**
   * The response names of the client's fields that this fetch, which may be for another position, provides here. Without `__typename` if the type is
   * known.
   */
  responseNamesFrom(fetch: CompiledFetch): readonly string[];
}

export interface ClientField {
  readonly responseName: string;
  /** `,"name":`, or `{"name":` for the first field. */
  readonly nameToken: AsciiToken;
  /** The field's JSON if it needs no data: a `__typename`, or null. */
  readonly constant: AsciiToken | undefined;
  /** Undefined if no fetch provides the field. */
  readonly access: FieldAccess | undefined;
  /** Whether the field is an error, since a non-null argument is null. */
  readonly isRejected: boolean;
  readonly shape: OutputShape;
}

/** ASCII text of `length` characters, four in each number, the first in the lowest byte: copying takes a quarter of the time. */
export interface AsciiToken {
  readonly words: readonly number[];
  readonly length: number;
}

/** How a field of an object is read: from the object itself, or from what a fetch joined to it. */
export interface FieldAccess {
  /** The field's value. Undefined if no fetch has returned it. */
  read(object: Readonly<Record<string, unknown>>, joins: Joins): unknown;
  /** Defined if `read` only reads this property, of the object itself or of the object that `joinIndex` finds for it. */
  readonly plainKey: string | undefined;
  /** The join from which the field is read, of the first provider if there are several. `noJoin` for the object itself. */
  readonly joinIndex: number;
  /** The first subgraph that provides the field. Undefined for an introspection field, and in a merged tree, where it is not known. */
  readonly service: string | undefined;
  /** The position of the objects of a composite field. Undefined for a leaf field and for an introspection field. */
  readonly position: ResponsePosition | undefined;
}

/** The `joinIndex` of fields that are read from the object itself. */
export const noJoin = -1;

/** The expected type of a value in the response. */
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
  /** The values of the API schema. */
  readonly values: ReadonlySet<unknown>;
}

/** `custom`: any JSON value. */
export type LeafKind = "String" | "ID" | "Int" | "Float" | "Boolean" | "custom";

/** The data that the fetches of a run have returned so far, by `joinIndex`. */
export type Joins = readonly (Join | undefined)[];

export interface Join {
  /** The data that the fetch returned for this object. Undefined if it returned none, or has not responded yet. */
  find(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined;
  /** The objects that the fetch was not sent for, although its input has arrived (`RepresentationSet.leftOut`). */
  readonly leftOut?: ReadonlySet<object> | undefined;
}
