import type { GraphQLFieldResolver } from "graphql";

/** A small supergraph that shows one feature of federation, with answers worked out by hand. */
export interface Animal {
  readonly name: string;
  readonly subgraphs: readonly AnimalSubgraph[];
  /** The same data in one schema without subgraphs; fields that are not named are read from their parent. */
  readonly monolith: Monolith;
  readonly cases: readonly Case[];
  /** Puts the data back as they were, for animals with mutations. */
  readonly reset?: () => void;
  /** Values for generated arguments, by argument name: some that are found, some that are not. */
  readonly argumentValues?: Readonly<Record<string, readonly unknown[]>>;
  /** Why more than one answer to a generated operation is right: then only the lanes are compared. */
  readonly ambiguous?: string;
  /** Why errors of generated operations stand for other nulls than the monolith's. */
  readonly errorsDiffer?: string;
  /** Which generated operations are refused as OPERATION_NOT_RESOLVABLE, although the monolith answers them. */
  readonly mayRefuse?: string;
  /**
   * How stock answers generated operations wrongly: with harmless aliases, or with aliases that are names of other fields. Held against
   * stock; where nothing is said, nothing is known.
   */
  readonly stockDiffers?: { readonly plain?: string; readonly colliding?: string };
}

interface AnimalSubgraph {
  readonly name: string;
  readonly typeDefs: string;
  readonly resolvers: object;
  /** "" for federation 1. */
  readonly header?: string;
}

export type Monolith = Readonly<Record<string, Readonly<Record<string, GraphQLFieldResolver<never, unknown, never>>>>>;

export interface Case {
  /** A true sentence. */
  readonly name: string;
  readonly query: string;
  readonly variables?: object;
  readonly expected: Expected;
  /** What stock answers instead, in one line. Held against stock: with this it answers otherwise, without it it gives the same data. */
  readonly stockIsWrong?: string;
  /** Why stock is not asked at all: it would end the process of the tests. */
  readonly stockIsNotAsked?: string;
}

export interface Expected {
  readonly data: unknown;
  /** In any order. */
  readonly errors?: readonly { readonly path: readonly (string | number)[]; readonly code?: string }[];
}

/**
 * A `__resolveReference`: the row that has the reference's keys, and the reference's fields over it, so that what comes by `@requires`
 * is what the gateway sent and nothing else.
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
