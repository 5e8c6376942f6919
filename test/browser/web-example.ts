import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { installTool } from "../../scripts/verify/tool-install.ts";

export interface WebExample {
  /** The page's address. */
  readonly url: string;
  stop(): void;
}

const folder = join(import.meta.dirname, "../../examples/web");

/**
 * Installs and serves examples/web for a platform.
 * @returns why it cannot be installed
 * @throws Error if its types cannot be generated, or do not match its code
 */
export async function serveWebExample(platform: {
  readonly url: string;
  readonly restUrl: string;
}): Promise<WebExample | string> {
  const problem = installTool(folder);
  if (problem !== undefined) return problem;
  for (const script of ["generate", "types"])
    if (spawnSync("npm", ["run", script], { cwd: folder, stdio: "inherit" }).status !== 0)
      throw new Error(`npm run ${script} failed in examples/web.`);
  const { issuer } = (await (await fetch(`${platform.url}/graphiql/config.json`)).json()) as {
    readonly issuer: string;
  };
  const variables = { GATEWAY_URL: platform.url, REST_URL: platform.restUrl, ISSUER_URL: issuer, PORT: "0" };
  const child = spawn(process.execPath, ["serve.ts"], { cwd: folder, env: { ...process.env, ...variables } });
  return { url: await readAddress(child), stop: () => void child.kill() };
}

async function readAddress(child: ChildProcess): Promise<string> {
  let output = "";
  child.stderr?.pipe(process.stderr);
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const address = /http:\S+/.exec(output)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error(`examples/web does not start: ${output}`);
}
