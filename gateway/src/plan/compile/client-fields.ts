// Creates the client's fields of one object layout: for each field its name as response text, its constant if it has one, how it is read, and the
// shape of its value. positions.ts calls it when shape/write-data.ts first reads the fields of the layout.
import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLOutputType,
  isCompositeType,
  isEnumType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  type SelectionSetNode,
  specifiedScalarTypes,
} from "graphql";
import { isIntrospectionField } from "../introspection/introspection-fields.ts";
import { collectFields, responseNameOf } from "../normalize/collect-fields.ts";
import type { AsciiToken, ClientField, FieldAccess, LeafKind, ObjectLayout, OutputShape } from "./compiled-plan.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

export interface ClientFieldOptions {
  readonly types: SupergraphTypes;
  /** Finds a type of the API schema, so not an inaccessible one. */
  readonly findApiType: (name: string) => GraphQLNamedType | undefined;
  /** The planner key of a client's field. */
  readonly clientKeyOf: (field: FieldNode) => string;
}

/**
 * @param typename the object's type.
 * @param positionType the type of the field that has these objects as values: `typename`, an interface or a union.
 * @param clientSets what the client selects of the objects.
 * @param access see ObjectLayout.
 */
export function createClientFields(
  typename: string,
  positionType: string,
  clientSets: readonly SelectionSetNode[],
  access: ObjectLayout["access"],
  o: ClientFieldOptions,
): readonly ClientField[] {
  const applies = (typeCondition: string) => o.types.applies(typeCondition, typename);
  const shapeOf = createShapes(typename, positionType, o);
  const fields = [...collectFields(clientSets, applies, responseNameOf)].flatMap(([responseName, [field]], i) => {
    if (!field) return []; // Only for the type: each response name has a field.
    const isTypename = field.name.value === "__typename";
    // If `typename` is an interface, the object's type is not known, and its `__typename` cannot be written.
    const constant =
      isTypename && isObjectType(o.types.schema.getType(typename))
        ? createAsciiToken(JSON.stringify(typename))
        : undefined;
    const fieldAccess = isTypename ? undefined : access(o.clientKeyOf(field));
    return [
      {
        responseName,
        nameToken: createAsciiToken(`${i > 0 ? "," : "{"}${JSON.stringify(responseName)}:`),
        constant,
        access: fieldAccess,
        shape: shapeOf(field, fieldAccess),
      },
    ];
  });
  return o.types.isPartialMember(positionType, typename) ? withNullsIfUnplanned(fields) : fields;
}

/**
 * If one of the subgraphs with the union does not have this member type, the planner may select none of its fields. The nullable fields of the
 * objects are then null without an error, as in other gateways (public federation audit, suite `partial-union-complex`).
 */
function withNullsIfUnplanned(fields: readonly ClientField[]): readonly ClientField[] {
  if (fields.some(({ access }) => access)) return fields;
  return fields.map((field) => (field.constant || field.shape.isNonNull ? field : { ...field, constant: nullToken }));
}

/** `__typename: String!` (GraphQL spec, "Type Name Introspection"), for an object whose type is not known. */
const typenameShape: OutputShape = { kind: "leaf", leaf: "String", isNonNull: true };
/** For composite fields that no fetch provides, and for fields that neither schema has. */
const anyValue: OutputShape = { kind: "leaf", leaf: "custom", isNonNull: false };
const introspectionShape: OutputShape = { kind: "json", isNonNull: false };

/** Searches the API schema first, which lacks inaccessible types and enum values, then the supergraph, which has the fields of inaccessible types. */
function createShapes(typename: string, positionType: string, o: ClientFieldOptions) {
  const candidates = [o.findApiType(typename), o.findApiType(positionType), o.types.schema.getType(typename)].filter(
    (type) => isObjectType(type) || isInterfaceType(type),
  );

  return (field: FieldNode, access: FieldAccess | undefined): OutputShape => {
    if (isIntrospectionField(field)) return introspectionShape;
    if (field.name.value === "__typename") return typenameShape;
    const definitions = candidates.map((type) => type.getFields()[field.name.value]);
    const definition = definitions.find((definition) => definition !== undefined);
    return definition ? toShape(definition.type, access, o.types) : anyValue;
  };
}

function toShape(
  type: GraphQLOutputType,
  access: FieldAccess | undefined,
  types: SupergraphTypes,
  isNonNull = false,
): OutputShape {
  if (isNonNullType(type)) return toShape(type.ofType, access, types, true);
  if (isListType(type)) return { kind: "list", isNonNull, of: toShape(type.ofType, access, types) };
  if (isEnumType(type)) {
    const values = new Set(valuesOf(type));
    const allValues = valuesOf(types.schema.getType(type.name));
    return { kind: "enum", isNonNull, values, hidden: new Set(allValues.filter((value) => !values.has(value))) };
  }
  if (isCompositeType(type)) {
    return access?.position ? { kind: "object", isNonNull, position: access.position } : { ...anyValue, isNonNull };
  }
  return { kind: "leaf", isNonNull, leaf: toLeafKind(type.name) };
}

function valuesOf(type: GraphQLNamedType | undefined): readonly string[] {
  return isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
}

function toLeafKind(name: string): LeafKind {
  return specifiedScalarTypes.some((type) => type.name === name) ? (name as LeafKind) : "custom";
}

/** @throws Error if the text is not ASCII, which is impossible for names (GraphQL spec, "Names"). */
export function createAsciiToken(text: string): AsciiToken {
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  if (!/^[\x00-\x7f]*$/.test(text)) throw new Error(`Not ASCII: ${JSON.stringify(text)}`);
  const bytes = Buffer.alloc(Math.ceil(text.length / 4) * 4);
  bytes.write(text, "latin1");
  const words = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readInt32LE(i * 4));
  return { words, length: text.length };
}

const nullToken = createAsciiToken("null");
