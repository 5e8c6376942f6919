// Stage 5 of 5: shape. Writes `data`. A value that does not fit the schema becomes null, and a null in a non-null field propagates to the nearest
// nullable field (GraphQL spec, "Handling Field Errors"). The hottest file of the gateway (`npm run bench`): it allocates nothing per field except
// the bytes in the buffer.
import type { Json } from "@tributary/kit/json/json";
import { findSpanSource } from "@tributary/kit/json/json-span";
import type { ClientCode } from "../../errors/codes.ts";
import { ResultTooLarge } from "../../errors/result-too-large.ts";
import type { ClientField, CompiledPlan, DataJoins, OutputShape } from "../plan/compile/compiled-plan.ts";
import type { RunResult } from "../run/run.ts";
import type { ResponsePath } from "../run/fetch/subgraph-response.ts";
import type { JsonBytes } from "./json-bytes.ts";
import { writeLeaf } from "./leaf.ts";

/** A field that became null with an error of stage 5. */
export interface FieldProblem {
  readonly path: ResponsePath;
  readonly code: Extract<
    ClientCode,
    "BAD_USER_INPUT" | "INVALID_FIELD_VALUE" | "SUBGRAPH_INVALID_RESPONSE" | "FIELD_NOT_PROVIDED" | "NOT_FOUND"
  >;
  /** Undefined if it is not known. */
  readonly service: string | undefined;
}

export type FetchedData = Pick<RunResult, "root" | "dataJoins" | "lacksEntities">;

export interface WrittenData {
  readonly problems: readonly FieldProblem[];
  readonly problemCount: number;
}

/** Further problems are only counted, in `problemCount`. */
const problemsMax = 100;
/** Of problems that may follow from a field error, these are looked up. */
const explanationsMax = 10_000;
/** Of `data`. A few entities that refer to each other make a result of any size: 32 MB take some 0.4 s. */
export const resultBytesMax = 33_554_432;

type ListShape = OutputShape & { kind: "list" };
type ObjectShape = OutputShape & { kind: "object" };

interface Writer {
  readonly out: JsonBytes;
  readonly dataJoins: DataJoins;
  readonly lacksEntities: boolean;
  /** The current response path is the first `depth` elements. */
  readonly path: (string | number)[];
  depth: number;
  /** Provides the current field. */
  service: string | undefined;
  readonly problems: FieldProblem[];
  problemCount: number;
  readonly isExplained: IsExplained | undefined;
  explanationsLeft: number;
}

/** Whether the null at this path follows from a field error. */
export type IsExplained = (path: ResponsePath) => boolean;

/** Or `null`, if a null propagates to it. */
export function writeData(
  { root: position }: CompiledPlan,
  fetched: FetchedData,
  out: JsonBytes,
  isExplained?: IsExplained,
): WrittenData {
  const { root, dataJoins } = fetched;
  const writer = createWriter(fetched, out, isExplained);
  const start = out.length;
  const layout = position.layoutOf(root, dataJoins);
  if (!layout || !writeFields(layout.fields, root, writer)) {
    out.rewind(start);
    out.writeRaw("null");
  }
  return writer;
}

/** Writes the fields to find out, and rewinds. */
export function isDataNull(
  { root: position }: CompiledPlan,
  fetched: FetchedData,
  fieldCount: number,
  out: JsonBytes,
): boolean {
  const { root, dataJoins } = fetched;
  const fields = position.layoutOf(root, dataJoins)?.fields.slice(0, fieldCount) ?? [];
  const nonNullFields = fields.filter(({ shape }) => shape.isNonNull);
  const start = out.length;
  const isWritten = writeFields(nonNullFields, root, createWriter(fetched, out));
  out.rewind(start);
  return !isWritten;
}

function createWriter({ dataJoins, lacksEntities }: FetchedData, out: JsonBytes, isExplained?: IsExplained): Writer {
  const problems = { problems: [], problemCount: 0, isExplained, explanationsLeft: explanationsMax };
  return { out, dataJoins, lacksEntities, path: [], depth: 0, service: undefined, ...problems };
}

/** False means a null in a non-null position: the parent rewinds the buffer and becomes null itself, or returns false too. */

function writeFields(fields: readonly ClientField[], object: Json, writer: Writer): boolean {
  const { depth, path, dataJoins, out } = writer;
  if (out.length > resultBytesMax) throw new ResultTooLarge();
  // The object that has the field's value: the object itself (join index below 0), or what a fetch joined to it. Fields of one fetch are mostly
  // adjacent, so it is looked up once for them.
  let joinIndex = -1;
  let holder: Json | undefined = object;
  if (fields.length === 0) out.writeRaw("{");
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as ClientField;
    const { access, constant, shape } = field;
    out.writeToken(field.nameToken);
    if (constant !== undefined) {
      out.writeToken(constant);
      continue;
    }
    let value: unknown;
    if (access?.plainKey !== undefined) {
      if (access.joinIndex !== joinIndex) {
        joinIndex = access.joinIndex;
        holder = joinIndex < 0 ? object : dataJoins[joinIndex]?.find(object);
      }
      value = holder?.[access.plainKey];
      const mayBeSpan = typeof value === "number" && shape.kind === "leaf" && shape.leaf === "String";
      const spanOf = mayBeSpan && holder ? findSpanSource(holder, access.plainKey) : undefined;
      if (spanOf) {
        out.writeSpan(spanOf, value as number);
        continue;
      }
      // Most values are valid leaves: they need no path.
      if (shape.kind === "leaf" && value !== undefined && value !== null && writeLeaf(value, shape.leaf, out)) continue;
    }
    path[depth] = field.responseName;
    writer.depth = depth + 1;
    writer.service = access?.service;
    const isWritten =
      access?.plainKey === undefined
        ? writeComputedField(field, object, writer)
        : writeFieldValue(value, field, access.joinIndex, object, writer);
    if (!isWritten) return false;
  }
  writer.depth = depth;
  out.writeRaw("}");
  return true;
}

