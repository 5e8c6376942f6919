// Stage 3 of 5: how to answer? What is known of a position before any object of it is met.
import type { FieldNode, GraphQLCompositeType, GraphQLNamedType, SelectionSetNode } from "graphql";
import type { CompiledFetch } from "./compiled-plan.ts";
import type { IntrospectionFields } from "../introspection/introspection-fields.ts";
import type { SupergraphTypes } from "./supergraph-types.ts";

/** What of one fetch's text is about a position. */
export interface Source {
  readonly slot: number;
  readonly service: string;
  readonly sets: readonly SelectionSetNode[];
}

export interface PositionAbout {
  readonly path: readonly string[];
  readonly type: GraphQLCompositeType;
  /** See Position. */
  readonly listDepth: number;
  /** The object type that alone can stand here, where a subgraph that was asked knows it and is not asked for it. */
  readonly typename?: string | undefined;
  /** The objects' own fields first, then those of fetches that are joined to them, in the plan's order. */
  readonly sources: readonly Source[];
  readonly clientSets: readonly SelectionSetNode[];
}

export interface PositionOptions {
  readonly types: SupergraphTypes;
  /** Types that clients see, by name. */
  readonly findVisibleType: (name: string) => GraphQLNamedType | undefined;
  readonly fetches: readonly CompiledFetch[];
  readonly isMerged: boolean;
  /** The planner key of a client's field. */
  readonly clientKeyOf: (field: FieldNode) => string;
  /** The planner key of a field in a fetch's text: its response name, unless the plan renames it. */
  readonly fetchKeyOf: (field: FieldNode) => string;
  /** Counts the bytes that layouts retain. */
  readonly retain: (bytes: number) => void;
  /** The values of introspection fields are joined to every object of the query type, like the data of a fetch of root fields. */
  readonly introspection: (Pick<IntrospectionFields, "findAlias"> & { readonly slot: number }) | undefined;
}
