import { createCallerStates } from "./caller-states.ts";
import type { LeaseStore } from "./lease-store.ts";
import { createLocalLimit } from "./local-limit.ts";
import type { ClassLimit, RateDecision, RequestClass } from "./rate-decision.ts";

/** A charge was rejected because this process had no lease for it, although the shared quota was not known to be used up. */
export interface LeaseMissed {
  readonly kind: "lease-missed";
  readonly requestClass: RequestClass;
}

export interface LeasedLimitOptions {
  readonly requestClass: RequestClass;
  readonly quota: number;
  readonly windowMs: number;
  readonly callersMax: number;
  readonly store: LeaseStore;
  readonly observe: (observation: LeaseMissed) => void;
  readonly nowMs: () => number;
}

interface Lease {
  units: number;
  /** Unused units are lost then. */
  expiresAtMs: number;
  /** Units used without a grant: the next call takes them from the shared bucket. */
  credit: number;
  /** Units that would have been too much credit: the next call requests them. */
  missed: number;
  isCalling: boolean;
  /** According to the store's last result; other processes may have used units since. */
  fullAtMs: number;
}

/** Of the quota, by all processes together. */
const leasedShare = 1 / 10;
/** More than `leasedShare`: even if all leases expire unused, less is lost (a tenth of the quota) than is replenished until then (a fifth). */
const lifetimeShare = 1 / 5;
const tolerance = 1e-6;

/**
 * Units are taken from the shared bucket before they are used, one lease of `quota / (10 × processes)` at a time. No request waits for the store:
 * before the first grant, requests run on credit of one lease, and the units used are at most `quota + processes × lease`. Beyond that, each process
 * may admit one charge of a lease or more on credit, if the caller's credit is at most 1 unit.
 */
export function createLeasedLimit(options: LeasedLimitOptions): ClassLimit {
  const { requestClass, quota, windowMs, callersMax, store, observe, nowMs } = options;
  const leases = createCallerStates<Lease>({ callersMax, retentionMs: 2 * windowMs, nowMs });
  const callStoreIfNeeded = createLeaseCalls(options);
  const shareOfQuota = () => Math.max(quota / store.processCount(), 1);
  const localLimit = createLocalLimit({ quota: shareOfQuota, windowMs, callersMax, nowMs });

  /** A charge above the share takes the whole share: it could never be admitted otherwise. */
  function localWeightOf(weight: number): number {
    return weight > quota ? weight : Math.min(weight, shareOfQuota());
  }

  function leaseOf(key: string, atMs: number): Lease {
    let lease = leases.find(key, atMs);
    if (lease === undefined) {
      lease = { units: 0, expiresAtMs: 0, credit: 0, missed: 0, isCalling: false, fullAtMs: atMs };
      leases.add(key, lease);
    }
    if (atMs >= lease.expiresAtMs) lease.units = 0;
    return lease;
  }

  /** @returns false, and uses nothing, if the charge is rejected. */
  function useUnits(lease: Lease, weight: number, atMs: number): boolean {
    if (weight > quota) return false;
    const missing = Math.max(weight - lease.units, 0);
    if (missing > sharedUnits(options, lease, atMs) + tolerance) return false;
    if (missing > 0 && !isCreditworthy(options, lease, missing)) {
      lease.missed = Math.min(lease.missed + missing, quota);
      observe({ kind: "lease-missed", requestClass });
      return false;
    }
    lease.units -= weight - missing;
    lease.credit += missing;
    return true;
  }

  return {
    charge(key, weight) {
      if (!store.isAvailable()) return localLimit.charge(key, localWeightOf(weight));
      const atMs = nowMs();
      const lease = leaseOf(key, atMs);
      const isAdmitted = useUnits(lease, weight, atMs);
      callStoreIfNeeded(key, lease, atMs);
      return createDecision(options, lease, weight, isAdmitted, atMs);
    },
    admit(key, weight) {
      if (!store.isAvailable()) return localLimit.admit(key, localWeightOf(weight));
      const atMs = nowMs();
      const lease = leaseOf(key, atMs);
      const isAdmitted = useUnits(lease, weight, atMs);
      callStoreIfNeeded(key, lease, atMs);
      return isAdmitted ? undefined : createDecision(options, lease, weight, false, atMs);
    },
    debit(key, weight) {
      if (!store.isAvailable()) return localLimit.debit(key, weight);
      const atMs = nowMs();
      const lease = leaseOf(key, atMs);
      const leased = Math.min(weight, lease.units);
      lease.units -= leased;
      lease.credit = Math.min(lease.credit + weight - leased, quota);
      callStoreIfNeeded(key, lease, atMs);
    },
    refund(key, weight) {
      if (!store.isAvailable()) return localLimit.refund(key, localWeightOf(weight));
      const lease = leaseOf(key, nowMs());
      const unpaid = Math.min(weight, lease.credit);
      lease.credit -= unpaid;
      // They expire with the lease.
      lease.units += weight - unpaid;
    },
  };
}

