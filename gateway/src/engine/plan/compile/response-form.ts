// Compiles the form that the response to a subgraph request has as a rule, for run/fetch/read-by-form.ts.
import { type BoundedMap, createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { spanKeys } from "@tributary/kit/json/json-span";
import {
  type FieldNode,
  getNamedType,
  getNullableType,
  GraphQLString,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { responseNameOf } from "../normalize/collect-fields.ts";
import type { FieldForm, ObjectForm, ResponseForm } from "./compiled-plan.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** The type of its objects is undefined if it is not known, such as that of `_entities`. */
interface TypedSet {
  readonly typename: string | undefined;
  readonly set: SelectionSetNode;
}

interface TypedField extends Pick<TypedSet, "typename"> {
  readonly field: FieldNode;
}

/** Of a generation: equal forms are one object, since most documents select fields that another one selects too. */
interface Forms {
  readonly types: SupergraphTypes;
  readonly byFields: BoundedMap<ObjectForm>;
  /** Of the last form. */
  number: number;
}

type FieldOfForm = Pick<FieldForm, "key" | "object" | "isForwarded">;

const formsMax = 10_000;
const formsByTypes = new WeakMap<SupergraphTypes, Forms>();

export function createResponseForm(operation: OperationDefinitionNode, types: SupergraphTypes): ResponseForm {
  const forms = formsByTypes.get(types) ?? { types, byFields: createBoundedMap({ entriesMax: formsMax }), number: 0 };
  formsByTypes.set(types, forms);
  const typename = types.schema.getRootType(operation.operation)?.name;
  const fields = listFieldForms([{ typename, set: operation.selectionSet }], forms);
  // Without spans: run/split-request.ts copies the members of `data` from several responses into one object.
  const data = toObjectForm(
    fields.map((field) => ({ ...field, isForwarded: false })),
    forms,
  );
  return { root: toObjectForm([{ key: "data", object: data, isForwarded: false }], forms), skipsLeft: 0 };
}

function listFieldForms(sets: readonly TypedSet[], forms: Forms): readonly FieldOfForm[] {
  const { types } = forms;
  const fieldsByKey = Map.groupBy(sets.flatMap(listFields), ({ field }) => responseNameOf(field));
  return Array.from(fieldsByKey, ([key, fields]) => {
    const below = fields.flatMap(({ typename, field: { name, selectionSet: set } }) =>
      set ? { typename: getNamedType(findType(typename, name.value, types))?.name, set } : [],
    );
    const isForwarded = fields.every((field) => isOnlyForwarded(field, types));
    const object = below.length > 0 ? toObjectForm(listFieldForms(below, forms), forms) : undefined;
    return { key, object, isForwarded };
  });
}

/** Of all fragments, whether or not they apply to one type. */
function listFields({ typename, set }: TypedSet): readonly TypedField[] {
  return set.selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [{ typename, field: selection }];
    // There are no named fragments: normalize.ts inlines them, and the planner creates none.
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [];
    return listFields({ typename: selection.typeCondition?.name.value ?? typename, set: selection.selectionSet });
  });
}

/** Key fields are compared, and sent to other subgraphs. Other readers of a span decode it, which only takes longer. */
function isOnlyForwarded({ typename, field: { name } }: TypedField, types: SupergraphTypes): boolean {
  return getNullableType(findType(typename, name.value, types)) === GraphQLString && !types.isInKey(name.value);
}

function findType(typename: string | undefined, fieldName: string, types: SupergraphTypes) {
  return typename === undefined ? undefined : types.findField(typename, fieldName)?.type;
}

function toObjectForm(fields: readonly FieldOfForm[], forms: Forms): ObjectForm {
  const text = JSON.stringify(fields.map(({ key, object, isForwarded }) => [key, object?.number, isForwarded]));
  const known = forms.byFields.get(text);
  if (known) return known;
  const form = createObjectForm(fields, ++forms.number);
  forms.byFields.set(text, form);
  return form;
}

/** Assigning the key `__proto__` would change the prototype: without a form, it is unexpected. */
function createObjectForm(fields: readonly FieldOfForm[], number: number): ObjectForm {
  // oxlint-disable-next-line typescript/no-extraneous-class -- each class has a hidden class of its own
  const Instance = class {} as ObjectForm["Instance"];
  const keys = fields.filter(({ isForwarded }) => isForwarded).map(({ key }) => key);
  Object.defineProperty(Instance.prototype, spanKeys, { value: new Set(keys) });
  return { fields: fields.filter(({ key }) => key !== "__proto__").map(toFieldForm), Instance, number };
}

function toFieldForm({ key, object, isForwarded }: FieldOfForm): FieldForm {
  // A Buffer would keep a whole slab of Node's pool in memory.
  const token = Uint8Array.from(Buffer.from(`${JSON.stringify(key)}:`));
  return { key, token, object, isForwarded, lastText: "" };
}
