import { readFileSync } from "node:fs";
import { type PriorityClass, priorityClasses } from "@tributary/kit/admission/priority";
import { ConfigError } from "@tributary/kit/process/env";
import { nearestOf } from "@tributary/kit/process/misspelt-variables";
import { heuristicSecondsLimit, priorityOfRoute } from "@tributary/kit/rest/routes";
import { z } from "zod";

export interface Route {
  readonly id: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Without its version, such as `/things/:id`. */
  readonly path: string;
  readonly versions: readonly number[];
  readonly query: readonly string[];
  /** With `none`, the request of a read includes `Forwarded`. Whether a response is stored depends on its own headers. */
  readonly cache: "public" | "private" | "none";
  /** Upper bound of the heuristic freshness (RFC 9111, 4.2.2). Without it, a response without explicit freshness is validated before each use. */
  readonly heuristicSecondsMax?: number | undefined;
  /** By version: the proxy may then retry the request. */
  readonly idempotencyKey?: { readonly optional: readonly number[]; readonly required: readonly number[] } | undefined;
  /** Default: `critical` for a write, `normal` for a read. */
  readonly priority: PriorityClass;
  readonly service: string;
  /** Of the service's own path: `/api/{version}` for `/api/2/things/:id`. Default `/rest/v{version}`. */
  readonly prefix?: string | undefined;
  readonly summary: string;
}

const routePathPattern = /^(?:\/(?:[a-z0-9][a-z0-9-]*|:[a-z][A-Za-z0-9]*))+$/;
/** A version, or a path that the proxy serves itself. */
const reservedPathPattern = /^\/(?:v\d+|health|openapi|docs|problems)(?:\/|$)/;
const serviceNamePattern = /^[a-z][a-z0-9-]*$/;
/** Empty for a service that has the paths of the route table, without a version. */
const prefixPattern = /^(?:\/(?:[a-z0-9]|\{version\})(?:[\w-]|\{version\})*)*$/i;
const pathLengthMax = 200;
const routesMax = 10_000;

const versionSchema = z.int().min(1).max(999);

const declarationSchema = z.strictObject({
  id: z.string().min(1),
  method: z.enum(["GET", "POST", "PATCH", "DELETE"]),
  path: z
    .string()
    .max(pathLengthMax)
    .regex(routePathPattern, "is like /things/:id/parts, without a version")
    .refine((path) => !reservedPathPattern.test(path), "begins with a version or with a path of the proxy itself"),
  versions: z.array(versionSchema).min(1),
  query: z.array(z.string().min(1)).default([]),
  cache: z.enum(["public", "private", "none"]),
  heuristicSecondsMax: z.int().min(1).max(heuristicSecondsLimit).optional(),
  idempotencyKey: z.strictObject({ optional: z.array(versionSchema), required: z.array(versionSchema) }).optional(),
  priority: z.enum(priorityClasses).optional(),
  service: z.string().regex(serviceNamePattern, "is a service's name, such as things"),
  prefix: z
    .string()
    .max(pathLengthMax)
    .regex(prefixPattern, "is like /api/v{version}, without a slash at the end, or empty")
    .optional(),
  summary: z.string().default(""),
});

const routeSchema = declarationSchema.transform((route) => ({
  ...route,
  priority: priorityOfRoute(route.method, route.priority),
}));

const fileSchema = z.strictObject({ routes: z.array(routeSchema).min(1).max(routesMax) });

/** @throws ConfigError naming the file and all its problems. */
export function loadRoutes(file: string): readonly Route[] {
  try {
    return readRoutes(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(error.problems.map((problem) => `${file}: ${problem}`));
    const reason = error instanceof SyntaxError ? "it is not JSON" : "it cannot be opened";
    throw new ConfigError([
      `ROUTES_FILE=${file} cannot be read: ${reason}. Composition generates it: npm run generate`,
    ]);
  }
}

/** @throws ConfigError with all problems. */
export function readRoutes(value: unknown): readonly Route[] {
  const parsed = fileSchema.safeParse(value);
  if (parsed.success) return parsed.data.routes;
  throw new ConfigError(parsed.error.issues.flatMap(describeIssue));
}

const memberNames = [...Object.keys(declarationSchema.shape), "routes", "optional", "required"];

function describeIssue(issue: z.core.$ZodIssue): readonly string[] {
  const place = z.core.toDotPath(issue.path) || "the file";
  if (issue.code !== "unrecognized_keys") return [`${place}: ${issue.message}`];
  return issue.keys.map((key) => {
    const nearest = nearestOf(key, memberNames);
    return `${place}: ${key} is unknown${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
  });
}
