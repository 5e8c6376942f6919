import { createGraphqlSteps } from "./graphql-steps.ts";
import { createRestSteps } from "./rest-steps.ts";
import type { Steps, Voice } from "./step.ts";

/** The platform's journey, by door: each service is read and written through each. */
export interface Journey {
  readonly graphql: Steps;
  readonly rest: Steps;
}

/** What the writer's token has to allow. */
export const journeyScopes = ["users:write:all", "posts:write", "comments:write", "orders:read", "orders:write"];

export interface JourneyOptions {
  /** Of the user `writerId`, with `journeyScopes`. */
  readonly token: string;
  /** Tells what this run writes from what others wrote: letters, digits and hyphens, 20 at most. */
  readonly run: string;
  /** Told the text of each comment that was confirmed. */
  confirm(text: string): void;
}

/** Over the seeded databases. */
export function createJourney({ token, run, confirm }: JourneyOptions): Journey {
  const voice: Voice = {
    headers: { authorization: `Bearer ${token}`, accept: "application/json", "content-type": "application/json" },
    textAt: (door, count) => `${markOf(run)} ${door} ${count}`,
    keyAt: (door, count) => `${run}-${door}-${count}`,
    confirm,
  };
  return { graphql: createGraphqlSteps(voice), rest: createRestSteps(voice) };
}

/** What each text of a run begins with. */
export function markOf(run: string): string {
  return `Written by ${run}:`;
}
