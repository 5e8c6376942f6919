import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Node's arguments by which the image of one of our processes starts it. */
export function readStartCommand(workspace: "gateway" | "rest-proxy"): readonly string[] {
  const dockerfile = readFileSync(join(root, workspace, "Dockerfile"), "utf8");
  const [, json = "[]"] = /^CMD (.+)$/m.exec(dockerfile) ?? [];
  const [node, ...command] = JSON.parse(json) as string[];
  const main = command.pop();
  if (node !== "node" || main === undefined) throw new Error(`The Dockerfile of ${workspace} starts no node`);
  return [...command, join(root, main)];
}
