// Which operations of known clients a change breaks. graphql-js decides about what the document says; what the document does not say (the values of
// its variables, and the data of the response) is decided by the change itself.
import { ChangeType } from "@graphql-inspector/core";
import {
  type DocumentNode,
  getNullableType,
  type GraphQLInputField,
  type GraphQLInputType,
  GraphQLNonNull,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  isScalarType,
  Kind,
  print,
  validate,
} from "graphql";
import type { AffectedRelease, Change } from "../changes/changes.ts";
import type { ClientOperation } from "./client-operations.ts";
import { findOperationUses, type OperationUses } from "@tributary/kit/federation/operation-uses";

interface ComparedSchemas {
  readonly base: GraphQLSchema;
  readonly now: GraphQLSchema;
}

interface JudgedOperation {
  readonly operation: ClientOperation;
  readonly uses: OperationUses;
  /** Of its validation in the new schema. */
  readonly error: string | undefined;
}

export interface Judgement {
  readonly changes: readonly Change[];
  /** Valid before and after. */
  readonly valid: readonly ClientOperation[];
}

/** The data that the client expects changes. */
const outputChanges: ReadonlySet<string> = new Set([ChangeType.FieldTypeChanged, ChangeType.TypeKindChanged]);
/** They also concern operations that use the field or the input without the argument or input field. */
const requirements: ReadonlySet<string> = new Set([
  ChangeType.FieldArgumentAdded,
  ChangeType.FieldArgumentTypeChanged,
  ChangeType.FieldArgumentDefaultChanged,
  ChangeType.InputFieldAdded,
  ChangeType.InputFieldTypeChanged,
  ChangeType.InputFieldDefaultValueChanged,
]);

/** Adds to each breaking change what it breaks, and a breaking change for each operation that none of the others explains. */
export function judgeChanges(
  changes: readonly Change[],
  operations: readonly ClientOperation[],
  schemas: ComparedSchemas,
): Judgement {
  const judged = judgeOperations(operations, schemas);
  const explained = new Set<JudgedOperation>();
  const withClients = changes.map((change) => {
    if (change.level !== "breaking") return change;
    const broken = judged.filter((one) => isBrokenBy(one, change, schemas));
    for (const one of broken) explained.add(one);
    return { ...change, breaks: groupByRelease(broken.map(({ operation }) => operation)) };
  });
  const unexplained = judged.filter((one) => one.error !== undefined && !explained.has(one));
  return {
    changes: [
      ...unexplained.map(({ operation, error = "" }) => createBrokenOperation(operation, error)),
      ...withClients,
    ],
    valid: judged.filter(({ error }) => error === undefined).map(({ operation }) => operation),
  };
}

/** An operation that no request can send any more, for a reason that is no breaking change by itself. */
export function createBrokenOperation(operation: ClientOperation, message: string): Change {
  const { release, name, owner, file, line } = operation;
  return {
    level: "breaking",
    code: "OPERATION_BROKEN",
    subject: `${release} ${name}`,
    message,
    advice: "restore what the operation needs, or let it expire first (docs/clients.md).",
    places: [{ subgraph: "", owner, file, line, column: 1, onlyInBase: false }],
    breaks: groupByRelease([operation]),
  };
}

export function groupByRelease(operations: readonly ClientOperation[]): readonly AffectedRelease[] {
  const byRelease = Map.groupBy(operations, ({ release }) => release);
  return [...byRelease].map(([release, ones]) => {
    return { release, owner: ones[0]?.owner ?? "", operations: ones.map(({ name }) => name) };
  });
}

/** Without the operations that were invalid before. Releases of one client have most operations in common: each text is judged once. */
function judgeOperations(
  operations: readonly ClientOperation[],
  { base, now }: ComparedSchemas,
): readonly JudgedOperation[] {
  const byText = Map.groupBy(operations, ({ document }) => print(document));
  return [...byText.values()].flatMap((equal) => {
    const document = equal[0]?.document;
    if (!document || validate(base, document, undefined, { maxErrors: 1 }).length > 0) return [];
    const error = findError(now, document);
    const uses = findOperationUses(document, base);
    return equal.map((operation) => ({ operation, uses, error }));
  });
}

function findError(schema: GraphQLSchema, document: DocumentNode): string | undefined {
  const [error] = validate(schema, document, undefined, { maxErrors: 1 });
  if (error) return error.message;
  // graphql-js 16 has no rule for an operation type that the schema lacks.
  const node = document.definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
  return node && !schema.getRootType(node.operation) ? `The gateway has no ${node.operation}s.` : undefined;
}

function isBrokenBy({ uses, error }: JudgedOperation, change: Change, schemas: ComparedSchemas): boolean {
  const { code, subject } = change;
  // The subject of a removed interface is `Post implements Node`, that of an added directive `Input.@oneOf`.
  const [path = "", , interfaceName] = subject.split(" ");
  const coordinate = path.replace(/\.@\w+$/, "");
  const parent = coordinate.slice(0, coordinate.lastIndexOf("."));
  const isRequirement = requirements.has(code);
  const isSent = uses.inVariables.has(coordinate) || (isRequirement && uses.inVariables.has(parent));
  if (isSent && !acceptsFormerValues(code, coordinate, schemas)) return true;
  if (outputChanges.has(code) && uses.inDocument.has(coordinate)) return true;
  if (interfaceName !== undefined && uses.inDocument.has(`... on ${interfaceName}`)) return true;
  if (uses.nullable.has(coordinate) && isNonNullType(inputOf(coordinate, schemas.now)?.type)) return true;
  if (error === undefined) return false;
  return uses.inDocument.has(coordinate) || (isRequirement && uses.inDocument.has(parent));
}

/** Whether each value of the former type is still a value of it. A custom scalar accepts what an enum or input did. */
function acceptsFormerValues(code: string, coordinate: string, { base, now }: ComparedSchemas): boolean {
  if (code === ChangeType.TypeKindChanged) return isScalarType(now.getType(coordinate));
  const [former, current] = [inputOf(coordinate, base), inputOf(coordinate, now)];
  if (!former || !current || (isRequiredInputField(current) && !isRequiredInputField(former))) return false;
  return acceptsAll(current.type, former.type);
}

/** The types to which other scalars are coerced, and the scalars. */
const coerced: Readonly<Record<string, readonly string[]>> = { Float: ["Int"], ID: ["Int", "String"] };

/** GraphQL spec, "Input Coercion". */
function acceptsAll(type: GraphQLInputType, values: GraphQLInputType): boolean {
  if (isNonNullType(type)) return isNonNullType(values) && acceptsAll(type.ofType, values.ofType);
  const nullable = getNullableType(values);
  // A value that is no list becomes the item of one; null remains null.
  if (isListType(type))
    return acceptsAll(type.ofType, isListType(nullable) ? nullable.ofType : new GraphQLNonNull(nullable));
  if (isListType(nullable)) return false;
  return type.name === nullable.name || coerced[type.name]?.includes(nullable.name) === true;
}

/** An argument or an input field. */
function inputOf(coordinate: string, schema: GraphQLSchema): GraphQLInputField | undefined {
  const [typeName = "", fieldName = "", argumentName] = coordinate.split(".");
  const type = schema.getType(typeName);
  if (isInputObjectType(type)) return type.getFields()[fieldName];
  if (!isObjectType(type) && !isInterfaceType(type)) return undefined;
  return type.getFields()[fieldName]?.args.find(({ name }) => name === argumentName);
}
