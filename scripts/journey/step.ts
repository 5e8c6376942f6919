import { type HttpClientResponse, type HttpClientRequest, findResponseProblem } from "../processes/http-client.ts";

/** One thing that clients do. Other numbers make other requests, so that nobody's answer serves another. */
export interface Step {
  readonly name: string;
  ask(count: number): HttpClientRequest;
  /** What is wrong with the answer; undefined when nothing is. */
  judge(answer: HttpClientResponse, count: number): string | undefined;
}

/** What is done through one door. */
export interface Steps {
  readonly reads: readonly Step[];
  readonly writes: readonly Step[];
}

/** What the steps say of themselves. */
export interface Voice {
  readonly headers: Readonly<Record<string, string>>;
  /** No two writes of a run say the same. */
  textAt(door: "graphql" | "rest", count: number): string;
  keyAt(door: "graphql" | "rest", count: number): string;
  confirm(text: string): void;
}

/** What has to be where in the answer. */
export interface Expected {
  readonly at: readonly (string | number)[];
  readonly is: (count: number) => unknown;
}

export interface StepDescription extends Expected {
  readonly name: string;
  readonly status: number;
  ask(count: number): HttpClientRequest;
  /** Told the number of each request that was answered as it had to be. */
  onRight?(count: number): void;
}

export function createStep({ name, status, ask, at, is, onRight }: StepDescription): Step {
  return {
    name,
    ask,
    judge(answer, count) {
      const wrong = findResponseProblem(answer, [status], (body) => find(body, at) === is(count));
      if (wrong === undefined) onRight?.(count);
      return wrong === undefined ? undefined : `${name}: ${wrong}`;
    },
  };
}

function find(body: unknown, [first, ...rest]: Expected["at"]): unknown {
  if (first === undefined || typeof body !== "object" || body === null) return body;
  return find((body as Readonly<Record<string, unknown>>)[first], rest);
}
