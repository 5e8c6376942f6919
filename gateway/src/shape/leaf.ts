// Stage 5 of 5: say it. Leaf values as JSON, held against their type (GraphQL spec, "Scalars", result coercion).
import type { LeafKind } from "../plan/compiled-plan.ts";

const int32Max = 2_147_483_647;

/** JSON of a value that is not null; undefined when it is no value of this type. */
export function writeLeaf(value: unknown, leaf: LeafKind): string | undefined {
  switch (leaf) {
    case "String":
      return typeof value === "string" ? writeString(value) : undefined;
    case "ID":
      if (typeof value === "string") return writeString(value);
      return Number.isSafeInteger(value) ? `"${String(value)}"` : undefined;
    case "Int":
      return Number.isInteger(value) && Math.abs(value as number) <= int32Max + 1 && value !== int32Max + 1
        ? String(value)
        : undefined;
    case "Float":
      return Number.isFinite(value) ? String(value) : undefined;
    case "Boolean":
      return typeof value === "boolean" ? String(value) : undefined;
    case "custom":
      return JSON.stringify(value);
  }
}

/** What JSON writes otherwise than it is: quotes, backslashes, controls, and surrogates, of which one may stand alone. */
// oxlint-disable-next-line no-control-regex -- controls are what is looked for
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Longer texts are scanned faster by JSON.stringify itself. */
const scannedCharactersMax = 32;

export function writeString(value: string): string {
  if (value.length > scannedCharactersMax || escaped.test(value)) return JSON.stringify(value);
  return `"${value}"`;
}
