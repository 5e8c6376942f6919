import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listPods, renderOverlay } from "./cluster.ts";
import { kubernetes } from "./folders.ts";
import { issuer, units } from "./units.ts";

let bin: string;
beforeEach(() => void (bin = mkdtempSync(join(tmpdir(), "docker-"))));
afterEach(() => rmSync(bin, { recursive: true, force: true }));

const names = units.map(({ name }) => name);
const localNames = [...names, issuer.name, "seed"];

test.each([
  ["kind", "kind load docker-image"],
  ["minikube", "minikube image load"],
])("every image of the local overlay is built and loaded into %s", (where, load) => {
  const { status, calls } = deliver([where]);
  expect(status).toBe(0);
  expect(calls[0]).toMatch(new RegExp(`^docker compose --env-file \\S+ build ${localNames.join(" ")} VERSION=local$`));
  const images = new Set(listPods(renderOverlay("local")).map(({ container }) => container.image ?? ""));
  expect(new Set(calls.slice(1))).toEqual(new Set([...images].map((image) => `${load} ${image}`)));
});

test("every image of production is pushed with the name and the tag of the overlay", () => {
  const images = new Set(listPods(renderOverlay("production")).map(({ container }) => container.image ?? ""));
  const [first = ""] = images;
  const [, registry = "", tag = ""] = /^(.*)\/[^/:]+:(.*)$/.exec(first) ?? [];
  const { status, calls } = deliver([registry, tag]);
  expect(status).toBe(0);
  expect(calls[0]).toMatch(new RegExp(` build ${names.join(" ")} VERSION=${tag}$`));
  const pushed = calls.filter((call) => call.startsWith("docker push"));
  expect(new Set(pushed)).toEqual(new Set([...images].map((image) => `docker push ${image}`)));
  // The pushed images are those that were just built.
  const tagged = calls.filter((call) => call.startsWith("docker tag"));
  expect(tagged).toEqual(names.map((name) => `docker tag tributary/${name}:${tag} ${registry}/${name}:${tag}`));
});

test("a failed build delivers no image, and a registry without a tag is an error before the build", () => {
  expect(deliver(["kind"], "compose")).toMatchObject({ status: 1, calls: [expect.stringContaining(" build ")] });
  const { status, calls, errors } = deliver(["registry.example.com/tributary"]);
  expect([status, calls]).toEqual([1, []]);
  expect(errors).toContain("a tag, such as the version or the commit");
});

/** Runs images.sh with stubs of the tools that record their calls; a call that contains `fails` fails. */
function deliver(args: readonly string[], fails = "nothing") {
  const log = join(bin, "calls");
  writeFileSync(log, "");
  const stub = `#!/bin/bash
[[ $* == "compose version" ]] && exit 0
echo "\${0##*/} $*$([[ $* == *build* ]] && echo " VERSION=$VERSION")" >> '${log}'
[[ $* != *"${fails}"* ]]
`;
  for (const tool of ["docker", "kind", "minikube"]) writeFileSync(join(bin, tool), stub, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env["PATH"]}` };
  const script = join(kubernetes, "images.sh");
  const { status, stderr } = spawnSync(script, args, { env, encoding: "utf8", timeout: 30_000 });
  const calls = readFileSync(log, "utf8").split("\n").filter(Boolean);
  return { status, errors: stderr, calls };
}
