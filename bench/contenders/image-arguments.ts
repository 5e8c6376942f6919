import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/**
 * Returns Node's flags and the absolute path of main.ts, from the exec-form `CMD` of a Dockerfile stage whose `WORKDIR` is the repository's root.
 * `ENTRYPOINT` and `ENV` are not read. The benchmarks and checks in scripts/verify start processes with these flags, as the image does.
 * @throws Error if there is no such stage, or its `CMD` does not start Node.
 */
export function readNodeArguments(stageName: "gateway" | "rest-proxy"): readonly string[] {
  const stages = readFileSync(join(root, "Dockerfile"), "utf8").split(/^(?=FROM )/m);
  const stage = stages.find((text) => new RegExp(`^FROM .+ AS ${stageName}$`, "m").test(text)) ?? "";
  const [, commandJson = "[]"] = /^CMD (.+)$/m.exec(stage) ?? [];
  const [executable, ...flags] = JSON.parse(commandJson) as string[];
  const mainFile = flags.pop();
  if (executable !== "node" || mainFile === undefined)
    throw new Error(`The Dockerfile's stage ${stageName} does not start node`);
  return [...flags, join(root, mainFile)];
}
