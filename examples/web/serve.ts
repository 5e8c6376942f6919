// Bundles the page at each reload, and serves it. A team's own pipeline would write the bundle to a CDN.
import { context } from "esbuild";

const { PORT = "5173", GATEWAY_URL, REST_URL, ISSUER_URL } = process.env;
const folder = import.meta.dirname;

const building = await context({
  entryPoints: [`${folder}/src/main.tsx`],
  outdir: `${folder}/public/build`,
  bundle: true,
  write: false,
  format: "esm",
  jsx: "automatic",
  sourcemap: true,
  // The addresses of `npm start`.
  define: {
    GATEWAY_URL: JSON.stringify(GATEWAY_URL ?? "http://127.0.0.1:4000"),
    REST_URL: JSON.stringify(REST_URL ?? "http://127.0.0.1:4010"),
    ISSUER_URL: JSON.stringify(ISSUER_URL ?? "http://127.0.0.1:4020"),
  },
});
const { port } = await building.serve({ host: "127.0.0.1", port: Number(PORT), servedir: `${folder}/public` });
process.stdout.write(`The page: http://127.0.0.1:${port}/\n`);
