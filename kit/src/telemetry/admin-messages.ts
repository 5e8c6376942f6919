/** The start data of the thread of the admin listener. */
export interface AdminThreadData {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** The main thread's heartbeat (heartbeat.ts). */
  readonly heartbeat: SharedArrayBuffer;
  /** Liveness is 503 if the heartbeat is older. */
  readonly staleAfterMs: number;
  /** How long a request waits for the main thread, before it is 503. */
  readonly deadlinesMs: Readonly<Record<AdminSubject, number>>;
}

/** What only the main thread knows. */
export type AdminSubject = "readiness" | "metrics";

/** Sent by the thread: first that it listens, then requests, at most one in flight per subject. */
export type AdminThreadMessage =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "request"; readonly subject: AdminSubject };

/** Sent by the main thread: the response to the pending requests for a subject. */
export interface AdminResult {
  readonly subject: AdminSubject;
  readonly status: 200 | 500 | 503;
  readonly body: string;
}
