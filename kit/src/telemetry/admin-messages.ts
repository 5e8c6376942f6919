export interface AdminThreadData {
  readonly host: string;
  readonly port: number;
  readonly heartbeat: SharedArrayBuffer;
  /** Liveness is 503 if the heartbeat is older. */
  readonly staleAfterMs: number;
  /** Then a request is 503. */
  readonly deadlinesMs: Readonly<Record<AdminSubject, number>>;
}

export type AdminSubject = "readiness" | "metrics" | "config" | "status";

/** First that it listens, then requests, at most one in flight per subject. */
export type AdminThreadMessage =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "request"; readonly subject: AdminSubject };

export interface AdminResult {
  readonly subject: AdminSubject;
  readonly status: 200 | 404 | 500 | 503;
  readonly body: string;
}
