// Finds the earlier schemas with which the report of composition errors (composition-report.ts) compares the current ones.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Supergraph } from "@apollo/federation-internals";
import type { GitBase } from "../changes/git-base.ts";
import { findBase } from "../changes/git-base.ts";
import type { Subgraph } from "../subgraphs.ts";

/** Earlier schemas that composed. The report lists the files that changed since. */
export interface SchemaBaseline {
  /** For the message "changed since NAME": a commit or branch, or "the committed supergraph". */
  readonly name: string;
  /**
   * False if the schemas are extracted from a supergraph: they lack descriptions and have other directives. Then a file has changed
   * only if the parsed schemas differ, not if the texts do.
   */
  readonly isVerbatim: boolean;
  /** The text of a subgraph's schema; undefined if the baseline has no such subgraph. */
  find(subgraph: Subgraph): string | undefined;
}

/** The schemas of the commit that `npm run check` compares with; without a commit, those in supergraph.graphql; undefined without both. */
export function findSchemaBaseline(root: string, against?: string): SchemaBaseline | undefined {
  const base = findBase(root, against);
  if (base) return gitBaseline(base);
  const file = join(root, "supergraph/supergraph.graphql");
  return existsSync(file) ? supergraphBaseline(readFileSync(file, "utf8")) : undefined;
}

function gitBaseline({ name, read }: GitBase): SchemaBaseline {
  return { name, isVerbatim: true, find: ({ folder }) => read(`${folder}/schema.graphql`) };
}

function supergraphBaseline(supergraphSdl: string): SchemaBaseline {
  const extracted = Supergraph.build(supergraphSdl).subgraphs();
  return {
    name: "the committed supergraph",
    isVerbatim: false,
    find: ({ name }) => extracted.get(name)?.toString(),
  };
}
