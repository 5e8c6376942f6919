// npm run example:web: installs the packages of examples/web, generates its types, and serves its page with the platform of `npm start`, whose options
// it has. One process, so that both end together.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installTool } from "../verify/tool-install.ts";

const folder = join(import.meta.dirname, "../../examples/web");
const problem = installTool(folder);
if (problem !== undefined) {
  console.error(`The first start of the example needs the npm registry: ${problem}.`);
  process.exit(1);
}
const { status } = spawnSync("npm", ["run", "--silent", "generate"], { cwd: folder, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
await import(pathToFileURL(join(folder, "serve.ts")).href);
await import("../start.ts");
