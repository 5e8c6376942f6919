import { parse } from "yaml";
import { type Change, excuseChange } from "../changes/changes.ts";

/** Whether the gateway executes only the documents of known clients: `documents.mode: enforce`. @param settings gateway.yaml, if it exists. */
export function executesOnlyKnownDocuments(settings: string | undefined): boolean {
  const parsed = parse(settings ?? "") as { readonly documents?: { readonly mode?: unknown } | null } | null;
  return parsed?.documents?.mode === "enforce";
}

/** Where no other client can call, a change of the graph that breaks no known operation breaks no client. */
export function excuseUnneeded(changes: readonly Change[]): readonly Change[] {
  const reason = "The gateway executes only documents of known clients (documents.mode), and none needs it.";
  return changes.map((change) =>
    change.level === "breaking" && change.breaks?.length === 0 ? excuseChange(change, reason) : change,
  );
}
