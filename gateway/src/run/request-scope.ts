// Stage 4 of 5: fetch it. What belongs to one client request while its fetches run.
import type { TraceContext } from "@tributary/kit/trace-context";

export interface RequestScope {
  readonly requestId: string;
  readonly trace: TraceContext;
  /** The client's `authorization`, passed on as it came. */
  readonly authorization: string | undefined;
  /** Aborted when the client goes away or the request's deadline passes; then nothing more is fetched. */
  readonly signal: AbortSignal;
  /** Whether somebody wants to know where the time goes. */
  readonly isTimed: boolean;
}

export interface ScopeAbout extends Pick<RequestScope, "requestId" | "trace" | "authorization" | "isTimed"> {
  readonly deadline: { readonly signal: AbortSignal };
}

export function createRequestScope({ requestId, trace, authorization, isTimed, deadline }: ScopeAbout): RequestScope {
  return {
    requestId,
    trace,
    authorization,
    isTimed,
    get signal() {
      return deadline.signal;
    },
  };
}
