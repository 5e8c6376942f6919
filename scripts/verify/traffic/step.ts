import { type HttpClientResponse, type HttpClientRequest, findResponseProblem } from "./http-client.ts";

/** One kind of request of the journey, with its expected response. The number varies the request, so that few can use the same cached response. */
export interface Step {
  readonly name: string;
  createRequest(requestNumber: number): HttpClientRequest;
  /** Describes what is wrong with the response; undefined if it is as expected. Call it once for each response. */
  findProblem(response: HttpClientResponse, requestNumber: number): string | undefined;
}

export interface Steps {
  readonly reads: readonly Step[];
  readonly writes: readonly Step[];
}

export interface StepInput {
  readonly headers: Readonly<Record<string, string>>;
  /** Unique within the run, as are the idempotency keys. */
  textAt(endpoint: "graphql" | "rest", requestNumber: number): string;
  keyAt(endpoint: "graphql" | "rest", requestNumber: number): string;
  /** Records a comment whose creation was confirmed (audit.ts). */
  confirm(text: string): void;
}

/** Called with the number of the request. */
export type ByNumber<T> = (requestNumber: number) => T;

type ResponsePath = readonly (string | number)[];

/** The value that the response must contain at a path. A path can end with `length`, the length of a list. */
export interface ExpectedValue {
  readonly at: ResponsePath;
  readonly value: ByNumber<unknown>;
}

export interface StepDescription extends ExpectedValue {
  readonly name: string;
  readonly status: number;
  createRequest(requestNumber: number): HttpClientRequest;
  /** Called with the number of each request whose response is as expected. */
  onSuccess?(requestNumber: number): void;
}

export function createStep({ name, status, createRequest, at, value, onSuccess }: StepDescription): Step {
  return {
    name,
    createRequest,
    findProblem(response, requestNumber) {
      const isExpected = (body: unknown) => readPath(body, at) === value(requestNumber);
      const problem = findResponseProblem(response, [status], isExpected);
      if (problem !== undefined) return `${name}: ${problem}`;
      onSuccess?.(requestNumber);
      return undefined;
    },
  };
}

/** Where the path leads through a value that is no object, returns that value. */
function readPath(value: unknown, [key, ...remainingPath]: ResponsePath): unknown {
  if (key === undefined || typeof value !== "object" || value === null) return value;
  return readPath((value as Readonly<Record<string, unknown>>)[key], remainingPath);
}
