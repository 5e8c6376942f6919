// What service.json says of a service whose code is not in this repository.
import { z } from "zod";
import { defaultRestPaths, type RestPaths, versionPlace } from "./rest-paths.ts";

/** Its folder in services/ has only its contract. */
export interface External {
  /** At which the gateway and the REST proxy reach it when deployed, without a path. */
  readonly url: string;
  readonly graphqlPath: string;
  readonly healthPath: string;
  readonly rest: RestPaths;
  /** Origin of its change feed. Without one, caches use its responses by time only. */
  readonly feedUrl: string | undefined;
  /** Compose and the manifests run it; without one it runs elsewhere. */
  readonly image: string | undefined;
  /** `npm start` runs it in the folder of the contract. */
  readonly command: readonly [string, ...string[]] | undefined;
  /** The port of `/metrics` on the host of `url`. */
  readonly metricsPort: number | undefined;
}

const portMax = 65_535;
const isPath = /^\/[\w./-]*$/;
/** A reference as in a container file, with a tag or a digest, so that a deployment is repeatable. */
const isImage = /^[a-z0-9][\w.:/-]*(?::[\w.-]+|@sha256:[0-9a-f]{64})$/;

const origin = z
  .string("has to be an origin, such as http://host:8080")
  .refine(isOrigin, "has to be an origin without credentials and path, such as http://host:8080");
const path = z.string("has to be a path, such as /graphql").regex(isPath, "has to be a path, such as /graphql");
/** As rest-proxy/src/route/routes.ts accepts it. */
const prefixPattern = /^(?:\/(?:[a-z0-9]|\{version\})(?:[\w-]|\{version\})*)*$/i;
const prefixRule = "has to be like /api/v{version}, without a slash at the end, or empty";

const members = z.strictObject(
  {
    url: origin,
    graphql: path.default("/graphql"),
    health: path.default("/health/ready"),
    rest: z.string(prefixRule).max(200, prefixRule).regex(prefixPattern, prefixRule).default(defaultRestPaths.prefix),
    versions: z.array(z.int().min(1).max(999), "has to be a list of versions, such as [2]").min(1).optional(),
    feed: origin.optional(),
    image: z
      .string("has to be the name of an image")
      .regex(isImage, "has to be an image with a tag or a digest, such as registry.example/reviews:1.4.0")
      .optional(),
    command: z.tuple([z.string().min(1)], z.string(), "has to be a list of a program and its arguments").optional(),
    metrics: z
      .int("has to be a port")
      .min(1, "has to be from 1 to 65,535")
      .max(portMax, "has to be from 1 to 65,535")
      .optional(),
  },
  "has to be an object with url, and optionally graphql, health, rest, versions, feed, image, command and metrics",
);
export const externalMembers = Object.keys(members.shape);

export const externalSchema = members
  .refine(({ rest, versions }) => rest.includes(versionPlace) === (versions === undefined), {
    path: ["versions"],
    message: `has to list the versions of the routes, such as [2], exactly if rest has no ${versionPlace}`,
  })
  .transform(({ url, graphql, health, rest, versions, feed, image, command, metrics }): External => ({
    url: new URL(url).origin,
    graphqlPath: graphql,
    healthPath: health,
    rest: { prefix: rest, versions: versions?.toSorted((a, b) => a - b) },
    feedUrl: feed === undefined ? undefined : new URL(feed).origin,
    image,
    command,
    metricsPort: metrics,
  }));

/** Of a descriptor with problems: what does not fit is as by default. */
export function readExternal(value: unknown): External {
  return externalSchema.safeParse(value).data ?? externalSchema.parse({ url: "http://unknown" });
}

/** URL parsers accept more in a host, such as `${NAME}`, which is code in the files that `npm run generate` writes. */
const originPattern = /^https?:\/\/(?:[\w.-]+|\[[\da-f:]+\])(?::\d+)?\/?$/i;

function isOrigin(text: string): boolean {
  return originPattern.test(text) && URL.canParse(text);
}
