import { cacheableByDefault } from "./age.ts";
import type { Policy } from "./policy.ts";

/** What decides whether an answer to a `GET` may be kept, but for `Vary: *`. */
export interface Candidate {
  readonly status: number;
  readonly policy: Policy;
  /** The request had `Authorization`. */
  readonly wasAuthorized: boolean;
}

/** What decides whether it is of any use. */
export interface Worth {
  readonly policy: Policy;
  /** By guess, where the policy has none. */
  readonly heuristicSeconds: number;
  readonly hasValidator: boolean;
}

/** Statuses whose caching rules are known here; `must-understand` asks for it (RFC 9111, 5.2.2.3). */
const understood: ReadonlySet<number> = new Set([
  200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412,
  413, 414, 415, 416, 417, 421, 422, 426, 428, 429, 500, 501, 502, 503, 504, 505,
]);

/** RFC 9111, 3: in the order of the section. */
export function isStorable({ status, policy, wasAuthorized }: Candidate): boolean {
  // Final; and parts and "not modified" are no whole answers.
  if (status < 200 || status === 206 || status === 304) return false;
  // 5.2.2.3: who understands the status leaves the `no-store` beside it aside; who does not stores nothing.
  if (policy.mustUnderstand ? !understood.has(status) : policy.noStore) return false;
  if (policy.isPrivate) return false;
  if (wasAuthorized && !policy.admitsAuthorized) return false;
  return policy.isPublic || policy.lifetimeSeconds !== undefined || cacheableByDefault.has(status);
}

/** Worth its bytes: it is fresh for a while, or may be used later in some way. */
export function isWorthStoring({ policy, heuristicSeconds, hasValidator }: Worth): boolean {
  if (hasValidator) return true;
  if (policy.noCache) return false;
  const lifetime = policy.lifetimeSeconds ?? heuristicSeconds;
  return lifetime > 0 || (!policy.neverStale && Boolean(policy.whileRevalidateSeconds || policy.ifErrorSeconds));
}
