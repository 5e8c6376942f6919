// Stage 4 of 5: run. The scope of one client request: its properties that stages 4 and 5 need. pipeline.ts creates it before the plan stage, since
// the deadline includes planning.
import type { OperationIdentity } from "../observations.ts";
import type { OperationDeadline } from "./deadline.ts";
import type { ClientRequest } from "./fetch/subgraph-request.ts";

export interface RequestScope extends ClientRequest {
  readonly identity: OperationIdentity;
  /** The client's `authorization` header, forwarded unchanged. */
  readonly authorization: string | undefined;
  /** The client's receipts, as it sent them; undefined without receipts. */
  readonly receipts: string | undefined;
  /** Whether the client sent no token, or one that this process has verified: only then a cached result may be used. */
  readonly isCallerVerified: boolean;
  /** Its signal is aborted when the client disconnects or the request's time has passed; no fetch is sent afterwards. */
  readonly deadline: Pick<OperationDeadline, "signal">;
}
