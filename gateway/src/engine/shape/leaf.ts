// Stage 5 of 5: shape. Writes scalar values as JSON, checked against their type (GraphQL spec, "Scalars", result coercion).
import { stringifyDeepJson } from "@tributary/kit/json/deep-json";
import type { LeafKind } from "../plan/compile/compiled-plan.ts";
import type { JsonBytes } from "./json-bytes.ts";

const int32Max = 2_147_483_647;

/** @param value not null. @returns false, with nothing written, if the value is not of this type. */
export function writeLeaf(value: unknown, leaf: LeafKind, out: JsonBytes): boolean {
  switch (leaf) {
    case "String":
      if (typeof value !== "string") return false;
      out.writeText(value);
      return true;
    case "ID":
      if (typeof value === "string") out.writeText(value);
      else if (typeof value === "bigint" || Number.isSafeInteger(value)) out.writeRaw(`"${String(value)}"`);
      else return false;
      return true;
    case "Int":
      if (!isInt32(value)) return false;
      out.writeInteger(value);
      return true;
    case "Float":
      // A client reads a Float as a double (GraphQL spec, 3.5.2), so a bigint is rounded here.
      if (typeof value === "bigint") out.writeRaw(String(Number(value)));
      else if (Number.isFinite(value)) out.writeRaw(String(value));
      else return false;
      return true;
    case "Boolean":
      if (typeof value !== "boolean") return false;
      out.writeRaw(value ? "true" : "false");
      return true;
    case "custom":
      // JSON has no number such as 1e400, which is beyond a double.
      if (value === Infinity || value === -Infinity) return false;
      out.writeJson(stringifyDeepJson(value));
      return true;
  }
}

function isInt32(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= -int32Max - 1 && (value as number) <= int32Max;
}
