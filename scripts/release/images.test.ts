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

test("a release names by digest the base images that Dockerfile and docker-compose.yml name by tag", () => {
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const pins = [...read("infra/images/base-images.env").matchAll(/^(\w+)=(\S+)@sha256:[0-9a-f]{64}$/gm)];
  const [node, postgres] = pins.map(([, , tag]) => tag);
  expect(pins.map(([, name]) => name)).toEqual(["NODE_IMAGE", "POSTGRES_IMAGE"]);
  expect(read("Dockerfile")).toContain(`\nARG NODE_IMAGE=${node}\n`);
  expect(read("docker-compose.yml")).toContain(`\n  NODE_IMAGE: \${NODE_IMAGE:-${node}}\n`);
  expect(read("docker-compose.yml")).toContain(`image: \${POSTGRES_IMAGE:-${postgres}}\n`);
  const unpinned = /(?:FROM |image: )(?:node|postgres):/;
  expect([read("Dockerfile"), read("docker-compose.yml")].filter((text) => unpinned.test(text))).toEqual([]);
});

test("a service that is built without an image of the platform is an error", () => {
  const compose = "services: { users: { image: other/users, build: { target: service } } }";
  expect(() => listReleasedImages(compose)).toThrow('users is built, but its image is "other/users"');
});
