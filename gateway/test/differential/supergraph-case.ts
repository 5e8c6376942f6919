import type { GraphQLFieldResolver } from "graphql";

/** A small supergraph with one feature of federation, and results that were worked out by hand. */
export interface SupergraphCase {
  readonly name: string;
  readonly subgraphs: readonly CaseSubgraph[];
  /** The same data in one schema without subgraphs; other fields are read from their parent object. */
  readonly monolith: Monolith;
  readonly cases: readonly CaseExample[];
  /** Resets the data, for cases with mutations. */
  readonly reset?: () => void;
  /** Values for generated arguments, by argument name: some exist in the data, some do not. */
  readonly argumentValues?: Readonly<Record<string, readonly unknown[]>>;
  /** Generated operations select different fields in the branches of interfaces and unions. */
  readonly hasBranches?: boolean;
  /** Why several results of a generated operation are valid: then only the two paths are compared. */
  readonly ambiguous?: string;
  /** Why the errors of generated operations have other null paths than the monolith's. */
  readonly errorsDiffer?: string;
  /** Which generated operations are rejected as OPERATION_NOT_RESOLVABLE, although the monolith executes them. */
  readonly mayReject?: string;
  /**
   * How the results of stock Apollo Gateway for generated operations are wrong: with harmless aliases, or with aliases that are names of
   * other fields. A test checks `colliding`. Without a text it is not known.
   */
  readonly stockDiffers?: { readonly plain?: string; readonly colliding?: string };
}

interface CaseSubgraph {
  readonly name: string;
  readonly typeDefs: string;
  readonly resolvers: object;
  /** "" for federation 1. */
  readonly header?: string;
}

export type Monolith = Readonly<Record<string, Readonly<Record<string, GraphQLFieldResolver<never, unknown, never>>>>>;

export interface CaseExample {
  /** A true sentence. */
  readonly name: string;
  readonly query: string;
  readonly variables?: object;
  readonly expected: ComparableResult;
  /** How the result of stock Apollo Gateway is wrong, in one line. A test checks that it is. */
  readonly stockIsWrong?: string;
}

export interface ComparableResult {
  readonly data: unknown;
  /** In any order. */
  readonly errors?: readonly { readonly path: readonly (string | number)[]; readonly code?: string }[];
}

/**
 * A `__resolveReference` that returns the row with the reference's keys, with the fields of the reference over it, so that fields for
 * `@requires` have the values that the gateway sent.
 */
export function findIn(rows: readonly object[], ...keys: readonly string[]) {
  return (reference: Readonly<Record<string, unknown>>): object | null => {
    const row = rows.find((row) => keys.every((key) => (row as Record<string, unknown>)[key] === reference[key]));
    return row ? { ...row, ...reference } : null;
  };
}

/** A resolver that finds a row by the arguments of the same names. */
export function findByArguments(rows: readonly object[], ...keys: readonly string[]) {
  return (_: unknown, values: Readonly<Record<string, unknown>>): object | null => findIn(rows, ...keys)(values);
}
