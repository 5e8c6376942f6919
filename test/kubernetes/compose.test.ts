import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { environmentOf, getPod, renderOverlay } from "./cluster.ts";
import { root } from "./folders.ts";
import { issuer, serviceNames, units } from "./units.ts";

interface ComposeService {
  readonly image: string;
  readonly build: { readonly target: string; readonly args?: Readonly<Record<string, string>> };
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
}

const read = (path: string) => readFileSync(join(root, path), "utf8");
const compose: Readonly<Record<string, ComposeService>> = parse(read("docker-compose.yml"), { merge: true }).services;
const dockerfile = read("Dockerfile");
const local = renderOverlay("local");

/** `${NAME:-value}` is value. */
const withDefaults = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");

test.each([...units, issuer].map((unit) => [unit.name, unit] as const))(
  "%s runs the image that compose builds, and listens on the same port",
  (name, unit) => {
    const { image, build, ports = [] } = compose[name]!;
    const pod = getPod(local, name);
    expect(pod.container.image).toBe(withDefaults(image));
    expect(dockerfile).toMatch(new RegExp(`^FROM \\S+ AS ${build.target}$`, "m"));
    const { port } = unit.readConfig(environmentOf(local, pod));
    const isService = build.target === "service";
    if (isService) expect(build.args).toMatchObject({ SERVICE: name, PORT: String(port) });
    else expect(portOfTarget(build.target)).toBe(port);
    for (const published of ports) expect(withDefaults(published)).toMatch(new RegExp(`:${port}$`));
  },
);

test.each(serviceNames)("%s migrates by the same command", (name) => {
  expect(getPod(local, `migrate-${name}`).container.args).toEqual(compose[`migrate-${name}`]?.command);
});

test("the local overlay's seed is compose's", () => {
  expect(getPod(local, "seed").container.image).toBe(withDefaults(compose["seed"]!.image));
});

/** What its last stage says it listens on. */
function portOfTarget(target: string): number {
  const [, stage = ""] = dockerfile.split(new RegExp(`^FROM \\S+ AS ${target}$`, "m"));
  return Number(/^EXPOSE (\d+)$/m.exec(stage)?.[1]);
}
