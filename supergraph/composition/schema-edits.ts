import type { ASTNode } from "graphql";
import { Kind, print, visit } from "graphql";
import type { ChangePlace } from "../changes/changes.ts";
import type { NamedDefinition, ParsedSubgraph, Place } from "./places.ts";
import { isNamedDefinition, membersOf, parseSubgraph, placeOfNode } from "./places.ts";
import type { SchemaBaseline } from "./schema-baseline.ts";
import type { SubgraphSource } from "../subgraphs.ts";

/** A difference between a subgraph's schema and its baseline that can keep the supergraph from composing. */
export type SchemaEdit = MemberEdit | KeyEdit;

interface MemberEdit {
  readonly kind: "removed" | "changed" | "added";
  readonly coordinate: string;
  readonly place: ChangePlace | undefined;
}

/** An entity lost a key: the subgraphs that refer to it by that key cannot reach this one any more. */
export interface KeyEdit extends Pick<MemberEdit, "coordinate" | "place"> {
  readonly kind: "key";
  /** The `fields` of the @key directives that the entity lost, and of those that it has. */
  readonly removedKeys: readonly string[];
  readonly keys: readonly string[];
}

/** A subgraph whose schema differs from the baseline, with its edits: keys first, then what was removed, changed, added. */
export interface ChangedSubgraph {
  readonly source: SubgraphSource;
  readonly edits: readonly SchemaEdit[];
}

const order = ["key", "removed", "changed", "added"];

/** The subgraphs that changed since the baseline. A schema that is missing or does not parse has no edits. */
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

/** Every @key of an entity in a schema: its `fields`, with single spaces, and the place of the directive. */
export function keysOf({ document, source }: ParsedSubgraph, type: string): readonly Key[] {
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

interface Key {
  readonly fields: string;
  readonly place: Place;
}

function findEdits(before: ParsedSubgraph | undefined, after: ParsedSubgraph): readonly SchemaEdit[] {
  const [partsBefore, partsAfter] = [before ? partsOf(before) : new Map<string, Part>(), partsOf(after)];
  const coordinates = [...new Set([...partsBefore.keys(), ...partsAfter.keys()])];
  // The members of a type that is new or gone are no edits of their own.
  const edited = coordinates.filter((coordinate) => {
    const [type = ""] = coordinate.split(".");
    return coordinate === type || (partsBefore.has(type) && partsAfter.has(type));
  });
  const edits = edited.flatMap((coordinate): SchemaEdit[] => {
    const [was, is] = [partsBefore.get(coordinate), partsAfter.get(coordinate)];
    const place = placeOfPart(is ?? was);
    if (is === undefined) return [{ kind: "removed", coordinate, place: place && { ...place, gone: true } }];
    if (was === undefined || before === undefined) return [{ kind: "added", coordinate, place }];
    const keyEdit = findKeyEdit(before, after, coordinate);
    return [
      ...(keyEdit ? [keyEdit] : []),
      ...(was.text === is.text ? [] : [{ kind: "changed", coordinate, place } as const]),
    ];
  });
  return edits.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

/** An entity that lost a key, at its new key, or where it has none at its name. */
function findKeyEdit(before: ParsedSubgraph, after: ParsedSubgraph, coordinate: string): SchemaEdit | undefined {
  const [keysBefore, keysAfter] = [keysOf(before, coordinate), keysOf(after, coordinate)];
  const keys = keysAfter.map(({ fields }) => fields);
  const removedKeys = keysBefore.map(({ fields }) => fields).filter((fields) => !keys.includes(fields));
  if (removedKeys.length === 0) return undefined;
  const added = keysAfter.find(({ fields }) => keysBefore.every((key) => key.fields !== fields));
  const place = added?.place ?? placeOfPart(partsOf(after).get(coordinate));
  return { kind: "key", coordinate, place: place && { ...place, gone: false }, removedKeys, keys };
}

interface Part {
  readonly node: ASTNode;
  readonly source: SubgraphSource;
  /** What composition compares, without descriptions and directives. */
  readonly text: string;
}

/** Types and their members by coordinate. A type that is extended is one part. */
function partsOf({ document, source }: ParsedSubgraph): ReadonlyMap<string, Part> {
  const parts = new Map<string, Part>();
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

/** A definition's kind and interfaces; its members are parts of their own. */
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

function placeOfPart(part: Part | undefined): ChangePlace | undefined {
  const place = part && placeOfNode(part.node, [part.source]);
  return place && { ...place, gone: false };
}

/** The parsed schema; undefined where it is missing or has a syntax error. */
export function parseIfValid(source: SubgraphSource): ParsedSubgraph | undefined {
  try {
    return parseSubgraph(source);
  } catch {
    return undefined;
  }
}
