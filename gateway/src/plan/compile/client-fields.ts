// Stage 3 of 5: how to answer? What a client's field must look like in the answer.
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
  specifiedScalarTypes,
} from "graphql";
import type { Access, LeafKind, OutputShape } from "./compiled-plan.ts";
import { isIntrospectionField } from "../introspection/introspection-fields.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

interface ShapeOptions {
  readonly types: SupergraphTypes;
  readonly findVisibleType: (name: string) => GraphQLNamedType | undefined;
}

/** `__typename: String!` (GraphQL spec, "Type Name Introspection"), where it has to be read because the object's type is not known. */
const typenameShape: OutputShape = { kind: "leaf", leaf: "String", isNonNull: true };

/** Anything: for fields that the schema does not know. */
const anything: OutputShape = { kind: "leaf", leaf: "custom", isNonNull: false };
const json: OutputShape = { kind: "json", isNonNull: false };

/** Clients' own view of a type counts: it has fewer enum values, and no hidden types. */
export function createOutputShapes(typename: string, fallbackTypename: string, o: ShapeOptions) {
  const candidates = [
    o.findVisibleType(typename),
    o.findVisibleType(fallbackTypename),
    o.types.schema.getType(typename),
  ].filter((type) => isObjectType(type) || isInterfaceType(type));

  return (field: FieldNode, access: Access | undefined): OutputShape => {
    if (isIntrospectionField(field)) return json;
    if (field.name.value === "__typename") return typenameShape;
    const definitions = candidates.map((type) => type.getFields()[field.name.value]);
    const definition = definitions.find((definition) => definition !== undefined);
    return definition ? toShape(definition.type, access, o.types) : anything;
  };
}

function toShape(
  type: GraphQLOutputType,
  access: Access | undefined,
  types: SupergraphTypes,
  isNonNull = false,
): OutputShape {
  if (isNonNullType(type)) return toShape(type.ofType, access, types, true);
  if (isListType(type)) return { kind: "list", isNonNull, of: toShape(type.ofType, access, types) };
  if (isEnumType(type)) {
    const values = new Set(valuesOf(type));
    const known = valuesOf(types.schema.getType(type.name));
    return { kind: "enum", isNonNull, values, hidden: new Set(known.filter((value) => !values.has(value))) };
  }
  if (isCompositeType(type)) {
    return access?.position ? { kind: "object", isNonNull, position: access.position } : { ...anything, isNonNull };
  }
  return { kind: "leaf", isNonNull, leaf: toLeafKind(type.name) };
}

function valuesOf(type: GraphQLNamedType | undefined): readonly string[] {
  return isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
}

function toLeafKind(name: string): LeafKind {
  return specifiedScalarTypes.some((type) => type.name === name) ? (name as LeafKind) : "custom";
}
