import type { ASTNode } from "graphql";
import { Kind, print, visit } from "graphql";
import type { ChangePlace } from "../changes/changes.ts";
import type { NamedDefinition, ParsedSubgraph, Place } from "./places.ts";
import { isNamedDefinition, membersOf, parseSubgraph, placeOfNode } from "./places.ts";
import type { SchemaBaseline } from "./schema-baseline.ts";
import type { SubgraphSource } from "../subgraphs.ts";

export type SchemaEdit = MemberEdit | KeyEdit;

interface MemberEdit {
  readonly kind: "removed" | "changed" | "added";
  readonly coordinate: string;
  readonly place: ChangePlace | undefined;
}

/** Subgraphs that refer to the entity by a removed key can no longer resolve it here. */
export interface KeyEdit extends Pick<MemberEdit, "coordinate" | "place"> {
  readonly kind: "key";
  readonly removedKeys: readonly string[];
  readonly keys: readonly string[];
}

/** The order of the edits is: keys, removed, changed, added. */
export interface ChangedSubgraph {
  readonly source: SubgraphSource;
  readonly edits: readonly SchemaEdit[];
}

const kindOrder: readonly SchemaEdit["kind"][] = ["key", "removed", "changed", "added"];
/** The second name is that in a schema that links the federation specification without importing `@key`. */
const keyDirectiveNames: ReadonlySet<string> = new Set(["key", "federation__key"]);

interface EntityKey {
  readonly fields: string;
  readonly place: Place;
}

interface SchemaPart {
  readonly node: ASTNode;
  readonly source: SubgraphSource;
  /** Without descriptions and directives. */
  readonly text: string;
}

/** A missing or invalid schema counts as changed, but has no edits. */
export function findChangedSubgraphs(
  sources: readonly SubgraphSource[],
  baseline: SchemaBaseline,
): readonly ChangedSubgraph[] {
  return sources.flatMap((source) => {
    const formerSdl = baseline.find(source);
    if (formerSdl === source.sdl) return [];
    const before = { ...source, sdl: formerSdl };
    const after = parseIfValid(source);
    return [{ source, edits: after ? findEdits(parseIfValid(before), after) : [] }];
  });
}

/** `fields` is normalized to single spaces. */
export function keysOf({ document, source }: ParsedSubgraph, type: string): readonly EntityKey[] {
  const definitions = document.definitions.filter(isNamedDefinition).filter(({ name }) => name.value === type);
  const directives = definitions.flatMap((definition) => definition.directives ?? []);
  const keyDirectives = directives.filter(({ name }) => keyDirectiveNames.has(name.value));
  return keyDirectives.flatMap((node) => {
    const value = node.arguments?.find(({ name }) => name.value === "fields")?.value;
    const place = placeOfNode(node, [source]);
    if (value?.kind !== Kind.STRING || place === undefined) return [];
    return [{ fields: value.value.trim().replaceAll(/[\s,]+/g, " "), place }];
  });
}

function findEdits(before: ParsedSubgraph | undefined, after: ParsedSubgraph): readonly SchemaEdit[] {
  const partsBefore = before ? partsOf(before) : new Map<string, SchemaPart>();
  const partsAfter = partsOf(after);
  const coordinates = [...new Set([...partsBefore.keys(), ...partsAfter.keys()])];
  // If a type was added or removed, its members are not listed as separate edits.
  const compared = coordinates.filter((coordinate) => {
    const [type = ""] = coordinate.split(".");
    return coordinate === type || (partsBefore.has(type) && partsAfter.has(type));
  });
  const edits = compared.flatMap((coordinate): SchemaEdit[] => {
    const former = partsBefore.get(coordinate);
    const current = partsAfter.get(coordinate);
    const place = placeOfPart(current ?? former);
    if (current === undefined) return [{ kind: "removed", coordinate, place: place && { ...place, onlyInBase: true } }];
    if (former === undefined || before === undefined) return [{ kind: "added", coordinate, place }];
    const found: SchemaEdit[] = [];
    const keyEdit = findKeyEdit(before, after, coordinate);
    if (keyEdit) found.push(keyEdit);
    if (former.text !== current.text) found.push({ kind: "changed", coordinate, place });
    return found;
  });
  return edits.toSorted((a, b) => kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind));
}

/** The place is the entity's new key, or else the entity's name. */
function findKeyEdit(before: ParsedSubgraph, after: ParsedSubgraph, coordinate: string): SchemaEdit | undefined {
  const keysBefore = keysOf(before, coordinate);
  const keysAfter = keysOf(after, coordinate);
  const keys = keysAfter.map(({ fields }) => fields);
  const removedKeys = keysBefore.map(({ fields }) => fields).filter((fields) => !keys.includes(fields));
  if (removedKeys.length === 0) return undefined;
  const addedKey = keysAfter.find(({ fields }) => keysBefore.every((key) => key.fields !== fields));
  const place = addedKey?.place ?? placeOfPart(partsOf(after).get(coordinate));
  return { kind: "key", coordinate, place: place && { ...place, onlyInBase: false }, removedKeys, keys };
}

/** Types and their members by coordinate. A type and its extensions are one part. */
function partsOf({ document, source }: ParsedSubgraph): ReadonlyMap<string, SchemaPart> {
  const parts = new Map<string, SchemaPart>();
  for (const definition of document.definitions.filter(isNamedDefinition)) {
    const type = definition.name.value;
    const earlier = parts.get(type);
    const text = (earlier?.text ?? "") + headOf(definition);
    parts.set(type, { node: earlier?.node ?? definition, source, text });
    for (const member of membersOf(definition)) {
      if ("name" in member && member.name) {
        parts.set(`${type}.${member.name.value}`, { node: member, source, text: textOf(member) });
      }
    }
  }
  return parts;
}

function headOf(definition: NamedDefinition): string {
  const kind = definition.kind.replace("Extension", "Definition");
  const interfaces = "interfaces" in definition ? (definition.interfaces ?? []) : [];
  const interfaceNames = interfaces.map(({ name }) => name.value).toSorted();
  return `${kind} ${interfaceNames.join(" ")}`;
}

function textOf(member: ASTNode): string {
  const bareMember = visit(member, {
    // Null removes the node, undefined leaves it unchanged.
    enter: (node) => {
      if (node.kind === Kind.DIRECTIVE) return null;
      return "description" in node ? { ...node, description: undefined } : undefined;
    },
  });
  return print(bareMember);
}

function placeOfPart(part: SchemaPart | undefined): ChangePlace | undefined {
  const place = part && placeOfNode(part.node, [part.source]);
  return place && { ...place, onlyInBase: false };
}

export function parseIfValid(source: SubgraphSource): ParsedSubgraph | undefined {
  try {
    return parseSubgraph(source);
  } catch {
    return undefined;
  }
}
