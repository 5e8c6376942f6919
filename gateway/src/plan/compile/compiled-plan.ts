// Stage 3 of 5: how to answer? What the planner's answer becomes: data that `run` follows and `shape` writes from.
import type { OperationTypeNode, SelectionSetNode } from "graphql";

/** One operation, ready to run any number of times. Immutable, but for layouts that are added when a type is first met, and for added keys. */
export interface CompiledPlan {
  readonly kind: OperationTypeNode;
  /** Undefined when no subgraph is needed. */
  readonly steps: Step | undefined;
  readonly fetches: readonly CompiledFetch[];
  readonly root: Position;
  /** Two fetches provide one composite field: answers are merged into one tree of copies instead of being joined. */
  readonly isMerged: boolean;
  /** The client's `__schema` and `__type` fields as root fields of one query: see introspection-fields.ts. */
  readonly introspection: SelectionSetNode | undefined;
}

export type Step =
  | { readonly kind: "sequence" | "parallel"; readonly steps: readonly Step[] }
  | { readonly kind: "request"; readonly request: CompiledRequest };

/** One request to a subgraph: one fetch, or entity fetches that are sent together. */
export interface CompiledRequest {
  readonly service: string;
  readonly isMutation: boolean;
  /** Of a mutation: how many of the client's root fields are executed before it. 0 for a query. */
  readonly fieldsBefore: number;
  /** What is sent now: without the keys of types whose checks have been stopped. The same object until another one is stopped. */
  text(): RequestText;
  /** Without any added key: for the repetition of a request at whose added keys the subgraph reported errors. */
  textWithoutKeys(): RequestText;
  /** Another request of the plan has the same text, and may turn out to be the same. */
  readonly mayRepeat: boolean;
  readonly fetches: readonly CompiledFetch[];
  /** The client's variables that it uses, by their names in its text and in the client's. */
  readonly variables: readonly { readonly planned: string; readonly client: string }[];
}

export interface RequestText {
  /** The request's JSON up to the variables: `{"query":"…"`. */
  readonly head: string;
  /** The entity types of the key fields that the gateway added, by `entitiesKey.responseName`. */
  readonly addedKeys: ReadonlyMap<string, string>;
}

export interface CompiledFetch {
  /** Its slot among the joins of a run. */
  readonly slot: number;
  readonly service: string;
  /** Planner keys from the root to the objects it is about; lists are not part of it. Entities may stand at several places. */
  readonly paths: readonly (readonly string[])[];
  /** What it selects: at its root, or of an entity. */
  readonly selected: SelectionSetNode;
  /** Undefined for a fetch of root fields. */
  readonly representations: RepresentationPlan | undefined;
  /** The data's keys that the plan renames, for answers that are merged. */
  readonly renames: readonly KeyRename[];
  /** Key fields that an entity of this type must return with the values by which it was requested. */
  keyChecks(layout: ObjectLayout): readonly KeyCheck[];
  /** Whether an entity that calls itself `typename` can stand for such an object. */
  acceptsEntity(layout: ObjectLayout, typename: string): boolean;
}

export interface KeyRename {
  /** Keys, and `... on Type` where it holds for that type only. */
  readonly path: readonly string[];
  readonly to: string;
}

/** A field of an entity must have the value that `access` reads from the object for which the entity was requested. */
export interface KeyCheck {
  readonly responseName: string;
  /** False where letter case and outer white space do not count: a subgraph may normalize a text. */
  readonly isExact: boolean;
  readonly access: Access;
}

/** How an object becomes a representation. */
export interface RepresentationPlan {
  /** The variable that holds the list, and the response name under which the entities come. */
  readonly variable: string;
  readonly entitiesKey: string;
  /** Fetches of one plan with the same group send the same representations. */
  readonly group: number;
  readonly fieldsOf: FieldsOf;
  /** Defined where all that is sent of an object, besides constants, is one field of its own. */
  singleKeyOf(layout: ObjectLayout): SingleKey | undefined;
}

export interface SingleKey {
  readonly key: string;
  /** The representation's JSON around the value. */
  readonly before: string;
  readonly after: string;
}

