import type { ASTNode } from "graphql";
import { Kind, print, visit } from "graphql";
import type { ChangePlace } from "../changes/changes.ts";
import type { NamedDefinition, ParsedSubgraph, Place } from "./places.ts";
import { isNamedDefinition, membersOf, parseSubgraph, placeOfNode } from "./places.ts";
import type { SchemaBaseline } from "./schema-baseline.ts";
import type { SubgraphSource } from "../subgraphs.ts";

/** A difference between a subgraph's schema and its baseline that can cause a composition error. */
export type SchemaEdit = MemberEdit | KeyEdit;

interface MemberEdit {
  readonly kind: "removed" | "changed" | "added";
  readonly coordinate: string;
  readonly place: ChangePlace | undefined;
}

/** An entity lost a key: subgraphs that refer to the entity by that key can no longer resolve it here. */
export interface KeyEdit extends Pick<MemberEdit, "coordinate" | "place"> {
  readonly kind: "key";
  /** The `fields` of the removed @key directives. */
  readonly removedKeys: readonly string[];
  /** The `fields` of the current @key directives. */
  readonly keys: readonly string[];
}

/** A subgraph whose schema differs from the baseline. The order of the edits is: keys, removed, changed, added. */
export interface ChangedSubgraph {
  readonly source: SubgraphSource;
  readonly edits: readonly SchemaEdit[];
}

const order = ["key", "removed", "changed", "added"];

/**
 * The subgraphs that changed since the baseline. A missing or invalid schema counts as changed, but has no edits. If the baseline is not verbatim,
 * subgraphs without an edit are left out, since their texts differ anyway.
 */
export function findChangedSubgraphs(
  sources: readonly SubgraphSource[],
  baseline: SchemaBaseline,
): readonly ChangedSubgraph[] {
  return sources.flatMap((source) => {
    const sdl = baseline.find(source);
    if (sdl === source.sdl) return [];
    const after = parseIfValid(source);
    const edits = after ? findEdits(parseIfValid({ ...source, sdl }), after) : [];
    return baseline.isVerbatim || edits.length > 0 ? [{ source, edits }] : [];
  });
}

/** Every @key directive of an entity: its `fields`, normalized to single spaces, and its place. */
export function keysOf({ document, source }: ParsedSubgraph, type: string): readonly EntityKey[] {
  return document.definitions
    .filter(isNamedDefinition)
    .filter(({ name }) => name.value === type)
    .flatMap(({ directives = [] }) => directives)
    .filter(({ name }) => name.value === "key" || name.value === "federation__key")
    .flatMap((node) => {
      const value = node.arguments?.find(({ name }) => name.value === "fields")?.value;
      const place = placeOfNode(node, [source]);
      return value?.kind === Kind.STRING && place
        ? [{ fields: value.value.trim().replaceAll(/[\s,]+/g, " "), place }]
        : [];
    });
}

interface EntityKey {
  readonly fields: string;
  readonly place: Place;
}

function findEdits(before: ParsedSubgraph | undefined, after: ParsedSubgraph): readonly SchemaEdit[] {
  const [partsBefore, partsAfter] = [before ? partsOf(before) : new Map<string, SchemaPart>(), partsOf(after)];
  const coordinates = [...new Set([...partsBefore.keys(), ...partsAfter.keys()])];
  // If a type was added or removed, its members are not listed as separate edits.
  const edited = coordinates.filter((coordinate) => {
    const [type = ""] = coordinate.split(".");
    return coordinate === type || (partsBefore.has(type) && partsAfter.has(type));
  });
  const edits = edited.flatMap((coordinate): SchemaEdit[] => {
    const [was, is] = [partsBefore.get(coordinate), partsAfter.get(coordinate)];
    const place = placeOfPart(is ?? was);
    if (is === undefined) return [{ kind: "removed", coordinate, place: place && { ...place, onlyInBase: true } }];
    // `before` is checked only for the type: without it, `was` is undefined.
    if (was === undefined || before === undefined) return [{ kind: "added", coordinate, place }];
    const keyEdit = findKeyEdit(before, after, coordinate);
    return [
      ...(keyEdit ? [keyEdit] : []),
      ...(was.text === is.text ? [] : [{ kind: "changed", coordinate, place } as const]),
    ];
  });
  return edits.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

/** Finds a removed key. Its place is the entity's new key, or else the entity's name. */
function findKeyEdit(before: ParsedSubgraph, after: ParsedSubgraph, coordinate: string): SchemaEdit | undefined {
  const [keysBefore, keysAfter] = [keysOf(before, coordinate), keysOf(after, coordinate)];
  const keys = keysAfter.map(({ fields }) => fields);
  const removedKeys = keysBefore.map(({ fields }) => fields).filter((fields) => !keys.includes(fields));
  if (removedKeys.length === 0) return undefined;
  const added = keysAfter.find(({ fields }) => keysBefore.every((key) => key.fields !== fields));
  const place = added?.place ?? placeOfPart(partsOf(after).get(coordinate));
  return { kind: "key", coordinate, place: place && { ...place, onlyInBase: false }, removedKeys, keys };
}

interface SchemaPart {
  readonly node: ASTNode;
  readonly source: SubgraphSource;
  /** The definition without descriptions and directives. */
  readonly text: string;
}

/** Types and their members by coordinate. A type and its extensions are one part. */
function partsOf({ document, source }: ParsedSubgraph): ReadonlyMap<string, SchemaPart> {
  const parts = new Map<string, SchemaPart>();
  for (const definition of document.definitions.filter(isNamedDefinition)) {
    const type = definition.name.value;
    const text = (parts.get(type)?.text ?? "") + headOf(definition);
    parts.set(type, { node: parts.get(type)?.node ?? definition, source, text });
    for (const member of membersOf(definition))
      if ("name" in member && member.name)
        parts.set(`${type}.${member.name.value}`, { node: member, source, text: textOf(member) });
  }
  return parts;
}

function headOf(definition: NamedDefinition): string {
  const interfaces = "interfaces" in definition ? (definition.interfaces ?? []) : [];
  return `${definition.kind.replace("Extension", "Definition")} ${interfaces
    .map((one) => one.name.value)
    .toSorted()
    .join(" ")}`;
}

function textOf(member: ASTNode): string {
  const bare = (node: ASTNode) => ("description" in node ? { ...node, description: undefined } : undefined);
  return print(visit(member, { enter: (node) => (node.kind === Kind.DIRECTIVE ? null : bare(node)) }));
}

function placeOfPart(part: SchemaPart | undefined): ChangePlace | undefined {
  const place = part && placeOfNode(part.node, [part.source]);
  return place && { ...place, onlyInBase: false };
}

/** Undefined if the schema is missing or has a syntax error. */
export function parseIfValid(source: SubgraphSource): ParsedSubgraph | undefined {
  try {
    return parseSubgraph(source);
  } catch {
    return undefined;
  }
}
