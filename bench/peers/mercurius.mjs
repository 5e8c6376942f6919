// Mercurius as a federation gateway, on Fastify, with its compiler: an operation is compiled when it comes a second time.
import mercuriusGateway from "@mercuriusjs/gateway";
import Fastify from "fastify";

const { PORT, SERVICES = "[]" } = process.env;
const app = Fastify();
app.register(mercuriusGateway, {
  jit: 1,
  // Holds the 2,000 documents that come in turn; its default of 1,024 would forget each before it comes again.
  cache: 4_096,
  gateway: { services: JSON.parse(SERVICES) },
});
await app.listen({ port: Number(PORT), host: "127.0.0.1" });
