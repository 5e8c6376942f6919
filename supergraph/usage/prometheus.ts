import { InputError } from "@tributary/kit/errors/input-error";

/** Why Prometheus' data cannot be used. */
export class UsageError extends InputError {}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** By time, in seconds since 1970. A time without a value has no entry. */
  readonly values: ReadonlyMap<number, number>;
}

/** In seconds. */
export interface QueryTimes {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** @throws UsageError */
export type QueryPrometheus = (query: string, times: QueryTimes) => Promise<readonly Series[]>;

const timeoutMs = 120_000;

interface MatrixResponse {
  readonly status: "success";
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

/** @param url as in a browser, such as `http://localhost:9090`, with a path prefix if it has one. */
export function createPrometheusQuery(url: string): QueryPrometheus {
  return async (query, { start, end, step }) => {
    const body = new URLSearchParams({ query, start: String(start), end: String(end), step: String(step) });
    const response = await send(`${url.replace(/\/+$/, "")}/api/v1/query_range`, body);
    return response.data.result.map(({ metric, values }) => ({
      labels: metric,
      values: new Map(values.map(([time, value]) => [time, Number(value)])),
    }));
  };
}

async function send(url: string, body: URLSearchParams): Promise<MatrixResponse> {
  try {
    const response = await fetch(url, { method: "POST", body, signal: AbortSignal.timeout(timeoutMs) });
    const text = await response.text();
    if (!response.ok)
      throw new UsageError(`Prometheus responded with ${response.status} at ${url}: ${text.slice(0, 300)}`);
    const parsed = JSON.parse(text) as Partial<MatrixResponse>;
    if (parsed.status !== "success" || !parsed.data) throw new UsageError(`${url} is no Prometheus.`);
    return { status: parsed.status, data: parsed.data };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof SyntaxError) throw new UsageError(`${url} is no Prometheus: its response is no JSON.`);
    const { message, cause } = error as Error;
    throw new UsageError(`Prometheus cannot be reached at ${url}: ${cause instanceof Error ? cause.message : message}`);
  }
}
