// Stage 4 of 5: run. The scope of one client request: its properties that stages 4 and 5 need.
import type { OperationIdentity } from "../../observations.ts";
import type { OperationDeadline } from "./deadline.ts";
import type { ClientRequest } from "./fetch/subgraph-request.ts";

export interface RequestScope extends ClientRequest {
  readonly identity: OperationIdentity;
  /** Forwarded unchanged. */
  readonly authorization: string | undefined;
  /** As the client sent them. */
  readonly receipts: string | undefined;
  /** Without a token, or with one that this process has verified: only then a cached result may be used. */
  readonly isCallerVerified: boolean;
  /** No fetch is sent after its signal. */
  readonly deadline: Pick<OperationDeadline, "signal">;
}
