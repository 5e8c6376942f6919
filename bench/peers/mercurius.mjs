// Mercurius as a federation gateway on Fastify. `jit: 1` compiles an operation on its second execution.
import mercuriusGateway from "@mercuriusjs/gateway";
import Fastify from "fastify";

const { PORT, SERVICES = "[]" } = process.env;
const app = Fastify();
app.register(mercuriusGateway, {
  jit: 1,
  // Must hold the 2,000 documents of a workload; the default of 1,024 entries would evict each before its next request.
  cache: 4_096,
  gateway: { services: JSON.parse(SERVICES) },
});
await app.listen({ port: Number(PORT), host: "127.0.0.1" });
