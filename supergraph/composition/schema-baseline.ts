import { findBase } from "../changes/git-base.ts";
import type { Subgraph } from "../subgraphs.ts";

export interface SchemaBaseline {
  /** For the message "changed since NAME": a commit or branch. */
  readonly name: string;
  find(subgraph: Subgraph): string | undefined;
}

/** The schemas of the commit that `npm run check` compares with; undefined without one. */
export function findSchemaBaseline(root: string, against?: string): SchemaBaseline | undefined {
  const base = findBase(root, against);
  return base && { name: base.name, find: ({ folder }) => base.read(`${folder}/schema.graphql`) };
}
