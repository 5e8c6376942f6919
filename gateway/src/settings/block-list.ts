// Operations and clients that an operator has blocked in gateway.yaml, such as during an incident.
import type { ClientProgram } from "@tributary/kit/caller/client-program";
import { Rejection } from "../errors/rejections.ts";
import type { OperationIdentity } from "../observations.ts";
import type { SettingsFile } from "./settings-schema.ts";

export interface BlockList {
  /**
   * Before the operation is known, only entries without an operation apply. @throws Rejection BLOCKED
   */
  check(client: ClientProgram | undefined, operation: OperationIdentity | undefined): void;
}

export function createBlockList(entries: NonNullable<SettingsFile["blocked"]>): BlockList {
  const blocks = entries.map((entry) => ({
    ...entry,
    hash: entry.operation?.toLowerCase(),
    untilMs: entry.until === undefined ? Infinity : Date.parse(entry.until),
  }));
  return {
    check(client, identity) {
      for (const { operation, hash, client: name, untilMs, reason } of blocks) {
        if (name !== undefined && name !== client?.name) continue;
        if (operation !== undefined && operation !== identity?.operationName && hash !== identity?.documentHash)
          continue;
        if (Date.now() < untilMs) throw new Rejection("BLOCKED", `The operator has blocked this request: ${reason}`);
      }
    },
  };
}
