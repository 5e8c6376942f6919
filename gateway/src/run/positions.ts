// Stage 4 of 5: fetch it. Where in the client's answer the things of a fetch stand.
import type { GraphQLSchema } from "graphql";
import { typeApplies } from "./selections.ts";
import type { Path } from "./subgraph-answer.ts";

type Json = Record<string, unknown>;

/** An object of the answer so far, and its response path. */
export interface Position {
  readonly path: Path;
  readonly object: Json;
}

/**
 * The root of the answer so far. The engine joins the objects of root fetches by reference, first come first served, so this
 * shows the tree as it is now, with what later fetches added below.
 */
export function joinRootAnswers(answers: readonly Json[]): Json {
  const root: Json = Object.create(null);
  for (const answer of answers) {
    for (const [name, value] of Object.entries(answer)) if (replaces(root[name], value)) root[name] = value;
  }
  return root;
}

/** The engine's rule (its deepMerge): objects and lists of one length are joined into the first, all else is replaced. */
function replaces(there: unknown, value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof there !== "object" || there === null || typeof value !== "object" || value === null) return true;
  return Array.isArray(there) && Array.isArray(value) && there.length !== value.length;
}

/** All objects at a plan's path (field names, and `@` for every element of a list), in the engine's order, nulls left out. */
export function findPositions(root: Json, planPath: Path): readonly Position[] {
  const found: Position[] = [];
  const walk = (value: unknown, at: number, path: Path): void => {
    if (typeof value !== "object" || value === null) return;
    const step = planPath[at];
    if (step === undefined) found.push({ path, object: value as Json });
    else if (step === "@")
      for (const [i, element] of (Array.isArray(value) ? value : []).entries()) walk(element, at + 1, [...path, i]);
    else if (Object.hasOwn(value, step)) walk((value as Json)[step], at + 1, [...path, step]);
  };
  walk(root, 0, []);
  return found;
}

/**
 * The position of each representation. The engine makes none for an object that lacks a key or is of another type, so with fewer
 * representations than positions each takes the next object that holds its values. What is not found stays undefined.
 */
export function matchRepresentations(
  representations: readonly Json[],
  positions: readonly Position[],
  schema: GraphQLSchema,
): readonly (Position | undefined)[] {
  if (representations.length === positions.length) return positions;
  let next = 0;
  return representations.map((representation) => {
    while (next < positions.length) {
      const position = positions[next++];
      if (position && carries(position.object, representation, schema)) return position;
    }
    return undefined;
  });
}

function carries(object: Json, representation: Json, schema: GraphQLSchema): boolean {
  return Object.entries(representation).every(([name, wanted]) => {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    // A representation may bear an interface's name where the object bears its own (@interfaceObject).
    if (name === "__typename") return typeof value === "string" && typeApplies(schema, String(wanted), value);
    return holds(value, wanted);
  });
}

function holds(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null || typeof value !== "object" || value === null)
    return value === wanted;
  if (Array.isArray(wanted) && (!Array.isArray(value) || value.length !== wanted.length)) return false;
  return Object.entries(wanted).every(([key, part]) => Object.hasOwn(value, key) && holds((value as Json)[key], part));
}

/** A plan's path without list steps: names that are right for every position, when no single one is known. */
export function namesOf(planPath: Path): readonly string[] {
  return planPath.filter((step): step is string => typeof step === "string" && step !== "@");
}

/** The part of a plan's path before the first list: a path that surely exists. */
export function sharedPath(planPath: Path): Path {
  const list = planPath.indexOf("@");
  return list === -1 ? planPath : planPath.slice(0, list);
}
