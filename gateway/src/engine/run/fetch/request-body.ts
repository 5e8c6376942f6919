// Stage 4 of 5: run. The body of a request to a subgraph.
import type { ResponseForm } from "../../plan/compile/compiled-plan.ts";

/** Of which the bodies of other requests with the same text are written. */
export interface ReadParts {
  /** `{"query":"…"`, up to the variables. */
  readonly head: string;
  readonly responseForm: ResponseForm | undefined;
  /** The client's: JSON members, separated by commas. */
  readonly variables: string;
  /** Of the entity fetches; empty for root fields. */
  readonly lists: readonly EntityList[];
}

export interface EntityList {
  readonly variable: string;
  readonly entitiesKey: string;
  readonly representations: {
    readonly count: number;
    textOf(index: number): string;
  };
  /** False for null. */
  isRequested(entity: unknown, index: number): boolean;
}

/**
 * The JSON of a request.
 * @param head `{"query":"…"`, up to the variables.
 * @param representations of each entity fetch, as JSON members.
 * @param clientVariables JSON members, separated by commas.
 */
export function writeBody(head: string, representations: readonly string[], clientVariables: string): string {
  const members = clientVariables === "" ? representations : [...representations, clientVariables];
  return members.length === 0 ? `${head}}` : `${head},"variables":{${members.join(",")}}}`;
}
