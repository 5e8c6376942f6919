import type { EnvironmentReader } from "../process/env.ts";

export interface AdmissionConfig {
  readonly admission: boolean;
  readonly requestsInFlightMax: number;
}

export function readAdmissionConfig(env: EnvironmentReader): AdmissionConfig {
  return {
    admission: env.flag("ADMISSION", {
      fallback: true,
      why: "while the event loop is late, requests wait or are rejected by priority and caller, so that the others are served in time; false serves every request, late",
    }),
    requestsInFlightMax: env.integer("REQUESTS_IN_FLIGHT_MAX", {
      fallback: 4_000,
      min: 1,
      max: 1_000_000,
      why: "requests in flight at once, whatever they wait for; further ones are 503 before their body is read",
    }),
  };
}
