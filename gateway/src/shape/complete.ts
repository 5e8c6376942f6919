// Stage 5 of 5: say it. The engine's result, with every error where clients look for it.
import { GraphQLError } from "graphql";
import { codes } from "../errors.ts";
import type { EngineResult } from "../run/engine.ts";
import type { FieldLoss } from "../run/field-loss.ts";
import type { Path } from "../run/subgraph-answer.ts";
import { toClientError } from "./mask.ts";

/** A value that broke the schema is told once for each place; a long list of broken values is cut. */
const invalidValuesMax = 100;

/**
 * Puts together `errors[]`: what fetches lost, then values that broke the schema, which stock Apollo hides in
 * `extensions.valueCompletion`. A null that only follows from a loss already told is not told again (GraphQL spec, "Handling
 * Field Errors": one error for each field).
 */
export function completeResult(result: EngineResult, losses: readonly FieldLoss[]): EngineResult {
  const told = losses.map(toClientError);
  const paths = createPathSet(losses);
  const invalid = readInvalidValues(result.extensions?.["valueCompletion"]).filter((path) => !paths.touches(path));
  const errors = [...told, ...(result.errors ?? []), ...invalid.slice(0, invalidValuesMax).map(toInvalidValue)];
  return { data: result.data ?? null, ...(errors.length > 0 ? { errors } : {}) };
}

function readInvalidValues(raw: unknown): readonly Path[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((problem: unknown) => (problem instanceof GraphQLError ? (problem.path ?? []) : []));
}

function toInvalidValue(path: Path): GraphQLError {
  const code = "INVALID_FIELD_VALUE";
  return new GraphQLError(codes[code].message, { ...(path.length > 0 ? { path } : {}), extensions: { code } });
}

/** Answers whether a path is one of these, lies below one, or above one. */
function createPathSet(losses: readonly FieldLoss[]) {
  const exact = new Set<string>();
  const above = new Set<string>();
  for (const { path, moreCount } of losses) {
    if (path === undefined) continue;
    const keys = prefixes(path);
    exact.add(keys.at(-1) ?? "");
    // The summary of a long list stands for everything below it, but says nothing of what is above.
    if (moreCount === undefined) for (const key of keys) above.add(key);
  }
  return {
    touches: (path: Path) => above.has(JSON.stringify(path)) || prefixes(path).some((key) => exact.has(key)),
  };
}

function prefixes(path: Path): readonly string[] {
  return path.map((_, i) => JSON.stringify(path.slice(0, i + 1)));
}
