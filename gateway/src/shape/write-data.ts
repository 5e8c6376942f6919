// Stage 5 of 5: say it. The client's fields in the client's order, written from what subgraphs sent; values that break the schema become
// null, and a null where none may be rises to the nearest nullable place (GraphQL spec, "Handling Field Errors").
// The hottest file of the gateway: text is concatenated and the path kept in one array, as `npm run bench` rewards.
import type { ClientCode } from "../errors.ts";
import type { ClientField, CompiledPlan, Joins, ObjectLayout, OutputShape, Position } from "../plan/compiled-plan.ts";
import { writeLeaf, writeString } from "./leaf.ts";

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
  /** JSON. */
  readonly text: string;
  readonly problems: readonly FieldProblem[];
  readonly problemCount: number;
}

/** Problems that are told; the rest is counted. */
const problemsMax = 100;

interface Writer {
  readonly joins: Joins;
  /** The response path up to `depth`; what stands behind is left from before. */
  readonly path: (string | number)[];
  depth: number;
  service: string | undefined;
  readonly problems: FieldProblem[];
  problemCount: number;
}

/** @param root, joins what `run` brought. */
export function writeData({ root: position }: CompiledPlan, root: Json, joins: Joins): WrittenData {
  const writer: Writer = { joins, path: [], depth: 0, service: undefined, problems: [], problemCount: 0 };
  const layout = position.layoutOf(root, joins);
  const text = layout && writeFields(layout, root, writer);
  return { text: text ?? "null", problems: writer.problems, problemCount: writer.problemCount };
}

/** Undefined: a field that may not be null is; its object is null then. */
function writeFields({ fields }: ObjectLayout, object: Json, writer: Writer): string | undefined {
  const { depth, path, joins } = writer;
  // Fields that one fetch has brought mostly stand together: what it joined is looked up once for them. Below 0: the object itself.
  let slot = -1;
  let holder: Json | undefined = object;
  let text = "{";
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as ClientField;
    const { access } = field;
    path[depth] = field.responseName;
    writer.depth = depth + 1;
    let value: string | undefined;
    if (access?.plainKey === undefined) value = field.constant ?? writeField(field, object, writer);
    else {
      if (access.slot !== slot) {
        slot = access.slot;
        holder = slot < 0 ? object : joins[slot]?.find(object);
      }
      writer.service = access.service;
      value = writeHeld(holder, holder?.[access.plainKey], field.shape, writer);
    }
    if (value === undefined) {
      writer.depth = depth;
      return undefined;
    }
    text += field.text + value;
  }
  writer.depth = depth;
  return `${text}}`;
}

/** A field that is read by rules of its own, or that no fetch provides. */
function writeField({ access, shape }: ClientField, object: Json, writer: Writer): string | undefined {
  if (access === undefined) return refuse("FIELD_NOT_PROVIDED", undefined, shape, writer);
  const holder = access.slot < 0 ? object : writer.joins[access.slot]?.find(object);
  writer.service = access.service;
  return writeHeld(holder, access.read(object, writer.joins), shape, writer);
}

/** What a subgraph was asked for and left out is no null: its answer is wrong. Where nothing came at all, that was told before. */
function writeHeld(holder: Json | undefined, value: unknown, shape: OutputShape, writer: Writer): string | undefined {
  if (value === undefined && holder) return refuse("SUBGRAPH_BAD_ANSWER", writer.service, shape, writer);
  return writeValue(value, shape, writer);
}

function writeValue(value: unknown, shape: OutputShape, writer: Writer): string | undefined {
  if (value === null || value === undefined) return writeNull(shape, writer);
  switch (shape.kind) {
    case "leaf": {
      const text = writeLeaf(value, shape.leaf);
      return text ?? refuse("INVALID_FIELD_VALUE", undefined, shape, writer);
    }
    case "enum":
      if (shape.values.has(value)) return writeString(value as string);
      return shape.hidden.has(value)
        ? writeNull(shape, writer)
        : refuse("INVALID_FIELD_VALUE", undefined, shape, writer);
    case "list":
      return writeList(value, shape, writer) ?? nullOf(shape);
    case "object":
      return writeObject(value, shape.position, shape, writer) ?? nullOf(shape);
  }
}

function writeList(value: unknown, shape: OutputShape & { kind: "list" }, writer: Writer): string | undefined {
  if (!Array.isArray(value)) return refuse("SUBGRAPH_BAD_ANSWER", writer.service, shape, writer);
  const entries = value as readonly unknown[];
  const { depth, path, service } = writer;
  writer.depth = depth + 1;
  let text = "[";
  for (let i = 0; i < entries.length; i++) {
    path[depth] = i;
    writer.service = service;
    const entry = writeValue(entries[i], shape.of, writer);
    if (entry === undefined) {
      writer.depth = depth;
      return undefined;
    }
    text += i === 0 ? entry : `,${entry}`;
  }
  writer.depth = depth;
  return `${text}]`;
}

function writeObject(value: unknown, position: Position, shape: OutputShape, writer: Writer): string | undefined {
  if (typeof value !== "object" || Array.isArray(value)) {
    return refuse("SUBGRAPH_BAD_ANSWER", writer.service, shape, writer);
  }
  const layout = position.layoutOf(value as Json, writer.joins);
  if (!layout) return refuse("SUBGRAPH_BAD_ANSWER", writer.service, shape, writer);
  if (!layout.isVisible) return writeNull(shape, writer);
  return writeFields(layout, value as Json, writer);
}

/** Also for what is right, but not for clients to know: an error would tell that it is there. */
function writeNull(shape: OutputShape, writer: Writer): string | undefined {
  return shape.isNonNull ? refuse("INVALID_FIELD_VALUE", undefined, shape, writer) : "null";
}

/** Null where it may be; undefined, for the parent to become null, where not. */
function nullOf({ isNonNull }: OutputShape): string | undefined {
  return isNonNull ? undefined : "null";
}

function refuse(
  code: FieldProblem["code"],
  service: string | undefined,
  shape: OutputShape,
  writer: Writer,
): string | undefined {
  writer.problemCount++;
  if (writer.problems.length < problemsMax) {
    writer.problems.push({ path: writer.path.slice(0, writer.depth), code, service });
  }
  return nullOf(shape);
}
