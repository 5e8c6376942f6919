import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const stageStart = /^(?=FROM )/m;
/** The exec form: a JSON list of the executable and its arguments. */
const commandLine = /^CMD (.+)$/m;

/**
 * Returns Node's flags from the exec-form `CMD` of a Dockerfile stage, and the absolute path of the source `main.ts`, from which the image's bundle
 * is made: a checkout is measured without a build. `ENTRYPOINT` and `ENV` are not read.
 * @throws Error if there is no such stage, or its `CMD` does not start Node.
 */
export function readNodeArguments(stageName: "gateway" | "rest-proxy"): readonly string[] {
  const stages = readFileSync(join(root, "Dockerfile"), "utf8").split(stageStart);
  const firstLine = new RegExp(`^FROM .+ AS ${stageName}$`, "m");
  const stage = stages.find((text) => firstLine.test(text)) ?? "";
  const [, commandJson = "[]"] = commandLine.exec(stage) ?? [];
  const [executable, ...nodeArguments] = JSON.parse(commandJson) as string[];
  const bundleFile = nodeArguments.at(-1);
  const flags = nodeArguments.slice(0, -1);
  if (executable !== "node" || bundleFile === undefined) {
    throw new Error(`The Dockerfile's stage ${stageName} does not start node`);
  }
  return [...flags, join(root, stageName, "src/main.ts")];
}
