// Stage 5 of 5: say it. The client's fields in the client's order, written from what subgraphs sent; values that break the schema become
// null, and a null where none may be rises to the nearest nullable place (GraphQL spec, "Handling Field Errors").
// The hottest file of the gateway: nothing is made for a field but its bytes, and the path is kept in one array, as `npm run bench` rewards.
import type { ClientCode } from "../errors/codes.ts";
import type { ClientField, CompiledPlan, Joins, OutputShape } from "../plan/compile/compiled-plan.ts";
import type { JsonBytes } from "./json-bytes.ts";
import { writeLeaf } from "./leaf.ts";

type Json = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/** A place of the answer whose value could not be said. */
export interface FieldProblem {
  readonly path: Path;
  readonly code: Extract<ClientCode, "INVALID_FIELD_VALUE" | "SUBGRAPH_BAD_ANSWER" | "FIELD_NOT_PROVIDED">;
  /** The subgraph whose value it was, as far as one can tell. */
  readonly service: string | undefined;
}

export interface WrittenData {
  readonly problems: readonly FieldProblem[];
  readonly problemCount: number;
}

/** Problems that are told; the rest is counted. */
const problemsMax = 100;

interface Writer {
  readonly out: JsonBytes;
  readonly joins: Joins;
  /** The response path up to `depth`; what stands behind is left from before. */
  readonly path: (string | number)[];
  depth: number;
  service: string | undefined;
  readonly problems: FieldProblem[];
  problemCount: number;
}

/**
 * Writes the data as JSON.
 * @param root, joins what `run` brought.
 */
export function writeData({ root: position }: CompiledPlan, root: Json, joins: Joins, out: JsonBytes): WrittenData {
  const writer = createWriter(joins, out);
  const start = out.length;
  const layout = position.layoutOf(root, joins);
  if (!layout || !writeFields(layout.fields, root, writer)) {
    out.rewind(start);
    out.writeRaw("null");
  }
  return writer;
}

/** Whether a null in one of the first root fields propagates to the data. Writes them to find out, and takes them back. */
export function isDataNull(
  { root: position }: CompiledPlan,
  { root, joins }: { readonly root: Json; readonly joins: Joins },
  fieldCount: number,
  out: JsonBytes,
): boolean {
  const fields = position.layoutOf(root, joins)?.fields.slice(0, fieldCount) ?? [];
  const nonNull = fields.filter(({ shape }) => shape.isNonNull);
  const start = out.length;
  const isWritten = writeFields(nonNull, root, createWriter(joins, out));
  out.rewind(start);
  return !isWritten;
}

function createWriter(joins: Joins, out: JsonBytes): Writer {
  return { out, joins, path: [], depth: 0, service: undefined, problems: [], problemCount: 0 };
}

/*
 * Those below write a value, or return false when it is null and may not be: then its parent is null, and takes back what was written of it.
 */

function writeFields(fields: readonly ClientField[], object: Json, writer: Writer): boolean {
  const { depth, path, joins, out } = writer;
  // Fields that one fetch has brought mostly stand together: what it joined is looked up once for them. Below 0: the object itself.
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
        holder = joinIndex < 0 ? object : joins[joinIndex]?.find(object);
      }
      value = holder?.[access.plainKey];
      // As a rule it is a leaf and right, and nobody asks for its path.
      if (shape.kind === "leaf" && value !== undefined && value !== null && writeLeaf(value, shape.leaf, out)) continue;
    }
    path[depth] = field.responseName;
    writer.depth = depth + 1;
    writer.service = access?.service;
    const isWritten =
      access?.plainKey === undefined ? writeField(field, object, writer) : writeHeld(holder, value, shape, writer);
    if (!isWritten) return false;
  }
  writer.depth = depth;
  out.writeRaw("}");
  return true;
}

/** A field that is read by rules of its own, or that no fetch provides. */
function writeField({ access, shape }: ClientField, object: Json, writer: Writer): boolean {
  if (access === undefined) return refuse("FIELD_NOT_PROVIDED", shape, writer);
  const holder = access.joinIndex < 0 ? object : writer.joins[access.joinIndex]?.find(object);
  return writeHeld(holder, access.read(object, writer.joins), shape, writer);
}

/** What a subgraph was asked for and left out is no null: its answer is wrong. Where nothing came at all, that was told before. */
function writeHeld(holder: Json | undefined, value: unknown, shape: OutputShape, writer: Writer): boolean {
  if (value === undefined && holder) return refuse("SUBGRAPH_BAD_ANSWER", shape, writer);
  return writeValue(value, shape, writer);
}

function writeValue(value: unknown, shape: OutputShape, writer: Writer): boolean {
  if (value === null || value === undefined) return writeNull(shape, writer);
  switch (shape.kind) {
    case "leaf":
      return writeLeaf(value, shape.leaf, writer.out) || refuse("INVALID_FIELD_VALUE", shape, writer);
    case "enum":
      if (shape.hidden.has(value)) return writeNull(shape, writer);
      if (!shape.values.has(value)) return refuse("INVALID_FIELD_VALUE", shape, writer);
      writer.out.writeText(value as string);
      return true;
    case "json":
      writer.out.writeBytes(value as Uint8Array);
      return true;
    case "list":
    case "object":
      return writeComposite(value, shape, writer);
  }
}

function writeComposite(value: unknown, shape: OutputShape & { kind: "list" | "object" }, writer: Writer): boolean {
  const { out, depth } = writer;
  const start = out.length;
  const isWritten = shape.kind === "list" ? writeList(value, shape, writer) : writeObject(value, shape, writer);
  if (isWritten) return true;
  out.rewind(start);
  writer.depth = depth;
  return nullOf(shape, writer);
}

function writeList(value: unknown, shape: OutputShape & { kind: "list" }, writer: Writer): boolean {
  if (!Array.isArray(value)) return refuse("SUBGRAPH_BAD_ANSWER", shape, writer);
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

function writeObject(value: unknown, shape: OutputShape & { kind: "object" }, writer: Writer): boolean {
  if (typeof value !== "object" || Array.isArray(value)) {
    return refuse("SUBGRAPH_BAD_ANSWER", shape, writer);
  }
  const layout = shape.position.layoutOf(value as Json, writer.joins);
  if (!layout) return refuse("SUBGRAPH_BAD_ANSWER", shape, writer);
  if (!layout.isVisible) return writeNull(shape, writer);
  return writeFields(layout.fields, value as Json, writer);
}

/** Also for what is right, but not for clients to know: an error would tell that it is there. */
function writeNull(shape: OutputShape, writer: Writer): boolean {
  return shape.isNonNull ? refuse("INVALID_FIELD_VALUE", shape, writer) : nullOf(shape, writer);
}

/** Null where it may be. */
function nullOf({ isNonNull }: OutputShape, { out }: Writer): boolean {
  if (!isNonNull) out.writeRaw("null");
  return !isNonNull;
}

function refuse(code: FieldProblem["code"], shape: OutputShape, writer: Writer): boolean {
  writer.problemCount++;
  if (writer.problems.length < problemsMax) {
    writer.problems.push({ path: writer.path.slice(0, writer.depth), code, service: writer.service });
  }
  return nullOf(shape, writer);
}
