// Creates the client's fields of one object layout, when stage 5 (shape) first reads them.
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
  readonly findApiType: (name: string) => GraphQLNamedType | undefined;
  readonly clientKeyOf: (field: FieldNode) => string;
  readonly rejectedFields: ReadonlySet<FieldNode>;
}

/** @param positionType the type of the field that has these objects as values: `typename`, an interface or a union. */
export function createClientFields(
  typename: string,
  positionType: string,
  clientSets: readonly SelectionSetNode[],
  access: ObjectLayout["access"],
  o: ClientFieldOptions,
): readonly ClientField[] {
  const applies = (typeCondition: string) => o.types.applies(typeCondition, typename);
  const shapeOf = createShapes(typename, positionType, o);
  const fields: ClientField[] = [];
  for (const [responseName, [field]] of collectFields(clientSets, applies, responseNameOf)) {
    if (!field) continue; // Only for the type: each response name has a field.
    const isTypename = field.name.value === "__typename";
    // If `typename` is an interface, the object's type is not known, so `__typename` has no constant: stage 5 (shape) finds no value for it.
    const isKnownTypename = isTypename && o.types.isObjectType(typename);
    const isRejected = o.rejectedFields.has(field);
    const fieldAccess = isTypename || isRejected ? undefined : access(o.clientKeyOf(field));
    const separator = fields.length > 0 ? "," : "{";
    fields.push({
      responseName,
      nameToken: createAsciiToken(`${separator}${JSON.stringify(responseName)}:`),
      constant: isKnownTypename ? createAsciiToken(JSON.stringify(typename)) : undefined,
      access: fieldAccess,
      isRejected,
      shape: shapeOf(field, fieldAccess),
    });
  }
  return o.types.isPartialMember(positionType, typename) ? withNullsIfUnplanned(fields) : fields;
}

/**
 * If one of the subgraphs with the union does not have this member type, the planner may select none of its fields. The nullable fields of the
 * objects are then null without an error, as in other gateways (public federation audit, suite `partial-union-complex`).
 */
function withNullsIfUnplanned(fields: readonly ClientField[]): readonly ClientField[] {
  const isPlanned = fields.some(({ access }) => access !== undefined);
  if (isPlanned) return fields;
  return fields.map((field) => {
    const isUnchanged = field.constant !== undefined || field.shape.isNonNull || field.isRejected;
    return isUnchanged ? field : { ...field, constant: nullToken };
  });
}

/** `__typename: String!` (GraphQL spec, "Type Name Introspection"), for an object whose type is not known. */
const typenameShape: OutputShape = { kind: "leaf", leaf: "String", isNonNull: true };
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
    const definition = definitions.find((candidate) => candidate !== undefined);
    return definition ? toShape(definition.type, access) : anyValue;
  };
}

function toShape(type: GraphQLOutputType, access: FieldAccess | undefined, isNonNull = false): OutputShape {
  if (isNonNullType(type)) return toShape(type.ofType, access, true);
  if (isListType(type)) return { kind: "list", isNonNull, of: toShape(type.ofType, access) };
  if (isEnumType(type)) return { kind: "enum", isNonNull, values: new Set(type.getValues().map(({ name }) => name)) };
  if (isCompositeType(type)) {
    // Undefined if no fetch provides the field: stage 5 then reads only `isNonNull` of the shape.
    const position = access?.position;
    return position ? { kind: "object", isNonNull, position } : { kind: "leaf", isNonNull, leaf: "custom" };
  }
  return { kind: "leaf", isNonNull, leaf: toLeafKind(type.name) };
}

function toLeafKind(name: string): LeafKind {
  return specifiedScalarTypes.some((type) => type.name === name) ? (name as LeafKind) : "custom";
}

const bytesPerWord = 4;

/** @throws Error if the text is not ASCII, which is impossible for names (GraphQL spec, "Names"). */
export function createAsciiToken(text: string): AsciiToken {
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  if (!/^[\x00-\x7f]*$/.test(text)) throw new Error(`Not ASCII: ${JSON.stringify(text)}`);
  const wordCount = Math.ceil(text.length / bytesPerWord);
  const bytes = Buffer.alloc(wordCount * bytesPerWord);
  bytes.write(text, "latin1");
  const words = Array.from({ length: wordCount }, (_, i) => bytes.readInt32LE(i * bytesPerWord));
  return { words, length: text.length };
}

const nullToken = createAsciiToken("null");
