import { findBase } from "../changes/git-base.ts";
import type { Subgraph } from "../subgraphs.ts";

/** Earlier schemas that composed. The report of composition errors lists the files that changed since. */
export interface SchemaBaseline {
  /** For the message "changed since NAME": a commit or branch. */
  readonly name: string;
  /** The text of a subgraph's schema; undefined if the baseline has no such subgraph. */
  find(subgraph: Subgraph): string | undefined;
}

/** The schemas of the commit that `npm run check` compares with; undefined without one. */
export function findSchemaBaseline(root: string, against?: string): SchemaBaseline | undefined {
  const base = findBase(root, against);
  return base && { name: base.name, find: ({ folder }) => base.read(`${folder}/schema.graphql`) };
}
