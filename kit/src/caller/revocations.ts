// Whose tokens are no longer accepted, as the change feeds report it.
import { revokedSubjectsMax } from "../feed/change-feed.ts";

/** Subjects are the ids that tokens have in their `USER_ID_CLAIM`. */
export interface Revocations {
  isRevoked(subject: string): boolean;
  /** Of each service the last `revokedSubjectsMax` are remembered. */
  add(service: string, subjects: readonly string[]): void;
  /** @param subjects the oldest first. */
  replace(service: string, subjects: readonly string[]): void;
}

export function createRevocations(): Revocations {
  /** In the order of revocation. */
  const subjectsByService = new Map<string, Set<string>>();
  /** So that `isRevoked`, which runs for each request with a token, allocates no iterator. */
  let subjectSets: readonly Set<string>[] = [];

  function add(service: string, subjects: readonly string[]): void {
    const revoked = subjectsByService.get(service) ?? new Set();
    for (const subject of subjects) revoked.add(subject);
    for (const oldest of revoked) {
      if (revoked.size <= revokedSubjectsMax) break;
      revoked.delete(oldest);
    }
    if (revoked.size === 0) subjectsByService.delete(service);
    else subjectsByService.set(service, revoked);
    subjectSets = [...subjectsByService.values()];
  }

  return {
    isRevoked(subject) {
      for (const revoked of subjectSets) if (revoked.has(subject)) return true;
      return false;
    },
    add,
    replace(service, subjects) {
      subjectsByService.delete(service);
      add(service, subjects);
    },
  };
}
