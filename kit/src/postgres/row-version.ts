import type { Precondition } from "../http/etag.ts";
import { onlyRowIds } from "./row-id.ts";

/** SQL condition: the precondition accepts the row's version. $2 and $3 are the result of `toVersionValues`. */
export const versionIsAccepted = "($2::bigint[] is null or row_version = any($2)) and row_version <> all($3::bigint[])";

export function toVersionValues({ only, not }: Precondition): readonly [readonly string[] | null, readonly string[]] {
  return [only === null ? null : onlyRowIds(only), onlyRowIds(not)];
}