/** What is sent of an object, by its type; undefined when it is not of a type that the fetch is about. */
export type FieldsOf = (layout: ObjectLayout) => readonly RepresentationField[] | undefined;

export interface RepresentationField {
  /** `"name":` as it stands in the request, with the value where it is constant. */
  readonly text: string;
  readonly value:
    | { readonly kind: "constant" }
    | { readonly kind: "leaf"; readonly access: Access }
    | { readonly kind: "object"; readonly access: Access; readonly of: FieldsOf };
}

/** Where in the answer objects stand: planner keys from the root, and the fetches whose answers make them up. */
export interface Position {
  /** How deep the objects are nested in lists, by the type of the field: 2 for `[[User!]!]`. */
  readonly listDepth: number;
  /** What is known of an object here: by its type, as far as the fetches so far tell it. Undefined for a type that cannot be here. */
  layoutOf(object: Readonly<Record<string, unknown>>, joins: Joins): ObjectLayout | undefined;
  /** Planner keys and list indexes below this position, in the client's response names; cut before the first step that clients do not see. */
  toClientPath(steps: readonly (string | number)[]): readonly (string | number)[];
}

/** The objects of one type at one position. */
export interface ObjectLayout {
  readonly typename: string;
  /** Clients may see this type: it is in the API schema, and no interface. */
  readonly isVisible: boolean;
  /** The client's fields, in the client's order. */
  readonly fields: readonly ClientField[];
  /** How to read a field by its planner key; undefined when no fetch provides it. */
  access(plannerKey: string): Access | undefined;
  /** The client's response names that a fetch provides here. */
  namesFrom(fetch: CompiledFetch): readonly string[];
}

export interface ClientField {
  readonly responseName: string;
  /** `"name":` as it stands in the answer, after a comma, or the brace where no other field stands before it. */
  readonly before: AsciiToken;
  /** JSON that needs no fetch: a `__typename`, or null. */
  readonly constant: AsciiToken | undefined;
  /** Undefined when no fetch provides it. */
  readonly access: Access | undefined;
  readonly shape: OutputShape;
}

/** A text of ASCII, four characters in a number, the first in its lowest byte: copied in a quarter of the time. */
export interface AsciiToken {
  readonly words: readonly number[];
  readonly length: number;
}

/** From where a value is read: the object itself, or what a fetch joined to it. */
export interface Access {
  /** The field's value; undefined when no fetch brought it. */
  read(object: Readonly<Record<string, unknown>>, joins: Joins): unknown;
  /** The key in the data of `slot`, where reading it there is all that `read` does. */
  readonly plainKey: string | undefined;
  /** The slot of the fetch that it is read from; `ownSlot` for the object's own fields. */
  readonly slot: number;
  /** The subgraph that it is read from; undefined where several may have brought it. */
  readonly service: string | undefined;
  /** Of the objects below, for a composite field. */
  readonly position: Position | undefined;
}

/** The slot of an object's own fields. */
export const ownSlot = -1;

export type OutputShape =
  | { readonly kind: "leaf"; readonly isNonNull: boolean; readonly leaf: LeafKind }
  | EnumShape
  | { readonly kind: "list"; readonly isNonNull: boolean; readonly of: OutputShape }
  | { readonly kind: "object"; readonly isNonNull: boolean; readonly position: Position }
  /** An introspection field: its value is JSON in UTF-8, as a Uint8Array. */
  | { readonly kind: "json"; readonly isNonNull: boolean };

interface EnumShape {
  readonly kind: "enum";
  readonly isNonNull: boolean;
  readonly values: ReadonlySet<unknown>;
  /** Values that subgraphs may send and clients may not see. */
  readonly hidden: ReadonlySet<unknown>;
}

/** Custom scalars may hold anything. */
export type LeafKind = "String" | "ID" | "Int" | "Float" | "Boolean" | "custom";

/** What the fetches of a run have brought so far, by slot. */
export type Joins = readonly (Join | undefined)[];

/** One fetch's data, found by the object that it belongs to. */
export interface Join {
  /** What belongs to an object: undefined when the fetch brought nothing for it. */
  find(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined;
}
