/** The images of a release, for the workflow images.yml: all that docker-compose.yml builds, except those for development. */
import { parse } from "yaml";
import { z } from "zod";

interface ReleasedImage {
  /** Such as `gateway`. */
  readonly name: string;
  /** The stage in the Dockerfile. */
  readonly target: string;
  /** Build arguments, `NAME=value` in lines. The workflow adds `VERSION` and `REVISION`. */
  readonly args: string;
}

const composeFile = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string().optional(),
      profiles: z.array(z.string()).default([]),
      build: z.object({ target: z.string(), args: z.record(z.string(), z.string()).default({}) }).optional(),
    }),
  ),
});

const imagePattern = /^tributary\/([a-z0-9-]+):/;

/**
 * @param compose the text of docker-compose.yml.
 * @throws Error for a service that is built without an image name `tributary/…`.
 */
export function listReleasedImages(compose: string): readonly ReleasedImage[] {
  const { services } = composeFile.parse(parse(compose, { merge: true }));
  const images = Object.entries(services).flatMap(([service, { image = "", profiles, build }]) => {
    if (build === undefined || profiles.includes("development")) return [];
    const name = imagePattern.exec(image)?.[1];
    if (name === undefined) throw new Error(`docker-compose.yml: ${service} is built, but its image is "${image}".`);
    return [{ name, target: build.target, args: renderArguments(build.args) }];
  });
  // Each image once: a service and its migration have the same image.
  const imageByName = new Map(images.map((image) => [image.name, image]));
  return [...imageByName.values()];
}

/** Leaves out the arguments whose values compose reads from its environment. */
function renderArguments(args: Readonly<Record<string, string>>): string {
  const fixedArguments = Object.entries(args).filter(([, value]) => !value.includes("${"));
  return fixedArguments.map(([name, value]) => `${name}=${value}`).join("\n");
}
