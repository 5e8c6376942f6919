/**
 * The milliseconds that the caller still waits. The gateway and the REST proxy read it from clients, and write it for services. It is no time of day,
 * since clocks differ.
 */
export const deadlineHeader = "x-deadline-ms";

const millisecondsPattern = /^\d{1,9}$/;

/** Infinity without the header, and if it is malformed. */
export function readDeadline(header: string | readonly string[] | undefined): number {
  return typeof header === "string" && millisecondsPattern.test(header) ? Number(header) : Infinity;
}

/** A shorter time leaves none for a service. */
const clientDeadlineMsMin = 50;

/** @returns when a client stops waiting, by `performance.now`. */
export function readClientDeadline(header: string | readonly string[] | undefined, arrivedMs: number): number {
  return arrivedMs + Math.max(clientDeadlineMsMin, readDeadline(header));
}

/** Less than the caller has, so that the service's response arrives in time. Zero or less: too late to send the request. */
export function toServiceDeadline(remainingMs: number): number {
  return Math.floor(remainingMs - Math.max(5, remainingMs * 0.05));
}
