import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readServices } from "../../supergraph/services.ts";
import { listReleasedImages } from "./images.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const images = listReleasedImages(readFileSync(join(root, "docker-compose.yml"), "utf8"));
const services = readServices(root);

test("a release has one image per service, gateway, REST proxy and purger, and none for development", () => {
  const names = [...services.map(({ name }) => name), "gateway", "rest-proxy", "purger"];
  expect(new Set(images.map(({ name }) => name))).toEqual(new Set(names));
  expect(images).toHaveLength(names.length);
});

test("each image names a stage of the Dockerfile, and a service's image its name and port", () => {
  const stages = [...readFileSync(join(root, "Dockerfile"), "utf8").matchAll(/^FROM \S+ AS (\S+)$/gm)];
  for (const { name, target, args } of images) {
    expect(stages.map(([, stage]) => stage)).toContain(target);
    const port = services.find((service) => service.name === name)?.port;
    expect(args).toBe(target === "service" ? `SERVICE=${name}\nPORT=${port}` : "");
  }
});

test("a service that is built without an image of the platform is an error", () => {
  const compose = "services: { users: { image: other/users, build: { target: service } } }";
  expect(() => listReleasedImages(compose)).toThrow('users is built, but its image is "other/users"');
});