/** If at most half of a lease is left and the shared bucket has units, or for credit and missed units. At most one call per caller is in flight. */
function createLeaseCalls(options: LeasedLimitOptions): (key: string, lease: Lease, atMs: number) => void {
  const { requestClass, quota, windowMs, store, nowMs } = options;

  function callStoreIfNeeded(key: string, lease: Lease, atMs: number): void {
    if (lease.isCalling) return;
    const size = leaseSize(options);
    const isLow = lease.units <= size / 2 && sharedUnits(options, lease, atMs) >= 1;
    const hasOpenUnits = lease.credit > 0 || lease.missed > 0;
    if (isLow || hasOpenUnits) void callStore(key, lease, size);
  }

  async function callStore(key: string, lease: Lease, size: number): Promise<void> {
    const { credit, missed } = lease;
    const wanted = Math.max(size - lease.units, 0) + missed;
    const sentAtMs = nowMs();
    lease.isCalling = true;
    lease.missed = 0;
    try {
      const { granted, resetMs } = await store.lease({ key, requestClass, quota, windowMs, credit, wanted });
      const atMs = nowMs();
      if (atMs >= lease.expiresAtMs) lease.units = 0;
      // Credit that was refunded while the call was in flight: the store has taken its units.
      const refunded = Math.max(credit - lease.credit, 0);
      lease.units += granted + refunded;
      lease.credit -= credit - refunded;
      lease.fullAtMs = atMs + resetMs;
      lease.expiresAtMs = sentAtMs + windowMs * lifetimeShare;
    } catch {
      return;
    } finally {
      lease.isCalling = false;
    }
    // Credit that was used while the call was in flight.
    if (lease.credit > 0) callStoreIfNeeded(key, lease, nowMs());
  }

  return callStoreIfNeeded;
}

/** Negative if the caller owes units. */
function sharedUnits({ quota, windowMs }: LeasedLimitOptions, { fullAtMs, credit }: Lease, atMs: number): number {
  const untilFullMs = Math.max(fullAtMs - atMs, 0);
  const availableShare = 1 - untilFullMs / windowMs;
  return availableShare * quota - credit;
}

function isCreditworthy(options: LeasedLimitOptions, { credit }: Lease, units: number): boolean {
  const size = leaseSize(options);
  if (units >= size) return credit <= 1;
  return credit + units <= size;
}

function createDecision(
  options: LeasedLimitOptions,
  lease: Lease,
  weight: number,
  isAdmitted: boolean,
  atMs: number,
): RateDecision {
  const { quota, windowMs } = options;
  const stepMs = windowMs / quota;
  const available = Math.min(lease.units + sharedUnits(options, lease, atMs), quota);
  const needed = isAdmitted ? 1 : Math.min(weight, quota);
  return {
    isAdmitted,
    remaining: Math.max(Math.floor(available + tolerance), 0),
    resetMs: (quota - available) * stepMs,
    retryMs: Math.max((needed - available) * stepMs, 0),
  };
}

function leaseSize({ quota, store }: LeasedLimitOptions): number {
  return Math.max(Math.floor((quota * leasedShare) / store.processCount()), 1);
}
