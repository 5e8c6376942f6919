// Inside a gateway: a CPU profile of the main thread from the first asking to the second.
import { type Profiler, Session } from "node:inspector/promises";
import { tellWhenAsked } from "./tell-when-asked.ts";

const session = new Session();
let started = false;

tellWhenAsked(async (): Promise<Profiler.Profile | undefined> => {
  if (started) return (await session.post("Profiler.stop")).profile;
  started = true;
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 500 });
  await session.post("Profiler.start");
  return undefined;
});
