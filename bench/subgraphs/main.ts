// The four canned subgraphs in one process, pinned to the core of the load. Says its ports once; then counts on request.
import { subgraphNames } from "../graph/schemas.ts";
import { createCannedAnswers } from "./canned-answers.ts";
import { listenCanned } from "./canned-server.ts";

const subgraphs = await Promise.all(
  subgraphNames.map(async (name) => {
    const answers = createCannedAnswers(name);
    return { name, answers, port: await listenCanned(answers) };
  }),
);

process.on("message", () => {
  const sum = (of: "asked" | "computed") => subgraphs.reduce((total, { answers }) => total + answers.counts[of], 0);
  process.send?.({ asked: sum("asked"), computed: sum("computed") });
});
process.on("disconnect", () => process.exit());
process.send?.(Object.fromEntries(subgraphs.map(({ name, port }) => [name, `http://127.0.0.1:${port}/graphql`])));