/** Computed by `access.read`, or provided by no fetch. */
function writeComputedField(field: ClientField, object: Json, writer: Writer): boolean {
  const { access, shape, isRejected } = field;
  if (access === undefined) return recordProblem(isRejected ? "BAD_USER_INPUT" : "FIELD_NOT_PROVIDED", shape, writer);
  return writeFieldValue(access.read(object, writer.dataJoins), field, access.joinIndex, object, writer);
}

function writeFieldValue(
  value: unknown,
  { shape }: ClientField,
  joinIndex: number,
  object: Json,
  writer: Writer,
): boolean {
  return value === undefined ? writeAbsentField(shape, joinIndex, object, writer) : writeValue(value, shape, writer);
}

/**
 * A requested field that is absent is an error of the subgraph. Without an object that a fetch has returned, stage 4 has recorded the error, or the
 * subgraph returned null for the entity, which is an error only if the field is non-null.
 */
function writeAbsentField(shape: OutputShape, joinIndex: number, object: Json, writer: Writer): boolean {
  const join = joinIndex < 0 ? undefined : writer.dataJoins[joinIndex];
  if (join?.leftOut?.has(object)) return recordProblem("FIELD_NOT_PROVIDED", shape, writer);
  const holder = joinIndex < 0 ? object : join?.find(object);
  const isAbsent = holder !== undefined && !writer.lacksEntities;
  return isAbsent ? recordProblem("SUBGRAPH_INVALID_RESPONSE", shape, writer) : writeNull("NOT_FOUND", shape, writer);
}

function writeValue(value: unknown, shape: OutputShape, writer: Writer): boolean {
  if (value === null || value === undefined) return writeNull("INVALID_FIELD_VALUE", shape, writer);
  switch (shape.kind) {
    case "leaf":
      return writeLeaf(value, shape.leaf, writer.out) || recordProblem("INVALID_FIELD_VALUE", shape, writer);
    case "enum":
      // The error must not disclose that the supergraph has an `@inaccessible` value.
      if (!shape.values.has(value)) return recordProblem("INVALID_FIELD_VALUE", shape, writer);
      writer.out.writeText(value as string);
      return true;
    // Introspection.
    case "json":
      writer.out.writeBytes(value as Uint8Array);
      return true;
    case "list":
    case "object":
      return writeComposite(value, shape, writer);
  }
}

function writeComposite(value: unknown, shape: ListShape | ObjectShape, writer: Writer): boolean {
  const { out, depth } = writer;
  const start = out.length;
  const isWritten = shape.kind === "list" ? writeList(value, shape, writer) : writeObject(value, shape, writer);
  if (isWritten) return true;
  out.rewind(start);
  writer.depth = depth;
  return writeNullIfNullable(shape, writer);
}

function writeList(value: unknown, shape: ListShape, writer: Writer): boolean {
  if (!Array.isArray(value)) return recordProblem("SUBGRAPH_INVALID_RESPONSE", shape, writer);
  const entries = value as readonly unknown[];
  const { depth, path, service, out } = writer;
  writer.depth = depth + 1;
  out.writeRaw("[");
  for (let i = 0; i < entries.length; i++) {
    path[depth] = i;
    writer.service = service;
    if (i > 0) out.writeRaw(",");
    if (!writeValue(entries[i], shape.of, writer)) return false;
  }
  writer.depth = depth;
  out.writeRaw("]");
  return true;
}

function writeObject(value: unknown, shape: ObjectShape, writer: Writer): boolean {
  if (typeof value !== "object" || Array.isArray(value)) {
    return recordProblem("SUBGRAPH_INVALID_RESPONSE", shape, writer);
  }
  const layout = shape.position.layoutOf(value as Json, writer.dataJoins);
  if (!layout) return recordProblem("SUBGRAPH_INVALID_RESPONSE", shape, writer);
  if (!layout.isInApiSchema) return recordProblem("INVALID_FIELD_VALUE", shape, writer);
  return writeFields(layout.fields, value as Json, writer);
}

function writeNull(code: FieldProblem["code"], shape: OutputShape, writer: Writer): boolean {
  return shape.isNonNull ? recordProblem(code, shape, writer) : writeNullIfNullable(shape, writer);
}

function writeNullIfNullable({ isNonNull }: OutputShape, { out }: Writer): boolean {
  if (!isNonNull) out.writeRaw("null");
  return !isNonNull;
}

function recordProblem(code: FieldProblem["code"], shape: OutputShape, writer: Writer): boolean {
  const { isExplained, problems } = writer;
  // Most likely, so many follow from field errors.
  if (isExplained && problems.length < problemsMax && writer.explanationsLeft === 0)
    return writeNullIfNullable(shape, writer);
  const path = writer.path.slice(0, writer.depth);
  if (isExplained && problems.length < problemsMax) {
    writer.explanationsLeft--;
    if (isExplained(path)) return writeNullIfNullable(shape, writer);
  }
  writer.problemCount++;
  if (problems.length < problemsMax) problems.push({ path, code, service: writer.service });
  return writeNullIfNullable(shape, writer);
}
