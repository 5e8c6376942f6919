// The journey: realistic client requests that read and write all services through the gateway and the REST proxy.
import { createGraphqlSteps } from "./graphql-steps.ts";
import { createRestSteps } from "./rest-steps.ts";
import type { Steps, StepInput } from "./step.ts";

export interface Journey {
  readonly graphql: Steps;
  readonly rest: Steps;
}

/** The scopes that the token of the seeded user `writerId` (seeded.ts) needs. */
export const journeyScopes = ["users:write:all", "posts:write", "comments:write", "orders:read", "orders:write"];

export interface JourneyOptions {
  /** A token of the user `writerId` with `journeyScopes`. */
  readonly token: string;
  /** The identifier of this run, part of everything that it writes: at most 20 letters, digits and hyphens. */
  readonly run: string;
  /** Called with the text of each comment whose creation was confirmed. */
  confirm(text: string): void;
}

/** Creates the steps. They need seeded databases. */
export function createJourney({ token, run, confirm }: JourneyOptions): Journey {
  const input: StepInput = {
    headers: { authorization: `Bearer ${token}`, accept: "application/json", "content-type": "application/json" },
    textAt: (endpoint, requestNumber) => `${textPrefixOf(run)} ${endpoint} ${requestNumber}`,
    keyAt: (endpoint, requestNumber) => `${run}-${endpoint}-${requestNumber}`,
    confirm,
  };
  return { graphql: createGraphqlSteps(input), rest: createRestSteps(input) };
}

export function textPrefixOf(run: string): string {
  return `Written by ${run}:`;
}
